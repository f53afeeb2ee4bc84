import { readFileSync } from 'node:fs'
import { type DockerView, instanceIdOf, createDockerView } from '../support/docker.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'

export interface KillOptions {
  runtime: 'docker' | 'process'
  rounds: number
  seed: number
}

/** The time limit of a start after a kill; on a busy or slow machine, the CPU time of its processes compared with the start of an empty instance. */
const startLimit_ms = 3_000
const startProcessorRatio = 3

/** A platform with four live projects, and the guarantees for each. */
export interface KillContext {
  data: string
  platform: TestPlatform
  engine: DockerView | undefined
  repositories: Record<string, Repository>
  /** Deployments that were acknowledged with 201. */
  acknowledged: Map<string, string>
  /** Requests without a response: each may or may not have created a deployment. */
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
/** A build of half a second. Unlike this one, real builds end by themselves when their output is no longer read. */
const slowBuildCommand = `node -e "let n = 0; process.stdout.on('error', () => setInterval(() => {}, 1000)); setInterval(() => { console.log('line', n); if (++n === 8) process.exit() }, 60)"`

/** Files of the four projects. On Docker one has its own Dockerfile, which another builder builds. */
function projectFiles(runtime: KillOptions['runtime']): Record<string, Record<string, string>> {
  const manifest = (scripts: Record<string, string>) =>
    JSON.stringify({ name: 'app', private: true, scripts: { start: 'node server.js', ...scripts } })
  const plain = { 'package.json': manifest({}), 'server.js': server }
  return {
    steady: plain,
    busy: { ...plain, 'package.json': manifest({ build: slowBuildCommand }) },
    page: { 'index.html': '<!doctype html><title>page</title>' },
    own:
      runtime === 'docker'
        ? {
            'server.js': server,
            Dockerfile: `FROM node:24-bookworm-slim\nCOPY . .\nRUN ${slowBuildCommand}\nENV PORT=8080\nEXPOSE 8080\nCMD ["node", "server.js"]\n`,
          }
        : plain,
  }
}

export async function startKillContext({ runtime }: Pick<KillOptions, 'runtime'>): Promise<KillContext> {
  const repositories = Object.fromEntries(Object.entries(projectFiles(runtime)).map(([slug, files]) => [slug, makeRepository(files)]))
  const platform = await startTestPlatform({ runtime })
  const startProcessor_ms = processorTime_ms(platform.pid)
  const context: KillContext = {
    data: platform.data_dir,
    platform,
    engine: undefined,
    repositories,
    acknowledged: new Map(),
    unanswered: new Map(),
    steady: undefined,
    async restart() {
      const begun = performance.now()
      context.platform = await startTestPlatform({ runtime, data_dir: context.data })
      const took = performance.now() - begun
      if (took > startLimit_ms && processorTime_ms(context.platform.pid) > startProcessorRatio * startProcessor_ms)
        throw new Error(`the start after a kill took ${Math.round(took)} ms`)
    },
    async close() {
      await context.platform.remove()
      for (const repository of Object.values(repositories)) repository.remove()
    },
  }
  try {
    await platform.api('PATCH', '/instance/settings', { keep_deployments: 3 })
    if (runtime === 'docker') {
      const { body } = await platform.api<{ user: { id: string } }>('GET', '/instance/session')
      context.engine = createDockerView(instanceIdOf(body.user.id))
    }
    for (const [slug, repository] of Object.entries(repositories)) {
      await platform.createProject({ slug, repo_url: repository.url })
      const { id } = await platform.deploy(slug)
      const { status, error } = await platform.waitForEnd(slug, id)
      if (status !== 'ready') throw new Error(`${slug} did not go live: ${JSON.stringify(error)}`)
      if (slug !== 'steady') continue
      const app = await context.engine?.findApp(id)
      if (app) context.steady = { id, container: app.id, started_at: app.started_at }
    }
    return context
  } catch (error) {
    await context.close()
    throw error
  }
}

/** CPU milliseconds of a process so far (Linux; 0 elsewhere). */
function processorTime_ms(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // Fields 14 and 15 of proc(5), in hundredths of a second.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return 0
  }
}
