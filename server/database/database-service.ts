import { currentPostgresVersion, type PostgresVersion } from '../contract/postgres-versions.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { DoctorCheck } from '../contract/instance.ts'
import type { DomainEvent } from '../contract/domain-events.ts'
import type { EventBus } from '../lib/event-bus.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { Log } from '../lib/log.ts'
import { newSecret } from '../lib/token.ts'
import {
  deleteDatabase,
  findDatabase,
  findDatabaseByName,
  insertDatabase,
  listDatabaseServers,
  listDatabasesOfProject,
  listUnreadyDatabases,
  listUpgradingDatabases,
  markDatabaseReady,
} from '../store/databases.ts'
import { insertCleanup } from '../store/deployments.ts'
import type { Db, Tx } from '../store/store.ts'
import { findProject } from '../store/projects.ts'
import type { Sealer } from '../store/sealer.ts'
import type { DatabaseRow } from '../store/database-tables.ts'
import { createDatabaseBackups } from './database-backups.ts'
import { DumpError } from './dump-database.ts'
import type { DatabaseServers } from './index.ts'
import { DatabaseRestoreError } from './restore-database.ts'
import { createDatabaseUpgrades } from './upgrade-database.ts'
import { type DatabaseAddress, type DatabaseServer, type DatabaseSpec, DatabaseUnavailableError, type OpenDatabase } from './database-server.ts'

export interface DatabaseServiceOptions {
  db: Db
  sealer: Sealer
  events: EventBus<DomainEvent>
  clock: Clock
  log: Log
  servers: DatabaseServers
  /** The runtime of new databases. */
  default_runtime: RuntimeName
  /** The version of new databases; default: the current one. */
  default_version?: PostgresVersion
  /** Called before a project's own database is dropped; an error keeps the data. */
  beforeDrop?(opened: OpenDatabase): Promise<void>
  /** Dumps a preview's database before another copy replaces it; resolves with the id of the dump. */
  beforeReplace?(opened: OpenDatabase, signal: AbortSignal): Promise<string>
  /** Restores such a dump. */
  rewind?(opened: OpenDatabase, dumpId: string, signal: AbortSignal): Promise<void>
}

/** The address for this machine, and the size. */
export interface DatabaseDetails extends DatabaseAddress {
  engine_version: string
  size_bytes: number
}

/** The variables of a database for its app, and the secrets to mask in its logs. */
export interface DatabaseVariables {
  variables: { DATABASE_URL?: string }
  secrets: string[]
  /** Why the app cannot reach the existing database. */
  note: string | null
}

/** A pending drop, as stored in the list of clean-ups. */
export interface DatabaseDrop {
  kind: 'database'
  driver: RuntimeName
  /** Missing in drops stored by earlier versions of Homeport, which only had version 15. */
  version?: PostgresVersion
  db_name: string
}

export type DatabaseService = ReturnType<typeof createDatabaseService>

/** The databases of projects and their previews. Rows are written before the server is changed, so that a crash leaves no unknown database. */
export function createDatabaseService(options: DatabaseServiceOptions) {
  const { db, log, servers, default_version = currentPostgresVersion } = options
  const queues = new Map<string, Promise<unknown>>()

  const runSequentially = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const previous = queues.get(key) ?? Promise.resolve()
    const current = previous.then(work, work)
    queues.set(key, current)
    try {
      return await current
    } finally {
      if (queues.get(key) === current) queues.delete(key)
    }
  }
  /** Serializes operations on the databases of one project. */
  const exclusive = runSequentially
  /** Serializes the first row of a server and the removal of the server after the last row. */
  const withServer = <T>(driver: RuntimeName, version: PostgresVersion, work: () => Promise<T>): Promise<T> =>
    runSequentially(`server ${driver} ${version}`, work)

  const open = (row: DatabaseRow): OpenDatabase => ({
    row,
    server: servers[row.driver][row.version],
    spec: { db_name: row.db_name, db_user: row.db_user, password: options.sealer.unseal(sealedColumnOf(row.db_name), row.sealed_password) },
  })

  const find = (projectId: string, branch = ''): Promise<DatabaseRow | undefined> => db.read((tx) => findDatabase(tx, projectId, branch))

  const listServers = (): DatabaseServer[] => Object.values(servers).flatMap((versions) => Object.values(versions))

  /** From here on the database is deleted for clients; the drop runs immediately or later as a clean-up. */
  const markForDrop = (tx: Tx, row: DatabaseRow): void => {
    deleteDatabase(tx, row.db_name)
    for (const version of [row.version, row.previous_version, row.upgrading_to]) if (version !== null) insertDrop(tx, row, version)
  }

  const insertDrop = (tx: Tx, { driver, db_name }: DatabaseRow, version: PostgresVersion): void => {
    insertCleanup(tx, { kind: 'database', driver, version, db_name } satisfies DatabaseDrop, isoTime(options.clock.now()))
  }

  const drop = async (row: DatabaseRow): Promise<void> => {
    await db.write((tx) => markForDrop(tx, row))
    options.events.publish({ type: 'cleanup_due' })
  }

  const reserveRow = async (project_id: string, branch: string, driver: RuntimeName, version: PostgresVersion): Promise<DatabaseRow | undefined> => {
    const name = `p_${newId('prj').slice('prj_'.length)}`
    const row: DatabaseRow = {
      project_id,
      branch,
      driver,
      db_name: name,
      db_user: name,
      sealed_password: options.sealer.seal(sealedColumnOf(name), newSecret()),
      is_ready: 0,
      created_at: isoTime(options.clock.now()),
      version,
      upgrading_to: null,
      previous_version: null,
    }
    // A server that is being removed is removed completely before it is used again.
    const isNew = await withServer(driver, version, () => db.write((tx) => findProject(tx, project_id) !== undefined && insertDatabase(tx, row)))
    return isNew ? row : undefined
  }

  /** Creates the database on the server, fills it, and then marks it ready; a failure is undone. */
  const provisionDatabase = async <R>(
    row: DatabaseRow,
    fill?: (opened: OpenDatabase) => Promise<void>,
    inTransaction?: (tx: Tx) => R,
  ): Promise<R | undefined> => {
    try {
      const opened = open(row)
      await opened.server.create(opened.spec)
      await fill?.(opened)
      return await db.write((tx) => {
        if (!markDatabaseReady(tx, row.db_name)) throw new Error('The database was deleted in the meantime.')
        tx.publish({ type: 'project_changed', id: row.project_id })
        return inTransaction?.(tx)
      })
    } catch (error) {
      await drop(row)
      throw error
    }
  }

  const inspectDatabase = async (row: DatabaseRow): Promise<DatabaseDetails> => {
    const { server } = open(row)
    const [address, facts] = [await server.address('machine'), await server.inspect(row.db_name)]
    return { ...address, ...facts }
  }

  const upgrades = createDatabaseUpgrades({ ...options, find, open, withServer, insertDrop })

  return {
    find,
    open,
    exclusive,

    /** Copies the database to the server of the current version. The callback works as in `create`. */
    upgrade: <R>(projectId: string, signal: AbortSignal, inTransaction: (tx: Tx) => R) =>
      exclusive(projectId, () => upgrades.upgrade(projectId, signal, inTransaction)),

    /** Restores the data from before the upgrade. */
    revertUpgrade: <R>(projectId: string, inTransaction: (tx: Tx) => R) => exclusive(projectId, () => upgrades.revert(projectId, inTransaction)),

    /** Drops the data from before the upgrade. */
    finishUpgrade: (projectId: string) => exclusive(projectId, () => upgrades.finish(projectId)),

    /**
     * Creates the project's own database; undefined when it exists or is being created. `alongside` runs in the transaction that marks the database
     * ready; `result` is its return value.
     */
    async create<R>(
      projectId: string,
      inTransaction?: (tx: Tx) => R,
    ): Promise<{ row: DatabaseRow; details: DatabaseDetails; result: R | undefined } | undefined> {
      if (await find(projectId)) return undefined
      return exclusive(projectId, async () => {
        const reserved = await reserveRow(projectId, '', options.default_runtime, default_version)
        if (!reserved) return undefined
        const result = await provisionDatabase(reserved, undefined, inTransaction)
        const row: DatabaseRow = { ...reserved, is_ready: 1 }
        return { row, details: await inspectDatabase(row), result }
      })
    },

    /** Progress of a server that is being prepared; undefined when unknown. */
    progress: async (row: DatabaseRow): Promise<string | undefined> => {
      const { running, message } = await open(row).server.state()
      return running ? undefined : message
    },

    inspect: inspectDatabase,

    /** Drops the project's own database after `beforeDrop`; undefined when there is none. The callback works as in `create`. */
    remove: <R>(projectId: string, inTransaction?: (tx: Tx) => R): Promise<{ result: R | undefined } | undefined> =>
      exclusive(projectId, async () => {
        const row = await find(projectId)
        if (!row) return undefined
        if (row.is_ready === 1) await options.beforeDrop?.(open(row))
        const result = await db.write((tx) => {
          markForDrop(tx, row)
          tx.publish({ type: 'project_changed', id: row.project_id })
          return inTransaction?.(tx)
        })
        await servers[row.driver][row.version]
          .drop(row)
          .catch((error: unknown) => log.warn('database_drop_postponed', { db_name: row.db_name, error }))
        options.events.publish({ type: 'cleanup_due' })
        return { result }
      }),

    async variablesFor(projectId: string, target: 'production' | 'preview', branch: string | null, runtime: RuntimeName): Promise<DatabaseVariables> {
      const name = target === 'production' ? '' : (branch ?? '')
      let row = await find(projectId, name)
      if (row && row.upgrading_to !== null) {
        // An upgrade is running, or could not be undone yet.
        await exclusive(projectId, () => upgrades.undoInterrupted(projectId, name))
        row = await find(projectId, name)
      }
      if (!row || row.is_ready === 0 || (target === 'preview' && row.branch === '')) return { variables: {}, secrets: [], note: null }
      const { server, spec } = open(row)
      const address = await server.address({ runtime, project_id: projectId })
      if (!address) {
        const note = `DATABASE_URL is not set, because this project’s database is on the ${row.driver} runtime and apps on ${runtime} cannot reach it. Dump the database, delete it and create it again.`
        return { variables: {}, secrets: [spec.password], note }
      }
      const url = connectionString(spec, address)
      return { variables: { DATABASE_URL: url }, secrets: [url, spec.password], note: null }
    },

    /** The address for programs of this machine; of the project's own database if the branch has none. Empty without a database. */
    async variablesForMachine(projectId: string, branch: string | null): Promise<{ DATABASE_URL?: string }> {
      const row = (branch === null ? undefined : await find(projectId, branch)) ?? (await find(projectId))
      if (!row || row.is_ready === 0) return {}
      const { server, spec } = open(row)
      return { DATABASE_URL: connectionString(spec, await server.address('machine')) }
    },

    /** Gives a preview a copy of the project's database, once. False: the project has no database. */
    async copyForPreview(projectId: string, branch: string, signal: AbortSignal): Promise<boolean> {
      const source = await find(projectId)
      if (branch === '' || !source || source.is_ready === 0) return false
      const from = open(source)
      await exclusive(projectId, async () => {
        const row = await reserveRow(projectId, branch, source.driver, source.version)
        if (row)
          await provisionDatabase(row, ({ server, spec }) => server.restore(spec, from.server.dump(from.spec, signal), signal)).catch(throwCopyError)
      })
      return true
    },

    /**
     * Gives a branch a copy of another database of the project (empty: the project's own), or replaces its current copy, which is dumped
     * first. The copy becomes active in one transaction. Undefined: there is nothing to copy.
     */
    async fork(
      projectId: string,
      { from, to, onDumped }: { from: string; to: string; onDumped: (dumpId: string) => Promise<void> },
      signal: AbortSignal,
    ): Promise<{ size_bytes: number; is_new: boolean } | undefined> {
      const source = await find(projectId, from)
      if (to === '' || !source || source.is_ready === 0) return undefined
      const { server, spec } = open(source)
      return exclusive(projectId, async () => {
        const existing = await find(projectId, to)
        const reserved = existing ? undefined : await reserveRow(projectId, to, source.driver, source.version)
        const copy = (into: OpenDatabase) => into.server.restore(into.spec, server.dump(spec, signal), signal)
        if (reserved) await provisionDatabase(reserved, copy)
        else if (existing) {
          if (options.beforeReplace) await onDumped(await options.beforeReplace(open(existing), signal))
          await copy(open(existing))
        }
        return { size_bytes: (await server.inspect(source.db_name)).size_bytes, is_new: reserved !== undefined }
      })
    },

    /** Restores what an incomplete copy had replaced: the content of a dump, or no database. */
    undoFork: (projectId: string, branch: string, before: { dump_id: string | null; had_database: boolean }, signal: AbortSignal): Promise<void> =>
      exclusive(projectId, async () => {
        const row = branch === '' ? undefined : await find(projectId, branch)
        if (!row) return
        if (!before.had_database) await drop(row)
        else if (before.dump_id !== null) await options.rewind?.(open(row), before.dump_id, signal)
      }),

    dropPreview: (projectId: string, branch: string): Promise<void> =>
      exclusive(projectId, async () => {
        const row = branch === '' ? undefined : await find(projectId, branch)
        if (row) await drop(row)
      }),

    /** Drops all databases of a project. Waits for a server that is unavailable; a failed dump does not stop it. */
    forgetProject: (projectId: string): Promise<void> =>
      exclusive(projectId, async () => {
        for (const row of await db.read((tx) => listDatabasesOfProject(tx, projectId))) {
          if (row.is_ready === 1 && row.branch === '')
            await options.beforeDrop?.(open(row)).catch((error: unknown) => {
              if (error instanceof DatabaseUnavailableError) throw error
              log.error('database_dump_failed', { project: projectId, db_name: row.db_name, error })
            })
          await drop(row)
        }
        for (const server of listServers()) await server.disconnectProject(projectId)
      }),

    /** Runs a pending drop, as a clean-up. */
    async finishDrop({ driver, version = 15, db_name }: DatabaseDrop): Promise<void> {
      const server = servers[driver][version]
      const dropUnused = async () => {
        const row = await db.read((tx) => findDatabaseByName(tx, db_name))
        // Another upgrade uses the name on this server again.
        if (row?.driver === driver && [row.version, row.upgrading_to, row.previous_version].includes(version)) return
        await server.drop({ db_name, db_user: db_name })
      }
      const owner = await db.read((tx) => findDatabaseByName(tx, db_name))
      await (owner ? exclusive(owner.project_id, dropUnused) : dropUnused())
      await withServer(driver, version, async () => {
        const used = await db.read(listDatabaseServers)
        if (!used.some((one) => one.driver === driver && one.version === version)) await server.removeIfEmpty()
      })
    },

    ...createDatabaseBackups({ db, servers, open }),

    /**
     * Undoes what the previous run started and did not finish, because no client was told about it. Starts servers with databases in the background.
     */
    async start(): Promise<void> {
      await db.write((tx) => {
        for (const row of listUnreadyDatabases(tx)) markForDrop(tx, row)
      })
      for (const { driver, version } of await db.read(listDatabaseServers))
        void servers[driver][version]
          .address('machine')
          .catch((error: unknown) => log.warn('database_server_unavailable', { driver, version, error }))
      for (const row of await db.read(listUpgradingDatabases))
        void exclusive(row.project_id, () => upgrades.undoInterrupted(row.project_id, row.branch)).catch((error: unknown) =>
          log.warn('database_upgrade_revert_failed', { db_name: row.db_name, error }),
        )
    },

    async checks(): Promise<DoctorCheck[]> {
      const used = await db.read(listDatabaseServers)
      return Promise.all(
        used.map(async ({ driver, version: major }) => {
          const { running, version, message } = await servers[driver][major].state()
          const name = `databases ${driver}${used.some((one) => one.driver === driver && one.version !== major) ? ` ${major}` : ''}`
          const text = `${message}${version === null ? '' : ` (PostgreSQL ${version})`}`
          return running
            ? ({ name, status: 'ok', message: text, hint: null } as const)
            : ({
                name,
                status: 'warning',
                message: text,
                hint: servers[driver][major].how_to_start,
              } as const)
        }),
      )
    },

    /** `stoppedRuntimes`: the runtimes that stop with the platform. */
    async close(stoppedRuntimes: readonly RuntimeName[]): Promise<void> {
      await Promise.all(listServers().map((server) => server.close(stoppedRuntimes.includes(server.name))))
    },
  }
}

function throwCopyError(error: unknown): never {
  if (error instanceof DatabaseUnavailableError || !(error instanceof DumpError || error instanceof DatabaseRestoreError)) throw error
  throw new DatabaseUnavailableError(
    `The project’s database could not be copied for this preview: ${error.message}`,
    'Deploy again, or disable databases for previews.',
    error,
  )
}

/** Names are unique and never reused, because they bind a password to its row. */
const sealedColumnOf = (db_name: string) => ({ table: 'databases', column: 'sealed_password', row: db_name })

export const connectionString = ({ db_user, password, db_name }: DatabaseSpec, { host, port }: DatabaseAddress): string =>
  `postgresql://${db_user}:${password}@${host.includes(':') ? `[${host}]` : host}:${port}/${db_name}`
