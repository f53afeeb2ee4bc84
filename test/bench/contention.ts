import { availableParallelism } from 'node:os'
import { makeRepository } from '../support/repository.ts'
import { listChildren, measureRequests, pinToCores, type Measure } from './compare.ts'
import { deployApp, startInstance } from './instance.ts'
import { isInstalled } from './peers.ts'
import { median, type BenchRow } from './row.ts'

const slug = 'busy'
const app = { 'index.html': '<!doctype html><title>busy</title>' }
const name = 'API p99 while the edge is fully loaded'

/**
 * The 99th percentile of an API request while an edge worker serves as much as it can, compared with an idle edge. The worker and the load generator have
 * one core, the platform and its client the other, so that the figure shows what the programs take from each other and not how two cores are shared.
 */
export async function benchContention({ rounds = 5, seconds = 4 }: { rounds?: number; seconds?: number } = {}): Promise<BenchRow[]> {
  const cores = availableParallelism()
  const lacking = !isInstalled('wrk') ? 'wrk not installed' : !isInstalled('taskset') || cores < 2 ? 'cannot pin to a core' : null
  if (lacking !== null) return [{ name, who: 'homeport', value: null, unit: 'ms', ratios: {}, note: lacking }]
  const repository = makeRepository(app)
  const instance = await startInstance({ runtime: 'process', flags: ['--edge-workers', '1'] })
  try {
    await deployApp(instance, slug, repository.url)
    for (const pid of [process.pid, instance.pid]) pinToCores('0', pid)
    for (const pid of listChildren(instance.pid)) pinToCores('1', pid)
    const measure: Measure = {
      name,
      path: '/',
      host: `${slug}.localhost`,
      connections: 64,
      unit: 'req/s',
      load: measureRequests,
      bars: {},
      is_pinned: true,
    }
    const peer = { port: Number(new URL(instance.instance.edge_url).port), name: 'homeport' }
    const readPercentile = async (isOver: () => boolean): Promise<number> => {
      const times: number[] = []
      while (!isOver()) {
        const began = performance.now()
        await instance.client.api('GET', '/v1/projects')
        times.push(performance.now() - began)
      }
      return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? NaN
    }
    const measureIdle = () => {
      const end = performance.now() + seconds * 1_000
      return readPercentile(() => performance.now() > end)
    }
    const rates: number[] = []
    const measureLoaded = async () => {
      let isOver = false
      const loading = measureRequests(measure, peer, seconds).finally(() => (isOver = true))
      const percentile = await readPercentile(() => isOver)
      rates.push((await loading).rate)
      return percentile
    }
    await measureLoaded()
    const idle: number[] = []
    const loaded: number[] = []
    for (let round = 0; round < rounds; round++) {
      idle.push(await measureIdle())
      loaded.push(await measureLoaded())
    }
    const ratio = median(idle) / median(loaded)
    return [
      {
        name,
        who: 'homeport',
        value: median(loaded),
        unit: 'ms',
        ratios: { idle: ratio },
        bar: 'at least 0.5 x idle',
        ok: ratio >= 0.5,
        note: `the edge served ${Math.round(median(rates))} requests/s`,
      },
      { name, who: 'idle', value: median(idle), unit: 'ms', ratios: {} },
    ]
  } finally {
    pinToCores(`0-${cores - 1}`, process.pid)
    await instance.remove()
    repository.remove()
  }
}
