import Sqlite from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { limits } from '../../server/contract/limits.ts'
import { silentLog } from '../../server/lib/log.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import type { NewSpan } from '../../server/store/trace-store.ts'
import { createTraceRecorder } from '../../server/tracing/trace-recorder.ts'
import { createTestClock } from '../support/test-clock.ts'

let folder: string
let store: Store
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-traces-'))
  store = await openStore({ data_dir: folder, after_crash: false })
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const span = (
  trace: number,
  number: number,
  { entry, ...more }: Partial<Omit<NewSpan, 'entry'>> & { entry?: Partial<NewSpan['entry']> } = {},
): NewSpan => ({
  trace_id: trace.toString(16).padStart(32, '0'),
  span_id: number.toString(16).padStart(16, '0'),
  parent_id: null,
  name: `span ${number}`,
  kind: 1,
  service: 'shop',
  start_us: 1_000_000 + number * 1_000,
  duration_us: 500,
  is_error: 0,
  summary: null,
  details: '{}',
  received_at: 1_000,
  bytes: 300,
  ...more,
  entry: { entry_rank: 2, method: null, route: null, status: null, branch: null, ...entry },
})
const list = (project = 'prj_a', filters = {}, limit = 1000) => {
  const { from, to } = store.traces.readRange(project)
  return store.traces.listTraces(project, filters, { from, to, limit })
}
const namesOf = (project = 'prj_a', filters = {}) => list(project, filters).map(({ name }) => name)

describe('stored spans', () => {
  test('are traces, named after the span in which they entered the app, whatever the order of arrival', async () => {
    await store.traces.add('prj_a', [span(1, 5), span(1, 3, { entry: { entry_rank: 1 } })], 0)
    await store.traces.add(
      'prj_a',
      [span(1, 4, { is_error: 1, name: 'GET /', entry: { entry_rank: 0, method: 'GET', route: '/', status: 500 } }), span(2, 1)],
      0,
    )
    expect(list()).toEqual([
      expect.objectContaining({ name: 'span 1', spans: 1 }),
      expect.objectContaining({ name: 'GET /', route: '/', status: 500, spans: 3, errors: 1, start_us: 1_003_000, end_us: 1_005_500 }),
    ])
    expect(store.traces.listSpans('prj_a', span(1, 0).trace_id, 10).map(({ name }) => name)).toEqual(['span 3', 'GET /', 'span 5'])
    expect(store.traces.findSpan('prj_a', span(1, 0).trace_id, span(1, 5).span_id)).toMatchObject({ name: 'span 5' })
    expect([
      namesOf('prj_b'),
      store.traces.findTrace('prj_b', span(1, 0).trace_id),
      store.traces.listSpans('prj_b', span(1, 0).trace_id, 10),
    ]).toEqual([[], undefined, []])
  })

  test('wait while a checkpoint holds the file', async () => {
    const other = new Sqlite(join(folder, 'traces.db'))
    other.exec('BEGIN IMMEDIATE')
    const adding = store.traces.add('prj_a', [span(1, 1)], 0)
    other.close()
    await adding
    expect(list()).toHaveLength(1)
  })

  test('that arrive twice, as after a retry, are stored once', async () => {
    for (let i = 0; i < 2; i++) await store.traces.add('prj_a', [span(1, 1), span(1, 1), span(1, 2)], 0)
    expect(list()).toMatchObject([{ spans: 2 }])
  })

  test('are found by route, status, duration, errors and branch', async () => {
    const entry = { entry_rank: 0, method: 'GET' }
    await store.traces.add(
      'prj_a',
      [
        span(1, 1, { name: 'a', entry: { ...entry, route: '/orders/:id', status: 200 } }),
        span(2, 2, { name: 'b', duration_us: 90_000, entry: { ...entry, route: '/users', status: 404 } }),
        span(3, 3, { name: 'c', is_error: 1, entry: { ...entry, route: '/orders', status: 500, branch: 'fix' } }),
      ],
      0,
    )
    expect(namesOf('prj_a', { route: '/orders' })).toEqual(['c', 'a'])
    expect(namesOf('prj_a', { route: '*:id' })).toEqual(['a'])
    expect(namesOf('prj_a', { status: '4xx' })).toEqual(['b'])
    expect(namesOf('prj_a', { status: '500' })).toEqual(['c'])
    expect(namesOf('prj_a', { min_duration_ms: 90 })).toEqual(['b'])
    expect(namesOf('prj_a', { errors: 'true' })).toEqual(['c'])
    expect(namesOf('prj_a', { branch: 'fix' })).toEqual(['c'])
  })

  test('above the number that a project keeps replace its oldest ones, and those of no other', async () => {
    const { spans } = limits.tracing
    await store.traces.add('prj_b', [span(1, 1)], 0)
    for (let at = 0; at < spans + 10; at += 10_000)
      await store.traces.add(
        'prj_a',
        Array.from({ length: Math.min(10_000, spans + 10 - at) }, (_, i) => span(Math.floor((at + i) / 5), at + i)),
        0,
      )
    const { from, to } = store.traces.readRange('prj_a')
    expect(to - from).toBe(spans)
    expect(store.traces.findTrace('prj_a', span(1, 0).trace_id)).toBeUndefined()
    expect(store.traces.findTrace('prj_a', span(2, 0).trace_id)).toMatchObject({ spans: 5 })
    expect(namesOf('prj_b')).toEqual(['span 1'])
  })

  test('above the bytes that a project keeps replace its oldest ones', async () => {
    const bytes = Math.floor(limits.tracing.bytes / 1000)
    for (let at = 0; at < 3; at++)
      await store.traces.add(
        'prj_a',
        Array.from({ length: 500 }, (_, i) => span(at, at * 500 + i, { bytes })),
        0,
      )
    const { from, to } = store.traces.readRange('prj_a')
    expect(to - from).toBeLessThanOrEqual(1000)
    expect(to - from).toBeGreaterThanOrEqual(500)
    await store.traces.add('prj_a', [span(9, 1)], 0)
    expect(list()[0]).toMatchObject({ name: 'span 1' })
  })

  test('expire by the time at which they arrived, and are removed with their project', async () => {
    const arrivals = [10, 20, 30, 40].map((received_at, i) => span(i, i, { received_at }))
    await store.traces.add('prj_a', arrivals, 3)
    await store.traces.add('prj_b', arrivals, 0)
    let project: number | undefined = 0
    while ((project = store.traces.expire(25, project, 1)) !== undefined);
    expect([namesOf(), namesOf('prj_b')]).toEqual([
      ['span 3', 'span 2'],
      ['span 3', 'span 2'],
    ])
    expect(store.traces.countDropped('prj_a')).toBe(3)
    while (store.traces.remove('prj_a', 1));
    expect([namesOf(), namesOf('prj_b').length]).toEqual([[], 2])
    const file = new Sqlite(join(folder, 'traces.db'), { readonly: true })
    expect(file.prepare('SELECT count(*) AS traces FROM traces').get()).toEqual({ traces: 2 })
    expect(file.prepare('SELECT sum(bytes) AS bytes FROM projects').get()).toEqual({ bytes: 600 })
    file.close()
  })
})

describe('the recorder', () => {
  test('limits spans and bytes per second and counts what it drops', async () => {
    const clock = createTestClock({ frozen_at: '2026-05-01T12:00:00Z' })
    const recorder = createTraceRecorder({ store: store.traces, clock, log: silentLog })
    const { burst, per_second, body_bytes_per_second } = limits.tracing
    const many = Array.from({ length: burst + 5 }, (_, i) => span(i, i))
    expect(recorder.add('prj_a', many, 2)).toBe(7)
    expect(recorder.add('prj_b', [span(1, 1)], 0)).toBe(0)
    await clock.advance(1_000)
    await recorder.flush()
    expect(recorder.add('prj_a', many.slice(0, per_second + 1), 0)).toBe(1)
    await recorder.flush()
    expect(store.traces.countDropped('prj_a')).toBe(8)
    expect([recorder.takeBytes('prj_a', body_bytes_per_second), recorder.takeBytes('prj_a', 1), recorder.takeBytes('prj_b', 1)]).toEqual([
      true,
      false,
      true,
    ])
    await clock.advance(1_000)
    expect(recorder.takeBytes('prj_a', body_bytes_per_second)).toBe(true)
    await recorder.close()
  })
})
