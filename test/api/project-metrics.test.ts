import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { allOperations } from '../../server/contract/index.ts'
import { historyBuckets } from '../../server/contract/metrics-ranges.ts'
import type { MetricsHistory } from '../../server/contract/project-metrics.ts'
import type { LoggedRequest } from '../../server/contract/requests.ts'
import type { CallOutput } from '../../server/client/operation-types.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { createApiContext, expectError, issuePaths, type ApiContext } from './api-context.ts'

let context: ApiContext
let repository: Repository
let deployment_id: string
beforeAll(async () => {
  // Not the platform of the other files, because these tests move its clock by hours.
  context = await createApiContext({ runtime: 'process', ahead_ms: 0 })
  repository = makeRepository({
    'package.json': JSON.stringify({ name: 'charted', private: true, scripts: { start: 'node server.js' } }),
    'server.js': `require('node:http').createServer((request, response) => {
      response.writeHead(request.url.includes('broken') ? 500 : 200, { 'cache-control': 'no-store' })
      response.end('x'.repeat(100))
    }).listen(process.env.PORT, '127.0.0.1')`,
  })
  await context.platform.createProject({ slug: 'charted', repo_url: repository.url })
  deployment_id = (await context.platform.deploy('charted')).id
  await context.platform.waitForEnd('charted', deployment_id)
})
afterAll(async () => {
  await context.close()
  repository.remove()
})

const strict = (allOperations.getProjectMetrics.success.json as z.ZodObject).strict()
async function read(query = '', slug = 'charted'): Promise<MetricsHistory> {
  const response = await context.request('owner', 'GET', `/instance/projects/${slug}/metrics${query}`)
  expect(response.status).toBe(200)
  return strict.parse(response.body) as MetricsHistory
}
const fetchPath = (path: string) => context.platform.fetchEdge('charted.localhost', path)
async function listRoutes(query = ''): Promise<CallOutput<'listRoutes'>> {
  const response = await context.request('owner', 'GET', `/instance/projects/charted/routes${query}`)
  expect(response.status).toBe(200)
  return response.body as never
}

describe('GET /instance/projects/{slug}/metrics', () => {
  test('a project without data has the whole range that was asked for, and nothing in it', async () => {
    await context.platform.createProject({ slug: 'silent' })
    expect(await read('', 'silent')).toMatchObject({ range: 'live', first_at: null, usage: [], deployments: [], totals: { requests: 0 } })
    for (const range of ['1h', '24h', '30d'] as const)
      expect((await read(`?range=${range}`, 'silent')).buckets).toHaveLength(historyBuckets[range].count)
  })

  test('the shortest range with all data comes first, and longer ones begin with the data as well', async () => {
    await fetchPath('/')
    const first = await read()
    expect(first).toMatchObject({ range: 'live', bucket_seconds: 10 })
    const requests = first.totals.requests
    const sum = ({ buckets }: MetricsHistory) => buckets.reduce((all, bucket) => all + bucket.requests, 0)
    expect(sum(first)).toBe(requests)

    await context.platform.jump(40 * 60_000)
    await fetchPath('/')
    const later = await read()
    expect(later).toMatchObject({ range: '1h', bucket_seconds: 30, totals: { requests: requests + 1 } })
    expect(sum(later)).toBe(requests + 1)
    expect(Date.parse(later.from)).toBeLessThanOrEqual(Date.parse(first.first_at ?? ''))
    expect(Date.parse(first.first_at ?? '') - Date.parse(later.from)).toBeLessThan(60_000)
    expect(await read('?range=30d')).toMatchObject({ range: '30d', bucket_seconds: 30, buckets: { length: later.buckets.length } })
    expect(await read('?range=live')).toMatchObject({ range: 'live', bucket_seconds: 10, totals: { requests: 1 }, buckets: { length: 90 } })

    await context.platform.jump(9 * 3_600_000)
    await fetchPath('/')
    const day = await read()
    expect(day).toMatchObject({ range: '24h', bucket_seconds: 900, totals: { requests: requests + 2 } })
    expect(day.buckets.length).toBeLessThan(45)
    expect(day.buckets[0]?.requests).toBe(requests)
  })

  test('marks deployments to production', async () => {
    expect((await read('?range=24h')).deployments).toEqual([
      { id: deployment_id, trigger: 'manual', branch: 'main', commit_sha: expect.any(String), title: expect.any(String), ts: expect.any(String) },
    ])
    expect((await read('?range=live')).deployments).toEqual([])
  })

  test('CPU and memory while the app runs, and none while it sleeps', async () => {
    const samplesIn = ({ usage }: MetricsHistory) => usage[0]?.memory_mb.filter((value) => value !== null).length ?? 0
    await context.platform.advance(60_000)
    await fetchPath('/')
    const awake = await until(
      async () => {
        await context.platform.advance(10_000)
        const metrics = await read('?range=live')
        return samplesIn(metrics) >= 2 ? metrics : undefined
      },
      { what: 'two samples' },
    )
    expect(awake.usage).toHaveLength(1)
    expect(awake.usage[0]?.service).toBeNull()
    expect(Math.max(...(awake.usage[0]?.memory_mb.map((value) => value ?? 0) ?? []))).toBeGreaterThan(5)
    expect(awake.usage[0]?.cpu_percent).toHaveLength(awake.buckets.length)
    expect(awake.usage[0]?.replicas).toEqual([])

    await context.request('instance_owner', 'PATCH', '/instance/settings', { sleep_after_s: 1 })
    await until(async () => ((await context.platform.getProject('charted')).is_cold ? true : undefined), { what: 'the app to sleep' })
    const before = samplesIn(await read('?range=live'))
    for (let round = 0; round < 3; round++) await context.platform.advance(10_000)
    expect(samplesIn(await read('?range=live'))).toBeLessThanOrEqual(before)
    await context.request('instance_owner', 'PATCH', '/instance/settings', { sleep_after_s: 900 })
  })

  test('each replica, while there are several', async () => {
    await context.request('owner', 'PATCH', '/instance/projects/charted/settings', { replicas: 2 })
    const samplesOf = (values: readonly (number | null)[] = []) => values.filter((value) => value !== null)
    await fetchPath('/')
    const { usage } = await until(
      async () => {
        await context.platform.advance(10_000)
        const metrics = await read('?range=live')
        return samplesOf(metrics.usage[0]?.replicas[1]?.memory_mb).length >= 2 ? metrics : undefined
      },
      { what: 'samples of the second replica' },
    )
    const [one, two] = usage[0]?.replicas ?? []
    expect(usage[0]?.replicas.map(({ replica }) => replica)).toEqual([1, 2])
    const bucket = two?.memory_mb.findIndex((value) => value !== null) ?? -1
    expect(usage[0]?.memory_mb[bucket]).toBeCloseTo((one?.memory_mb[bucket] ?? 0) + (two?.memory_mb[bucket] ?? 0), 3)
    await context.request('owner', 'PATCH', '/instance/projects/charted/settings', { replicas: 1 })
  })

  test('400 for another range, 404 for another person', async () => {
    const response = await context.request('owner', 'GET', '/instance/projects/charted/metrics?range=2h')
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual(['range'])
    expectError(await context.request('stranger', 'GET', '/instance/projects/charted/metrics'), 404, 'project_not_found')
  })
})

describe('GET /instance/projects/{slug}/routes', () => {
  test('sums up the requests of each route, which filters the request log', async () => {
    for (let id = 0; id < 7; id++) await fetchPath(`/users/${id}`)
    for (let id = 0; id < 3; id++) await fetchPath(`/users/${id}/broken`)
    await fetchPath('/users')
    const routes = await until(
      async () => {
        const found = await listRoutes('?range=live&sort=requests')
        return found.routes.some(({ route }) => route === '/users') ? found : undefined
      },
      { what: 'the last request' },
    )
    const byRoute = new Map(routes.routes.map((route) => [route.route, route]))
    expect(routes).toMatchObject({ range: 'live', other: null, skipped: 0, is_recording: true })
    expect(routes.routes[0]).toMatchObject({ method: 'GET', route: '/users/:id', requests: 7, errors: 0, error_rate: 0, bytes: 700 })
    expect(byRoute.get('/users/:id/broken')).toMatchObject({ requests: 3, errors: 3, error_rate: 1 })
    expect(byRoute.get('/users')).toMatchObject({ requests: 1 })
    for (const { p50_ms, p95_ms, p99_ms } of routes.routes) expect(p50_ms > 0 && p50_ms <= p95_ms && p95_ms <= p99_ms).toBe(true)

    expect((await listRoutes('?range=live&sort=errors')).routes[0]?.route).toBe('/users/:id/broken')
    const slowest = (await listRoutes('?range=live')).routes.map(({ p95_ms }) => p95_ms)
    expect(slowest).toEqual(slowest.toSorted((a, b) => b - a))

    const { body } = await context.request('owner', 'GET', `/instance/projects/charted/requests?route=${encodeURIComponent('/users/:id')}`)
    expect((body.requests as LoggedRequest[]).map(({ path }) => path)).toEqual([6, 5, 4, 3, 2, 1, 0].map((id) => `/users/${id}`))
    const plain = await context.request('owner', 'GET', '/instance/projects/charted/requests?route=/users')
    expect((plain.body.requests as LoggedRequest[]).map(({ path }) => path)).toEqual(['/users'])
  })

  test('the number of routes is bounded', async () => {
    const names = Array.from({ length: 130 }, (_, i) => String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26)))
    for (const name of names) await fetchPath(`/page-${name}`)
    const found = await until(
      async () => ((routes) => ((routes.other?.routes ?? 0) > 29 ? routes : undefined))(await listRoutes('?range=live&sort=requests')),
      { what: 'all routes' },
    )
    expect(found.routes).toHaveLength(100)
    expect(found.other?.requests).toBe(found.other?.routes)
  })
})
