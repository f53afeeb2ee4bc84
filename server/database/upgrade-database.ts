import type { DomainEvent } from '../contract/domain-events.ts'
import { currentPostgresVersion, type PostgresVersion } from '../contract/postgres-versions.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { EventBus } from '../lib/event-bus.ts'
import type { Log } from '../lib/log.ts'
import { newSecret } from '../lib/token.ts'
import { updateDatabaseVersions } from '../store/databases.ts'
import type { Db, Tx } from '../store/store.ts'
import type { DatabaseRow } from '../store/database-tables.ts'
import type { DatabaseServer, DatabaseSpec, OpenDatabase } from './database-server.ts'
import type { DatabaseServers } from './index.ts'
import { connectClient, terminateSessions } from './dump-database.ts'
import { DatabaseRestoreError } from './restore-database.ts'

/** Thrown when there is no newer version, no data from before an upgrade, or no database. */
export class UpgradeUnavailableError extends Error {}

export interface UpgradeContext {
  db: Db
  servers: DatabaseServers
  events: EventBus<DomainEvent>
  log: Log
  find(projectId: string, branch?: string): Promise<DatabaseRow | undefined>
  open(row: DatabaseRow): OpenDatabase
  withServer<T>(driver: RuntimeName, version: PostgresVersion, work: () => Promise<T>): Promise<T>
  insertDrop(tx: Tx, row: DatabaseRow, version: PostgresVersion): void
  beforeDrop?(opened: OpenDatabase): Promise<void>
}

/**
 * Moves a database to the server of a newer major version by dump and restore, under the same name and password. The app cannot connect meanwhile: its
 * role gets another password on the old server, and keeps it afterwards, so that nothing can be written to the data that is kept. `upgrading_to` in the
 * row tells a later run that the upgrade was interrupted.
 */
export function createDatabaseUpgrades({ db, servers, events, log, find, open, withServer, insertDrop, beforeDrop }: UpgradeContext) {
  /** Restores the role's password and forgets the copy. */
  const undo = async (row: DatabaseRow): Promise<void> => {
    const { server, spec } = open(row)
    await server.create(spec)
    await db.write((tx) => {
      updateDatabaseVersions(tx, row.db_name, row.version, null, row.previous_version)
      if (row.upgrading_to !== null) insertDrop(tx, row, row.upgrading_to)
      tx.publish({ type: 'project_changed', id: row.project_id })
    })
    events.publish({ type: 'cleanup_due' })
  }

  const undoInterrupted = async (projectId: string, branch: string): Promise<void> => {
    const row = await find(projectId, branch)
    if (!row || row.upgrading_to === null) return
    await undo(row)
    log.warn('database_upgrade_reverted', { project: projectId, db_name: row.db_name })
  }

  const requireRow = async (projectId: string): Promise<DatabaseRow> => {
    await undoInterrupted(projectId, '')
    const row = await find(projectId)
    if (!row || row.is_ready === 0) throw new UpgradeUnavailableError('This project has no database.')
    return row
  }

  return {
    undoInterrupted,

    async upgrade<R>(projectId: string, signal: AbortSignal, inTransaction: (tx: Tx) => R): Promise<{ row: DatabaseRow; result: R }> {
      const row = await requireRow(projectId)
      const version = currentPostgresVersion
      if (row.version === version) throw new UpgradeUnavailableError(`The database is already on PostgreSQL ${version}.`)
      const started: DatabaseRow = { ...row, upgrading_to: version }
      await withServer(row.driver, version, () => db.write((tx) => updateDatabaseVersions(tx, row.db_name, row.version, version, null)))
      try {
        const old = open(row)
        const target = servers[row.driver][version]
        // The new server starts, or is downloaded, while the app still has its database.
        await target.drop(old.spec)
        await target.create(old.spec)
        const locked = { ...old.spec, password: newSecret() }
        await old.server.create(locked)
        await endSessions(old.server, locked, signal)
        await target.restore(old.spec, old.server.dump(locked, signal), signal)
        await compareRows([old.server, locked], [target, old.spec], signal)
        const finished: DatabaseRow = { ...row, version, upgrading_to: null, previous_version: row.version }
        const result = await db.write((tx) => {
          updateDatabaseVersions(tx, row.db_name, version, null, row.version)
          tx.publish({ type: 'project_changed', id: projectId })
          return inTransaction(tx)
        })
        log.info('database_upgraded', { project: projectId, db_name: row.db_name, from: row.version, to: version })
        return { row: finished, result }
      } catch (error) {
        // If this fails too, because the server is unavailable, the next use of the database or the next start repeats it.
        await undo(started).catch((failure: unknown) => log.error('database_upgrade_revert_failed', { db_name: row.db_name, error: failure }))
        throw error
      }
    },

    async revert<R>(projectId: string, inTransaction: (tx: Tx) => R): Promise<{ row: DatabaseRow; result: R }> {
      const row = await requireRow(projectId)
      if (row.previous_version === null) throw new UpgradeUnavailableError('There is no data from before an upgrade.')
      await beforeDrop?.(open(row))
      const reverted: DatabaseRow = { ...row, version: row.previous_version, previous_version: null }
      const { server, spec } = open(reverted)
      await server.create(spec)
      const result = await db.write((tx) => {
        updateDatabaseVersions(tx, row.db_name, reverted.version, null, null)
        insertDrop(tx, row, row.version)
        tx.publish({ type: 'project_changed', id: projectId })
        return inTransaction(tx)
      })
      events.publish({ type: 'cleanup_due' })
      return { row: reverted, result }
    },

    async finish(projectId: string): Promise<void> {
      const row = await requireRow(projectId)
      const { previous_version } = row
      if (previous_version === null) throw new UpgradeUnavailableError('There is no data from before an upgrade.')
      await db.write((tx) => {
        updateDatabaseVersions(tx, row.db_name, row.version, null, null)
        insertDrop(tx, row, previous_version)
        tx.publish({ type: 'project_changed', id: projectId })
      })
      events.publish({ type: 'cleanup_due' })
    },
  }
}

async function withClient<T>(
  server: DatabaseServer,
  spec: DatabaseSpec,
  signal: AbortSignal,
  work: (client: Awaited<ReturnType<typeof connectClient>>['client']) => Promise<T>,
): Promise<T> {
  const { client, close } = await connectClient({ ...spec, ...(await server.address('machine')) }, signal)
  return work(client).finally(close)
}

const endSessions = (server: DatabaseServer, spec: DatabaseSpec, signal: AbortSignal) => withClient(server, spec, signal, terminateSessions)

/** A last check that nothing was lost, before the app uses the copy. */
async function compareRows(from: [DatabaseServer, DatabaseSpec], to: [DatabaseServer, DatabaseSpec], signal: AbortSignal): Promise<void> {
  const countRows = ([server, spec]: [DatabaseServer, DatabaseSpec]) =>
    withClient(server, spec, signal, async (client) => {
      const { rows: tables } = await client.query<{ name: string }>(
        "SELECT pg_catalog.format('%I.%I', schemaname, tablename) AS name FROM pg_catalog.pg_tables WHERE schemaname !~ '^pg_' AND schemaname <> 'information_schema' ORDER BY 1",
      )
      const counts: string[] = []
      for (const { name } of tables) {
        const { rows } = await client.query<{ rows: string }>(`SELECT count(*)::text AS rows FROM ONLY ${name}`)
        counts.push(`${name} ${rows[0]?.rows}`)
      }
      return counts
    })
  const [before, after] = [await countRows(from), await countRows(to)]
  const different = before.find((line, index) => line !== after[index])
  if (before.length !== after.length || different !== undefined)
    throw new DatabaseRestoreError(`The copy differs from the database (${different ?? `${before.length} tables, ${after.length} in the copy`})`)
}
