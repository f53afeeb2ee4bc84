import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { commitToBranch, waitForFirstCheck } from '../support/git-branches.ts'
import { instanceIdOf, createDockerView } from '../support/docker.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { waitForAnswer, plainDockerfile, createAppFiles, isInstalled, type LockedApp, createLockedApp, createVersionMarker } from './deploy.ts'
import { startInstance } from './instance.ts'
import { median, type BenchRow } from './row.ts'

const run = promisify(execFile)

interface Contestant {
  name: 'by hand' | 'docker' | 'process'
  /** Milliseconds from the commit on a new branch to its first response. */
  measurePreview(round: number): Promise<number>
  /** Milliseconds from a new variable to the first response that has it. */
  measureVariable(round: number): Promise<number>
  end(): Promise<void>
}

/** Express with more than 60 installed packages: a new branch with one changed line, compared with the manual steps. */
export const benchPreview = (rounds = 3): Promise<BenchRow[]> =>
  runRounds(rounds, 'preview', (one, round) => one.measurePreview(round), { docker: 0.85, process: 0.5 }, 'git clone, docker build, docker run')

/** The same app with a new variable. Manually nothing is rebuilt, because all layers exist. */
export const benchEnv = (rounds = 3): Promise<BenchRow[]> =>
  runRounds(rounds, 'env change', (one, round) => one.measureVariable(round), {}, 'docker build, docker run')

async function runRounds(
  rounds: number,
  title: string,
  measure: (one: Contestant, round: number) => Promise<number>,
  bars: { docker?: number; process?: number },
  peer: string,
): Promise<BenchRow[]> {
  const docker = requires('docker')
  const hasCli = docker.ok && isInstalled('docker')
  const lock = await createLockedApp()
  const contestants: Contestant[] = []
  const times = new Map<string, number[]>()
  try {
    if (hasCli) contestants.push(await createManualContestant(lock))
    if (docker.ok) contestants.push(await createHomeportContestant('docker', lock))
    contestants.push(await createHomeportContestant('process', lock))
    for (let round = 1; round <= rounds; round++)
      for (const one of contestants) {
        const took = await measure(one, round)
        times.set(one.name, [...(times.get(one.name) ?? []), took])
        console.error(`  ${title} ${one.name}: ${(took / 1000).toFixed(2)} s`)
      }
  } finally {
    for (const one of contestants) await one.end()
    lock.remove()
  }
  const hand = times.get('by hand')
  return (['docker', 'process'] as const).flatMap((way): BenchRow[] => {
    const name = `${title} on ${way}`
    const ours = times.get(way)
    if (!ours) return [{ name, who: 'homeport', value: null, unit: 's', ratios: {}, note: docker.reason }]
    const value = median(ours) / 1000
    if (!hand) return [{ name, who: 'homeport', value, unit: 's', ratios: {}, note: 'the command docker is not installed: no peer' }]
    const ratio = value / (median(hand) / 1000)
    const most = bars[way]
    return [
      {
        name,
        who: 'homeport',
        value,
        unit: 's',
        ratios: { [peer]: ratio },
        ...(most === undefined ? {} : { bar: `at most ${most} x by hand`, ok: ratio <= most }),
      },
      { name, who: peer, value: median(hand) / 1000, unit: 's', ratios: {} },
    ]
  })
}

/** The app responds with GREETING and its version. */
function createPreviewAppFiles(lock: LockedApp, text: string): Record<string, string> {
  const version = createVersionMarker()
  const files = createAppFiles(lock, 'one line', 0, version)
  return { ...files, 'server.js': (files['server.js'] ?? '').replace(`'${version.now} '`, `'${text} ' + process.env.GREETING + ' '`) }
}

async function createManualContestant(lock: LockedApp): Promise<Contestant> {
  const certificates = process.env.NODE_EXTRA_CA_CERTS ?? process.env.SSL_CERT_FILE
  const isNeeded = certificates !== undefined && existsSync(certificates)
  const own = { Dockerfile: plainDockerfile(isNeeded), '.dockerignore': '.git\nnode_modules\n' }
  const repository = makeRepository({ ...createPreviewAppFiles(lock, 'main'), ...own })
  const folder = mkdtempSync(join(tmpdir(), 'homeport-bench-clone-'))
  const label = `homeport-bench-preview-${process.pid}`
  const env = { ...process.env, DOCKER_BUILDKIT: '0' }
  const images = new Set<string>()

  const serve = async (branch: string, text: string, variables: string[]): Promise<void> => {
    const clone = join(folder, `${images.size}`)
    await run('git', ['clone', '--quiet', '--depth', '1', '--branch', branch, repository.url, clone])
    if (isNeeded) copyFileSync(certificates, join(clone, 'ca.crt'))
    const tag = `${label}:${images.size}`
    images.add(tag)
    await run('docker', ['build', '--quiet', '--label', label, '--tag', tag, '.'], { cwd: clone, env, maxBuffer: 64e6 })
    const started = await run('docker', ['run', '--detach', '--label', label, ...variables, '--publish', '127.0.0.1:0:8080', tag])
    const container = started.stdout.trim()
    try {
      const port = Number((await run('docker', ['port', container, '8080'])).stdout.trim().split(':').at(-1))
      await waitForAnswer(`http://127.0.0.1:${port}`, '127.0.0.1', (response) => response.includes(text))
    } finally {
      done = performance.now()
      await run('docker', ['rm', '--force', container])
    }
  }
  let done = 0
  await serve('main', 'main', [])
  return {
    name: 'by hand',
    async measurePreview(round) {
      const begun = performance.now()
      commitToBranch(repository.folder, `branch-${round}`, { 'server.js': createPreviewAppFiles(lock, `round ${round}`)['server.js'] ?? '' })
      await serve(`branch-${round}`, `round ${round}`, [])
      return done - begun
    },
    async measureVariable(round) {
      const begun = performance.now()
      await serve('main', `greeting ${round}`, ['--env', `GREETING=greeting ${round}`])
      return done - begun
    },
    async end() {
      for (const image of images) await run('docker', ['rmi', '--force', image]).catch(() => {})
      repository.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function createHomeportContestant(way: 'docker' | 'process', lock: LockedApp): Promise<Contestant> {
  const benchInstance = await startInstance({ runtime: way })
  const { client, instance } = benchInstance
  const repository: Repository = makeRepository(createPreviewAppFiles(lock, 'main'))
  const slug = 'bench'
  await client.createProject({ slug, repo_url: repository.url, pushes: true })
  await waitForFirstCheck(client, slug)
  const first = await client.waitForEnd(slug, (await client.deploy(slug)).id)
  if (first.status !== 'ready') throw new Error(`the app failed: ${JSON.stringify(first.error)}`)
  return {
    name: way,
    async measurePreview(round) {
      const begun = performance.now()
      commitToBranch(repository.folder, `branch-${round}`, { 'server.js': createPreviewAppFiles(lock, `round ${round}`)['server.js'] ?? '' })
      await waitForAnswer(instance.edge_url, `branch-${round}--${slug}.localhost`, (text) => text.includes(`round ${round}`))
      const took = performance.now() - begun
      await waitForDeployments()
      return took
    },
    async measureVariable(round) {
      const begun = performance.now()
      await client.api('POST', `/v1/projects/${slug}/env-vars`, { key: 'GREETING', value: `greeting ${round}` })
      await waitForAnswer(instance.edge_url, `${slug}.localhost`, (text) => text.includes(`greeting ${round}`))
      const took = performance.now() - begun
      await waitForDeployments()
      const { body } = await client.api<{ env_vars: { id: string }[] }>('GET', `/v1/projects/${slug}/env-vars`)
      for (const { id } of body.env_vars) await client.api('DELETE', `/v1/projects/${slug}/env-vars/${id}`)
      await waitForDeployments()
      return took
    },
    async end() {
      await client.api('DELETE', `/v1/projects/${slug}`)
      const { body } = await client.api<{ user: { id: string } }>('GET', '/instance/session')
      await benchInstance.remove()
      if (way === 'docker') await createDockerView(instanceIdOf(body.user.id)).removeAll()
      repository.remove()
    },
  }

  /** Waits until nothing is running, so that the next measure is undisturbed. */
  async function waitForDeployments(): Promise<void> {
    const { body } = await client.api<{ deployments: { id: string; status: string }[] }>('GET', `/v1/projects/${slug}/deployments?limit=5`)
    for (const { id } of body.deployments) await client.waitForEnd(slug, id)
  }
}
