import type { EdgeResponse } from '../response.ts'
import type { Exchange, UpstreamFailure, ResponseHandler, UpstreamRequest } from '../upstream/exchange.ts'
import type { CacheOutcome } from '../metrics.ts'
import type { ResponseHead } from '../upstream/response-head.ts'
import type { Upstream } from '../upstream/pool.ts'
import { cacheStatusLines } from './cache-status.ts'
import type { RequestFields } from './vary.ts'

/** A request as the cache sees it. It receives responses through the same interface as from an app. */
export interface CacheRequestContext extends ResponseHandler, RequestFields {
  readonly method: string
  /** Path and query, as sent. */
  readonly target: string
  /** The first header of this name (lower case). */
  header(name: string): string | undefined
  hasBody(): boolean
  /** The request to forward to the app if necessary. */
  buildUpstreamRequest(): UpstreamRequest
  /** Sends a complete response from the cache. */
  send(response: EdgeResponse): void
  /** Sets the cache's result for metrics and request log. `status`: the parameters of the header `Cache-Status`. */
  setCacheOutcome(outcome: CacheOutcome, status: string): void
}

/** What a connection holds while its response is pending: an exchange with the app, or a reader of a shared fetch. */
export interface PendingResponse {
  write(bytes: Buffer | string): boolean
  finish(): void
  resume(): void
  abort(): void
}

/** A fetch whose response several readers share, as they see it. */
export interface SharedFetch {
  readonly readers: Set<CacheReader>
  /** Parts of the body received so far. */
  readonly parts: readonly Buffer[]
  readonly isComplete: boolean
  readonly trailers: string
  leave(reader: CacheReader): void
  /** Above the storage limit, releases what all readers have read and lets the app continue. */
  resumeWhenDrained(): void
}

/** Finds or fetches the response of a reader. `isAlone`: does not collapse with other requests, because that has just failed. */
export interface ReaderHandler {
  handle(reader: CacheReader, isAlone: boolean): void
}

/** One request to the cache, and the source of its response. */
export class CacheReader implements PendingResponse {
  readonly context: CacheRequestContext
  readonly cache: ReaderHandler
  readonly upstream: Upstream
  /** Of the project's cache when the upstream was chosen. */
  readonly version: number
  fetch: SharedFetch | null = null
  /** An exchange that belongs to this reader alone. Its bytes are forwarded as without a cache. */
  directExchange: Exchange | null = null
  #position = 0
  #isBlocked = false
  #hasStarted = false
  #isOver = false
  #request: UpstreamRequest | null = null

  constructor(cache: ReaderHandler, context: CacheRequestContext, upstream: Upstream, version: number) {
    this.cache = cache
    this.context = context
    this.upstream = upstream
    this.version = version
  }

  get request(): UpstreamRequest {
    return (this.#request ??= this.context.buildUpstreamRequest())
  }

  get isOver(): boolean {
    return this.#isOver
  }

  start(): void {
    this.cache.handle(this, false)
  }

  write(bytes: Buffer | string): boolean {
    return this.directExchange?.write(bytes) ?? true
  }

  finish(): void {
    this.directExchange?.finish()
  }

  resume(): void {
    if (this.directExchange) return this.directExchange.resume()
    this.#isBlocked = false
    this.pump()
    this.fetch?.resumeWhenDrained()
  }

  abort(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.directExchange?.abort()
    this.fetch?.leave(this)
  }

  /** Retries without collapsing, because the awaited response was not for this request. */
  retryAlone(): void {
    this.fetch = null
    if (!this.#isOver) this.cache.handle(this, true)
  }

  respond(response: EdgeResponse, outcome: CacheOutcome, status: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.context.setCacheOutcome(outcome, status)
    this.context.send(response)
  }

  fail(failure: UpstreamFailure): void {
    if (this.#isOver) return
    this.#isOver = true
    this.context.onError(failure)
  }

  /** Starts forwarding a response that is being stored. `status`: the parameters of the header `Cache-Status`. */
  startResponse(head: ResponseHead, storedLines: string, status: string): void {
    if (this.#isOver || this.#hasStarted) return
    this.#hasStarted = true
    this.context.setCacheOutcome('miss', status)
    this.context.onHead({ ...head, lines: storedLines + cacheStatusLines('MISS', status), chunked: false })
    this.pump()
  }

  get isBehind(): boolean {
    return this.#hasStarted && !this.#isOver && this.fetch !== null && this.#position < this.fetch.parts.length
  }

  /** All parts so far were sent and released. */
  resetPosition(): void {
    this.#position = 0
  }

  pump(): void {
    const { fetch } = this
    if (fetch === null || !this.#hasStarted) return
    while (!this.#isBlocked && !this.#isOver) {
      const part = fetch.parts[this.#position]
      if (part === undefined) break
      this.#position++
      if (!this.context.onData(part, 0, part.length)) this.#isBlocked = true
    }
    if (!fetch.isComplete || this.#isOver || this.#position < fetch.parts.length) return
    this.#isOver = true
    fetch.readers.delete(this)
    this.context.onEnd(fetch.trailers)
  }

  flush(): void {
    if (this.#hasStarted && !this.#isOver) this.context.flushHead()
  }
}
