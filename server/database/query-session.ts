import { connect } from 'node:net'
import type { Client } from 'pg'
import { limits } from '../contract/limits.ts'
import { DatabaseUnavailableError } from './database-server.ts'
import { classifyServerError, connectClient, type DatabaseTarget } from './dump-database.ts'

const { lock_timeout_ms, idle_ms, result_bytes } = limits.database_query

export interface QuerySessionOptions {
  read_only: boolean
  timeout_ms: number
  lock_timeout_ms?: number
  signal: AbortSignal
}

/** A connection as the role of a project, in a transaction, with bounds on time and size. */
export interface QuerySession {
  client: Client
  /** Whether the server sent more than a result may have, so that the connection was ended. */
  isOverLimit(): boolean
  notices: string[]
  /** Asks the server to end the current statement. */
  cancel(): void
  /** Ends the connection; the server rolls back what is not committed. */
  close(): Promise<void>
}

const maxNotices = 100
const maxNotice_characters = 1000

/**
 * Opens a session with a transaction. A read-only transaction has its first snapshot, after which PostgreSQL refuses to make it writable. Callers send the
 * statements of users by the extended protocol, which refuses more than one statement in a text, so that a text cannot end the transaction and go on.
 */
export async function openQuerySession(target: DatabaseTarget, options: QuerySessionOptions): Promise<QuerySession> {
  const { client, socket, close } = await connectClient(target, options.signal).catch((error: unknown) => {
    throw toConnectionError(error)
  })
  let [received, isOver] = [0, false]
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (received <= result_bytes || isOver) return
    isOver = true
    cancel()
    socket.destroy()
  })
  const notices: string[] = []
  client.on('notice', ({ message }) => {
    if (notices.length < maxNotices) notices.push((message ?? '').slice(0, maxNotice_characters))
  })
  const cancel = () => requestCancel(target, client)
  const session: QuerySession = { client, notices, isOverLimit: () => isOver, cancel, close }
  try {
    await beginTransaction(session, options)
    return session
  } catch (error) {
    await close()
    throw error
  }
}

/** 28: the role cannot sign in, 3D000: there is no such database. */
function toConnectionError(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && /^(28...|3D000)$/.test(String(error.code)))) return classifyServerError(error) ?? error
  return new DatabaseUnavailableError(
    'The role of this project cannot sign in to its database, because its password was changed or it is being upgraded.',
    'Try again in a moment. Creating or restoring a dump resets the password.',
    error,
  )
}

/** For a statement that the server runs outside of transactions only. */
export const endTransaction = ({ client }: QuerySession): Promise<unknown> => client.query('ROLLBACK')

const beginTransaction = ({ client }: QuerySession, options: QuerySessionOptions): Promise<unknown> =>
  client.query(
    `SET application_name = 'homeport'; SET statement_timeout = ${options.timeout_ms}; SET lock_timeout = ${options.lock_timeout_ms ?? lock_timeout_ms};
     SET idle_in_transaction_session_timeout = ${idle_ms}; SET DateStyle = ISO; SET IntervalStyle = postgres; SET extra_float_digits = 1; SET bytea_output = hex; SET standard_conforming_strings = on;
     SET default_transaction_read_only = ${options.read_only ? 'on' : 'off'};
     BEGIN ${options.read_only ? 'READ ONLY' : 'READ WRITE'}; SELECT 1`,
  )

/** The cancel request of the protocol: it needs no free connection of the role. Errors are ignored, because the statement may just have ended. */
function requestCancel({ host, port }: DatabaseTarget, client: Client): void {
  const { processID, secretKey } = client as Client & { processID: number; secretKey: number }
  const message = Buffer.alloc(16)
  for (const [index, value] of [16, 80877102, processID, secretKey].entries()) message.writeInt32BE(value, 4 * index)
  const socket = connect({ host, port })
  socket.on('error', () => {})
  socket.end(message)
}
