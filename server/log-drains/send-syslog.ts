import { createSocket } from 'node:dgram'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { promisify } from 'node:util'
import type { Clock } from '../lib/clock.ts'
import { createCheckedLookup, type ResolveAll } from '../notifications/post-json.ts'
import { getTrustedContext } from '../remotes/trusted-context.ts'
import type { SyslogAddress } from './drain-address.ts'
import type { DrainLine } from './drain-line.ts'
import { formatSyslogMessage, frameSyslogMessage } from './syslog-message.ts'

interface SyslogOptions extends SyslogAddress {
  is_trusted: boolean
  clock: Clock
  resolve?: ResolveAll | undefined
  timeout_ms: number
  signal: AbortSignal
}

const hostOf = ({ hostname }: SyslogAddress): string => hostname.replace(/^\[|\]$/g, '')

/**
 * Sends messages over a connection of their own, and ends it. Syslog has no acknowledgement, but a receiver closes its side once it has read all: until
 * then nothing counts as delivered. Rejects with an error for `explainPostError`.
 */
export async function sendByStream(lines: readonly DrainLine[], maxBytes: number, options: SyslogOptions): Promise<void> {
  const lookup = createCheckedLookup(options, options.is_trusted, options.resolve)
  const bytes = Buffer.concat(lines.map((line) => frameSyslogMessage(formatSyslogMessage(line, maxBytes))))
  const socket = openSocket(options, lookup)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const fail = (code: string) => socket.destroy(Object.assign(new Error(code), { code }))
  const onAbort = () => fail('ABORTED')
  const timer = options.clock.setTimeout(() => fail('ETIMEDOUT'), options.timeout_ms).unref()
  options.signal.addEventListener('abort', onAbort, { once: true })
  socket.once('error', reject)
  socket.once('close', () => (socket.writableFinished ? resolve() : reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))))
  // What a receiver says is not needed, but unread it would keep the connection open.
  socket.resume()
  socket.end(bytes)
  try {
    if (options.signal.aborted) onAbort()
    await promise
  } finally {
    timer.cancel()
    options.signal.removeEventListener('abort', onAbort)
    socket.destroy()
  }
}

function openSocket(options: SyslogOptions, lookup: LookupFunction): Socket {
  const host = hostOf(options)
  const to = { host, port: options.port, lookup }
  if (options.protocol === 'tcp:') return connectTcp(to)
  return connectTls({ ...to, ...(isIP(host) === 0 ? { servername: host } : {}), rejectUnauthorized: true, secureContext: getTrustedContext() })
}

/** One datagram for each message, of which some may be lost on the way: only what this machine knows fails. */
export async function sendByUdp(lines: readonly DrainLine[], maxBytes: number, options: SyslogOptions): Promise<void> {
  const { address, family } = await resolveHost(options)
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => {})
  socket.on('error', failure.reject)
  const send = promisify((message: Buffer, done: (error: Error | null) => void) => socket.send(message, options.port, address, done))
  try {
    for (const line of lines) await Promise.race([send(formatSyslogMessage(line, maxBytes)), failure.promise])
  } finally {
    socket.close()
  }
}

function resolveHost(options: SyslogOptions): Promise<{ address: string; family: number }> {
  const host = hostOf(options)
  const lookup = createCheckedLookup(options, options.is_trusted, options.resolve)
  if (isIP(host) !== 0) return Promise.resolve({ address: host, family: isIP(host) })
  const { promise, resolve, reject } = Promise.withResolvers<{ address: string; family: number }>()
  lookup(host, {}, (error, address, family) => (error ? reject(error) : resolve({ address: String(address), family: family ?? 4 })))
  return promise
}
