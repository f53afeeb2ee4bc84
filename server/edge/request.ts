import type { IncomingHttpHeaders } from 'node:http'
import type { Writable } from 'node:stream'

/** The connection of a request: a socket, a TLS socket, or one HTTP/2 stream. */
export interface Transport {
  readonly remoteAddress?: string | undefined
  readonly encrypted?: boolean
  /** Set if it is not HTTP/1. */
  readonly protocol?: string
  /** The server name (SNI) of the TLS client, if it sent one. */
  readonly servername?: string | false | null
  readonly destroyed?: boolean
  destroy(): unknown
}

/** The part of Node's request that the edge needs. HTTP/2 streams implement it too. */
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

/** The part of Node's response that the edge needs. */
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
