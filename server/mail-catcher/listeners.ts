import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { Log } from '../lib/log.ts'
import { listenForMail, type SmtpHandlers, type SmtpListener } from './smtp-listener.ts'

export type FindHostAddress = (runtime: RuntimeName, isNeeded: boolean) => Promise<{ host: string; bind: string | null } | undefined>

interface ListenerOptions {
  data_dir: string
  instance_id: string
  log: Log
  runtimes: readonly RuntimeName[]
  findHostAddress: FindHostAddress
  handlers: SmtpHandlers
}

const loopback = '127.0.0.1'
/** The discard port (RFC 863), on which nothing listens. */
const unusedPort = 9

/**
 * The addresses on which the mail catcher listens: loopback, and this machine's address in the network of the containers. All have the same port, which
 * the same over restarts, because containers that keep running have it in their variables.
 */
export function createListeners({ data_dir, instance_id, log, runtimes, findHostAddress, handlers }: ListenerOptions) {
  const portFile = join(data_dir, 'mail', 'port.json')
  const open = new Map<string, SmtpListener>()
  let failure: string | null = null
  let isClosed = false
  /** One at a time. */
  let last: Promise<unknown> = Promise.resolve()

  const listen = async (host: string, port: number): Promise<number> => {
    const opened = open.get(host)
    if (opened) return opened.port
    const listener = await listenForMail(host, port, handlers)
    if (isClosed) await listener.close()
    else open.set(host, listener)
    return listener.port
  }

  const listenOnLoopback = async (): Promise<number> => {
    const opened = open.get(loopback)
    if (opened) return opened.port
    const saved = await readPort(portFile)
    // The range is used neither by other services nor for client ports.
    const derived = 10_000 + (createHash('sha256').update(`mail ${instance_id}`).digest().readUInt16BE(0) % 10_000)
    const port = await listen(loopback, saved ?? derived).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error
      if (saved !== undefined) log.warn('mail_port_in_use', { port: saved, hint: 'Apps get the new port with their next deployment.' })
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
      log.warn('mail_listen_failed', { address: bind, port, error })
      return {
        host,
        port,
        note: `The mail catcher cannot listen on ${bind}:${port}, so this app cannot send mail. Free the port, then deploy again.`,
      }
    }
  }

  const inOrder = <R>(work: () => Promise<R>): Promise<R> => {
    const current = last.then(work, work)
    last = current.catch(() => {})
    return current
  }

  return {
    /** For the apps of a runtime, or null for programs of this machine. Never rejects: an app whose mail cannot be caught gets an address where nothing listens, so that it does not use its own server. */
    ensure: (runtime: RuntimeName | null): Promise<{ host: string; port: number; note: string | null }> =>
      inOrder(() => ensure(runtime, true)).catch((error: unknown) => {
        log.warn('mail_catcher_start_failed', { error })
        return {
          host: loopback,
          port: open.get(loopback)?.port ?? unusedPort,
          note: 'The mail catcher is not available, so this app cannot send mail.',
        }
      }),

    /** Opens every address that is available now. */
    async ensureAll(): Promise<void> {
      failure = await inOrder(listenOnLoopback).then(
        () => null,
        (error: unknown) => {
          log.warn('mail_catcher_start_failed', { error })
          return 'The mail catcher cannot open a port on this machine. The log of the instance has the reason.'
        },
      )
      // A runtime that is not available, or has no network, has no apps that could send mail.
      for (const runtime of runtimes) await inOrder(() => ensure(runtime, false)).catch(() => {})
    },

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
