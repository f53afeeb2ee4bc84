import type { Answer } from '../answer.ts'
import type { Exchange, Failure, Sink, UpstreamRequest } from '../exchange.ts'
import type { CacheWord } from '../meter.ts'
import type { ResponseHead } from '../response-head.ts'
import type { Upstream } from '../upstream.ts'
import type { Fetch } from './fetch.ts'
import type { HostCache } from './host.ts'
import type { Fields } from './vary.ts'

/** A request as the cache sees it. What comes from the app, or while it comes, reaches it as from an app. */
export interface CacheVisit extends Sink, Fields {
  readonly method: string
  /** Path and query, as sent. */
  readonly target: string
  /** The first header of this name (lower case). */
  header(name: string): string | undefined
  hasBody(): boolean
  /** What goes to the app, if it has to be asked. */
  question(): UpstreamRequest
  /** A whole answer out of the store. */
  send(answer: Answer): void
  /** What the cache came to be for it. */
  cached(word: CacheWord): void
}

/** What a connection holds while its answer comes: an exchange with the app, or a place at somebody else's. */
export interface Pending {
  write(bytes: Buffer | string): boolean
  finish(): void
  resume(): void
  abort(): void
}

/** One visit and where its answer comes from. */
export class Reader implements Pending {
  readonly visit: CacheVisit
  readonly cache: HostCache
  readonly upstream: Upstream
  fetch: Fetch | null = null
  /** The exchange that is this one's alone: what comes on it goes on byte by byte, as without a cache. */
  direct: Exchange | null = null
  #at = 0
  #blocked = false
  #begun = false
  #over = false
  #request: UpstreamRequest | null = null

  constructor(cache: HostCache, visit: CacheVisit, upstream: Upstream) {
    this.cache = cache
    this.visit = visit
    this.upstream = upstream
  }

  get request(): UpstreamRequest {
    return (this.#request ??= this.visit.question())
  }

  get over(): boolean {
    return this.#over
  }

  start(): void {
    this.cache.begin(this, false)
  }

  write(bytes: Buffer | string): boolean {
    return this.direct?.write(bytes) ?? true
  }

  finish(): void {
    this.direct?.finish()
  }

  resume(): void {
    if (this.direct) return this.direct.resume()
    this.#blocked = false
    this.pump()
    this.fetch?.relieve()
  }

  abort(): void {
    if (this.#over) return
    this.#over = true
    this.direct?.abort()
    this.fetch?.leave(this)
  }

  /** Looks again, alone: what it waited for was not for it. */
  again(): void {
    this.fetch = null
    if (!this.#over) this.cache.begin(this, true)
  }

  answer(answer: Answer, word: CacheWord): void {
    if (this.#over) return
    this.#over = true
    this.visit.cached(word)
    this.visit.send(answer)
  }

  fail(failure: Failure): void {
    if (this.#over) return
    this.#over = true
    this.visit.fail(failure)
  }

  /** The head of an answer that is on its way and is being stored. */
  begin(head: ResponseHead, lines: string): void {
    if (this.#over || this.#begun) return
    this.#begun = true
    this.visit.cached('miss')
    this.visit.head({ ...head, lines, chunked: false })
    this.pump()
  }

  get lags(): boolean {
    return this.#begun && !this.#over && this.fetch !== null && this.#at < this.fetch.parts.length
  }

  /** All parts so far are out and let go. */
  rewind(): void {
    this.#at = 0
  }

  pump(): void {
    const { fetch } = this
    if (fetch === null || !this.#begun) return
    while (!this.#blocked && !this.#over) {
      const part = fetch.parts[this.#at]
      if (part === undefined) break
      this.#at++
      if (!this.visit.data(part, 0, part.length)) this.#blocked = true
    }
    if (!fetch.complete || this.#over || this.#at < fetch.parts.length) return
    this.#over = true
    fetch.readers.delete(this)
    this.visit.end(fetch.trailers)
  }

  flush(): void {
    if (this.#begun && !this.#over) this.visit.flush()
  }
}
