import { makeRepository } from '../support/repository.ts'
import { processorTime_s, measureRequests, type Measure } from './compare.ts'
import { deployApp, startInstance } from './instance.ts'
import { isInstalled } from './peers.ts'
import { median, type BenchRow } from './row.ts'

const slug = 'busy'
const app = {
  'package.json': JSON.stringify({ name: slug, private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
    const body = JSON.stringify({ text: 'x'.repeat(1000) })
    require('http')
      .createServer((request, response) => response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'public, max-age=86400' }).end(body))
      .listen(process.env.PORT, process.env.HOST)`,
}

/** Requests per second of a whole platform at cache hits, with the request log and the metrics on and off in turns, for one edge worker and for two. */
export async function benchThroughput({ rounds = 8, seconds = 5 }: { rounds?: number; seconds?: number } = {}): Promise<BenchRow[]> {
  if (!isInstalled('wrk'))
    return [{ name: 'request log and metrics on', who: 'homeport', value: null, unit: 'req/s', ratios: {}, note: 'wrk not installed' }]
  return [...(await measureWorkers(1, rounds, seconds)), ...(await measureWorkers(2, rounds, seconds))]
}

async function measureWorkers(workers: number, rounds: number, seconds: number): Promise<BenchRow[]> {
  const repository = makeRepository(app)
  const instance = await startInstance({ runtime: 'process', flags: ['--edge-workers', String(workers)] })
  try {
    await deployApp(instance, slug, repository.url)
    const measure: Measure = {
      name: `request log and metrics on, ${workers} edge workers`,
      path: '/',
      host: `${slug}.localhost`,
      connections: 64,
      unit: 'req/s',
      load: measureRequests,
      bars: {},
    }
    const peer = { port: Number(new URL(instance.instance.edge_url).port), name: 'homeport' }
    const turn = async (isOn: boolean) => {
      await instance.client.api('PATCH', '/instance/settings', { request_log: isOn, metrics: isOn })
      const before_s = processorTime_s(instance.pid)
      const { rate, count } = await measureRequests(measure, peer, seconds)
      return { rate, cost_us: ((processorTime_s(instance.pid) - before_s) * 1e6) / count }
    }
    await turn(true)
    const pairs = []
    for (let round = 0; round < rounds; round++) {
      // In both orders, so that none gains from being first.
      const first = await turn(round % 2 === 0)
      const second = await turn(round % 2 !== 0)
      pairs.push(round % 2 === 0 ? { on: first, off: second } : { on: second, off: first })
    }
    const ratios = pairs.map(({ on, off }) => on.rate / off.rate)
    const row = { name: measure.name, unit: measure.unit }
    const ratio = median(ratios)
    return [
      {
        ...row,
        who: 'homeport',
        value: median(pairs.map(({ on }) => on.rate)),
        cpu_us: median(pairs.map(({ on }) => on.cost_us)),
        ratios: { without: ratio },
        bar: 'at least 0.95 x without',
        ok: ratio >= 0.95,
        note: ratios.map((one) => one.toFixed(2)).join(' '),
      },
      { ...row, who: 'without', value: median(pairs.map(({ off }) => off.rate)), cpu_us: median(pairs.map(({ off }) => off.cost_us)), ratios: {} },
    ]
  } finally {
    await instance.remove()
    repository.remove()
  }
}

// `node test/bench/throughput.ts`
if (import.meta.main) {
  const { printRows } = await import('./compare.ts')
  printRows(await benchThroughput())
}
