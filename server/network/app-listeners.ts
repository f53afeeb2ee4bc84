import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { Log } from '../lib/log.ts'

export type FindHostAddress = (runtime: RuntimeName, isNeeded: boolean) => Promise<{ host: string; bind: string | null } | undefined>

export interface AppListener {
  port: number
  close(): Promise<void>
}

interface AppListenerOptions {
  /** Of its folder in the data folder, and in log entries. */
  name: 'mail' | 'traces'
  data_dir: string
  instance_id: string
  log: Log
  runtimes: readonly RuntimeName[]
  /**
   * How apps on a runtime reach this machine: the host for their variables, and the address to listen on, null if that is loopback. Rejects
   * while the runtime is not available. Undefined if `isNeeded` is false and the runtime has no network yet, and so no apps.
   */
  findHostAddress: FindHostAddress
  /** Listens on one address. Rejects when the port is taken or the address is not one of this machine. */
  listen(host: string, port: number): Promise<AppListener>
  /** Notes for the log of a deployment whose apps cannot reach the service. */
  notes: { unavailable: string; cannotListen(address: string): string }
}

const loopback = '127.0.0.1'
/** The discard port (RFC 863), on which nothing listens. */
const unusedPort = 9

/**
 * The addresses on which a service for apps listens: loopback, and this machine's address in the network of the containers. All have the same port, which
 * is the same over restarts, because containers that keep running have it in their variables.
 */
export function createAppListeners({ name, data_dir, instance_id, log, runtimes, findHostAddress, notes, ...options }: AppListenerOptions) {
  const portFile = join(data_dir, name, 'port.json')
  const open = new Map<string, AppListener>()
  let failure: string | null = null
  let isClosed = false
  /** One at a time. */
  let last: Promise<unknown> = Promise.resolve()

  const listen = async (host: string, port: number): Promise<number> => {
    const opened = open.get(host)
    if (opened) return opened.port
    const listener = await options.listen(host, port)
    if (isClosed) await listener.close()
    else open.set(host, listener)
    return listener.port
  }

  const listenOnLoopback = async (): Promise<number> => {
    const opened = open.get(loopback)
    if (opened) return opened.port
    const saved = await readPort(portFile)
    // The range is used neither by other services nor for client ports.
    const derived = 10_000 + (createHash('sha256').update(`${name} ${instance_id}`).digest().readUInt16BE(0) % 10_000)
    const port = await listen(loopback, saved ?? derived).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error
      if (saved !== undefined) log.warn('app_port_in_use', { service: name, port: saved, hint: 'Apps get the new port with their next deployment.' })
      return listen(loopback, 0)
    })
    if (port !== saved) await savePort(portFile, port)
    return port
  }

  const ensure = async (runtime: RuntimeName | null, isNeeded: boolean): Promise<{ host: string; port: number; note: string | null }> => {
    const port = await listenOnLoopback()
    const { host, bind } = (runtime && (await findHostAddress(runtime, isNeeded))) ?? { host: loopback, bind: null }
    if (bind === null) return { host, port, note: null }
    try {
      await listen(bind, port)
      return { host, port, note: null }
    } catch (error) {
      log.warn('app_listen_failed', { service: name, address: bind, port, error })
      return {
        host,
        port,
        note: notes.cannotListen(`${bind}:${port}`),
      }
    }
  }

  const inOrder = <R>(work: () => Promise<R>): Promise<R> => {
    const current = last.then(work, work)
    last = current.catch(() => {})
    return current
  }

  return {
    /** For the apps of a runtime, or null for programs of this machine. Never rejects: an app that cannot reach the service gets an address where nothing listens. */
    ensure: (runtime: RuntimeName | null): Promise<{ host: string; port: number; note: string | null }> =>
      inOrder(() => ensure(runtime, true)).catch((error: unknown) => {
        log.warn('app_listener_start_failed', { service: name, error })
        return {
          host: loopback,
          port: open.get(loopback)?.port ?? unusedPort,
          note: notes.unavailable,
        }
      }),

    /** Opens every address that is available now. */
    async ensureAll(): Promise<void> {
      failure = await inOrder(listenOnLoopback).then(
        () => null,
        (error: unknown) => {
          log.warn('app_listener_start_failed', { service: name, error })
          return 'No port could be opened on this machine. The log of the instance has the reason.'
        },
      )
      // A runtime that is not available, or has no network, has no running apps.
      for (const runtime of runtimes) await inOrder(() => ensure(runtime, false)).catch(() => {})
    },

    /** Whether apps of an earlier run may have its address. */
    wasUsed: async (): Promise<boolean> => (await readPort(portFile)) !== undefined,

    port: (): number | null => open.get(loopback)?.port ?? null,
    failure: (): string | null => failure,

    async close(): Promise<void> {
      isClosed = true
      await last
      await Promise.all([...open.values()].map((listener) => listener.close()))
      open.clear()
    },
  }
}

async function readPort(file: string): Promise<number | undefined> {
  try {
    const { port } = JSON.parse(await readFile(file, 'utf8')) as { port?: unknown }
    return typeof port === 'number' && port > 0 && port < 65_536 ? port : undefined
  } catch {
    return undefined
  }
}

async function savePort(file: string, port: number): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
  await writeFile(`${file}.part`, JSON.stringify({ port }))
  await rename(`${file}.part`, file)
}
