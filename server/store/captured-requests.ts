import { limits } from '../contract/limits.ts'
import { all, first, insert, requestTables, run } from './query.ts'
import type { CaptureRow } from './request-tables.ts'
import type { SqliteTransaction } from './sqlite.ts'

/** Headers and bodies of captured requests. Each has the number of its request, so that ranges of both are deleted together. */

const insertRow = insert<CaptureRow>(['seq', 'bytes', 'sealed_exchange'], (row) => requestTables.insertInto('captures').values(row))
const readCapturedBytes = first((key: number) => requestTables.selectFrom('projects').select('captured_bytes').where('key', '=', key))
const addCapturedBytes = run((key: number, bytes: number) =>
  requestTables
    .updateTable('projects')
    .set((eb) => ({ captured_bytes: eb('captured_bytes', '+', bytes) }))
    .where('key', '=', key),
)
const sumBytes = first((from: number, to: number) =>
  requestTables
    .selectFrom('captures')
    .select((eb) => eb.fn.sum<number | null>('bytes').as('bytes'))
    .where('seq', '>', from)
    .where('seq', '<=', to),
)
const deleteRows = run((from: number, to: number) => requestTables.deleteFrom('captures').where('seq', '>', from).where('seq', '<=', to))
const listOldest = all((from: number, to: number) =>
  requestTables.selectFrom('captures').select(['seq', 'bytes']).where('seq', '>', from).where('seq', '<', to).orderBy('seq').limit(100),
)

/** The columns of a request that is captured, and what was kept of it. */
export const findCapturedRow = first((id: string) =>
  requestTables
    .selectFrom('requests')
    .innerJoin('captures', 'captures.seq', 'requests.seq')
    .select('captures.sealed_exchange')
    .where('requests.id', '=', id),
)

export function insertCapture(tx: SqliteTransaction, key: number, row: CaptureRow): void {
  insertRow(tx, row)
  addCapturedBytes(tx, key, row.bytes)
}

/** Deletes what was captured of the requests after `from` up to `to`. */
export function deleteCaptures(tx: SqliteTransaction, key: number, from: number, to: number): void {
  if ((readCapturedBytes(tx, key)?.captured_bytes ?? 0) === 0) return
  const bytes = sumBytes(tx, from, to)?.bytes ?? 0
  if (bytes === 0) return
  deleteRows(tx, from, to)
  addCapturedBytes(tx, key, -bytes)
}

/** Deletes the oldest captures of a project until they fit its limit. */
export function trimCaptures(tx: SqliteTransaction, key: number, { base, end }: { base: number; end: number }): void {
  let excess = (readCapturedBytes(tx, key)?.captured_bytes ?? 0) - limits.request_capture.project_bytes
  while (excess > 0) {
    const oldest = listOldest(tx, base, end)
    if (oldest.length === 0) return
    let last = 0
    for (const { seq, bytes } of oldest) {
      if (excess <= 0) break
      excess -= bytes
      last = seq
    }
    deleteCaptures(tx, key, base, last)
  }
}
