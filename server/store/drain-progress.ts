import type { DrainPositionRow, DrainStateRow } from './log-drain-tables.ts'
import { all, first, logTables, run } from './query.ts'
import type { SqliteDatabase, SqliteTransaction } from './sqlite.ts'

export type DrainPosition = Pick<DrainPositionRow, 'stream' | 'record' | 'gap'>

/** What each log drain has delivered. Changes wait while another thread has locked the file for a moment. */
export interface DrainProgressStore {
  findState(drainId: string): DrainStateRow | undefined
  /** Begins with these positions; the counters stay. */
  begin(drainId: string, started_at: string, positions: readonly Omit<DrainPosition, 'gap'>[]): Promise<void>
  listPositions(drainId: string): DrainPosition[]
  /** Moves on without delivery, because the log no longer has the records. */
  skip(drainId: string, position: Omit<DrainPosition, 'gap'>, dropped: number, at: string): Promise<void>
  /** `lines`: 0 if there was nothing to deliver between the positions. */
  deliver(drainId: string, positions: readonly Omit<DrainPosition, 'gap'>[], lines: number, at: string): Promise<void>
  fail(drainId: string, message: string, at: string): Promise<void>
  forgetStream(drainId: string, stream: string): Promise<void>
  /** Deletes the progress of all drains but these. */
  retain(drainIds: ReadonlySet<string>): Promise<void>
}

const findState = first((drainId: string) => logTables.selectFrom('drain_states').selectAll().where('drain_id', '=', drainId))
const insertState = run((drainId: string, startedAt: string) =>
  logTables
    .insertInto('drain_states')
    .values({ drain_id: drainId, started_at: startedAt, delivered: 0, dropped: 0, failures: 0 } as never)
    .onConflict((conflict) => conflict.column('drain_id').doUpdateSet({ started_at: startedAt, failures: 0, last_error: null, last_error_at: null })),
)
const listPositions = all((drainId: string) =>
  logTables.selectFrom('drain_positions').select(['stream', 'record', 'gap']).where('drain_id', '=', drainId),
)
const savePosition = run((drainId: string, stream: string, record: number, gap: number) =>
  logTables
    .insertInto('drain_positions')
    .values({ drain_id: drainId, stream, record, gap })
    .onConflict((conflict) => conflict.columns(['drain_id', 'stream']).doUpdateSet({ record, gap })),
)
const deletePositions = run((drainId: string) => logTables.deleteFrom('drain_positions').where('drain_id', '=', drainId))
const deletePosition = run((drainId: string, stream: string) =>
  logTables.deleteFrom('drain_positions').where('drain_id', '=', drainId).where('stream', '=', stream),
)
const deleteState = run((drainId: string) => logTables.deleteFrom('drain_states').where('drain_id', '=', drainId))
const listStateIds = all(() => logTables.selectFrom('drain_states').select('drain_id'))
const updateState = (tx: SqliteTransaction, drainId: string, change: Partial<DrainStateRow>): void =>
  void tx.run(logTables.updateTable('drain_states').set(change).where('drain_id', '=', drainId))

export function createDrainProgressStore(db: SqliteDatabase): DrainProgressStore {
  /** Changes the state of a drain, which may have been deleted in the meantime. */
  const change = (drainId: string, work: (tx: SqliteTransaction, state: DrainStateRow) => Partial<DrainStateRow>): Promise<void> =>
    db.write((tx) => {
      const state = findState(tx, drainId)
      if (!state) return
      const changed = work(tx, state)
      if (Object.keys(changed).length > 0) updateState(tx, drainId, changed)
    })

  return {
    findState: (drainId) => db.readSync((tx) => findState(tx, drainId)),
    begin: (drainId, started_at, positions) =>
      db.write((tx) => {
        insertState(tx, drainId, started_at)
        deletePositions(tx, drainId)
        for (const { stream, record } of positions) savePosition(tx, drainId, stream, record, 0)
      }),
    listPositions: (drainId) => db.readSync((tx) => listPositions(tx, drainId)),
    skip: (drainId, { stream, record }, dropped, at) =>
      change(drainId, (tx, state) => {
        const gap = listPositions(tx, drainId).find((one) => one.stream === stream)?.gap ?? 0
        savePosition(tx, drainId, stream, record, gap + dropped)
        return { dropped: state.dropped + dropped, last_dropped_at: at }
      }),
    deliver: (drainId, positions, lines, at) =>
      change(drainId, (tx, state) => {
        for (const { stream, record } of positions) savePosition(tx, drainId, stream, record, 0)
        return lines === 0 ? {} : { delivered: state.delivered + lines, failures: 0, last_success_at: at }
      }),
    fail: (drainId, message, at) => change(drainId, (_, state) => ({ failures: state.failures + 1, last_error: message, last_error_at: at })),
    forgetStream: (drainId, stream) => db.write((tx) => void deletePosition(tx, drainId, stream)),
    async retain(drainIds) {
      const gone = db.readSync((tx) => listStateIds(tx)).filter(({ drain_id }) => !drainIds.has(drain_id))
      if (gone.length > 0)
        await db.write((tx) => {
          for (const { drain_id } of gone) deleteState(tx, drain_id)
        })
    },
  }
}
