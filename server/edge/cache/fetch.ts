import type { Clock, Timer } from '../../lib/clock.ts'
import type { Exchange, UpstreamFailure, ResponseHandler, UpstreamRequest } from '../upstream/exchange.ts'
import type { ResponseHead } from '../upstream/response-head.ts'
import type { Upstream } from '../upstream/pool.ts'
import { CacheEntry, mergeRevalidated, reasonPhraseOf, storedLines, type PendingFetch, type UrlEntry } from './entry.ts'
import { editRequestHead, fieldValues } from './header-fields.ts'
import { decideStorage, type StorageRequest, type StoragePolicy } from './storage-policy.ts'
import { parseContentRange, type StoredRange } from './partial-content.ts'
import type { ProjectCache } from './project-cache.ts'
import type { CacheReader, SharedFetch } from './reader.ts'
import { cacheStatusLines } from './cache-status.ts'
import { createStoredResponse } from './stored-response.ts'
import { canServeStaleOnError } from './reuse-decision.ts'
import { noNames, variantKey, type RequestFields } from './vary.ts'

/** The cache of one scheme and host, as those see it that store responses. */
export interface ResponseStorage {
  readonly project: ProjectCache
  /** `http://host:port` as requested, because the app may answer each of them differently. */
  readonly origin: string
  readonly clock: Clock
  readonly max_object_bytes: number
  /** How long a URL is considered uncacheable after an uncacheable response. */
  readonly hit_for_miss_ms: number
  dateLine(): string
  /** Changes the amount of memory held by responses being fetched. */
  addInFlightBytes(bytes: number): void
  isInFlightFull(): boolean
  put(entry: CacheEntry): void
  /** Invalidates the cached responses of one URL of this host. */
  invalidate(target: string): void
}

export interface CacheFetchOptions {
  cache: ResponseStorage
  urlEntry: UrlEntry
  /** The reader whose request is sent to the app; null for a background revalidation. */
  leader: CacheReader | null
  upstream: Upstream
  request: UpstreamRequest
  storageRequest: StorageRequest
  /** A stored response that may not be used without revalidation. */
  stale: CacheEntry | null
  /** Whether a conditional request can confirm the stored response. */
  canRevalidate: boolean
  /** Why the request is forwarded, in the terms of RFC 9211. */
  forwardReason: string
  range: string | null
}

const conditionalHeader = /^if-(?:none-match|modified-since|match|unmodified-since|range)$/

/** How long a collapsed request waits for the response head of another request. */
const collapse_timeout_ms = 10_000

/**
 * One request from the cache to the app, and all readers that wait for its response. If the response may be stored, all readers receive it as it
 * arrives. If not, only the leader receives it and the others retry.
 */
export class CacheFetch implements ResponseHandler, SharedFetch, PendingFetch {
  readonly wantsRawChunks = false
  /** In the fetches of the project. */
  slot = -1
  readonly readers = new Set<CacheReader>()
  /** Parts of the body received so far. */
  parts: Buffer[] = []
  isComplete = false
  trailers = ''
  /** Tags of the response; null before its head arrived. */
  tags: readonly string[] | null = null
  readonly urlEntry: UrlEntry
  exchange: Exchange | null = null
  /** The Vary fields of the response; null before its head arrived. */
  vary: readonly string[] | null = null
  variant = ''
  readonly #options: CacheFetchOptions
  #leader: CacheReader | null
  #key: string | null = null
  #isDiscarded = false
  #head: ResponseHead | null = null
  #lines = ''
  #policy: StoragePolicy | null = null
  #range: StoredRange | null = null
  #bytes = 0
  #isOver = false
  /** The body exceeds the storage limit. Only the parts that readers have not yet read are kept. */
  #hasOverflowed = false
  #isPaused = false
  #isUnpinned = false
  #collapseTimer: Timer | null = null

  constructor(options: CacheFetchOptions) {
    this.#options = options
    this.urlEntry = options.urlEntry
    this.#leader = options.leader
    if (options.leader) {
      options.leader.fetch = this
      this.readers.add(options.leader)
    }
  }

  /** `key`: requests with the same key may wait for this response. */
  start(key: string | null): void {
    const { cache, urlEntry, stale, canRevalidate, request, upstream } = this.#options
    this.#key = key
    cache.project.fetches.add(this)
    if (key !== null) urlEntry.registerFetch(key, this)
    if (stale) stale.pins++
    let { head } = request
    if (stale && canRevalidate) {
      const { etag, last_modified } = stale.policy
      const lines = `${etag === '' ? '' : `If-None-Match: ${etag}\r\n`}${last_modified === '' ? '' : `If-Modified-Since: ${last_modified}\r\n`}`
      head = editRequestHead(head, (name) => conditionalHeader.test(name) || name === 'range', lines)
    }
    this.exchange = upstream.createExchange(this, { ...request, head })
    this.exchange.start()
  }

  /** Whether a response whose head is known matches this request. */
  matchesVariant(fields: RequestFields): boolean {
    return this.vary === null || variantKey(fields, this.vary) === this.variant
  }

  join(reader: CacheReader): void {
    reader.fetch = this
    this.readers.add(reader)
    if (this.#head === null) this.#collapseTimer ??= this.#options.cache.clock.setTimeout(() => this.#stopCollapsing(), collapse_timeout_ms).unref()
    if (this.#head) reader.startResponse(this.#head, this.#lines, 'fwd=uri-miss; collapsed')
  }

  /** Collapsing times out, because a long-polling upstream must not block the requests that joined it. */
  #stopCollapsing(): void {
    if (this.#head || this.#isOver) return
    this.#unregister()
    for (const reader of this.readers) if (reader !== this.#leader) this.#retryReader(reader)
  }

  leave(reader: CacheReader): void {
    this.readers.delete(reader)
    if (this.#leader === reader) this.#leader = null
    if (this.readers.size === 0 && !this.#isOver) this.#stop()
    else this.resumeWhenDrained()
  }

  /** A purge happened meanwhile: the response is served but not stored, and no further request may join. */
  discardResult(): void {
    this.#isDiscarded = true
    this.#unregister()
  }

  onRequestSent(replica: number | null): void {
    // Only requests without a body are fetched, so that there is nothing more to send.
    this.#leader?.context.onRequestSent(replica)
  }
  onDrain(): void {}
  onContinue(): void {}

  /** Interim responses go to the leader only, because they are not stored. */
  onInterim(head: ResponseHead): void {
    if (this.#leader?.isOver === false) this.#leader.context.onInterim(head)
  }

  onHead(head: ResponseHead): void {
    const { cache, storageRequest, stale, canRevalidate, range } = this.#options
    const now = cache.clock.now()
    if (stale && canRevalidate && head.status === 304) return this.#onNotModified(stale, head, now)
    if (stale && head.status >= 500 && canServeStaleOnError(stale, now, head.status)) {
      this.#serveStale(stale, now, `fwd=stale; fwd-status=${head.status}; detail="stale-if-error"`)
      return this.#stop()
    }
    const lines = head.hasDate ? head.lines : head.lines + cache.dateLine()
    const bodyPart = head.status === 206 && range !== null ? parseContentRange(head, range) : null
    let policy = this.#isDiscarded ? 'purged during the request' : decideStorage(storageRequest, head, lines, now)
    if (head.status === 206 && bodyPart === null && typeof policy !== 'string') policy = 'part of a whole'
    if (typeof policy !== 'string' && head.length > cache.max_object_bytes) policy = 'too large'
    if (typeof policy === 'string') return this.#forwardUnstored(head, policy, now)
    this.#policy = policy
    this.#head = head
    this.tags = head.tags === '' ? noNames : parseTags(head.tags)
    this.vary = policy.vary
    this.variant = variantKey(requestFieldsOf(this.#options.request.head), policy.vary)
    if (bodyPart) this.variant = `${this.variant}\n${bodyPart.range}`
    this.#lines = head.lines
    if (bodyPart) this.#range = bodyPart
    for (const reader of this.readers) {
      if (reader === this.#leader) reader.startResponse(head, this.#lines, `fwd=${this.#options.forwardReason}; fwd-status=${head.status}; stored`)
      else if (this.matchesVariant(reader.context)) reader.startResponse(head, this.#lines, 'fwd=uri-miss; collapsed')
      else this.#retryReader(reader)
    }
  }

  flushHead(): void {
    for (const reader of this.readers) reader.flush()
  }

  onData(bytes: Buffer, start: number, end: number): boolean {
    if (this.#isOver) return true
    const { cache } = this.#options
    const bodyPart = Buffer.allocUnsafeSlow(end - start)
    bytes.copy(bodyPart, 0, start, end)
    this.parts.push(bodyPart)
    this.#bytes += bodyPart.length
    cache.addInFlightBytes(bodyPart.length)
    if (!this.#hasOverflowed && (this.#bytes > cache.max_object_bytes || cache.isInFlightFull())) {
      this.#hasOverflowed = true
      // The body is no longer kept. A request that joined now would receive only the rest.
      this.#unregister()
    }
    for (const reader of this.readers) reader.pump()
    this.resumeWhenDrained()
    this.#isPaused = this.#hasOverflowed && this.parts.length > 0
    return !this.#isPaused
  }

  /** Above the limit, releases what all readers have read and lets the app continue. */
  resumeWhenDrained(): void {
    if (!this.#hasOverflowed || this.isComplete) return
    for (const reader of this.readers) if (reader.isBehind) return
    this.#releaseParts()
    for (const reader of this.readers) reader.resetPosition()
    if (!this.#isPaused) return
    this.#isPaused = false
    this.exchange?.resume()
  }

  #releaseParts(): void {
    for (const bodyPart of this.parts) this.#options.cache.addInFlightBytes(-bodyPart.length)
    this.parts = []
  }

  onEnd(trailers: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.isComplete = true
    this.trailers = trailers
    const { cache, urlEntry } = this.#options
    if (this.#head && this.#policy && !this.#hasOverflowed && !this.#isDiscarded) {
      const entry = new CacheEntry(
        cache.project.ensureUrlEntry(urlEntry.origin, urlEntry.target),
        this.variant,
        this.tags ?? noNames,
        this.#head.status,
        this.#policy,
        cache.clock.now(),
        this.#bytes,
      )
      entry.part = this.#range
      entry.fill(reasonPhraseOf(this.#head), storedLines(this.#head, this.#policy, cache.dateLine()), this.parts)
      cache.put(entry)
    }
    this.#finish()
    for (const reader of this.readers) reader.pump()
    // Slower readers still hold `parts`, which no longer count as in flight.
    for (const bodyPart of this.parts) cache.addInFlightBytes(-bodyPart.length)
  }

  onError(failure: UpstreamFailure): void {
    if (this.#isOver) return
    this.#isOver = true
    const { cache, stale } = this.#options
    const now = cache.clock.now()
    this.#finish()
    if (stale && !this.#head && failure !== 'rerouted' && canServeStaleOnError(stale, now, 0))
      return this.#serveStale(stale, now, `fwd=stale; detail="${failure}"`)
    const readers = [...this.readers]
    this.readers.clear()
    this.#releaseParts()
    for (const reader of readers) {
      if (this.#head) reader.fail('cut')
      else if (reader === this.#leader || failure === 'refused' || failure === 'rerouted' || failure === 'timeout') reader.fail(failure)
      else reader.retryAlone()
    }
  }

  /** Forwards a response that may not be stored, to the leader only. */
  #forwardUnstored(head: ResponseHead, reason: string, now: number): void {
    const { storageRequest, cache, urlEntry, stale } = this.#options
    const leader = this.#leader
    this.#isOver = true
    this.#finish()
    if (head.status < 500 && head.status !== 304 && head.status !== 206 && !storageRequest.no_store && !this.#isDiscarded) {
      urlEntry.hit_for_miss_until = now + cache.hit_for_miss_ms
      urlEntry.hit_for_miss_reason = reason
      // A personal response says nothing about the response for everyone else.
      if (stale && !stale.isRemoved && !storageRequest.cookie && !storageRequest.authorization) cache.project.removeEntry(stale)
    }
    for (const reader of this.readers) if (reader !== leader) this.#retryReader(reader)
    if (leader === null) return this.exchange?.abort()
    const { exchange } = this
    if (exchange === null) return
    leader.directExchange = exchange
    leader.fetch = null
    exchange.handler = leader.context
    const status = `fwd=${this.#options.forwardReason}; fwd-status=${head.status}; detail="${reason}"`
    leader.context.setCacheOutcome('miss', status)
    head.lines += cacheStatusLines('MISS', status)
    leader.context.onHead(head)
  }

  /** The app confirmed the stored response. */
  #onNotModified(stale: CacheEntry, head: ResponseHead, now: number): void {
    const { cache, storageRequest, urlEntry } = this.#options
    const lines = mergeRevalidated(stale.lines, head.lines, head.hasDate ? '' : cache.dateLine())
    const mergedHead = { ...head, status: stale.status, lines, length: stale.body_length }
    const policy =
      this.#isDiscarded || stale.isRemoved
        ? 'purged during the request'
        : decideStorage(revalidationRequest(storageRequest, stale), mergedHead, lines, now)
    let entry = stale
    if (typeof policy !== 'string') {
      entry = new CacheEntry(
        cache.project.ensureUrlEntry(urlEntry.origin, urlEntry.target),
        stale.variant,
        head.tags === '' ? stale.tags : parseTags(head.tags),
        stale.status,
        policy,
        now,
        stale.body_length,
      )
      entry.part = stale.part
      const reason = /^HTTP\/1\.1 \d+ (.*)\r\n/.exec(stale.fields)?.[1] ?? ''
      entry.fill(reason, lines, [stale.body])
      cache.put(entry)
    }
    this.#respondToAll(entry, now, 'HIT', 'fwd=stale; fwd-status=304')
    if (entry === stale && !stale.isRemoved) cache.project.removeEntry(stale)
  }

  #serveStale(stale: CacheEntry, now: number, status: string): void {
    this.#respondToAll(stale, now, 'STALE', status)
  }

  #respondToAll(entry: CacheEntry, now: number, outcome: 'HIT' | 'STALE', status: string): void {
    this.#isOver = true
    this.#finish()
    const readers = [...this.readers]
    this.readers.clear()
    for (const reader of readers) {
      if (reader !== this.#leader && variantKey(reader.context, entry.policy.vary) !== entry.variant) reader.retryAlone()
      else reader.respond(createStoredResponse(reader.context, entry, now, outcome, status), outcome === 'HIT' ? 'hit' : 'stale', status)
    }
  }

  #retryReader(reader: CacheReader): void {
    this.readers.delete(reader)
    reader.retryAlone()
  }

  #stop(): void {
    this.#isOver = true
    this.#finish()
    this.#releaseParts()
    this.exchange?.abort()
  }

  /** Releases the bytes of the stale entry. */
  #unpin(): void {
    const { stale } = this.#options
    if (stale === null || this.#isUnpinned) return
    this.#isUnpinned = true
    stale.pins--
    if (stale.pins === 0 && stale.counted_bytes === 0 && (stale.isRemoved || stale.diskLocation !== null)) stale.serialized = null
  }

  #finish(): void {
    this.#collapseTimer?.cancel()
    this.#unregister()
    this.#options.cache.project.fetches.delete(this)
    // Deferred, because the stale response may still be served in this tick.
    queueMicrotask(() => this.#unpin())
  }

  #unregister(): void {
    if (this.#key !== null) this.urlEntry.unregisterFetch(this.#key, this)
  }
}

/** A stored response to a request with Authorization keeps that property when it is revalidated. */
export const revalidationRequest = (storageRequest: StorageRequest, stored: CacheEntry): StorageRequest => ({
  ...storageRequest,
  authorization: storageRequest.authorization || stored.policy.authorized,
})

/** Reads the fields from the forwarded head, because the connection may already handle another request when the response arrives. */
const requestFieldsOf = (head: string): RequestFields => ({
  fields(name) {
    const values = fieldValues(head, name)
    return values.length === 0 ? undefined : values.join(', ')
  },
})

/** Tags of `Surrogate-Key` (separated by spaces) and `Cache-Tag` (by commas); the parsed head has one per line. Tags are UTF-8, as in a purge. */
export const parseTags = (text: string): string[] => [...new Set(text.split('\n').filter((tag) => tag !== ''))].map(decodeTag)

function decodeTag(tag: string): string {
  if (!/[\x80-\xff]/.test(tag)) return tag
  const text = Buffer.from(tag, 'latin1').toString()
  return text.includes('\ufffd') ? tag : text
}
