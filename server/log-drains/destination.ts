import type { LogDrain } from '../contract/log-drains.ts'
import { limits } from '../contract/limits.ts'
import { version } from '../contract/index.ts'
import type { Clock } from '../lib/clock.ts'
import { explainPostError, postJson, type ResolveAll } from '../notifications/post-json.ts'
import { explainStatus } from '../notifications/send.ts'
import { signPayload } from '../notifications/signature.ts'
import { parseSyslogAddress } from './drain-address.ts'
import { type DrainLine, formatJson } from './drain-line.ts'
import { createDrainFile } from './log-file.ts'
import { sendByStream, sendByUdp } from './send-syslog.ts'

/** Where lines go, decrypted. */
export interface DestinationSettings {
  id: string
  kind: LogDrain['kind']
  address: string
  headers: { name: string; value: string }[]
  secret: string | null
  format: LogDrain['format']
  is_trusted: boolean
  project_id: string
}

export interface SendResult {
  /** Null if the lines were delivered. */
  error: string | null
  /** The HTTP status of the response. */
  status: number | null
}

export interface Destination {
  send(lines: readonly DrainLine[], signal: AbortSignal): Promise<SendResult>
}

export interface DestinationContext {
  clock: Clock
  /** The folder of the files of all projects. */
  folder: string
  resolve?: ResolveAll | undefined
}

/** What receivers of syslog take at least: RFC 5424 recommends 2048, and most take 8 kB over TCP. */
const syslogBytes = { stream: 8192, datagram: 2048 }

export function createDestination(settings: DestinationSettings, { clock, folder, resolve }: DestinationContext): Destination {
  const { kind, address, is_trusted, format } = settings
  if (kind === 'file') {
    const file = createDrainFile(folder, settings.project_id, address)
    return explained(async (lines) => file.append(formatJson(lines, 'ndjson')).then(() => null), explainFileError)
  }
  if (kind === 'http') return explained((lines, signal) => post(formatJson(lines, format), signal), explainPostError)
  const syslog = parseSyslogAddress(address)
  if (!syslog) throw new Error('The stored address is not valid.')
  const options = { ...syslog, is_trusted, clock, resolve, timeout_ms: limits.log_drains.timeout_ms }
  const send =
    syslog.protocol === 'udp:'
      ? (lines: readonly DrainLine[], signal: AbortSignal) => sendByUdp(lines, syslogBytes.datagram, { ...options, signal })
      : (lines: readonly DrainLine[], signal: AbortSignal) => sendByStream(lines, syslogBytes.stream, { ...options, signal })
  return explained((lines, signal) => send(lines, signal).then(() => null), explainPostError)

  function post(body: string, signal: AbortSignal): Promise<number> {
    const headers = {
      ...Object.fromEntries(settings.headers.map(({ name, value }) => [name, value])),
      'user-agent': `Homeport/${version}`,
      'content-type': format === 'json' ? 'application/json' : 'application/x-ndjson',
      'homeport-drain': settings.id,
      ...(settings.secret === null ? {} : { 'homeport-signature': signPayload(settings.secret, body, Math.floor(clock.now() / 1000)) }),
    }
    return postJson(clock, { url: address, is_trusted, headers, body, timeout_ms: limits.log_drains.timeout_ms, signal }, resolve)
  }
}

/** `send` resolves with a status of HTTP, if there is one, and rejects with an error that `explain` makes a sentence of. */
function explained(
  send: (lines: readonly DrainLine[], signal: AbortSignal) => Promise<number | null>,
  explain: (error: unknown) => string,
): Destination {
  return {
    async send(lines, signal) {
      try {
        const status = await send(lines, signal)
        return { status, error: status === null || (status >= 200 && status < 300) ? null : explainStatus(status) }
      } catch (error) {
        return { status: null, error: explain(error) }
      }
    },
  }
}

function explainFileError(error: unknown): string {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  return code === 'ENOSPC' ? 'The disk is full (ENOSPC).' : `The file could not be written${code === '' ? '' : ` (${code})`}.`
}
