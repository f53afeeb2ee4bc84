import type { Exchange, UpstreamFailure, ResponseHandler } from '../upstream/exchange.ts'
import { parseHostName } from '../host-header.ts'
import type { ResponseHead } from '../upstream/response-head.ts'
import { CacheEntry, mergeRevalidated, reasonPhraseOf, storedLines } from './entry.ts'
import { revalidationRequest, parseTags, type ResponseStorage } from './fetch.ts'
import { fieldValue } from './header-fields.ts'
import { createStorageRequest, decideStorage, noRequestDirectives, type StoragePolicy } from './storage-policy.ts'
import type { CacheReader } from './reader.ts'
import { cacheStatusLines, type XCache } from './cache-status.ts'
import { hostOfOrigin } from './project-cache.ts'

/** Forwards a request that is not answered from the cache. The response may still update or invalidate what is stored. */
export function forwardUncached(cache: ResponseStorage, reader: CacheReader): void {
  new UncachedForward(cache, reader).start()
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

class UncachedForward implements ResponseHandler {
  readonly wantsRawChunks = false
  readonly #cache: ResponseStorage
  readonly #reader: CacheReader
  readonly #sent_ms: number
  #exchange: Exchange | null = null
  /** The response to a POST that represents the page itself. */
  #pendingEntry: { head: ResponseHead; terms: StoragePolicy; parts: Buffer[]; bytes: number } | null = null

  constructor(cache: ResponseStorage, reader: CacheReader) {
    this.#cache = cache
    this.#reader = reader
    this.#sent_ms = cache.clock.now()
  }

  start(): void {
    const exchange = this.#reader.upstream.createExchange(this, this.#reader.request)
    this.#exchange = exchange
    this.#reader.directExchange = exchange
    exchange.start()
  }

  onRequestSent(replica: number | null): void {
    this.#reader.context.onRequestSent(replica)
  }
  onDrain(): void {
    this.#reader.context.onDrain()
  }
  onContinue(): void {
    this.#reader.context.onContinue()
  }
  onInterim(head: ResponseHead): void {
    this.#reader.context.onInterim(head)
  }
  flushHead(): void {
    this.#reader.context.flushHead()
  }

  onHead(head: ResponseHead): void {
    const cache = this.#cache
    const { context } = this.#reader
    const { method } = context
    let outcome: XCache = 'BYPASS'
    let forwardReason = 'fwd=bypass'
    if (cache.project.isEnabled) {
      if (method === 'HEAD') {
        outcome = 'MISS'
        forwardReason = 'fwd=uri-miss'
        this.#updateFromHead(head)
      } else if (!safeMethods.has(method)) {
        forwardReason = 'fwd=method'
        if (head.status >= 200 && head.status < 400) this.#invalidate(head)
        if (method === 'POST') this.#pendingEntry = this.#storablePostResponse(head)
      }
    }
    const status = `${forwardReason}; fwd-status=${head.status}`
    context.setCacheOutcome(outcome === 'MISS' ? 'miss' : 'bypass', status)
    head.lines += cacheStatusLines(outcome, status)
    if (this.#pendingEntry) return context.onHead({ ...head, chunked: false })
    if (this.#exchange) this.#exchange.handler = context
    context.onHead(head)
  }

  /** Invalidates the target and the URLs on the same host that the response names (RFC 9111 §4.4). */
  #invalidate(head: ResponseHead): void {
    const { origin } = this.#cache
    const { target } = this.#reader.context
    this.#cache.invalidate(target)
    for (const name of ['location', 'content-location']) {
      const other = sameHostTarget(fieldValue(head.lines, name), origin, target)
      if (other !== undefined) this.#cache.invalidate(other)
    }
  }

  /** A HEAD response updates or invalidates the stored GET response (RFC 9111 §4.3.5). */
  #updateFromHead(head: ResponseHead): void {
    const cache = this.#cache
    const { context } = this.#reader
    const urlEntry = cache.project.find(cache.origin, context.target)
    const stored = urlEntry?.select(context)
    if (!urlEntry || !stored || stored.serialized === null || stored.part !== null || head.status >= 500 || head.status === 304) return
    const { etag, last_modified } = stored.policy
    const isUnchanged =
      head.status === stored.status &&
      (fieldValue(head.lines, 'etag') ?? etag) === etag &&
      (fieldValue(head.lines, 'last-modified') ?? last_modified) === last_modified &&
      (head.length < 0 || head.length === stored.body_length)
    const now = cache.clock.now()
    const lines = isUnchanged ? mergeRevalidated(stored.lines, head.lines, head.hasDate ? '' : cache.dateLine()) : ''
    const policy = isUnchanged
      ? decideStorage(
          { ...revalidationRequest(createStorageRequest(context, noRequestDirectives, this.#sent_ms), stored), method: 'GET' },
          { ...head, lines, length: stored.body_length },
          lines,
          now,
        )
      : ''
    if (typeof policy === 'string') return cache.project.removeEntry(stored)
    const entry = new CacheEntry(
      urlEntry,
      stored.variant,
      head.tags === '' ? stored.tags : parseTags(head.tags),
      stored.status,
      policy,
      now,
      stored.body_length,
    )
    entry.fill(reasonPhraseOf(head), lines, [stored.body])
    cache.put(entry)
  }

  /** A POST response may be stored for GET if it says that it represents the same URL (RFC 9110 §9.3.3). */
  #storablePostResponse(head: ResponseHead): { head: ResponseHead; terms: StoragePolicy; parts: Buffer[]; bytes: number } | null {
    const cache = this.#cache
    const { context } = this.#reader
    if (head.status !== 200 || sameHostTarget(fieldValue(head.lines, 'content-location'), cache.origin, context.target) !== context.target)
      return null
    const now = cache.clock.now()
    const lines = head.hasDate ? head.lines : head.lines + cache.dateLine()
    const policy = decideStorage(createStorageRequest(context, noRequestDirectives, this.#sent_ms), head, lines, now)
    if (typeof policy === 'string' || policy.vary.length > 0 || head.length > cache.max_object_bytes) return null
    if (!/^(?:cache-control|cdn-cache-control|expires):/im.test(lines)) return null
    return { head: { ...head }, terms: policy, parts: [], bytes: 0 }
  }

  onData(bytes: Buffer, start: number, end: number): boolean {
    const pendingEntry = this.#pendingEntry
    if (pendingEntry && pendingEntry.bytes + end - start <= this.#cache.max_object_bytes) {
      pendingEntry.parts.push(Buffer.from(bytes.subarray(start, end)))
      pendingEntry.bytes += end - start
    } else this.#pendingEntry = null
    return this.#reader.context.onData(bytes, start, end)
  }

  onEnd(trailers: string): void {
    const cache = this.#cache
    const pendingEntry = this.#pendingEntry
    const { context } = this.#reader
    if (pendingEntry && cache.project.isEnabled) {
      const { head, terms: policy, parts, bytes } = pendingEntry
      const entry = new CacheEntry(
        cache.project.ensureUrlEntry(cache.origin, context.target),
        '',
        parseTags(head.tags),
        head.status,
        policy,
        cache.clock.now(),
        bytes,
      )
      entry.fill(reasonPhraseOf(head), storedLines(head, policy, cache.dateLine()), parts)
      cache.put(entry)
    }
    context.onEnd(trailers)
  }

  onError(failure: UpstreamFailure): void {
    this.#reader.fail(failure)
  }
}

/** The target of a reference if it is on the same host. */
function sameHostTarget(reference: string | undefined, origin: string, base: string): string | undefined {
  if (reference === undefined) return undefined
  const url = URL.parse(reference, `${origin}${base}`)
  return url && /^https?:$/.test(url.protocol) && parseHostName(url.host) === hostOfOrigin(origin) ? url.pathname + url.search : undefined
}
