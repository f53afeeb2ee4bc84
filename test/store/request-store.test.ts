import Sqlite from 'better-sqlite3'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { limits } from '../../server/contract/limits.ts'
import type { RequestRecord } from '../../server/edge/request-log.ts'
import { createRequestLog } from '../../server/edge/request-log.ts'
import { createRequestRecorder } from '../../server/features/request-recorder.ts'
import { silentLog } from '../../server/lib/log.ts'
import { newId } from '../../server/lib/id.ts'
import { toRouteTemplate } from '../../server/lib/route-template.ts'
import { traceIdOf } from '../../server/lib/trace-context.ts'
import type { RowFilters } from '../../server/store/request-store.ts'
import { createSealer } from '../../server/store/sealer.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { requestRow } from '../support/request-rows.ts'
import { fixedClock } from '../support/test-clock.ts'

const sealer = createSealer(randomBytes(32))
let folder: string
let store: Store
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-requests-'))
  store = await openStore({ data_dir: folder, after_crash: false })
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const pathsOf = (rows: { path: string }[]) => rows.map(({ path }) => path)
const newest = (project: string, filters: RowFilters = {}, limit = 1000, before = Infinity) => {
  const { from, to } = store.requests.readRange(project)
  return store.requests.list(project, filters, { from, to: Math.min(to, before), limit, order: 'desc' })
}
const all = (project = 'prj_a', filters: RowFilters = {}) => pathsOf(newest(project, filters))

describe('stored requests', () => {
  test('are listed by project, newest first, in pages', async () => {
    await store.requests.add([requestRow({ path: '/1' }), requestRow({ path: '/other', project_id: 'prj_b' }), requestRow({ path: '/2' })])
    await store.requests.add([requestRow({ path: '/3' })])
    const page = newest('prj_a', {}, 2)
    expect(pathsOf(page)).toEqual(['/3', '/2'])
    expect(pathsOf(newest('prj_a', {}, 2, page[1]!.number))).toEqual(['/1'])
    expect(pathsOf(store.requests.list('prj_a', {}, { from: 2, to: 4, limit: 10, order: 'asc' }))).toEqual(['/2', '/3'])
    expect(all('prj_b')).toEqual(['/other'])
    expect(all('prj_c')).toEqual([])
    expect(store.requests.readRange('prj_a')).toEqual({ from: 1, to: 4, last: 3 })
  })

  test('are found by any field', async () => {
    const rows = [
      requestRow({ path: '/api/users', status: 200, method: 'GET', cache: 'hit' }),
      requestRow({ path: '/api/users', status: 503, method: 'POST', duration_ms: 900, deployment_id: 'dpl_2' }),
      requestRow({
        path: '/image.png',
        query: 'Size=2',
        bytes: 90_000,
        wake_ms: 300,
        user_agent: 'Curl/8',
        trace_id: 'ab'.repeat(16),
        status: 404,
        host: 'blog--app.localhost',
        client_ip: '10.1.2.0',
      }),
      requestRow({ path: '/a[1]?', status: 500, cache_status: 'fwd=bypass', failure: 'timeout' }),
    ]
    await store.requests.add(rows)
    expect(all('prj_a', { status: '5xx' })).toEqual(['/a[1]?', '/api/users'])
    expect(all('prj_a', { status: '503' })).toEqual(['/api/users'])
    expect(all('prj_a', { path: '/api' })).toEqual(['/api/users', '/api/users'])
    expect(all('prj_a', { path: '*.png' })).toEqual(['/image.png'])
    expect(all('prj_a', { path: '/a[1]?' })).toEqual(['/a[1]?'])
    expect(all('prj_a', { path: '/api', status: '5xx' })).toEqual(['/api/users'])
    expect(all('prj_a', { path: '/API' })).toEqual([])
    expect(all('prj_a', { method: 'post' })).toEqual(['/api/users'])
    expect(all('prj_a', { cache: 'hit' })).toEqual(['/api/users'])
    expect(all('prj_a', { host: 'blog--app.localhost' })).toEqual(['/image.png'])
    expect(all('prj_a', { client_ip: '10.1.2.0' })).toEqual(['/image.png'])
    expect(all('prj_a', { min_duration_ms: 500 })).toEqual(['/api/users'])
    expect(all('prj_a', { deployment: 'dpl_2' })).toEqual(['/api/users'])
    expect(all('prj_a', { id: rows[2]!.id })).toEqual(['/image.png'])
    expect(all('prj_a', { query: 'size' })).toEqual(['/image.png'])
    expect(all('prj_a', { user_agent: 'curl' })).toEqual(['/image.png'])
    expect(all('prj_a', { cache_status: 'BYPASS' })).toEqual(['/a[1]?'])
    expect(all('prj_a', { failure: 'timeout' })).toEqual(['/a[1]?'])
    expect(all('prj_a', { min_bytes: 50_000 })).toEqual(['/image.png'])
    expect(all('prj_a', { min_wake_ms: 1 })).toEqual(['/image.png'])
    expect(all('prj_a', { trace_id: 'ab'.repeat(16) })).toEqual(['/image.png'])
    expect(all('prj_a', { trace_id: traceIdOf(rows[3]!.id) })).toEqual(['/a[1]?'])
    expect(all('prj_a', { trace_id: traceIdOf(rows[2]!.id) })).toEqual([])
    expect(store.requests.find(rows[2]!.id)).toMatchObject({ project_id: 'prj_a', path: '/image.png' })
    expect(store.requests.find(newId('req'))).toBeUndefined()
  })

  test.each([
    '/',
    '/items/17',
    '/items/17/reviews',
    '/users/ada@example.com',
    '/days/2026-01-31',
    '/assets/index-BxK3h2aQ.js',
    `/reset/${'word-'.repeat(20)}`,
    '/a[1]?*',
    '/literal/:id',
    '/v1/jobs:run',
    `/deep${'/part'.repeat(12)}`,
    `/long${'/0123456789abcdef'.repeat(9)}/${'plain/'.repeat(30)}`,
  ])('are found by the route of %s', async (path) => {
    await store.requests.add([requestRow({ path: '/other/1/x' }), requestRow({ path }), requestRow({ path: `${path}/more`, status: 999 })])
    expect(all('prj_a', { route: toRouteTemplate(path) })).toContain(path)
    expect(all('prj_a', { route: toRouteTemplate(path), path })).toContain(path)
    expect(all('prj_a', { route: toRouteTemplate(path), status: '2xx' })).toContain(path)
    expect(all('prj_a', { route: toRouteTemplate(path) })).not.toContain('/other/1/x')
    expect(all('prj_a', { path: '*more' })).toHaveLength(1)
  })

  test('are found by the time at which they ended', async () => {
    await store.requests.add(Array.from({ length: 100 }, (_, i) => requestRow({ path: `/${i}`, time: 1000 + i * 10, duration_ms: 5 })))
    expect(store.requests.readRange('prj_a', 1975)).toEqual({ from: 98, to: 101, last: 100 })
    expect(store.requests.readRange('prj_a', 1975, 1985)).toMatchObject({ from: 98, to: 99 })
    expect(store.requests.readRange('prj_a', undefined, 1016)).toMatchObject({ from: 1, to: 3 })
    expect(store.requests.readRange('prj_a', 5000)).toMatchObject({ from: 101, to: 101 })
    expect(store.requests.readRange('prj_a', undefined, 0)).toMatchObject({ from: 1, to: 1 })
    expect(store.requests.readRange('prj_c')).toEqual({ from: 0, to: 0, last: 0 })
  })

  test('are the last ones of each project', async () => {
    const batch = Array.from({ length: 500 }, () => requestRow({}))
    await store.requests.add([requestRow({ project_id: 'prj_b', path: '/b' })])
    for (let i = 0; i < limits.request_log.rows / 500 + 3; i++) await store.requests.add(batch)
    const last = limits.request_log.rows + 1500
    expect(store.requests.readRange('prj_a')).toEqual({ from: 1501, to: last + 1, last })
    expect(all('prj_b')).toEqual(['/b'])
  })

  test('expire, and their numbers are not used again', async () => {
    await store.requests.add(Array.from({ length: 30 }, (_, i) => requestRow({ path: `/${i}`, time: 1000 + i, duration_ms: 0 })))
    await store.requests.add([requestRow({ project_id: 'prj_b', path: '/b', time: 5000 })])
    const expire = (before: number) => {
      const steps: number[] = []
      for (let at: number | undefined = 0; (at = store.requests.expire(before, at, 10)) !== undefined;) steps.push(at)
      return steps
    }
    // Two steps for the first project.
    expect(expire(1015)).toEqual([0, 1, 2])
    expect(expire(1015)).toEqual([1, 2])
    expect(all('prj_b')).toEqual(['/b'])
    expect(store.requests.readRange('prj_a')).toMatchObject({ from: 16, last: 30 })
    expire(9999)
    expect(all()).toEqual([])
    await store.requests.add([requestRow({})])
    expect(store.requests.readRange('prj_a')).toMatchObject({ from: 31, last: 31 })
  })

  test('wait while a checkpoint holds the file', async () => {
    const other = new Sqlite(join(folder, 'requests.db'))
    other.exec('BEGIN IMMEDIATE')
    const adding = store.requests.add([requestRow({ path: '/1' })])
    other.close()
    await adding
    expect(all()).toEqual(['/1'])
  })

  test('go with their project', async () => {
    await store.requests.add([...Array.from({ length: 25 }, () => requestRow({})), requestRow({ project_id: 'prj_b', path: '/b' })])
    expect(store.requests.remove('prj_a', 10)).toBe(true)
    expect(store.requests.remove('prj_a', 10)).toBe(true)
    expect(store.requests.remove('prj_a', 10)).toBe(false)
    expect(all()).toEqual([])
    expect(all('prj_b')).toEqual(['/b'])
  })
})

describe('the recorder', () => {
  const record = (more: Partial<RequestRecord>): RequestRecord => ({
    project_id: 'prj_a',
    id: newId('req'),
    method: 'GET',
    host: 'app.localhost',
    target: '/',
    protocol: 'HTTP/1.1',
    is_encrypted: false,
    status: 200,
    duration_ms: 1.23456,
    wake_ms: 0,
    queue_ms: null,
    app_ms: null,
    transfer_ms: 1,
    bytes: 0,
    cache: null,
    cache_status: null,
    deployment_id: null,
    replica: null,
    client_ip: '192.168.7.23',
    user_agent: undefined,
    traceparent: undefined,
    failure: null,
    skipped_before: 0,
    capture: null,
    ...more,
  })

  test('stores within a second, and within 100 ms while somebody follows', async () => {
    const clock = fixedClock('2026-01-01')
    const edge = createRequestLog({ clock, isEnabled: () => true })
    const recorder = createRequestRecorder({ edge, store: store.requests, sealer, clock, log: silentLog })
    const project = edge.forProject('prj_a')
    project.add(record({ target: '/1' }))
    await clock.advance(999)
    expect(all()).toEqual([])
    await clock.advance(1)
    expect(all()).toEqual(['/1'])
    let stored = 0
    const unsubscribe = recorder.follow(() => stored++)
    project.add(record({ target: '/2' }))
    await clock.advance(100)
    expect([all(), stored]).toEqual([['/2', '/1'], 1])
    unsubscribe()
    project.add(record({ target: '/3' }))
    await recorder.close()
    expect(all()).toEqual(['/3', '/2', '/1'])
  })

  test('keeps no address, no secret of a query and no long text', async () => {
    const clock = fixedClock('2026-01-01')
    const edge = createRequestLog({ clock, isEnabled: () => true })
    const recorder = createRequestRecorder({ edge, store: store.requests, sealer, clock, log: silentLog })
    edge.forProject('prj_a').add(record({ target: `/${'p'.repeat(5000)}?page=2&api_key=s3cret`, user_agent: 'u'.repeat(5000) }))
    await recorder.flush()
    const [row] = newest('prj_a')
    expect(row).toMatchObject({ client_ip: '192.168.7.0', query: 'page=2&api_key=***', duration_ms: 1.23 })
    expect([row?.path.length, row?.user_agent?.length]).toEqual([limits.request_log.path, limits.request_log.user_agent])
    await recorder.close()
  })

  test('deletes requests after three days', async () => {
    const clock = fixedClock('2026-01-01')
    const time = clock.now()
    await store.requests.add([requestRow({ path: '/old', time }), requestRow({ path: '/new', time: time + 86_400_000 })])
    const edge = createRequestLog({ clock, isEnabled: () => true })
    const recorder = createRequestRecorder({ edge, store: store.requests, sealer, clock, log: silentLog })
    await clock.jump(limits.request_log.days * 86_400_000 + 5000)
    await recorder.close()
    expect(all()).toEqual(['/new'])
  })
})
