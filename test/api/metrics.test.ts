import Sqlite from 'better-sqlite3'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import type { z } from 'zod'
import { metrics as metricsSchema, type Metrics, type MetricsRange } from '../../server/contract/metrics.ts'
import { metricsBuckets } from '../../server/contract/metrics-ranges.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { expectError, issuePaths, createApiContext, type Caller, type ApiContext } from './api-context.ts'

const app = `
const http = require('node:http')
http.createServer((request, response) => {
  const status = Number(request.url.slice(1)) || 200
  response.writeHead(status, { 'cache-control': 'no-store' })
  response.end(status === 204 || status === 304 ? undefined : 'x'.repeat(100))
}).listen(process.env.PORT, '0.0.0.0')
`
/** Exactly the fields of the contract. */
const exactly = (metricsSchema as z.ZodObject).strict()

let context: ApiContext
let repository: Repository
beforeAll(async () => {
  context = await createApiContext()
  repository = makeRepository({
    'package.json': JSON.stringify({ name: 'counted', private: true, scripts: { start: 'node server.js' } }),
    'server.js': app,
  })
  await context.platform.createProject({ slug: 'counted', repo_url: repository.url })
  await context.platform.waitForEnd('counted', (await context.platform.deploy('counted')).id)
})
afterAll(async () => {
  await context.close()
  repository.remove()
})

async function read(slug: string, range?: MetricsRange): Promise<Metrics> {
  const response = await context.request('owner', 'GET', `/v1/projects/${slug}/metrics${range ? `?range=${range}` : ''}`)
  expect(response.status).toBe(200)
  return exactly.parse(response.body) as Metrics
}
/** Sends a number of requests, twenty at a time. */
async function sendRequests(times: number, slug: string, path = '/'): Promise<void> {
  let left = times
  const one = async () => {
    while (left-- > 0) await context.platform.fetchEdge(`${slug}.localhost`, path)
  }
  await Promise.all(Array.from({ length: 20 }, one))
}

describe('GET /v1/projects/{slug}/metrics', () => {
  test('200 with every request counted at once', async () => {
    const before = await read('counted')
    await sendRequests(41, 'counted')
    const after = await read('counted')
    expect(after.totals.requests - before.totals.requests).toBe(41)
    expect(after.totals.bytes_out - before.totals.bytes_out).toBe(4_100)
    expect(after.buckets.reduce((sum, bucket) => sum + bucket.requests, 0)).toBe(after.totals.requests)
    await sendRequests(1, 'counted')
    expect((await read('counted')).totals.requests - after.totals.requests).toBe(1)
  })

  test('counts status classes, errors and durations', async () => {
    const before = await read('counted')
    for (const [status, times] of [
      [201, 3],
      [302, 4],
      [404, 5],
      [500, 6],
      [503, 7],
    ] as const)
      await sendRequests(times, 'counted', `/${status}`)
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

  test.each(['24h', '7d', '30d'] as const)('returns every bucket of %s, aligned to whole intervals, with the current one last', async (range) => {
    const { count, seconds } = metricsBuckets[range]
    const requestedAt = await context.platform.now()
    const response = await read('counted', range)
    expect(response).toMatchObject({ range, bucket_seconds: seconds })
    expect(response.buckets).toHaveLength(count)
    const times = response.buckets.map((bucket) => Date.parse(bucket.ts) / 1000)
    expect(times).toEqual(times.map((_, i) => times[0]! + i * seconds))
    expect(times[0]! % seconds).toBe(0)
    expect(Date.parse(response.from) / 1000).toBe(times[0])
    expect(Date.parse(response.to) / 1000).toBe(times.at(-1)! + seconds)
    expect(Date.parse(response.to)).toBeGreaterThan(requestedAt)
    expect(times.at(-1)! * 1000).toBeLessThanOrEqual(await context.platform.now())
    expect(response.totals.requests).toBeGreaterThan(41)
    expect(response.totals.requests).toBe((await read('counted')).totals.requests)
    for (const bucket of response.buckets) expect(bucket.p50_ms === null).toBe(bucket.requests === 0)
  })

  test('reports current resource usage, and none for an app that does not run', async () => {
    // The first request waits for the sample only so long.
    const resources = await until(async () => (await read('counted')).resources ?? undefined, { what: 'a look at the app' })
    expect(resources).toEqual({ cpu_percent: expect.any(Number), memory_mb: expect.any(Number), memory_limit_mb: 512 })
    expect(resources.memory_mb).toBeGreaterThan(5)
    await context.platform.createProject({ slug: 'never-ran' })
    expect((await read('never-ran')).resources).toBeNull()
  })

  test('is zero or null throughout for a project without traffic', async () => {
    await context.platform.createProject({ slug: 'quiet-one' })
    const response = await read('quiet-one', '30d')
    expect(response.totals).toEqual({ requests: 0, errors: 0, error_rate: 0, bytes_out: 0, p50_ms: null, p95_ms: null, p99_ms: null })
    expect(response.cold_starts).toEqual({ count: 0, p50_ms: null, p95_ms: null, last_at: null })
    expect(response.cache).toEqual({ hits: 0, misses: 0, bypass: 0, hit_ratio: null, objects: 0, bytes: 0 })
  })

  test('platform pages served in place of an app are counted for their project only', async () => {
    await context.platform.createProject({ slug: 'empty-one' })
    const before = (await read('counted')).totals.requests
    await sendRequests(5, 'empty-one')
    expect(await read('empty-one')).toMatchObject({ totals: { requests: 5, errors: 0 }, cache: { hits: 0, misses: 0, bypass: 0 } })
    expect((await read('counted')).totals.requests).toBe(before)
  })

  test('the setting `metrics` turns counting off and on at once', async () => {
    const before = (await read('counted')).totals.requests
    await context.request('instance_owner', 'PATCH', '/instance/settings', { metrics: false })
    await sendRequests(10, 'counted')
    expect((await read('counted')).totals.requests).toBe(before)
    await context.request('instance_owner', 'PATCH', '/instance/settings', { metrics: true })
    await sendRequests(2, 'counted')
    expect((await read('counted')).totals.requests).toBe(before + 2)
  })

  test('counts a cold start once, however many requests wait for it; a sleeping app uses no resources', async () => {
    const before = await read('counted')
    await context.request('instance_owner', 'PATCH', '/instance/settings', { sleep_after_s: 1 })
    await until(async () => ((await context.platform.getProject('counted')).is_cold ? true : undefined), { what: 'counted to sleep' })
    expect((await read('counted')).resources).toBeNull()
    await context.request('instance_owner', 'PATCH', '/instance/settings', { sleep_after_s: 900 })
    const woken = await context.platform.now()
    await sendRequests(30, 'counted')
    const { cold_starts, totals, buckets } = await until(
      async () => {
        const response = await read('counted')
        return response.cold_starts.count > before.cold_starts.count ? response : undefined
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
    const response = await context.request('owner', 'GET', `/v1/projects/counted/metrics?range=${range}`)
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual(['range'])
  })
})

describe('GET /instance/sparklines', () => {
  const lines = async (who: Caller) =>
    (await context.request(who, 'GET', '/instance/sparklines')).body as { from: string; projects: { slug: string; requests: number[] }[] }

  test('requests per hour of the visible projects that had any', async () => {
    await sendRequests(3, 'counted')
    // A request to a project is recorded within a second.
    const { from, projects } = await until(
      async () => {
        const response = await lines('owner')
        return response.projects.some((one) => one.slug === 'counted') ? response : undefined
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

/** Requests stored in the file, as another process sees them. */
function writtenIn(folder: string): number {
  const db = new Sqlite(join(folder, 'metrics.db'), { readonly: true })
  try {
    return db.prepare<[], { n: number }>('SELECT coalesce(sum(requests), 0) AS n FROM buckets').get()?.n ?? 0
  } finally {
    db.close()
  }
}

fullTest('a restart loses nothing, SIGKILL loses only what was not yet written, and a deleted project takes its metrics with it', async () => {
  const folder = createTempFolder('metrics')
  const written = () => writtenIn(folder.path)
  const start = () => startTestPlatform({ runtime: 'process', data_dir: folder.path })
  const sendRequests = async (platform: TestPlatform, times: number) => {
    for (let i = 0; i < times; i++) await platform.fetchEdge('lasting.localhost')
  }
  const counted = async (platform: TestPlatform) => (await platform.api<Metrics>('GET', '/v1/projects/lasting/metrics')).body.totals.requests

  let platform = await start()
  await platform.createProject({ slug: 'lasting' })
  await sendRequests(platform, 21)
  await platform.handle.stop()
  expect(written()).toBe(21)

  platform = await start()
  await sendRequests(platform, 20)
  // Without any reads the metrics are written by themselves.
  await platform.advance(2_000)
  await until(() => (written() === 41 ? true : undefined), { what: '41 requests to be written down' })
  await sendRequests(platform, 10)
  await platform.kill()
  const kept = written()
  expect(kept).toBeGreaterThanOrEqual(41)
  expect(kept).toBeLessThanOrEqual(51)

  platform = await start()
  expect(await counted(platform)).toBe(kept)
  await sendRequests(platform, 2)
  expect(await counted(platform)).toBe(kept + 2)
  await platform.api('DELETE', '/v1/projects/lasting')
  await until(() => (written() === 0 ? true : undefined), { what: 'the numbers of the project to go' })
  await platform.remove()
  folder.remove()
})
