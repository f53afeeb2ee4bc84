import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../server/contract/limits.ts'
import type { RowFilters } from '../../server/store/request-store.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { requestRow } from '../support/request-rows.ts'

/** One million requests of ten projects, each full to its limit. */
const count = 1_000_000
const projects = count / limits.request_log.rows
let folder: string
let store: Store

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-million-'))
  store = await openStore({ data_dir: folder, after_crash: false })
  for (let n = 0; n < count; n += 1000)
    await store.requests.add(
      Array.from({ length: 1000 }, (_, i) => {
        const at = n + i
        const status = at % 100 < 3 ? 500 : at % 100 < 13 ? 404 : 200
        return requestRow({ project_id: `prj_${at % projects}`, id: `req_${String(at).padStart(26, '0')}`, status, path: `/items/${at % 4999}` })
      }),
    )
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The processor time of a query over all rows of a project, which other programs of the machine do not change. The best of three. */
function measure_ms(filters: RowFilters): { rows: number; ms: number } {
  const runs = [1, 2, 3].map(() => {
    const before = process.cpuUsage()
    const rows = store.requests.list('prj_0', filters, { from: 0, to: limits.request_log.rows + 1, limit: 51, order: 'desc' }).length
    const { user, system } = process.cpuUsage(before)
    return { rows, ms: (user + system) / 1000 }
  })
  return runs.toSorted((a, b) => a.ms - b.ms)[0]!
}

describe('a million requests', () => {
  test.each([
    ['nothing', {}, 51],
    ['a class and a path', { status: '5xx', path: '/items/40' }, 51],
    ['a status and a rare path', { status: '404', path: '/items/4010' }, undefined],
    ['a class and a path that nothing has', { status: '2xx', path: '*/none' }, 0],
    ['a path that nothing has', { path: '*/none' }, 0],
    ['a route that nothing has', { route: '/items/:id/reviews' }, 0],
    ['a class and a route', { status: '5xx', route: '/items/:id' }, 51],
  ])('are filtered by %s in less than 100 ms of a processor', (_name, filters, rows) => {
    const found = measure_ms(filters)
    if (rows !== undefined) expect(found.rows).toBe(rows)
    expect(found.ms).toBeLessThan(100)
  })

  test('stay so many as they are added to, on a disk of the same size', async () => {
    const size = () => statSync(join(folder, 'requests.db')).size + statSync(join(folder, 'requests.db-wal')).size
    const before = size()
    for (let n = 0; n < limits.request_log.rows; n += 1000)
      await store.requests.add(Array.from({ length: 1000 }, () => requestRow({ project_id: 'prj_0' })))
    expect(store.requests.readRange('prj_0')).toMatchObject({ last: 2 * limits.request_log.rows, from: limits.request_log.rows + 1 })
    expect(size()).toBeLessThan(before + 2 ** 27)
  })
})
