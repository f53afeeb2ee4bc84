import Sqlite from 'better-sqlite3'
import type { Compilable } from 'kysely'
import type { DomainEvent } from '../contract/domain-events.ts'
import { Problem } from '../contract/errors.ts'
import { type Clock, sleep, systemClock } from '../lib/clock.ts'
import { createWalManager } from './wal-manager.ts'
import { createPrivateFile } from './private-file.ts'

/**
 * One SQLite file. Work is a synchronous function that runs in one transaction, so that nothing can run between its statements. If another program
 * holds the file, the whole function is retried without blocking the event loop, for 5 s; then it fails with `database_busy`. A full disk fails with
 * `storage_full`.
 */
export interface SqliteDatabase {
  read<R>(work: (tx: SqliteTransaction) => R): Promise<R>
  write<R>(work: (tx: SqliteTransaction) => R): Promise<R>
  /** For work that must run immediately and may fail immediately (start, migrations, log batches). */
  writeSync<R>(work: (tx: SqliteTransaction) => R): R
  /** Runs a single read statement immediately, outside of a transaction. */
  readSync<R>(work: (tx: SqliteTransaction) => R): R
  /** Called for each event that a transaction has published, in the transaction, before it is committed. */
  beforeCommit(listener: (tx: SqliteTransaction, event: DomainEvent) => void): void
  /** Incremented by every committed change. A value read at one count is valid while the count is unchanged, because there is no other writer. */
  dataVersion(): number
  readonly raw: Sqlite.Database
  /** Moves the write-ahead log into the file, if no reader needs it. */
  checkpoint(): void
  /** See `WalManager`. A database in memory has no log. */
  takeOverCheckpoints(checkpoint: () => void): Promise<() => void>
  /** After closing, all commits are in the database file itself. */
  close(): Promise<void>
}

/** Queries are in the files of store/: those with a fixed text are declared by `query.ts`, the others are compiled when they run. */
export interface SqliteTransaction {
  all<R>(query: Compilable<R>): R[]
  first<R>(query: Compilable<R>): R | undefined
  /** Runs a change and returns the number of affected rows. */
  run(query: Compilable): number
  /** SQL as written, prepared once. For `query.ts`, and for what kysely cannot express. */
  statement(sql: string): Sqlite.Statement
  /** Delivers the event once the transaction is committed; equal events of a transaction are delivered once. */
  publish(event: DomainEvent): void
}

const minSqliteVersion = [3, 51, 3] as const

export interface SqliteOptions {
  path: string
  /** Whether a `write` resolves only once it would survive a power failure, which clients rely on. Logs do not need it. */
  durable: boolean
  clock?: Clock
  /** Receives what committed transactions published. */
  onEvent?(event: DomainEvent): void
  /** Receives the text of every statement that is run. */
  onStatement?(sql: string): void
}

/** How long another program may hold the file, and how often to retry. */
const busyRetry = { timeout_ms: 5_000, interval_ms: 15 }

export function openSqlite(options: SqliteOptions): SqliteDatabase {
  const { clock = systemClock } = options
  if (options.path !== ':memory:') createPrivateFile(options.path)
  const raw = new Sqlite(options.path, { timeout: 0 })
  try {
    assertSqliteVersion(raw)
    raw.pragma('journal_mode = WAL')
    // Syncs and checkpoints run in another thread: see wal-manager.ts.
    raw.pragma('synchronous = NORMAL')
    raw.pragma('wal_autocheckpoint = 0')
    raw.pragma('foreign_keys = ON')
    raw.pragma('journal_size_limit = 67108864')
  } catch (error) {
    raw.close()
    if (!isDiskFull(error)) throw error
    throw new Problem('storage_full', `The disk is full: ${options.path} cannot be opened. Free some space, then start again.`, { cause: error })
  }

  const statements = new Map<string, Sqlite.Statement>()
  const prepare = (sql: string) => {
    options.onStatement?.(sql)
    let statement = statements.get(sql)
    if (!statement) {
      if (statements.size > 500) statements.clear()
      statement = raw.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }

  const tx: SqliteTransaction = {
    all: <R>(query: Compilable<R>) => {
      const { sql, parameters } = query.compile()
      return prepare(sql).all(...parameters) as R[]
    },
    first: <R>(query: Compilable<R>) => {
      const { sql, parameters } = query.compile()
      return prepare(sql).get(...parameters) as R | undefined
    },
    run: (query) => {
      const { sql, parameters } = query.compile()
      return prepare(sql).run(...parameters).changes
    },
    statement: prepare,
    publish: (event) => void pendingEvents.set(JSON.stringify(event), event),
  }
  let pendingEvents = new Map<string, DomainEvent>()
  const beforeCommit: ((tx: SqliteTransaction, event: DomainEvent) => void)[] = []

  const walManager = raw.memory ? undefined : createWalManager(options.path, clock)
  let version = 0
  const runTransaction = <R>(
    begin: 'BEGIN' | 'BEGIN IMMEDIATE',
    work: (tx: SqliteTransaction) => R,
  ): { result: R; events: Iterable<DomainEvent> } => {
    prepare(begin).run()
    pendingEvents = new Map()
    try {
      const result = work(tx)
      // Events that a listener publishes are iterated too.
      for (const event of pendingEvents.values()) for (const listener of beforeCommit) listener(tx, event)
      prepare('COMMIT').run()
      if (begin === 'BEGIN IMMEDIATE') version++
      return { result, events: pendingEvents.values() }
    } catch (error) {
      if (raw.inTransaction) prepare('ROLLBACK').run()
      throw error
    }
  }

  const runWithBusyRetry = async <R>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: (tx: SqliteTransaction) => R) => {
    const deadline_ms = clock.monotonic() + busyRetry.timeout_ms
    for (;;) {
      try {
        return runTransaction(begin, work)
      } catch (error) {
        if (isDiskFull(error)) throw new Problem('storage_full', 'The disk of this machine is full. Free some space and try again.', { cause: error })
        if (!isSqliteBusy(error)) throw error
        if (clock.monotonic() > deadline_ms)
          throw new Problem('database_busy', 'Another program holds the database. Try again in a moment.', { retry_after_s: 1, cause: error })
      }
      await sleep(clock, busyRetry.interval_ms)
    }
  }

  return {
    raw,
    beforeCommit: (listener) => void beforeCommit.push(listener),
    dataVersion: () => version,
    read: async (work) => (await runWithBusyRetry('BEGIN', work)).result,
    async write(work) {
      const { result, events } = await runWithBusyRetry('BEGIN IMMEDIATE', work)
      if (options.durable) await walManager?.sync()
      for (const event of events) options.onEvent?.(event)
      return result
    },
    writeSync(work) {
      const { result, events } = runTransaction('BEGIN IMMEDIATE', work)
      for (const event of events) options.onEvent?.(event)
      return result
    },
    readSync: (work) => work(tx),
    checkpoint: () => void raw.pragma('wal_checkpoint(TRUNCATE)'),
    takeOverCheckpoints: async (checkpoint) => (await walManager?.takeOverCheckpoints(checkpoint)) ?? (() => {}),
    async close() {
      await walManager?.close()
      statements.clear()
      raw.close()
    },
  }
}

const errorCodeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
export const isSqliteBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(errorCodeOf(error))
export const isDiskFull = (error: unknown): boolean => /^(SQLITE_FULL|SQLITE_IOERR_WRITE|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT)/.test(errorCodeOf(error))

/** Older versions can lose data in a WAL reset (3.7.0 to 3.51.2). */
function assertSqliteVersion(raw: Sqlite.Database): void {
  const version = raw.prepare<[], { version: string }>('select sqlite_version() as version').get()?.version ?? '0'
  const parts = version.split('.').map(Number)
  for (const [i, minimum] of minSqliteVersion.entries()) {
    const part = parts[i] ?? 0
    if (part > minimum) return
    if (part < minimum)
      throw new Error(`SQLite ${version} is too old: Homeport needs ${minSqliteVersion.join('.')} or newer. Reinstall the dependencies.`)
  }
}

/** The size of the file without its free pages. */
export function readUsedBytes({ raw }: Pick<SqliteDatabase, 'raw'>): number {
  const read = (name: string) => raw.pragma(name, { simple: true }) as number
  return (read('page_count') - read('freelist_count')) * read('page_size')
}
