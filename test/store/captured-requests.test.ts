import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { limits } from '../../server/contract/limits.ts'
import { createRequestLog } from '../../server/edge/request-log.ts'
import { createRequestRecorder } from '../../server/features/request-recorder.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createSealer } from '../../server/store/sealer.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { requestRow } from '../support/request-rows.ts'
import { fixedClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

let folder: string
let store: Store
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-captures-'))
  store = await openStore({ data_dir: folder, after_crash: false })
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const captured = (more: Parameters<typeof requestRow>[0] = {}, bytes = 10) => requestRow({ sealed_exchange: Buffer.alloc(bytes, 7), ...more })
const count = (project = 'prj_a') => {
  const { from, to } = store.requests.readRange(project)
  const rows = store.requests.list(project, {}, { from, to, limit: 1_000_000, order: 'asc' })
  return { requests: rows.length, captures: rows.filter(({ is_captured }) => is_captured).length }
}

describe('captured requests', () => {
  test('are found by their request', async () => {
    const rows = [captured(), requestRow({})]
    await store.requests.add(rows)
    expect(store.requests.findCapture(rows[0]!.id)).toEqual(Buffer.alloc(10, 7))
    expect(store.requests.findCapture(rows[1]!.id)).toBeUndefined()
    expect(rows.map(({ id }) => store.requests.find(id)?.is_captured)).toEqual([true, false])
  })

  test('the newest of each project, up to its limit; the requests stay', async () => {
    const half = limits.request_capture.project_bytes / 8
    await store.requests.add([captured({ project_id: 'prj_b' })])
    for (let i = 0; i < 12; i++) await store.requests.add([captured({}, half), requestRow({})])
    expect(count()).toEqual({ requests: 24, captures: 8 })
    expect(count('prj_b')).toEqual({ requests: 1, captures: 1 })
  })

  test('expire with their requests, and go with their project', async () => {
    await store.requests.add(Array.from({ length: 10 }, (_, i) => captured({ time: 1000 + i, duration_ms: 0 })))
    store.requests.expire(1004, 0, 100)
    expect(count()).toEqual({ requests: 6, captures: 6 })
    const { from, to } = store.requests.readRange('prj_a')
    const ids = store.requests.list('prj_a', {}, { from, to, limit: 10, order: 'asc' }).map(({ id }) => id)
    expect(store.requests.remove('prj_a', 100)).toBe(false)
    expect(ids.map((id) => store.requests.findCapture(id))).toEqual(Array(6).fill(undefined))
  })

  test('are deleted alone', async () => {
    await store.requests.add([captured(), captured({ project_id: 'prj_b' })])
    await store.requests.removeCaptures('prj_a')
    expect([count(), count('prj_b')]).toEqual([
      { requests: 1, captures: 0 },
      { requests: 1, captures: 1 },
    ])
    await store.requests.add([captured({}, 100)])
    expect(count()).toEqual({ requests: 2, captures: 1 })
  })
})

describe('the limit of all projects together', () => {
  const total = 2 * 2 ** 20
  beforeEach(async () => {
    for (let i = 0; i < 20; i++) await store.requests.add(Array.from({ length: 500 }, () => requestRow({})))
    await store.requests.add(Array.from({ length: 50 }, () => captured({ project_id: 'prj_b' }, 1_000)))
  })

  test('shortens the largest project, the oldest requests first', () => {
    while (store.requests.trim(total, 500)) {
      // Until it fits.
    }
    const { from, last } = store.requests.readRange('prj_a')
    expect(from).toBeGreaterThan(1_000)
    expect(last).toBe(10_000)
    expect(count('prj_b')).toEqual({ requests: 50, captures: 50 })
  })

  test('is applied every second', async () => {
    const clock = fixedClock('2026-01-01')
    const edge = createRequestLog({ clock, isEnabled: () => true })
    const sealer = createSealer(randomBytes(32))
    const recorder = createRequestRecorder({ edge, store: store.requests, sealer, clock, log: silentLog, total_bytes: total })
    await clock.advance(1_000)
    await until(() => store.requests.readRange('prj_a').from > 1_000 || undefined, { what: 'the oldest requests to go' })
    await recorder.close()
  })

  test('the file does not grow beyond it', async () => {
    for (let i = 0; i < 60; i++) {
      await store.requests.add(Array.from({ length: 200 }, () => requestRow({})))
      while (store.requests.trim(total, 500)) {
        // Until it fits.
      }
    }
    expect(statSync(join(folder, 'requests.db')).size).toBeLessThan(total * 1.5)
  })
})
