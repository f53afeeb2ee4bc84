import { readFileSync } from 'node:fs'
import { type EngineView, instanceIdOf, viewEngine } from '../support/docker.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'

export interface KillOptions {
  runtime: 'docker' | 'process'
  rounds: number
  seed: number
}

/** A start after a kill, by the wall; where others keep the machine busy, by its own processor time. */
const startPatience_ms = 3_000
const startProcessor_ms = 2_000

/** A platform with four projects that went live, and what was promised to them. */
export interface Scene {
  data: string
  home: TestPlatform
  engine: EngineView | undefined
  repositories: Record<string, Repository>
  /** Deployments that were answered with 201. */
  acknowledged: Map<string, string>
  /** Requests whose answer never came: each may or may not have made a deployment. */
  unanswered: Map<string, number>
  steady: { id: string; container: string; started_at: string } | undefined
  restart(): Promise<void>
  close(): Promise<void>
}

const server = `
const http = require('node:http')
const server = http.createServer((request, response) => response.end(process.env.HOMEPORT_DEPLOYMENT_ID))
server.listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => server.close(() => process.exit(0)))
`
/** A build of half a second. When nobody reads it any more it does not end by itself, as real ones do not. */
const slowly = `node -e "let n = 0; process.stdout.on('error', () => setInterval(() => {}, 1000)); setInterval(() => { console.log('line', n); if (++n === 8) process.exit() }, 60)"`

/** Files of the four projects. On Docker one has a Dockerfile of its own, which another builder builds. */
function sources(runtime: KillOptions['runtime']): Record<string, Record<string, string>> {
  const manifest = (scripts: Record<string, string>) =>
    JSON.stringify({ name: 'app', private: true, scripts: { start: 'node server.js', ...scripts } })
  const plain = { 'package.json': manifest({}), 'server.js': server }
  return {
    steady: plain,
    busy: { ...plain, 'package.json': manifest({ build: slowly }) },
    page: { 'index.html': '<!doctype html><title>page</title>' },
    own:
      runtime === 'docker'
        ? {
            'server.js': server,
            Dockerfile: `FROM node:24-bookworm-slim\nCOPY . .\nRUN ${slowly}\nENV PORT=8080\nEXPOSE 8080\nCMD ["node", "server.js"]\n`,
          }
        : plain,
  }
}

export async function openScene({ runtime }: Pick<KillOptions, 'runtime'>): Promise<Scene> {
  const repositories = Object.fromEntries(Object.entries(sources(runtime)).map(([slug, files]) => [slug, makeRepository(files)]))
  const home = await startTestPlatform({ runtime })
  const scene: Scene = {
    data: home.data_dir,
    home,
    engine: undefined,
    repositories,
    acknowledged: new Map(),
    unanswered: new Map(),
    steady: undefined,
    async restart() {
      const begun = performance.now()
      scene.home = await startTestPlatform({ runtime, data_dir: scene.data })
      const took = performance.now() - begun
      if (took > startPatience_ms && processorTime(scene.home.pid) > startProcessor_ms)
        throw new Error(`the start after a kill took ${Math.round(took)} ms`)
    },
    async close() {
      await scene.home.remove()
      for (const repository of Object.values(repositories)) repository.remove()
    },
  }
  try {
    await home.api('PATCH', '/instance/settings', { keep_deployments: 3 })
    if (runtime === 'docker') {
      const { body } = await home.api<{ user: { id: string } }>('GET', '/instance/session')
      scene.engine = viewEngine(instanceIdOf(body.user.id))
    }
    for (const [slug, repository] of Object.entries(repositories)) {
      await home.createProject({ slug, repo_url: repository.url })
      const { id } = await home.deploy(slug)
      const { status, error } = await home.ended(slug, id)
      if (status !== 'ready') throw new Error(`${slug} did not go live: ${JSON.stringify(error)}`)
      if (slug !== 'steady') continue
      const app = await scene.engine?.appOf(id)
      if (app) scene.steady = { id, container: app.id, started_at: app.started_at }
    }
    return scene
  } catch (error) {
    await scene.close()
    throw error
  }
}

/** Milliseconds that a process has computed so far (Linux; 0 elsewhere). */
function processorTime(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // Fields 14 and 15 of proc(5), in hundredths of a second.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return 0
  }
}
