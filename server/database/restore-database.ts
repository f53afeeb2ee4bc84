import type { Client } from 'pg'
import { connectClient, terminateSessions, classifyServerError, type DatabaseTarget } from './dump-database.ts'
import { parseSqlScript, SqlScriptError } from './sql-script.ts'

/** The file could not be restored, and the database is unchanged. `message` is shown to the user. */
export class DatabaseRestoreError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DatabaseRestoreError'
  }
}

/**
 * Empties a database and runs a file of SQL in one transaction, as the role that owns it. The file has no more rights than the app, and an error
 * leaves the database unchanged. Sessions of the app are ended and cannot reconnect during the restore.
 */
export async function restoreDatabase(target: DatabaseTarget, sql: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  const { client, close } = await connectClient(target, signal)
  try {
    await client.query(
      "SET statement_timeout = 0; SET lock_timeout = '60s'; SET client_min_messages = error; SET idle_in_transaction_session_timeout = 0",
    )
    await client.query('BEGIN')
    await terminateSessions(client)
    await client.query('DROP OWNED BY CURRENT_USER CASCADE')
    await client.query("CREATE SCHEMA IF NOT EXISTS public; COMMENT ON SCHEMA public IS 'standard public schema'")
    const transactionId = await readTransactionId(client)
    await runScript(client, requirePlainSql(sql))
    // Verifies that the file did not end the transaction, because that must not count as success.
    if ((await readTransactionId(client)) !== transactionId) throw new DatabaseRestoreError('The file ended its own transaction.')
    await client.query('COMMIT')
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof SqlScriptError) throw new DatabaseRestoreError(error.message, error)
    throw classifyServerError(error) ?? error
  } finally {
    await close()
  }
}

async function runScript(client: Client, sql: AsyncIterable<Uint8Array>): Promise<void> {
  const { from } = await import('pg-copy-streams')
  let copy: { stream: ReturnType<typeof from>; done: Promise<void>; line: number } | undefined
  for await (const step of parseSqlScript(sql)) {
    if (step.kind === 'statement') {
      const statement = adaptStatement(step.sql, step.line)
      // The extended protocol accepts only a single statement.
      const query = { text: statement ?? '', queryMode: 'extended' }
      if (statement !== undefined) await client.query(query).catch((error: unknown) => throwStatementError(error, step.line))
    } else if (step.kind === 'copy') {
      const stream = client.query(from(step.sql))
      const done = new Promise<void>((resolve, reject) => stream.once('finish', resolve).once('error', reject))
      // The result is awaited after the rows are sent, or when the server stops accepting rows.
      done.catch(() => {})
      copy = { stream, done, line: step.line }
    } else if (copy && step.kind === 'data') {
      const { stream, done, line } = copy
      if (!stream.write(step.bytes))
        await Promise.race([new Promise<void>((resolve) => stream.once('drain', resolve)), done]).catch((error: unknown) =>
          throwStatementError(error, line),
        )
    } else if (copy) {
      const { stream, done, line } = copy
      copy = undefined
      stream.end()
      await done.catch((error: unknown) => throwStatementError(error, line))
    }
  }
}

/**
 * Adapts a statement; undefined when it is skipped. Owners and grants are skipped because one role owns everything, and transaction commands because
 * the restore has its own transaction.
 */
function adaptStatement(sql: string, line: number): string | undefined {
  if (/^(BEGIN|START\s+TRANSACTION|COMMIT|END)\b/i.test(sql)) return undefined
  if (/^(ROLLBACK(?!.*\bTO\b)|ABORT|PREPARE\s+TRANSACTION)\b/i.test(sql))
    throw new SqlScriptError(line, 'The file rolls back its own changes (ROLLBACK).')
  if (/^(GRANT|REVOKE|ALTER\s+DEFAULT\s+PRIVILEGES)\b/i.test(sql)) return undefined
  if (/^ALTER\s[\s\S]+\sOWNER\s+TO\s+("[^"]+"|\w+)$/i.test(sql)) return undefined
  // A newer pg_dump writes a setting that the server rejects.
  if (/^SET\s+transaction_timeout\b/i.test(sql)) return undefined
  if (/^CREATE\s+SCHEMA\s+"?public"?$/i.test(sql)) return 'CREATE SCHEMA IF NOT EXISTS public'
  if (/^SET\s+(SESSION\s+)?standard_conforming_strings\s*(=|TO)\s*'?(off|false|0)/i.test(sql))
    throw new SqlScriptError(line, 'standard_conforming_strings must be on.')
  return sql
}

async function readTransactionId(client: Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>('SELECT pg_catalog.pg_current_xact_id()::text AS id')
  return rows[0]!.id
}

/** Errors about a statement are shown to the user; a lost server is not an error of the file. */
function throwStatementError(error: unknown, line: number): never {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (!(error instanceof Error) || !/^[0-9A-Z]{5}$/.test(code) || /^(08|53|57|58|XX)/.test(code)) throw error
  const where = 'where' in error && typeof error.where === 'string' ? ` (${error.where.split('\n')[0]})` : ''
  throw new DatabaseRestoreError(`Line ${line}: ${error.message}${where}`, error)
}

/** Rejects files that are not text early: pg_dump's other formats have a known header. */
async function* requirePlainSql(sql: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for await (const chunk of sql) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    if (isFirst && bytes.length > 0) {
      isFirst = false
      if (bytes.subarray(0, 5).toString('latin1') === 'PGDMP')
        throw new DatabaseRestoreError('This dump is in PostgreSQL’s custom format. Create a plain SQL dump with pg_dump --format=plain.')
      yield bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
    } else yield bytes
  }
}
