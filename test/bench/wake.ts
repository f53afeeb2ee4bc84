import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Docker from 'dockerode'
import { requestEdge } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { dockerSocket, requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { printRows } from './compare.ts'
import { startInstance } from './instance.ts'
import { median, type BenchRow } from './row.ts'

const run = promisify(execFile)

const source = "require('http').createServer((q, r) => r.end('ok')).listen(process.env.PORT, '0.0.0.0')"
type SleepState = 'frozen' | 'stopped'
const sleepStates: SleepState[] = ['frozen', 'stopped']
/** The maximum overhead of waking through the platform over the plain Docker command. */
const bars: Record<SleepState, number> = { frozen: 15, stopped: 40 }

interface SleepingApp {
  putToSleep(depth: SleepState): Promise<void>
  /** Until the first 200. */
  wake(depth: SleepState): Promise<void>
  end(): Promise<void>
}

/** From a request to a sleeping app to its 200, compared with `docker unpause` and `docker start` (or SIGCONT and a spawn) of the same app. */
export async function benchWake(options: { rounds?: number; only?: 'docker' | 'process' } = {}): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const runtime of ['process', 'docker'] as const) {
    if (options.only !== undefined && options.only !== runtime) continue
    const { ok, reason } = runtime === 'docker' ? requires('docker') : { ok: true, reason: '' }
    if (ok) rows.push(...(await benchRuntime(runtime, options.rounds ?? 5)))
    else rows.push({ name: `wake on ${runtime}`, who: 'homeport', value: null, unit: 'ms', ratios: {}, note: reason })
  }
  return rows
}

async function benchRuntime(runtime: 'docker' | 'process', rounds: number): Promise<BenchRow[]> {
  const sleepers: Record<string, SleepingApp> = { homeport: await startOnHomeport(runtime) }
  try {
    sleepers['by hand'] = await (runtime === 'docker' ? startContainer() : startProcess())
    const took = new Map<string, number[]>()
    for (let round = 0; round < rounds; round++) {
      for (const depth of sleepStates) {
        for (const [who, sleeper] of Object.entries(sleepers)) {
          await sleeper.putToSleep(depth)
          const begun = performance.now()
          await sleeper.wake(depth)
          took.set(`${who} ${depth}`, [...(took.get(`${who} ${depth}`) ?? []), performance.now() - begun])
        }
      }
    }
    return sleepStates.flatMap((depth): BenchRow[] => {
      const name = `wake on ${runtime}, ${depth}`
      const [ours, theirs] = ['homeport', 'by hand'].map((who) => median(took.get(`${who} ${depth}`) ?? [])) as [number, number]
      return [
        {
          name,
          who: 'homeport',
          value: ours,
          unit: 'ms',
          ratios: { 'by hand': ours / theirs },
          ...(runtime === 'docker' ? { bar: `at most ${bars[depth]} ms over by hand`, ok: ours - theirs <= bars[depth] } : {}),
        },
        { name, who: 'by hand', value: theirs, unit: 'ms', ratios: {} },
      ]
    })
  } finally {
    for (const sleeper of Object.values(sleepers)) await sleeper.end()
  }
}

async function startOnHomeport(runtime: 'docker' | 'process'): Promise<SleepingApp> {
  const instance = await startInstance({ runtime })
  const repository = makeRepository({
    'package.json': JSON.stringify({ name: 'sleeper', private: true, scripts: { start: 'node server.js' } }),
    'server.js': source,
  })
  const { client } = instance
  await client.createProject({ slug: 'sleeper', repo_url: repository.url })
  const { status } = await client.waitForEnd('sleeper', (await client.deploy('sleeper')).id)
  if (status !== 'ready') throw new Error(`the app that shall sleep ended as ${status}`)
  return {
    async putToSleep(depth) {
      await client.api('PATCH', '/instance/settings', { sleep_after_s: 1, frozen_for_s: depth === 'frozen' ? 3600 : 0 })
      await until(async () => ((await client.getProject('sleeper')).is_cold ? true : undefined), { what: 'the app to sleep', every_ms: 50 })
      // The row changes before the engine is done, and the engine then reads its memory, which is short for a sleep.
      await new Promise((resolve) => setTimeout(resolve, 3_000))
    },
    async wake() {
      const { status: answered } = await requestEdge(instance.instance.edge_url, 'sleeper.localhost')
      if (answered !== 200) throw new Error(`a request to the sleeping app was answered ${answered}`)
    },
    async end() {
      await client.api('DELETE', '/v1/projects/sleeper')
      await instance.remove()
      repository.remove()
    },
  }
}

async function startContainer(): Promise<SleepingApp> {
  const docker = new Docker({ socketPath: dockerSocket })
  const port = await freePort()
  const made = await docker.createContainer({
    Image: 'node:24-bookworm-slim',
    Cmd: ['node', '--eval', source],
    Env: ['PORT=8080'],
    ExposedPorts: { '8080/tcp': {} },
    HostConfig: { Init: true, Memory: 512 * 2 ** 20, PortBindings: { '8080/tcp': [{ HostIp: '127.0.0.1', HostPort: String(port) }] } },
  })
  await made.start()
  await waitForOk(port)
  return {
    putToSleep: async (depth) => void (await (depth === 'frozen' ? made.pause() : made.stop({ t: 1 }))),
    async wake(depth) {
      await run('docker', [depth === 'frozen' ? 'unpause' : 'start', made.id])
      await waitForOk(port)
    },
    end: async () => void (await made.remove({ force: true })),
  }
}

async function startProcess(): Promise<SleepingApp> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-bench-wake-'))
  writeFileSync(join(folder, 'server.js'), source)
  const port = await freePort()
  const start = async (): Promise<ChildProcess> => {
    const started = spawn(process.execPath, ['server.js'], { cwd: folder, stdio: 'ignore', env: { ...process.env, PORT: String(port) } })
    await waitForOk(port)
    return started
  }
  let running = await start()
  const end = async (): Promise<void> => {
    const gone = once(running, 'exit')
    running.kill('SIGKILL')
    await gone
  }
  return {
    putToSleep: async (depth) => void (depth === 'frozen' ? running.kill('SIGSTOP') : await end()),
    async wake(depth) {
      if (depth === 'stopped') return void (running = await start())
      running.kill('SIGCONT')
      await waitForOk(port)
    },
    async end() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Retries until there is a 200. */
async function waitForOk(port: number): Promise<void> {
  await until(
    async () => {
      const response = await requestEdge(`http://127.0.0.1:${port}`, 'localhost').catch(() => undefined)
      return response?.status === 200 ? true : undefined
    },
    { what: `an answer on port ${port}`, every_ms: 2 },
  )
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

// `node test/bench/wake.ts [ROUNDS] [docker|process]`
if (import.meta.main) {
  const [, , rounds = '5', only] = process.argv
  printRows(await benchWake({ rounds: Number(rounds), ...(only === 'docker' || only === 'process' ? { only } : {}) }))
}
