import { once } from 'node:events'
import { get } from 'node:http'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '../../server/contract/limits.ts'
import type { LoggedRequest } from '../../server/contract/requests.ts'
import { newId } from '../../server/lib/id.ts'
import { openStore } from '../../server/store/store.ts'
import { readEventStream } from '../support/event-stream.ts'
import { makeRepository } from '../support/repository.ts'
import { requestRow } from '../support/request-rows.ts'
import { until } from '../support/until.ts'
import { startInstance, type BenchInstance } from './instance.ts'
import { median, type BenchRow } from './row.ts'

const count = 1_000_000
const slug = 'busy'
const host = `${slug}.localhost`
const app = {
  'package.json': JSON.stringify({ name: slug, private: true, scripts: { start: 'node server.js' } }),
  'server.js': `require('http').createServer((request, response) => response.end('ok')).listen(process.env.PORT, process.env.HOST)`,
}

/** Each is searched among the requests of one project, which is full, as are nine others. The worst find nothing, or only old requests. */
const searches: Record<string, string> = {
  'no filter': '',
  'status 5xx': 'status=5xx',
  'status nothing has': 'status=418',
  'path of many': 'path=/items/',
  'path nothing has': 'path=*/none',
  'status and path': 'status=404&path=/items/40',
  'status and path nothing has': 'status=2xx&path=*/none',
  'route of many': `route=${encodeURIComponent('/items/:id')}`,
  'route like many': `route=${encodeURIComponent('/items/:token')}`,
  'route nothing has': `route=${encodeURIComponent('/:id')}`,
  'status and route': `status=5xx&route=${encodeURIComponent('/items/:id/reviews')}`,
  'host nothing has': 'host=other.localhost',
  'slower than a minute': 'min_duration_ms=60000',
}

/** The request log of an instance with a million rows: searches, the delay of a client that follows, size on disk, and what a crash loses. */
export async function benchRequestSearch({ rounds = 15, seconds = 10 }: { rounds?: number; seconds?: number } = {}): Promise<BenchRow[]> {
  const repository = makeRepository(app)
  let instance = await startInstance({ runtime: 'process' })
  const { data } = instance
  try {
    const { id } = await instance.client.createProject({ slug, repo_url: repository.url })
    await instance.client.waitForEnd(slug, (await instance.client.deploy(slug)).id)
    await instance.stop()
    await fillRequestLog(data, id, count)
    instance = await startInstance({ runtime: 'process', data })
    await until(async () => (await instance.client.fetchEdge(host)).status === 200 || undefined, { what: 'the app' })
    return [
      ...(await measureSearches(instance, rounds)),
      ...(await measureTail(instance, seconds)),
      await measureSize(instance, seconds),
      ...(await measureCrash(instance, seconds, (started) => (instance = started))),
    ]
  } finally {
    await instance.remove()
    repository.remove()
  }
}

/** Requests that ended until now, of as many projects in turn as it takes. */
export async function fillRequestLog(data: string, projectId: string, total: number): Promise<void> {
  const store = await openStore({ data_dir: data, after_crash: false })
  const projects = [projectId, ...Array.from({ length: total / limits.request_log.rows - 1 }, () => newId('prj'))]
  const begin = Date.now() - total
  for (let n = 0; n < total; n += 1000)
    await store.requests.add(
      Array.from({ length: 1000 }, (_, i) => {
        const at = Math.floor((n + i) / projects.length)
        const status = at % 100 < 3 ? 500 : at % 100 < 13 ? 404 : 200
        const kinds = [`/items/${at}`, `/items/${at}/reviews`, `/article-${at % 9000}`, '/', `/assets/index-${(at * 7919).toString(36)}x9.js`]
        const path = kinds[at % 7] ?? `/actotal/orders/${at % 200}`
        return requestRow({ project_id: projects[(n + i) % projects.length] ?? '', id: newId('req'), status, path, host, time: begin + n + i })
      }),
    )
  await store.close()
}

const list = (instance: BenchInstance, query: string) =>
  instance.client.api<{ requests: LoggedRequest[] }>('GET', `/instance/projects/${slug}/requests?limit=50&${query}`)

async function measureSearches(instance: BenchInstance, rounds: number): Promise<BenchRow[]> {
  const readings = new Map<string, { times: number[]; found: number }>()
  for (let round = -1; round < rounds; round++)
    for (const [name, query] of Object.entries(searches)) {
      const begun = performance.now()
      const { body } = await list(instance, query)
      const elapsed_ms = performance.now() - begun
      const reading = readings.get(name) ?? { times: [], found: body.requests.length }
      readings.set(name, reading)
      // The first round warms up.
      if (round >= 0) reading.times.push(elapsed_ms)
    }
  return [...readings].map(([name, { times, found }]) => ({
    name: `request log of ${count}: ${name}`,
    who: 'homeport',
    value: median(times),
    unit: 'ms',
    ratios: {},
    bar: 'under 100 ms',
    ok: median(times) < 100,
    note: `${found} rows, at most ${Math.max(...times).toFixed(0)} ms`,
  }))
}

/** Sends a request over a connection of its own. When its response had arrived, and its ID. */
async function send(instance: BenchInstance): Promise<{ id: string; at: number }> {
  const request = get({ host: '127.0.0.1', port: new URL(instance.instance.edge_url).port, path: '/items/1', headers: { host } })
  const [response] = await once(request, 'response')
  response.resume()
  await once(response, 'end')
  return { id: String(response.headers['x-request-id']), at: performance.now() }
}

/** About fifty requests a second, each with the time from its response to its event at a client that follows. */
async function measureTail(instance: BenchInstance, seconds: number): Promise<BenchRow[]> {
  const arrivals = new Map<string, number>()
  const closing = new AbortController()
  const url = `${instance.instance.api_url}/instance/projects/${slug}/request-stream`
  const following = (async () => {
    for await (const { event, data } of readEventStream(url, { token: instance.instance.token, signal: closing.signal }))
      if (event === 'request') arrivals.set((JSON.parse(data) as LoggedRequest).id, performance.now())
  })().catch(() => {})
  await until(async () => (await send(instance), arrivals.size > 0 || undefined), { what: 'the first event' })
  const delays = async (work: () => Promise<unknown>) => {
    const sent: { id: string; at: number }[] = []
    const end = performance.now() + seconds * 1000
    const others = (async () => {
      while (performance.now() < end) await work()
    })()
    while (performance.now() < end) {
      sent.push(await send(instance))
      await delay(17)
    }
    await others
    await until(() => sent.every(({ id }) => arrivals.has(id)) || undefined, { what: 'the last event' })
    return sent.map(({ id, at }) => Math.max(0, (arrivals.get(id) ?? NaN) - at)).toSorted((a, b) => a - b)
  }
  const rows: BenchRow[] = []
  for (const [name, work] of [
    ['alone', () => delay(100)],
    ['while it is searched', () => list(instance, searches['route nothing has'] ?? '')],
  ] as const) {
    const times = await delays(work)
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN
    rows.push({
      name: `request log: tail, ${name}`,
      who: 'homeport',
      value: at(0.99),
      unit: 'ms',
      ratios: {},
      bar: '99 % within 200 ms',
      ok: at(0.99) <= 200,
      note: `median ${at(0.5).toFixed(0)} ms, at most ${at(1).toFixed(0)} ms, ${times.length} requests`,
    })
  }
  closing.abort()
  await following
  return rows
}

const sizeOf = (data: string): number =>
  ['requests.db', 'requests.db-wal'].reduce((sum, name) => sum + (statSync(join(data, name), { throwIfNoEntry: false })?.size ?? 0), 0) / 2 ** 20

/** The log is full, so that it must not grow. */
async function measureSize(instance: BenchInstance, seconds: number): Promise<BenchRow> {
  const before = sizeOf(instance.data)
  const end = performance.now() + seconds * 1000
  let sent = 0
  while (performance.now() < end) {
    await Promise.all(Array.from({ length: 16 }, () => send(instance)))
    sent += 16
  }
  await list(instance, '')
  const growth = sizeOf(instance.data) - before
  const note = `${before.toFixed(0)} MB before ${sent} more requests; at most ${limits.request_log.total_bytes / 2 ** 20} MB`
  return { name: 'request log: growth on disk', who: 'homeport', value: growth, unit: 'MB', ratios: {}, bar: 'under 32 MB', ok: growth < 32, note }
}

/** The platform is killed under load: the time from the end of the first request that is not stored. */
async function measureCrash(instance: BenchInstance, seconds: number, onStart: (started: BenchInstance) => void): Promise<BenchRow[]> {
  const losses: number[] = []
  for (let round = 0; round < 3; round++) {
    const sent: { id: string; at: number }[] = []
    let isKilled = false
    const load = (async () => {
      while (!isKilled)
        try {
          sent.push(await send(instance))
          // More than a thousand in a second are not all logged.
          await delay(3)
        } catch {
          // Killed in between.
        }
    })()
    await delay((seconds * 1000) / 3 + round * 333)
    const killedAt = performance.now()
    await instance.kill()
    isKilled = true
    await load
    instance = await startInstance({ runtime: 'process', data: instance.data })
    onStart(instance)
    const { body } = await list(instance, '')
    // They were sent one after the other.
    const firstLost = sent[sent.findIndex(({ id }) => id === body.requests[0]?.id) + 1]
    losses.push(Math.max(0, killedAt - (firstLost?.at ?? killedAt)))
    await until(async () => (await instance.client.fetchEdge(host)).status === 200 || undefined, { what: 'the app' })
  }
  const most = Math.max(...losses)
  const note = `in three crashes ${losses.map((loss) => `${loss.toFixed(0)} ms`).join(', ')}`
  return [{ name: 'request log: lost by kill -9', who: 'homeport', value: most, unit: 'ms', ratios: {}, bar: 'at most 2 s', ok: most <= 2000, note }]
}

// `node test/bench/request-log.ts`
if (import.meta.main) {
  const { printRows } = await import('./compare.ts')
  printRows(await benchRequestSearch())
}
