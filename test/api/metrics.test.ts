import Sqlite from 'better-sqlite3'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { metrics as metricsSchema, metricsBuckets, type Metrics, type MetricsRange } from '../../server/contract/metrics.ts'
import { newFolder } from '../support/instance-process.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { expectRefusal, faults, startWorld, type Who, type World } from './world.ts'

const app = `
const http = require('node:http')
http.createServer((request, response) => {
  const status = Number(request.url.slice(1)) || 200
  response.writeHead(status, { 'cache-control': 'no-store' })
  response.end(status === 204 || status === 304 ? undefined : 'x'.repeat(100))
}).listen(process.env.PORT, '0.0.0.0')
`
/** Fields of the contract and no others. */
const exactly = (metricsSchema as z.ZodObject).strict()

let world: World
let repository: Repository
beforeAll(async () => {
  world = await startWorld()
  repository = makeRepository({
    'package.json': JSON.stringify({ name: 'counted', private: true, scripts: { start: 'node server.js' } }),
    'server.js': app,
  })
  await world.home.createProject({ slug: 'counted', repo_url: repository.url })
  await world.home.ended('counted', (await world.home.deploy('counted')).id)
})
afterAll(async () => {
  await world.close()
  repository.remove()
})

async function read(slug: string, range?: MetricsRange): Promise<Metrics> {
  const answer = await world.ask('owner', 'GET', `/v1/projects/${slug}/metrics${range ? `?range=${range}` : ''}`)
  expect(answer.status).toBe(200)
  return exactly.parse(answer.body) as Metrics
}
/** So many requests, one after the other by twenty at once. */
async function visitTimes(times: number, slug: string, path = '/'): Promise<void> {
  let left = times
  const one = async () => {
    while (left-- > 0) await world.home.edge(`${slug}.localhost`, path)
  }
  await Promise.all(Array.from({ length: 20 }, one))
}

describe('GET /v1/projects/{slug}/metrics', () => {
  test('200 with every request in it at once, to the very last', async () => {
    const before = await read('counted')
    await visitTimes(41, 'counted')
    const after = await read('counted')
    expect(after.totals.requests - before.totals.requests).toBe(41)
    expect(after.totals.bytes_out - before.totals.bytes_out).toBe(4_100)
    expect(after.buckets.reduce((sum, bucket) => sum + bucket.requests, 0)).toBe(after.totals.requests)
    await visitTimes(1, 'counted')
    expect((await read('counted')).totals.requests - after.totals.requests).toBe(1)
  })

  test('status classes, errors and durations are those of the requests', async () => {
    const before = await read('counted')
    for (const [status, times] of [
      [201, 3],
      [302, 4],
      [404, 5],
      [500, 6],
      [503, 7],
    ] as const)
      await visitTimes(times, 'counted', `/${status}`)
    const { totals, buckets } = await read('counted')
    const sum = (name: 'status_2xx' | 'status_3xx' | 'status_4xx' | 'status_5xx', of: Metrics) =>
      of.buckets.reduce((all, bucket) => all + bucket[name], 0)
    const risen = (['status_2xx', 'status_3xx', 'status_4xx', 'status_5xx'] as const).map(
      (name) => sum(name, { ...before, buckets }) - sum(name, before),
    )
    expect(risen).toEqual([3, 4, 5, 13])
    expect(totals.errors - before.totals.errors).toBe(13)
    expect(totals.error_rate).toBeCloseTo(totals.errors / totals.requests, 12)
    expect(totals.p50_ms).toBeGreaterThan(0)
    expect(totals.p95_ms).toBeGreaterThanOrEqual(totals.p50_ms ?? 0)
    expect(totals.p99_ms).toBeGreaterThanOrEqual(totals.p95_ms ?? 0)
    const last = buckets.findLast((bucket) => bucket.requests > 0)
    expect(last?.p50_ms).toBeGreaterThan(0)
  })

  test.each(['24h', '7d', '30d'] as const)('every bucket of %s, on whole times, the one under way last', async (range) => {
    const { count, seconds } = metricsBuckets[range]
    const asked = await world.home.now()
    const answer = await read('counted', range)
    expect(answer).toMatchObject({ range, bucket_seconds: seconds })
    expect(answer.buckets).toHaveLength(count)
    const times = answer.buckets.map((bucket) => Date.parse(bucket.ts) / 1000)
    expect(times).toEqual(times.map((_, i) => times[0]! + i * seconds))
    expect(times[0]! % seconds).toBe(0)
    expect(Date.parse(answer.from) / 1000).toBe(times[0])
    expect(Date.parse(answer.to) / 1000).toBe(times.at(-1)! + seconds)
    expect(Date.parse(answer.to)).toBeGreaterThan(asked)
    expect(times.at(-1)! * 1000).toBeLessThanOrEqual(await world.home.now())
    expect(answer.totals.requests).toBeGreaterThan(41)
    expect(answer.totals.requests).toBe((await read('counted')).totals.requests)
    for (const bucket of answer.buckets) expect(bucket.p50_ms === null).toBe(bucket.requests === 0)
  })

  test('what the app uses now; nothing for one that does not run', async () => {
    // Who asks first waits for it only so long.
    const resources = await until(async () => (await read('counted')).resources ?? undefined, { what: 'a look at the app' })
    expect(resources).toEqual({ cpu_percent: expect.any(Number), memory_mb: expect.any(Number), memory_limit_mb: 512 })
    expect(resources.memory_mb).toBeGreaterThan(5)
    await world.home.createProject({ slug: 'never-ran' })
    expect((await read('never-ran')).resources).toBeNull()
  })

  test('of a project without traffic all is zero or unknown', async () => {
    await world.home.createProject({ slug: 'quiet-one' })
    const answer = await read('quiet-one', '30d')
    expect(answer.totals).toEqual({ requests: 0, errors: 0, error_rate: 0, bytes_out: 0, p50_ms: null, p95_ms: null, p99_ms: null })
    expect(answer.cold_starts).toEqual({ count: 0, p50_ms: null, p95_ms: null, last_at: null })
    expect(answer.cache).toEqual({ hits: 0, misses: 0, bypass: 0, hit_ratio: null, objects: 0, bytes: 0 })
  })

  test('pages in place of an app count too, for their project alone', async () => {
    await world.home.createProject({ slug: 'empty-one' })
    const before = (await read('counted')).totals.requests
    await visitTimes(5, 'empty-one')
    expect(await read('empty-one')).toMatchObject({ totals: { requests: 5, errors: 0 }, cache: { hits: 0, misses: 0, bypass: 0 } })
    expect((await read('counted')).totals.requests).toBe(before)
  })

  test('the setting `metrics` turns it off and on at once', async () => {
    const before = (await read('counted')).totals.requests
    await world.ask('instance_owner', 'PATCH', '/instance/settings', { metrics: false })
    await visitTimes(10, 'counted')
    expect((await read('counted')).totals.requests).toBe(before)
    await world.ask('instance_owner', 'PATCH', '/instance/settings', { metrics: true })
    await visitTimes(2, 'counted')
    expect((await read('counted')).totals.requests).toBe(before + 2)
  })

  test('a cold start once, however many wait for it; an app that sleeps uses nothing', async () => {
    const before = await read('counted')
    await world.ask('instance_owner', 'PATCH', '/instance/settings', { sleep_after_s: 1 })
    await until(async () => ((await world.home.project('counted')).is_cold ? true : undefined), { what: 'counted to sleep' })
    expect((await read('counted')).resources).toBeNull()
    await world.ask('instance_owner', 'PATCH', '/instance/settings', { sleep_after_s: 900 })
    const woken = await world.home.now()
    await visitTimes(30, 'counted')
    const { cold_starts, totals, buckets } = await until(
      async () => {
        const answer = await read('counted')
        return answer.cold_starts.count > before.cold_starts.count ? answer : undefined
      },
      { what: 'the cold start to be counted' },
    )
    expect(cold_starts.count).toBe(before.cold_starts.count + 1)
    expect(buckets.reduce((sum, bucket) => sum + bucket.cold_starts, 0)).toBe(cold_starts.count)
    expect(cold_starts.p50_ms).toBeGreaterThan(0)
    expect(cold_starts.p95_ms).toBeGreaterThanOrEqual(cold_starts.p50_ms ?? 0)
    expect(Date.parse(cold_starts.last_at ?? '')).toBeGreaterThanOrEqual(woken)
    expect(totals.requests).toBe(before.totals.requests + 30)
  })

  test.each(['1h', '', '24H', '24h&range=7d'])('400 for the range “%s”', async (range) => {
    const answer = await world.ask('owner', 'GET', `/v1/projects/counted/metrics?range=${range}`)
    expectRefusal(answer, 400, 'invalid_input')
    expect(faults(answer)).toEqual(['range'])
  })
})

describe('GET /instance/sparklines', () => {
  const lines = async (who: Who) =>
    (await world.ask(who, 'GET', '/instance/sparklines')).body as { from: string; projects: { slug: string; requests: number[] }[] }

  test('requests by hour of the projects that I may see and that had any', async () => {
    await visitTimes(3, 'counted')
    // That a project was asked for is noted within a second.
    const { from, projects } = await until(
      async () => {
        const answer = await lines('owner')
        return answer.projects.some((one) => one.slug === 'counted') ? answer : undefined
      },
      { what: 'a line for counted' },
    )
    expect(Date.parse(from) % 3_600_000).toBe(0)
    const line = projects.find((one) => one.slug === 'counted')
    expect(line?.requests).toHaveLength(24)
    expect(line?.requests.reduce((sum, count) => sum + count, 0)).toBe((await read('counted')).totals.requests)
    expect(projects.map((one) => one.slug)).not.toContain('quiet-one')
    expect((await lines('member')).projects.map((one) => one.slug)).toContain('counted')
    expect((await lines('stranger')).projects).toEqual([])
  })
})

/** Requests that stand in the file, as another process sees it. */
function writtenIn(folder: string): number {
  const db = new Sqlite(join(folder, 'metrics.db'), { readonly: true })
  try {
    return db.prepare<[], { n: number }>('SELECT coalesce(sum(requests), 0) AS n FROM buckets').get()?.n ?? 0
  } finally {
    db.close()
  }
}

describe('metrics and time', () => {
  test('a restart loses nothing, SIGKILL at most what was not written yet, and a project takes its numbers with it', async () => {
    const folder = newFolder('metrics')
    const written = () => writtenIn(folder.path)
    const start = () => startTestPlatform({ runtime: 'process', data_dir: folder.path })
    const visit = async (home: TestPlatform, times: number) => {
      for (let i = 0; i < times; i++) await home.edge('lasting.localhost')
    }
    const counted = async (home: TestPlatform) => (await home.api<Metrics>('GET', '/v1/projects/lasting/metrics')).body.totals.requests

    let home = await start()
    await home.createProject({ slug: 'lasting' })
    await visit(home, 21)
    await home.platform.stop()
    expect(written()).toBe(21)

    home = await start()
    await visit(home, 20)
    // Nobody asks: it is written down by itself.
    await home.advance(2_000)
    await until(() => (written() === 41 ? true : undefined), { what: '41 requests to be written down' })
    await visit(home, 10)
    await home.kill()
    const kept = written()
    expect(kept).toBeGreaterThanOrEqual(41)
    expect(kept).toBeLessThanOrEqual(51)

    home = await start()
    expect(await counted(home)).toBe(kept)
    await visit(home, 2)
    expect(await counted(home)).toBe(kept + 2)
    await home.api('DELETE', '/v1/projects/lasting')
    await until(() => (written() === 0 ? true : undefined), { what: 'the numbers of the project to go' })
    await home.remove()
    folder.remove()
  })
})
