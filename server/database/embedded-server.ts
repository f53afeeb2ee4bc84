import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, sleep, systemClock, type Timer } from '../lib/clock.ts'
import type { Environment } from '../lib/environment.ts'
import type { Log } from '../lib/log.ts'
import { type DatabaseServer, type DatabaseSpec, DatabaseUnavailable } from './database.ts'
import { dumpDatabase } from './dump.ts'
import { type Cluster, createCluster, isAlive, type Running, type ServerFile, superuser } from './embedded-cluster.ts'
import { findPrograms } from './embedded-files.ts'
import { type Ask, closeCluster, createDatabase, dropDatabase, lookAtDatabase } from './provision.ts'
import { restoreDatabase } from './restore.ts'

export interface EmbeddedServerOptions {
  data_dir: string
  /** Of the watch over the server, and of the pauses before it is started again. */
  clock: Clock
  log: Log
  /** Where root puts the programs for another user, when that one cannot reach them. */
  shared_dir?: string
  /** The host's. */
  environment?: Environment
  /** Whether a process can be asked by a signal to end: on Windows every signal ends it at once. */
  has_signals?: boolean
}

const host = '127.0.0.1'
/** After a crash it reads its journal first, which may take as long as the last minutes of work did. */
const patience_ms = 120_000
const watchEvery_ms = 500
const rounds = 6
const backOff_ms = [0, 500, 1_000, 2_000, 5_000, 10_000, 30_000]

interface Up extends Running {
  password: string
}

/** PostgreSQL as a child of this machine: programs from npm, data below the data folder, reached on loopback alone. */
export function createEmbeddedServer({
  data_dir,
  clock,
  log,
  shared_dir = '/var/lib/homeport',
  environment = {},
  has_signals = process.platform !== 'win32',
}: EmbeddedServerOptions): DatabaseServer {
  const root = join(data_dir, 'postgres')
  let up: Up | undefined
  let cluster: Cluster | undefined
  let starting: Promise<Up> | undefined
  let watch: Timer | undefined
  const closing = new AbortController()

  const ensure = async (): Promise<Up> => {
    if (closing.signal.aborted) throw new DatabaseUnavailable('Homeport is stopping.', 'Try again when it runs.')
    if (up && isAlive(up.pid)) return up
    starting ??= begin()
      .catch((error: unknown) => {
        throw unavailable(error)
      })
      .finally(() => (starting = undefined))
    return starting
  }

  async function begin(): Promise<Up> {
    up = undefined
    const programs = await findPrograms(shared_dir, environment)
    cluster = createCluster(join(await realpath(data_dir), 'postgres'), programs)
    const { port, password } = await cluster.prepare()
    const before = await cluster.running()
    const running = before ? await answering(cluster, password) : await startedUp(cluster, { port, password })
    up = { ...running, password }
    await closeCluster(ask)
    log.info(before ? 'postgres_adopted' : 'postgres_started', { pid: running.pid, port: running.port })
    watchOver(running.pid)
    return up
  }

  /** After a crash its own children are there for a moment longer, and it does not start beside them. */
  async function startedUp(cluster: Cluster, { port, password }: ServerFile): Promise<Running> {
    for (let round = 1; ; round++) {
      const { hasEnded } = await cluster.start(port)
      try {
        return await answering(cluster, password, hasEnded)
      } catch (error) {
        if (!hasEnded() || round === rounds || closing.signal.aborted) throw error
        await sleep(systemClock, round * 250)
      }
    }
  }

  /** Waits until it lets us in. It proves by SCRAM that it knows the password, so that whoever answers is ours. */
  async function answering(cluster: Cluster, password: string, hasEnded = () => true): Promise<Running> {
    const giveUpAt = systemClock.monotonic() + patience_ms
    let last: unknown
    while (systemClock.monotonic() < giveUpAt && !closing.signal.aborted) {
      const running = await cluster.running()
      if (running) {
        try {
          await query({ ...running, password }, 'postgres', 'SELECT 1')
          return running
        } catch (error) {
          last = error
          if (codeOf(error) === '28P01') throw new Error('The PostgreSQL that runs there does not take our password.', { cause: error })
        }
      } else if (hasEnded()) throw new Error(`PostgreSQL ended before it answered; ${join(root, 'postgres.log')} says why.`, { cause: last })
      await sleep(systemClock, 50)
    }
    throw new Error('PostgreSQL does not answer.', { cause: last })
  }

  /** One of our own or an adopted one: both are looked at in the same way. */
  function watchOver(pid: number): void {
    watch?.cancel()
    const timer = clock.setInterval(() => {
      if (isAlive(pid)) return
      timer.cancel()
      if (closing.signal.aborted) return
      log.warn('postgres_ended', { pid })
      void again()
    }, watchEvery_ms)
    watch = timer.unref()
  }

  async function again(): Promise<void> {
    for (let round = 0; !closing.signal.aborted; round++) {
      try {
        await sleep(clock, backOff_ms[Math.min(round, backOff_ms.length - 1)] ?? 0, closing.signal)
        await ensure()
        return
      } catch (error) {
        if (!closing.signal.aborted) log.error('postgres_not_started', { error })
      }
    }
  }

  const ask: Ask = async (database, statement) => query(await ensureQuick(), database, statement)
  const ensureQuick = async () => up ?? ensure()

  const addressed = async (spec: DatabaseSpec) => ({ ...spec, host, port: (await ensure()).port })

  return {
    name: 'process',

    async create(spec) {
      await ensure()
      await createDatabase(ask, spec)
    },

    async drop(spec) {
      await ensure()
      await dropDatabase(ask, spec)
    },

    async look(db_name) {
      await ensure()
      const found = await lookAtDatabase(ask, db_name)
      if (!found) throw new DatabaseUnavailable('The database is gone from the server.', 'Delete it here and restore a dump into a new one.')
      return found
    },

    // A container does not reach the loopback of this machine; nothing else is listened on.
    address: (async (from: 'machine' | { runtime: 'docker' | 'process' }) =>
      from === 'machine' || from.runtime === 'process' ? { host, port: (await ensure()).port } : undefined) as DatabaseServer['address'],

    async *dump(spec, signal) {
      yield* dumpDatabase(await addressed(spec), signal)
    },

    async restore(spec, sql, signal) {
      await restoreDatabase(await addressed(spec), sql, signal)
    },

    async forget() {},

    // It holds no container, volume or network of the engine; an empty cluster stays for the next database.
    async retire() {},

    async state() {
      if (starting) return { running: false, version: null, message: 'PostgreSQL is starting.' }
      if (!up || !isAlive(up.pid))
        return { running: false, version: null, message: 'PostgreSQL is not running; it starts when a database is needed.' }
      try {
        const [row] = await query(up, 'postgres', "SELECT split_part(current_setting('server_version'), ' ', 1)")
        return { running: true, version: row?.[0] ?? null, message: `PostgreSQL runs as process ${up.pid} on port ${up.port}.` }
      } catch (error) {
        return { running: false, version: null, message: `PostgreSQL does not answer: ${error instanceof Error ? error.message : String(error)}` }
      }
    },

    async close(stops) {
      closing.abort()
      watch?.cancel()
      const running = (await starting?.catch(() => undefined)) ?? up
      watch?.cancel()
      up = undefined
      if (stops && running) await end(running.pid)
    },
  }

  async function end(pid: number): Promise<void> {
    // Fast: sessions are ended, everything is written. Then without writing, which the next start makes good.
    for (const [signal, mode, wait_ms] of [
      ['SIGINT', 'fast', 20_000],
      ['SIGQUIT', 'immediate', 5_000],
      ['SIGKILL', undefined, 2_000],
    ] as const) {
      if (!isAlive(pid)) return
      try {
        if (has_signals || mode === undefined) process.kill(pid, signal)
        else await cluster?.stop(mode).catch((error: unknown) => log.warn('postgres_not_asked_to_stop', { error }))
      } catch {
        return
      }
      const giveUpAt = systemClock.monotonic() + wait_ms
      while (isAlive(pid) && systemClock.monotonic() < giveUpAt) await sleep(systemClock, 25)
    }
  }
}

/** A connection for one statement: no session of ours is left open to be in the way of a drop. */
async function query(at: Up, database: string, statement: string): Promise<(string | null)[][]> {
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

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

function unavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable || codeOf(error) === 'ENOSPC') return error
  const message = error instanceof Error ? error.message : String(error)
  return new DatabaseUnavailable(
    `PostgreSQL could not be started: ${message}`,
    /No space left/.test(message)
      ? 'Make room on the disk and try again.'
      : 'homeport doctor tells more. With Docker running, Homeport uses a container instead.',
    error,
  )
}
