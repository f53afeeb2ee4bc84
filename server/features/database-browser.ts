import { z } from 'zod'
import type { databaseBrowserOperations, QueryRecord, RowFilter } from '../contract/database-browser.ts'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import { classifyServerError } from '../database/dump-database.ts'
import { describeDatabase, findTable } from '../database/describe-database.ts'
import { explainQuery } from '../database/explain-query.ts'
import { StatementError } from '../database/query-error.ts'
import { openQuerySession, type QuerySession } from '../database/query-session.ts'
import { applyChanges, formatChange, InvalidChangeError, RowCountError } from '../database/row-changes.ts'
import { runQuery } from '../database/run-query.ts'
import { listTableRows, type RowsCursor } from '../database/table-rows.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { OperationHandlers } from './context.ts'
import { createSnapshotBeforeQuery } from './database-snapshots.ts'
import { requireDatabase, translateDatabaseErrors } from './databases.ts'
import type { FeatureDeps } from './deps.ts'
import { createQueryRegistry } from './running-queries.ts'

/** For requests of the dashboard that are not the statement of a user. */
const browse = { timeout_ms: 30_000, lock_timeout_ms: 5_000 } as const

export function createDatabaseBrowserHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof databaseBrowserOperations> {
  const { databases } = deps
  const queries = createQueryRegistry(deps.clock)
  const takeSnapshot = createSnapshotBeforeQuery(deps)

  const findRow = async (projectId: string, branch: string | undefined) => {
    const row = branch === undefined ? await requireDatabase(deps, projectId) : await databases.find(projectId, branch)
    if (row?.is_ready === 1) return row
    throw new Problem('database_not_found', 'This preview uses the database of the project. Leave out the branch for the database of the project.')
  }

  const open = async (project: ProjectRow, branch: string | undefined, options: Parameters<typeof openQuerySession>[1]): Promise<QuerySession> => {
    const { server, spec } = databases.open(await findRow(project.id, branch))
    return translateQueryErrors((async () => openQuerySession({ ...spec, ...(await server.address('machine')) }, options))())
  }

  const withSession = async <T>(
    project: ProjectRow,
    branch: string | undefined,
    options: Parameters<typeof openQuerySession>[1],
    work: (session: QuerySession) => Promise<T>,
  ): Promise<T> => {
    const session = await open(project, branch, options)
    try {
      return await translateQueryErrors(work(session))
    } finally {
      await session.close()
    }
  }

  const requireTable = async (session: QuerySession, schema: string, name: string) => {
    const table = await findTable(session, schema, name)
    if (!table) throw new Problem('table_not_found', `There is no table or view “${schema}.${name}”, or the role may not see it.`)
    return table
  }

  return {
    describeDatabase: ({ project, signal }, { query: { branch } }) =>
      withSession(project, branch, { ...browse, read_only: true, signal }, describeDatabase),

    listDatabaseRows: ({ project, signal }, { query }) =>
      withSession(project, query.branch, { ...browse, read_only: true, signal }, async (session) => {
        const { schema = 'public', limit = limits.database_query.page_rows.default, filter: filters = [] } = query
        const table = await requireTable(session, schema, query.table)
        const order = query.order === undefined ? undefined : { column: query.order.replace(/^-/, ''), is_descending: query.order.startsWith('-') }
        requireColumns(table.columns, [...filters.map(({ column }) => ({ column, path: 'filter' })), ...(order ? [{ ...order, path: 'order' }] : [])])
        const sorted = `${schema}\n${query.table}\n${query.order ?? ''}`
        const after = query.cursor === undefined ? undefined : parseRowsCursor(sorted, query.cursor)
        const { value_characters = limits.database_query.value_characters.default } = query
        const { next, columns, rows } = await listTableRows(session, {
          table,
          filters: filters satisfies RowFilter[],
          order,
          after,
          limit,
          value_characters,
        })
        return { columns, rows, row_key: table.row_key, next_cursor: next ? formatRowsCursor(sorted, next) : null }
      }),

    async queryDatabase({ project, signal }, { query: { branch }, body }) {
      const { sql, read_only, timeout_ms, max_rows } = body
      requireText(sql, 'sql')
      const slot = queries.start(project.id, body.id, timeout_ms, signal)
      try {
        const row = await findRow(project.id, branch)
        const dump = !read_only && body.snapshot ? await translateQueryErrors(takeSnapshot(project.id, row, sql, signal)) : undefined
        const session = await open(project, branch, { read_only, timeout_ms, signal: slot.signal })
        slot.attach(session)
        return encodeRecords(
          (async function* () {
            try {
              if (dump) yield { type: 'snapshot', dump }
              yield* runQuery(session, { sql, read_only, max_rows })
            } catch (error) {
              yield lostRecord(error)
            } finally {
              slot.end()
            }
          })(),
        )
      } catch (error) {
        slot.end()
        throw error
      }
    },

    async cancelDatabaseQuery({ project }, { params: { id } }) {
      if (!queries.cancel(project.id, id)) throw new Problem('query_not_found', 'This statement is not running. It may have ended.')
    },

    async explainDatabaseQuery({ project, signal }, { query: { branch }, body: { sql, analyze, read_only } }) {
      requireText(sql, 'sql')
      const slot = queries.start(project.id, undefined, limits.database_query.timeout_ms.default, signal)
      try {
        const options = { read_only, timeout_ms: limits.database_query.timeout_ms.default, signal: slot.signal }
        return await withSession(project, branch, options, (session) => explainQuery(session, sql, analyze))
      } finally {
        slot.end()
      }
    },

    async changeDatabaseRows({ project, signal }, { query: { branch }, body: { changes, preview } }) {
      return withSession(project, branch, { ...browse, read_only: preview, signal }, async (session) => {
        const statements: string[] = []
        for (const [index, change] of changes.entries()) {
          const statement = formatChange(change, await requireTable(session, change.schema, change.table))
          requireText(statement, `changes.${index}`)
          statements.push(statement)
        }
        if (!preview) await applyChanges(session, statements)
        return { statements, applied: !preview }
      })
    },
  }
}

/** A NUL would end the text for the server before its end. */
function requireText(sql: string, path: string): void {
  if (sql.includes('\0'))
    throw new Problem('invalid_input', 'PostgreSQL has no NUL character in texts.', { issues: [{ path, message: 'Remove the NUL character.' }] })
}

function requireColumns(columns: readonly { name: string }[], used: readonly { column: string; path: string }[]): void {
  for (const { column, path } of used)
    if (!columns.some(({ name }) => name === column))
      throw new Problem('invalid_input', `The table has no column “${column}”.`, { issues: [{ path, message: 'Use a column of the table.' }] })
}

const rowsCursor = z.object({
  of: z.string(),
  next: z.union([z.strictObject({ after: z.array(z.string().nullable()).max(40) }), z.strictObject({ offset: z.number().int().min(0).max(1e12) })]),
})

const formatRowsCursor = (of: string, next: RowsCursor): string => Buffer.from(JSON.stringify({ of, next })).toString('base64url')

function parseRowsCursor(of: string, text: string): RowsCursor {
  try {
    const cursor = rowsCursor.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
    if (cursor.of === of) return cursor.next
  } catch {
    // It is not a cursor of this operation.
  }
  throw new Problem('invalid_input', 'The cursor is invalid.', {
    issues: [{ path: 'cursor', message: 'Use next_cursor of the previous page of the same table and order, or omit it.' }],
  })
}

async function* encodeRecords(records: AsyncIterable<QueryRecord>): AsyncGenerator<Uint8Array> {
  for await (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`)
}

/** The response has begun, so that an error about the server is its last line. */
function lostRecord(error: unknown): QueryRecord {
  const message =
    error instanceof Error && error.name === 'DatabaseUnavailableError' ? error.message : 'The connection to the database server was lost.'
  const none = { detail: null, hint: 'Run the statement again.', position: null, line: null, column: null }
  return { type: 'error', error: { code: '08006', message, ...none }, duration_ms: 0, notices: [] }
}

/** Errors of a statement, and of a connection that was lost meanwhile, as problems of the contract. */
const translateQueryErrors = <T>(work: Promise<T>): Promise<T> =>
  translateDatabaseErrors(
    work.catch((error: unknown) => {
      throw classifyServerError(error) ?? error
    }),
  ).catch((error: unknown) => {
    if (error instanceof InvalidChangeError)
      throw new Problem('invalid_input', error.message, { issues: [{ path: 'changes', message: error.message }] })
    if (error instanceof RowCountError) throw new Problem('row_changed', `${error.message} Nothing was changed.`)
    if (!(error instanceof StatementError)) throw error
    const { message, detail, hint, ...rest } = error.error
    const text = [message, detail, hint].filter(Boolean).map((part) => part?.replace(/[^.!?]$/, '$&.'))
    throw new Problem('query_failed', text.join(' '), {
      fields: { sqlstate: rest.code, position: rest.position, line: rest.line, column: rest.column },
    })
  })
