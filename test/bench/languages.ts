import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { languageCases, type LanguageCase } from '../deployments/language-apps.ts'
import { createDockerView, instanceIdOf } from '../support/docker.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { isInstalled, waitForAnswer } from './deploy.ts'
import { type BenchInstance, startInstance } from './instance.ts'
import { writtenDockerfiles } from './language-dockerfiles.ts'
import { median, type BenchRow } from './row.ts'

const run = promisify(execFile)

type Change = 'cold' | 'one line'
/** The maximum share of the time of `docker build` and `docker run` with a handwritten Dockerfile that a deployment without one may take. */
const bars: Record<Change, number> = { cold: 1.1, 'one line': 1 }

/** Node is included, with an app as small as the others. */
const node: LanguageCase = {
  name: 'node',
  tool: 'npm',
  framework: 'node',
  files: (text) => ({
    'package.json': '{ "name": "shop", "private": true, "scripts": { "start": "node server.js" } }',
    'server.js': `require('node:http').createServer((request, response) => response.end('${text}')).listen(process.env.PORT, '0.0.0.0')\n`,
  }),
}

/**
 * A small app in each language, from the POST to the first 200 of the new version at the edge, compared with `git clone` or
 * `git pull`, `docker build` (classic) and `docker run` of the same commit with a handwritten Dockerfile up to its first 200: cold, and with one changed line.
 */
export async function benchLanguages(options: { rounds?: number; cases?: string[] | undefined } = {}): Promise<BenchRow[]> {
  const missing = [requires('docker'), requires('language-images')].find(({ ok }) => !ok)
  if (missing || !isInstalled('docker'))
    return [
      { name: 'languages', who: 'homeport', value: null, unit: 's', ratios: {}, note: missing?.reason ?? 'the command docker is not installed' },
    ]
  const instance = await startInstance({ runtime: 'docker' })
  const { body } = await instance.client.api<{ user: { id: string } }>('GET', '/instance/session')
  const rows: BenchRow[] = []
  try {
    for (const language of [node, ...languageCases].filter(({ name }) => options.cases?.includes(name) ?? true)) {
      const byHand = createManualBuild(language)
      const times: Record<Change, Record<'homeport' | 'by hand', number[]>> = {
        cold: { homeport: [], 'by hand': [] },
        'one line': { homeport: [], 'by hand': [] },
      }
      // Both keep the images of earlier rounds until the end, and with them the layers that do not depend on the app.
      const deployments: Awaited<ReturnType<typeof createDeployment>>[] = []
      for (let round = 0; round < (options.rounds ?? 5); round++) {
        const deployment = await createDeployment(instance, language, round)
        deployments.push(deployment)
        for (const change of Object.keys(bars) as Change[]) {
          // Each comes first in every other round.
          const turns = [
            () => byHand.measure(change, round).then((ms) => times[change]['by hand'].push(ms)),
            () => deployment.measure(change).then((ms) => times[change].homeport.push(ms)),
          ]
          for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn()
          console.error(
            `  ${language.name}, ${change}: ${(times[change].homeport.at(-1) ?? 0).toFixed(0)} ms, by hand ${(times[change]['by hand'].at(-1) ?? 0).toFixed(0)} ms`,
          )
        }
      }
      for (const deployment of deployments) await deployment.end()
      await byHand.end()
      for (const change of Object.keys(bars) as Change[]) {
        const [ours, peer] = [times[change].homeport, times[change]['by hand']].map((list) => median(list) / 1000) as [number, number]
        const name = `${language.name}, ${change === 'cold' ? 'cold' : 'one line changed'}`
        rows.push(
          {
            name,
            who: 'homeport',
            value: ours,
            unit: 's',
            ratios: { 'by hand': ours / peer },
            bar: `at most ${bars[change]} x by hand`,
            ok: ours / peer <= bars[change],
          },
          { name, who: 'by hand', value: peer, unit: 's', ratios: {} },
        )
      }
    }
  } finally {
    await instance.remove()
    await createDockerView(instanceIdOf(body.user.id)).removeAll()
  }
  return rows
}

/** The comment syntax of a manifest; a package.json gets a field instead. */
const manifests: Record<string, (text: string, comment: string) => string> = {
  'requirements.txt': (text, comment) => `${text}# ${comment}\n`,
  'go.mod': (text, comment) => `${text}// ${comment}\n`,
  'Cargo.toml': (text, comment) => `${text}# ${comment}\n`,
  Gemfile: (text, comment) => `${text}# ${comment}\n`,
  'pom.xml': (text, comment) => `${text}<!-- ${comment} -->\n`,
  'mix.exs': (text, comment) => `${text}# ${comment}\n`,
  'package.json': (text, comment) => text.replace('{', `{ "description": "${comment}",`),
}

/** The files of a version. In a cold one all manifests are new, so that no cached layer applies, not even that of the dependencies. */
function createFiles({ files }: LanguageCase, round: number, who: string, text: string): Record<string, string> {
  const comment = `${process.pid} ${who} ${round}`
  const named = Object.entries(files(text)).map(([name, content]) => [name, manifests[name]?.(content, comment) ?? content])
  return { ...(Object.fromEntries(named) as Record<string, string>), 'version.txt': `${comment}\n` }
}

function createManualBuild(language: LanguageCase) {
  const repository = makeRepository({})
  const clone = mkdtempSync(join(tmpdir(), 'homeport-bench-clone-'))
  const label = `homeport-bench-language-${process.pid}`
  const images: string[] = []
  const env = { ...process.env, DOCKER_BUILDKIT: '0' }
  return {
    async measure(change: Change, round: number): Promise<number> {
      const text = `by-hand-${round}-${change.replace(' ', '-')}`
      repository.commit({
        ...createFiles(language, round, 'by hand', text),
        Dockerfile: writtenDockerfiles[language.name] ?? '',
        '.dockerignore': '.git\n',
      })
      if (change === 'cold') rmSync(clone, { recursive: true, force: true })
      const tag = `${label}:${language.name}-${images.length}`
      const begun = performance.now()
      if (change === 'cold') await run('git', ['clone', '--quiet', '--depth', '1', repository.url, clone])
      else await run('git', ['pull', '--quiet'], { cwd: clone })
      await run('docker', ['build', '--quiet', '--label', label, '--tag', tag, '.'], { cwd: clone, env, maxBuffer: 64e6 })
      images.push(tag)
      const { stdout } = await run('docker', ['run', '--detach', '--label', label, '--publish', '127.0.0.1:0:8080', tag])
      const container = stdout.trim()
      const port = (await run('docker', ['port', container, '8080'])).stdout.trim().split(':').at(-1)
      await waitForAnswer(`http://127.0.0.1:${port}`, '127.0.0.1', (answer) => answer.includes(text))
      const took = performance.now() - begun
      await run('docker', ['rm', '--force', container])
      return took
    },
    async end() {
      for (const image of images) await run('docker', ['rmi', '--force', image]).catch(() => {})
      repository.remove()
      rmSync(clone, { recursive: true, force: true })
    },
  }
}

async function createDeployment({ client, instance }: BenchInstance, language: LanguageCase, round: number) {
  const slug = `bench-${language.name}-${round}`
  const textOf = (change: Change) => `homeport-${round}-${change.replace(' ', '-')}`
  const repository = makeRepository(createFiles(language, round, 'homeport', textOf('cold')))
  await client.createProject({ slug, repo_url: repository.url, previews: false })
  if (language.settings) await client.api('PATCH', `/v1/projects/${slug}`, language.settings)
  /** The engine would still stop the previous version while it builds the next app; by hand, `docker rm` has ended before. */
  const waitForOneContainer = async (project: string): Promise<void> => {
    const { id } = await client.getProject(project)
    await until(
      async () => {
        const { stdout } = await run('docker', ['ps', '--all', '--quiet', '--filter', `label=homeport.project=${id}`])
        return stdout.trim().split('\n').length === 1 || undefined
      },
      { what: 'the previous version to end' },
    )
  }
  return {
    async measure(change: Change): Promise<number> {
      if (change !== 'cold') repository.commit(createFiles(language, round, 'homeport', textOf(change)))
      const begun = performance.now()
      const { id } = await client.deploy(slug)
      // As by hand, where nothing asks for the app while it is built: a request every 10 ms would slow the build down.
      const { status, error, build_log } = await client.waitForEnd(slug, id)
      if (status !== 'ready') throw new Error(`${slug} failed: ${JSON.stringify(error)}\n${build_log.slice(-2_000)}`)
      await waitForAnswer(instance.edge_url, `${slug}.localhost`, (text) => text.includes(textOf(change)))
      const took = performance.now() - begun
      await waitForOneContainer(slug)
      return took
    },
    async end() {
      await client.api('DELETE', `/v1/projects/${slug}`)
      repository.remove()
    },
  }
}
