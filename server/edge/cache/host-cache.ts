import type { Clock } from '../../lib/clock.ts'
import { forwardUncached } from './uncached-forward.ts'
import type { CacheEntry, UrlEntry } from './entry.ts'
import { CacheFetch, type ResponseStorage } from './fetch.ts'
import { createStorageRequest, noRequestDirectives, parseRequestDirectives, type RequestDirectives } from './storage-policy.ts'
import { CacheReader, type CacheRequestContext, type ReaderHandler } from './reader.ts'
import { onlyIfCachedMiss, onlyIfCachedStatus, createStoredResponse } from './stored-response.ts'
import { decideReuse } from './reuse-decision.ts'
import { hostOfOrigin, type ProjectCache } from './project-cache.ts'
import { variantKey } from './vary.ts'
import type { Upstream } from '../upstream/pool.ts'

/** Services that all host caches share. */
export interface CacheServices {
  clock: Clock
  max_object_bytes: number
  /** How long a URL is considered uncacheable after an uncacheable response. */
  hit_for_miss_ms: number
  dateLine(): string
  /** Changes the amount of memory held by responses being fetched. */
  addInFlightBytes(bytes: number): void
  isInFlightFull(): boolean
  /** Whether stored responses may be served now. */
  isCurrent(): boolean
  put(project: ProjectCache, entry: CacheEntry): void
  invalidate(project: ProjectCache, host: string, target: string): void
  /** Reads the bytes of an entry from disk, and removes the entry if they are missing. */
  loadFromDisk(entry: CacheEntry): Promise<void>
  /** Counts an entry that was read from disk. */
  trackInMemory(entry: CacheEntry): void
}

/** The cache of one scheme and host. */
export class HostCache implements ReaderHandler, ResponseStorage {
  readonly project: ProjectCache
  readonly origin: string
  readonly #services: CacheServices

  constructor(services: CacheServices, project: ProjectCache, origin: string) {
    this.#services = services
    this.project = project
    this.origin = origin
  }

  get isUsable(): boolean {
    return this.project.isEnabled && this.#services.isCurrent()
  }
  get clock(): Clock {
    return this.#services.clock
  }
  get max_object_bytes(): number {
    return this.#services.max_object_bytes
  }
  get hit_for_miss_ms(): number {
    return this.#services.hit_for_miss_ms
  }
  dateLine(): string {
    return this.#services.dateLine()
  }
  addInFlightBytes(bytes: number): void {
    this.#services.addInFlightBytes(bytes)
  }
  isInFlightFull(): boolean {
    return this.#services.isInFlightFull()
  }
  put(entry: CacheEntry): void {
    this.#services.put(this.project, entry)
  }
  invalidate(target: string): void {
    this.#services.invalidate(this.project, hostOfOrigin(this.origin) ?? '', target)
  }

  /** The fresh entry for an unconditional GET, from memory. Most hits take this path, so it allocates nothing. */
  findFresh(target: string, now: number): CacheEntry | null {
    if (!this.isUsable) return null
    const entry = this.project.find(this.origin, target)?.unvaried
    if (!entry || entry.isRemoved || entry.serialized === null || !entry.isFresh(now)) return null
    entry.isRecentlyUsed = true
    return entry
  }

  /** Creates a reader for a request that cannot be answered immediately. The caller starts it. */
  createReader(context: CacheRequestContext, upstream: Upstream): CacheReader {
    return new CacheReader(this, context, upstream, this.project.version)
  }

  /** `isAlone`: does not collapse with other requests, because that has just failed. */
  handle(reader: CacheReader, isAlone: boolean): void {
    const { context } = reader
    const { method, target } = context
    if (!this.isUsable || (method !== 'GET' && method !== 'HEAD') || context.hasBody()) return forwardUncached(this, reader)
    const now = this.clock.now()
    const directives = parseRequestDirectives(context.fields('cache-control'), context.fields('pragma'))
    const urlEntry = this.project.find(this.origin, target)
    const range = context.header('range') ?? null
    const entry = urlEntry && this.#select(urlEntry, context, range)
    const hasPrecondition = context.header('if-match') !== undefined || context.header('if-unmodified-since') !== undefined
    if (entry && !hasPrecondition) {
      if (entry.serialized === null) return this.#loadThenHandle(reader, entry, isAlone)
      entry.isRecentlyUsed = true
      const decision = decideReuse(entry, directives, now)
      if (decision === 'HIT') return reader.respond(createStoredResponse(context, entry, now, 'HIT', 'hit'), 'hit', 'hit')
      if (decision === 'STALE') {
        this.#revalidateInBackground(reader, entry, urlEntry, now)
        const status = `hit; ttl=${entry.freshSecondsLeft(now)}`
        return reader.respond(createStoredResponse(context, entry, now, 'STALE', status), 'stale', status)
      }
    }
    if (directives.only_if_cached) return reader.respond(onlyIfCachedMiss, 'miss', onlyIfCachedStatus)
    if (method === 'HEAD') return forwardUncached(this, reader)
    this.#fetch(reader, urlEntry ?? this.project.ensureUrlEntry(this.origin, target), {
      entry: hasPrecondition ? undefined : entry,
      directives,
      range,
      now,
      isAlone: isAlone || hasPrecondition,
    })
  }

  #fetch(
    reader: CacheReader,
    urlEntry: UrlEntry,
    {
      entry,
      directives,
      range,
      now,
      isAlone,
    }: { entry: CacheEntry | undefined; directives: RequestDirectives; range: string | null; now: number; isAlone: boolean },
  ): void {
    const { context } = reader
    const storageRequest = createStorageRequest(context, directives, now)
    // The response to a partial or conditional request is of no use to other requests.
    const isPartialOrConditional =
      range !== null || context.header('if-none-match') !== undefined || context.header('if-modified-since') !== undefined
    const canRevalidate =
      entry !== undefined && (entry.policy.etag !== '' || entry.policy.last_modified !== '') && !directives.no_store && entry.part === null
    const key = variantKey(context, urlEntry.vary)
    // An event stream has no end to wait for.
    const canCollapse =
      !isAlone &&
      context.header('accept') !== 'text/event-stream' &&
      !directives.no_cache &&
      !directives.no_store &&
      range === null &&
      (!isPartialOrConditional || canRevalidate)
    const pendingFetch = canCollapse ? urlEntry.findFetch(key) : undefined
    if (pendingFetch?.matchesVariant(context)) return pendingFetch.join(reader)
    // It may have waited for a response or the disk while its version was replaced.
    const isCurrent = reader.version === this.project.version
    const isLeader = canCollapse && isCurrent && urlEntry.hit_for_miss_until <= now && urlEntry.findFetch(key) === undefined
    const forwardReason = entry
      ? directives === noRequestDirectives || !entry.isFresh(now)
        ? 'stale'
        : 'request'
      : urlEntry.size > 0
        ? 'vary-miss'
        : 'uri-miss'
    const fetch = new CacheFetch({
      cache: this,
      urlEntry,
      leader: reader,
      upstream: reader.upstream,
      request: reader.request,
      storageRequest,
      stale: entry ?? null,
      canRevalidate,
      forwardReason,
      range,
    })
    if (!isCurrent) fetch.discardResult()
    fetch.start(isLeader ? key : null)
  }

  /** Revalidates a stale entry after the client has received it. */
  #revalidateInBackground(reader: CacheReader, entry: CacheEntry, urlEntry: UrlEntry, now: number): void {
    const { context } = reader
    const key = variantKey(context, urlEntry.vary)
    if (urlEntry.findFetch(key) || reader.version !== this.project.version) return
    new CacheFetch({
      cache: this,
      urlEntry,
      leader: null,
      upstream: reader.upstream,
      request: reader.request,
      storageRequest: createStorageRequest(context, noRequestDirectives, now),
      stale: entry,
      canRevalidate: entry.policy.etag !== '' || entry.policy.last_modified !== '',
      forwardReason: 'stale',
      range: null,
    }).start(key)
  }

  #select(urlEntry: UrlEntry, context: CacheRequestContext, range: string | null): CacheEntry | undefined {
    return urlEntry.select(context) ?? (range === null ? undefined : urlEntry.selectPart(context, range))
  }

  #loadThenHandle(reader: CacheReader, entry: CacheEntry, isAlone: boolean): void {
    void this.#services.loadFromDisk(entry).then(() => {
      if (!reader.isOver) this.handle(reader, isAlone)
      // Only now may the entry be evicted from memory again.
      this.#services.trackInMemory(entry)
    })
  }
}
