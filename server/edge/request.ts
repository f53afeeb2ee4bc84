import type { IncomingHttpHeaders } from 'node:http'
import type { Writable } from 'node:stream'

/** What a request came by: a socket, a TLS socket, or one stream of HTTP/2. */
export interface Transport {
  readonly remoteAddress?: string | undefined
  readonly encrypted?: boolean
  /** The name that the TLS client asked for; nothing or false without one. */
  readonly servername?: string | false | null
  destroy(): unknown
}

/** As much of Node's request as a visit needs; a stream of HTTP/2 is made to look like one. */
export interface EdgeRequest {
  readonly method?: string | undefined
  url?: string | undefined
  readonly httpVersion: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: string[]
  readonly rawTrailers: string[]
  readonly complete: boolean
  readonly socket: Transport
  on(event: 'data', listener: (bytes: Buffer) => void): unknown
  on(event: 'end' | 'error', listener: () => void): unknown
  once(event: 'close', listener: () => void): unknown
  removeAllListeners(event: 'data'): unknown
  pause(): unknown
  resume(): unknown
}

/** As much of Node's response. */
export interface ResponseWriter extends Writable {
  readonly headersSent: boolean
  writeHead(status: number, list: string[]): unknown
  writeHead(status: number, reason: string, list: string[]): unknown
  flushHeaders(): void
  writeContinue(): void
  writeProcessing(): void
  writeEarlyHints(hints: Record<string, string[]>): void
  addTrailers(pairs: [string, string][]): void
}
