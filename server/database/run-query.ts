import type Cursor from 'pg-cursor'
import type { Client, FieldDef } from 'pg'
import type { QueryRecord, ResultColumn } from '../contract/database-browser.ts'
import { limits } from '../contract/limits.ts'
import { toCell } from './cell-values.ts'
import { sizeError, StatementError, toStatementError } from './query-error.ts'
import { endTransaction, type QuerySession } from './query-session.ts'

const { batch_rows } = limits.database_query
/** Characters of a value in a result. */
const maxValue_characters = 10_000

interface StatementOptions {
  sql: string
  read_only: boolean
  max_rows: number
}

type Texts = (string | null)[]
interface Batch {
  rows: Texts[]
  fields: FieldDef[]
  command: string
  row_count: number | null
}

/** Runs one statement and yields its result in parts. The last record is `done` or `error`; an error about the server is thrown. */
export async function* runQuery(session: QuerySession, options: StatementOptions): AsyncGenerator<QueryRecord> {
  const started = performance.now()
  const duration = () => Math.round((performance.now() - started) * 10) / 10
  try {
    const { command, row_count, truncated } = yield* streamStatement(session, options)
    yield { type: 'done', command, row_count, truncated, duration_ms: duration(), notices: session.notices }
  } catch (cause) {
    const error = session.isOverLimit() ? sizeError() : toStatementError(cause, options.sql)
    if (!(error instanceof StatementError)) throw error
    yield { type: 'error', error: error.error, duration_ms: duration(), notices: session.notices }
  }
}

interface StatementEnd {
  command: string
  row_count: number | null
  truncated: 'rows' | 'bytes' | null
}

async function* streamStatement(session: QuerySession, { sql, read_only, max_rows }: StatementOptions): AsyncGenerator<QueryRecord, StatementEnd> {
  const { client } = session
  const types = await loadTypeNames(client)
  const cursor = await createCursor(client, sql)
  let [count, truncated]: [number, StatementEnd['truncated']] = [0, null]
  let columns: ResultColumn[] | undefined
  let last: Batch | undefined
  for (;;) {
    // The first parts are small, so that rows of any size are shown before the limit on bytes.
    const wanted = Math.min(batch_rows, Math.max(10, 4 * count), max_rows + 1 - count)
    try {
      last = await readBatch(cursor, wanted)
    } catch (error) {
      // What was read before is shown; a statement that writes is rolled back.
      if (session.isOverLimit() && read_only && columns) return { command: 'SELECT', row_count: count, truncated: 'bytes' }
      if (!read_only && isForbiddenInTransaction(error)) return runAlone(session, sql)
      throw error
    }
    if (!columns && last.fields.length > 0) {
      columns = last.fields.map(({ name, dataTypeID }) => ({ name, type: types.get(dataTypeID) ?? 'unknown' }))
      yield { type: 'columns', columns }
    }
    const rows = last.rows.slice(0, max_rows - count)
    if (columns && rows.length > 0) yield { type: 'rows', rows: rows.map((row) => encodeRow(row, columns ?? [])) }
    count += rows.length
    if (last.rows.length > rows.length) truncated = 'rows'
    if (truncated !== null || last.rows.length < wanted) break
  }
  if (truncated !== null) await cursor.close()
  await client.query(read_only ? 'ROLLBACK' : 'COMMIT')
  return { command: last.command || 'SELECT', row_count: columns ? count : last.row_count, truncated }
}

const encodeRow = (row: Texts, columns: ResultColumn[]) => row.map((text, index) => toCell(text, columns[index]?.type ?? '', maxValue_characters))

/** pg-cursor does not handle COPY, whose data has no place in a result. */
async function createCursor(client: Client, sql: string): Promise<Cursor<Texts>> {
  const { default: QueryCursor } = await import('pg-cursor')
  const types = { getTypeParser: () => (value: string) => value }
  const cursor = new QueryCursor<Texts>(sql, [], { rowMode: 'array', types })
  Object.assign(cursor, {
    handleCopyInResponse: (connection: { sendCopyFail(message: string): void; sync(): void }) =>
      connection.sendCopyFail('COPY FROM STDIN is not possible here. Use psql.'),
    handleCopyData() {},
  })
  return client.query(cursor)
}

const readBatch = (cursor: Cursor<Texts>, wanted: number): Promise<Batch> =>
  new Promise((resolve, reject) =>
    cursor.read(wanted, (error, rows, result) => {
      if (error) reject(error)
      else resolve({ rows, fields: result?.fields ?? [], command: result?.command ?? '', row_count: result?.rowCount ?? null })
    }),
  )

/** The names of all types of the database, because a result has only their numbers. */
async function loadTypeNames(client: Client): Promise<Map<number, string>> {
  const { rows } = await client.query<[string, string]>({
    text: "SELECT oid::text, pg_catalog.format_type(oid, NULL) FROM pg_catalog.pg_type WHERE typtype <> 'c' OR oid < 16384 ORDER BY oid LIMIT 5000",
    rowMode: 'array',
  })
  return new Map(rows.map(([oid, name]) => [Number(oid), name]))
}

/** 25001: VACUUM, CREATE INDEX CONCURRENTLY and the like cannot run in a transaction. They change nothing before that error. */
const isForbiddenInTransaction = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '25001'

async function runAlone(session: QuerySession, sql: string): Promise<StatementEnd> {
  await endTransaction(session)
  const statement = { text: sql, queryMode: 'extended' }
  const { command, rowCount } = await session.client.query(statement)
  return { command: command || sql.trim().split(/\s/, 1)[0]!.toUpperCase(), row_count: rowCount, truncated: null }
}
