import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { makeRepository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { startInstance } from './instance.ts'
import type { BenchRow } from './row.ts'

const requestsPerSecond = 200
const warmup_ms = 1_000

/**
 * The delay of the platform's event loop, as reported by `/healthz` since the start, under 200 API requests a second and consecutive
 * builds that install, print 20 000 lines and start.
 */
export async function benchEventLoop(options: { seconds?: number } = {}): Promise<BenchRow[]> {
  const seconds = options.seconds ?? 20
  const instance = await startInstance({ runtime: 'process' })
  const { client } = instance
  // 20 000 lines in about five seconds.
  const printer =
    "let n = 0; const timer = setInterval(() => { for (let i = 0; i < 40; i++) console.log('line ' + ++n + ' of a build that prints'); if (n >= 20000) clearInterval(timer) }, 10)"
  const repository = makeRepository({
    'package.json': JSON.stringify({
      name: 'steady',
      private: true,
      scripts: { build: `node -e "${printer}"`, start: 'node server.js' },
      dependencies: { ms: '2.1.3' },
    }),
    'server.js': "require('http').createServer((q, r) => r.end('ok')).listen(process.env.PORT, '0.0.0.0')",
  })
  try {
    await client.createProject({ slug: 'steady', repo_url: repository.url })
    await client.waitForEnd('steady', (await client.deploy('steady')).id)
    await delay(warmup_ms)
    const endsAt = performance.now() + seconds * 1000
    let sent = 0
    let builds = 0
    const ended = async (id: string) => {
      const { body } = await client.api<{ deployments: { id: string; status: string }[] }>('GET', '/v1/projects/steady/deployments?limit=1')
      const status = body.deployments.find((one) => one.id === id)?.status
      if (status === 'failed' || status === 'canceled') throw new Error(`${id} ended as ${status}`)
      return status === 'ready' ? true : undefined
    }
    const build = async () => {
      while (performance.now() < endsAt) {
        const { id } = await client.deploy('steady')
        await until(() => ended(id), { what: `the end of ${id}`, every_ms: 250 })
        builds++
      }
    }
    const paths = ['/v1/projects', '/v1/projects/steady', '/v1/projects/steady/deployments']
    const sendRequests = async () => {
      const pending = new Set<Promise<unknown>>()
      const begun = performance.now()
      while (performance.now() < endsAt) {
        const due = ((performance.now() - begun) / 1000) * requestsPerSecond
        for (; sent < due; sent++) {
          const one = client.api('GET', paths[sent % paths.length] ?? '').finally(() => pending.delete(one))
          pending.add(one)
        }
        await delay(5)
      }
      await Promise.all(pending)
    }
    const idleNode = startIdleNode()
    await Promise.all([build(), sendRequests()])
    const machine = await idleNode.end()
    const { body } = await client.api<{ checks: Record<string, string> }>('GET', '/healthz')
    const p99 = Number(body.checks.event_loop_p99_ms)
    const longest = Number(body.checks.event_loop_longest_ms)
    const load = `${Math.round(sent / seconds)} req/s, ${builds} builds`
    const row = (what: string, ours: number, theirs: number, most: number): BenchRow[] => [
      {
        name: `event loop delay, ${what}`,
        who: 'homeport',
        value: ours,
        unit: 'ms',
        ratios: { 'idle node': ours / theirs },
        // The delay of an idle process is that of the machine, not of the platform.
        bar: `under ${most} ms over an idle Node at the same time`,
        ok: ours - theirs < most,
        note: load,
      },
      { name: `event loop delay, ${what}`, who: 'idle node', value: theirs, unit: 'ms', ratios: {} },
    ]
    return [...row('p99', p99, machine.p99, 20), ...row('longest', longest, machine.longest, 50)]
  } finally {
    await instance.remove()
    repository.remove()
  }
}

const idleScript = `
const { monitorEventLoopDelay } = require('node:perf_hooks')
const loop = monitorEventLoopDelay({ resolution: 10 })
loop.enable()
setInterval(() => {}, 1000)
process.on('SIGTERM', () => { console.log(JSON.stringify({ p99: loop.percentile(99) / 1e6, longest: loop.max / 1e6 })); process.exit() })
`

/** A process that only measures the delay of its own event loop, as the platform does. */
function startIdleNode(): { end(): Promise<{ p99: number; longest: number }> } {
  const child = spawn(process.execPath, ['--eval', idleScript], { stdio: ['ignore', 'pipe', 'inherit'] })
  return {
    async end() {
      const printed = once(child.stdout, 'data')
      child.kill('SIGTERM')
      return JSON.parse(String((await printed)[0])) as { p99: number; longest: number }
    },
  }
}
