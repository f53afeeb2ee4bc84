import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { commitOn, watched } from '../support/branches.ts'
import { instanceIdOf, viewEngine } from '../support/docker.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { answers, byHand, filesOf, has, type Lock, makeLock, versions } from './deploy.ts'
import { startInstance } from './instance.ts'
import { median, type Row } from './row.ts'

const run = promisify(execFile)

interface Contestant {
  name: 'by hand' | 'docker' | 'process'
  /** Milliseconds from the commit on a new branch to its first answer. */
  preview(round: number): Promise<number>
  /** Milliseconds from a new variable to the first answer that knows it. */
  variable(round: number): Promise<number>
  end(): Promise<void>
}

/** Express with more than 60 packages that are installed already: a new branch with one line changed, beside what one does by hand for it. */
export const benchPreview = (rounds = 3): Promise<Row[]> =>
  play(rounds, 'preview', (one, round) => one.preview(round), { docker: 0.85, process: 0.5 }, 'git clone, docker build, docker run')

/** The same app with a new variable. By hand nothing is built anew: all layers are there. */
export const benchEnv = (rounds = 3): Promise<Row[]> =>
  play(rounds, 'env change', (one, round) => one.variable(round), {}, 'docker build, docker run')

async function play(
  rounds: number,
  title: string,
  take: (one: Contestant, round: number) => Promise<number>,
  bars: { docker?: number; process?: number },
  peer: string,
): Promise<Row[]> {
  const docker = requires('docker')
  const hasCli = docker.ok && has('docker')
  const lock = await makeLock()
  const contestants: Contestant[] = []
  const times = new Map<string, number[]>()
  try {
    if (hasCli) contestants.push(await handmade(lock))
    if (docker.ok) contestants.push(await deployed('docker', lock))
    contestants.push(await deployed('process', lock))
    for (let round = 1; round <= rounds; round++)
      for (const one of contestants) {
        const took = await take(one, round)
        times.set(one.name, [...(times.get(one.name) ?? []), took])
        console.error(`  ${title} ${one.name}: ${(took / 1000).toFixed(2)} s`)
      }
  } finally {
    for (const one of contestants) await one.end()
    lock.remove()
  }
  const hand = times.get('by hand')
  return (['docker', 'process'] as const).flatMap((way): Row[] => {
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

/** The app says what it is told by GREETING beside its version. */
function appOf(lock: Lock, text: string): Record<string, string> {
  const version = versions()
  const files = filesOf(lock, 'one line', 0, version)
  return { ...files, 'server.js': (files['server.js'] ?? '').replace(`'${version.now} '`, `'${text} ' + process.env.GREETING + ' '`) }
}

async function handmade(lock: Lock): Promise<Contestant> {
  const certificates = process.env.NODE_EXTRA_CA_CERTS ?? process.env.SSL_CERT_FILE
  const isNeeded = certificates !== undefined && existsSync(certificates)
  const own = { Dockerfile: byHand(isNeeded), '.dockerignore': '.git\nnode_modules\n' }
  const repository = makeRepository({ ...appOf(lock, 'main'), ...own })
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
      await answers(`http://127.0.0.1:${port}`, '127.0.0.1', (answer) => answer.includes(text))
    } finally {
      done = performance.now()
      await run('docker', ['rm', '--force', container])
    }
  }
  let done = 0
  await serve('main', 'main', [])
  return {
    name: 'by hand',
    async preview(round) {
      const begun = performance.now()
      commitOn(repository.folder, `branch-${round}`, { 'server.js': appOf(lock, `round ${round}`)['server.js'] ?? '' })
      await serve(`branch-${round}`, `round ${round}`, [])
      return done - begun
    },
    async variable(round) {
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

async function deployed(way: 'docker' | 'process', lock: Lock): Promise<Contestant> {
  const home = await startInstance({ runtime: way })
  const { client, instance } = home
  const repository: Repository = makeRepository(appOf(lock, 'main'))
  const slug = 'bench'
  await client.createProject({ slug, repo_url: repository.url, pushes: true })
  await watched(client, slug)
  const first = await client.ended(slug, (await client.deploy(slug)).id)
  if (first.status !== 'ready') throw new Error(`the app failed: ${JSON.stringify(first.error)}`)
  return {
    name: way,
    async preview(round) {
      const begun = performance.now()
      commitOn(repository.folder, `branch-${round}`, { 'server.js': appOf(lock, `round ${round}`)['server.js'] ?? '' })
      await answers(instance.edge_url, `branch-${round}--${slug}.localhost`, (text) => text.includes(`round ${round}`))
      const took = performance.now() - begun
      await settled()
      return took
    },
    async variable(round) {
      const begun = performance.now()
      await client.api('POST', `/v1/projects/${slug}/env-vars`, { key: 'GREETING', value: `greeting ${round}` })
      await answers(instance.edge_url, `${slug}.localhost`, (text) => text.includes(`greeting ${round}`))
      const took = performance.now() - begun
      await settled()
      const { body } = await client.api<{ env_vars: { id: string }[] }>('GET', `/v1/projects/${slug}/env-vars`)
      for (const { id } of body.env_vars) await client.api('DELETE', `/v1/projects/${slug}/env-vars/${id}`)
      await settled()
      return took
    },
    async end() {
      await client.api('DELETE', `/v1/projects/${slug}`)
      const { body } = await client.api<{ user: { id: string } }>('GET', '/instance/session')
      await home.remove()
      if (way === 'docker') await viewEngine(instanceIdOf(body.user.id)).removeAll()
      repository.remove()
    },
  }

  /** Nothing is under way: the next measure stands alone. */
  async function settled(): Promise<void> {
    const { body } = await client.api<{ deployments: { id: string; status: string }[] }>('GET', `/v1/projects/${slug}/deployments?limit=5`)
    for (const { id } of body.deployments) await client.ended(slug, id)
  }
}
