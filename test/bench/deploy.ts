import { execFile, execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { requestEdge } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { startInstance, type BenchInstance } from './instance.ts'
import { median, type BenchRow } from './row.ts'
import { instanceIdOf, createDockerView } from '../support/docker.ts'

const run = promisify(execFile)

type Change = 'cold' | 'one line' | 'nothing'
const changes: Change[] = ['cold', 'one line', 'nothing']

/** Bars: the maximum share of the time of manual `docker build` and `docker run` that a deployment may take. */
const bars: Record<BuildMode, Partial<Record<Change, number>>> = {
  docker: { cold: 0.85, 'one line': 0.85 },
  dockerfile: { cold: 1.05, 'one line': 1.05 },
  process: { cold: 0.5, 'one line': 0.5 },
}
type BuildMode = 'docker' | 'dockerfile' | 'process'

/** As a user writes it. `ca.crt` exists if the machine's network requires it. */
export const plainDockerfile = (hasCertificates: boolean) => `FROM node:24-bookworm-slim
WORKDIR /app
${hasCertificates ? 'COPY ca.crt /ca.crt\nENV NODE_EXTRA_CA_CERTS=/ca.crt\n' : ''}COPY package*.json ./
RUN npm ci
COPY . .
ENV PORT=8080
EXPOSE 8080
CMD ["node", "server.js"]
`

/**
 * Express with more than 60 packages, from the POST to the first 200 of the new version at the edge, compared with `docker build`
 * (classic) and `docker run` of the same app up to its first 200: cold, with one changed line, with no change.
 */
export async function benchDeploy(options: { rounds?: number } = {}): Promise<BenchRow[]> {
  const rounds = options.rounds ?? 3
  const docker = requires('docker')
  const hasCli = docker.ok && isInstalled('docker')
  const lock = await createLockedApp()
  const contestants: Contestant[] = []
  try {
    if (hasCli) contestants.push(createManualContestant(lock))
    if (docker.ok) contestants.push(await createHomeportContestant('docker', lock), await createHomeportContestant('dockerfile', lock))
    contestants.push(await createHomeportContestant('process', lock))
    const times = new Map<string, number[]>()
    for (let round = 0; round < rounds; round++) {
      for (const change of changes) {
        for (const contestant of contestants) {
          const took = await contestant.measureDeploy(change, round)
          const key = `${contestant.name} ${change}`
          times.set(key, [...(times.get(key) ?? []), took])
          console.error(`  ${key}: ${(took / 1000).toFixed(2)} s`)
        }
      }
    }
    const timeOf = (name: string, change: Change) => median(times.get(`${name} ${change}`) ?? []) / 1000
    return changes.flatMap((change): BenchRow[] =>
      (['docker', 'dockerfile', 'process'] as const).flatMap((way): BenchRow[] => {
        const name = `deploy ${buildModeLabels[way]}, ${change === 'cold' ? 'cold' : `${change} changed`}`
        if (!contestants.some((contestant) => contestant.name === way))
          return [{ name, who: 'homeport', value: null, unit: 's', ratios: {}, note: docker.reason }]
        const ours: BenchRow = { name, who: 'homeport', value: timeOf(way, change), unit: 's', ratios: {} }
        if (!hasCli)
          return [
            ours,
            { name, who: 'by hand', value: null, unit: 's', ratios: {}, note: docker.ok ? 'the command docker is not installed' : docker.reason },
          ]
        const ratio = timeOf(way, change) / timeOf('by hand', change)
        const most = bars[way][change]
        const bar = most === undefined ? {} : { bar: `at most ${most} x by hand`, ok: ratio <= most }
        return [
          { ...ours, ratios: { 'by hand': ratio }, ...bar },
          { name, who: 'by hand', value: timeOf('by hand', change), unit: 's', ratios: {} },
        ]
      }),
    )
  } finally {
    for (const contestant of contestants) await contestant.end()
    lock.remove()
  }
}

const buildModeLabels: Record<BuildMode, string> = { docker: 'on docker', dockerfile: 'of an own Dockerfile', process: 'as a process' }

interface Contestant {
  name: string
  /** Milliseconds from the start to the first 200 of the new version. */
  measureDeploy(change: Change, round: number): Promise<number>
  end(): Promise<void>
}

/** `docker build` and `docker run` in a working folder. */
function createManualContestant(lock: LockedApp): Contestant {
  const folder = makeRepository({})
  const certificates = process.env.NODE_EXTRA_CA_CERTS ?? process.env.SSL_CERT_FILE
  const isNeeded = certificates !== undefined && existsSync(certificates)
  if (isNeeded) copyFileSync(certificates, join(folder.folder, 'ca.crt'))
  writeFileSync(join(folder.folder, 'Dockerfile'), plainDockerfile(isNeeded))
  writeFileSync(join(folder.folder, '.dockerignore'), '.git\nnode_modules\n')
  const label = `homeport-bench-by-hand-${process.pid}`
  const containers: string[] = []
  const images = new Set<string>()
  const env = { ...process.env, DOCKER_BUILDKIT: '0' }
  const version = createVersionMarker()
  return {
    name: 'by hand',
    async measureDeploy(change, round) {
      for (const [name, text] of Object.entries(createAppFiles(lock, change, round, version))) writeFileSync(join(folder.folder, name), text)
      const tag = `${label}:${containers.length}`
      const begun = performance.now()
      await run('docker', ['build', '--quiet', '--label', label, '--tag', tag, '.'], { cwd: folder.folder, env, maxBuffer: 64e6 })
      images.add(tag)
      const { stdout } = await run('docker', ['run', '--detach', '--label', label, '--publish', '127.0.0.1:0:8080', tag])
      const container = stdout.trim()
      containers.push(container)
      const port = Number((await run('docker', ['port', container, '8080'])).stdout.trim().split(':').at(-1))
      await waitForAnswer(`http://127.0.0.1:${port}`, '127.0.0.1', (text) => text.includes(version.now))
      const took = performance.now() - begun
      await run('docker', ['rm', '--force', container])
      return took
    },
    async end() {
      for (const container of containers) await run('docker', ['rm', '--force', container]).catch(() => {})
      for (const image of images) await run('docker', ['rmi', '--force', image]).catch(() => {})
      folder.remove()
    },
  }
}

/** POST /deploy to the first 200 at the edge. Cold: a new project with a lock file that was never installed. */
async function createHomeportContestant(way: BuildMode, lock: LockedApp): Promise<Contestant> {
  const instance: BenchInstance = await startInstance({ runtime: way === 'process' ? 'process' : 'docker' })
  const { client } = instance
  const { body } = await client.api<{ user: { id: string } }>('GET', '/instance/session')
  const repositories: Repository[] = []
  const version = createVersionMarker()
  let slug = ''
  return {
    name: way,
    async measureDeploy(change, round) {
      const files = {
        ...createAppFiles(lock, change, round, version),
        ...(way === 'dockerfile' ? { Dockerfile: plainDockerfile(false), '.dockerignore': '.git\nnode_modules\n' } : {}),
      }
      if (change === 'cold') {
        slug = `bench-${way}-${round}`
        const repository = makeRepository(files)
        repositories.push(repository)
        await client.createProject({ slug, repo_url: repository.url })
      } else repositories.at(-1)?.commit(files)
      const begun = performance.now()
      const { id } = await client.deploy(slug)
      const isThere = waitForAnswer(instance.instance.edge_url, `${slug}.localhost`, (text) => text.includes(version.now) && text.includes(id))
      const failed = client.waitForEnd(slug, id).then((deployment) => {
        if (deployment.status !== 'ready')
          throw new Error(`${slug} failed: ${JSON.stringify(deployment.error)}\n${deployment.build_log.slice(-2_000)}`)
        return isThere
      })
      await Promise.race([isThere, failed])
      const took = performance.now() - begun
      await client.waitForEnd(slug, id)
      return took
    },
    async end() {
      const { body: list } = await client.api<{ projects: { slug: string }[] }>('GET', '/v1/projects?limit=100')
      for (const contestant of list.projects) await client.api('DELETE', `/v1/projects/${contestant.slug}`)
      await instance.remove()
      if (way !== 'process') await createDockerView(instanceIdOf(body.user.id)).removeAll()
      for (const repository of repositories) repository.remove()
    },
  }
}

/** Distinguishes this version from the previous one. */
export function createVersionMarker(): { now: string } {
  return { now: '' }
}

export function createAppFiles(lock: LockedApp, change: Change, round: number, version: { now: string }): Record<string, string> {
  if (change !== 'nothing') version.now = `version-${round}-${change.replace(' ', '-')}`
  // Another version number of the app: the install key changes, its work stays the same.
  const fresh = (text: string) => text.replaceAll('"0.0.0-bench"', `"0.0.${process.pid}-round.${round}"`)
  return {
    'package.json': fresh(lock.manifest),
    'package-lock.json': fresh(lock.lock),
    'server.js': `const app = require('express')()
app.get('/', (request, response) => response.send('${version.now} ' + process.env.HOMEPORT_DEPLOYMENT_ID))
const server = app.listen(process.env.PORT, '0.0.0.0')
process.on('SIGTERM', () => server.close(() => process.exit(0)))
`,
  }
}

export interface LockedApp {
  manifest: string
  lock: string
  remove(): void
}

/** npm creates the lock file once. */
export async function createLockedApp(): Promise<LockedApp> {
  const repository = makeRepository({})
  const manifest = JSON.stringify(
    { name: 'bench', version: '0.0.0-bench', private: true, scripts: { start: 'node server.js' }, dependencies: { express: '5.1.0' } },
    null,
    2,
  )
  writeFileSync(join(repository.folder, 'package.json'), manifest)
  await run('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: repository.folder })
  const lock = readFileSync(join(repository.folder, 'package-lock.json'), 'utf8')
  const packages = Object.keys((JSON.parse(lock) as { packages: object }).packages).length - 1
  if (packages < 60) throw new Error(`the app has ${packages} packages, 60 are wanted`)
  return { manifest, lock, remove: repository.remove }
}

/** Resolves at the first 200 with the expected text. */
export async function waitForAnswer(url: string, host: string, isRight: (text: string) => boolean): Promise<void> {
  const giveUpAt = performance.now() + 300_000
  for (;;) {
    const response = await requestEdge(url, host).catch(() => undefined)
    if (response?.status === 200 && isRight(response.body)) return
    if (performance.now() > giveUpAt) throw new Error(`${host} did not answer within 300 s`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
