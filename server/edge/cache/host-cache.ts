import type { Clock } from '../../lib/clock.ts'
import { forwardUncached } from './uncached-forward.ts'
import type { CacheEntry } from './entry.ts'
import { CacheFetch } from './fetch.ts'
import { noRequestDirectives, parseRequestDirectives, type StorageRequest, type RequestDirectives } from './storage-policy.ts'
import { CacheReader, type CacheRequestContext } from './reader.ts'
import { onlyIfCachedMiss, createStoredResponse } from './stored-response.ts'
import { decideReuse } from './reuse-decision.ts'
import type { UrlEntry } from './url-entry.ts'
import type { ProjectCache } from './project-cache.ts'
import { variantKey } from './vary.ts'
import type { Upstream } from '../upstream/pool.ts'

/** What all names share. */
export interface CacheServices {
  clock: Clock
  max_object_bytes: number
  /** How long an address is taken for not storable after an answer that was not. */
  hit_for_miss_ms: number
  dateLine(): string
  /** More or less of answers on their way is held in memory. */
  addInFlightBytes(bytes: number): void
  isInFlightFull(): boolean
  put(project: ProjectCache, entry: CacheEntry): void
  /** Brings the bytes of an entry back from disk; an entry whose bytes are gone is taken out. */
  loadFromDisk(entry: CacheEntry): Promise<void>
  /** Counts what was brought back. */
  trackInMemory(entry: CacheEntry): void
}

/** The cache of one name, as it is asked for. */
export class HostCache {
  readonly project: ProjectCache
  /** `http://name:port` as it was asked for: the app may answer each of them differently. */
  readonly origin: string
  readonly #services: CacheServices

  constructor(services: CacheServices, project: ProjectCache, origin: string) {
    this.#services = services
    this.project = project
    this.origin = origin
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

  /** What a plain GET without any condition gets at once out of memory. The way of most hits: nothing is made for it. */
  findFresh(target: string, now: number): CacheEntry | null {
    if (!this.project.isEnabled) return null
    const entry = this.project.find(this.origin, target)?.unvaried
    if (!entry || entry.isRemoved || entry.serialized === null || !entry.isFresh(now)) return null
    entry.isRecentlyUsed = true
    return entry
  }

  /** A request that cannot be answered at once; `start` it once it is in place. */
  createReader(context: CacheRequestContext, upstream: Upstream): CacheReader {
    return new CacheReader(this, context, upstream)
  }

  /** `alone`: not together with others, since that has just failed. */
  handle(createReader: CacheReader, isAlone: boolean): void {
    const { context } = createReader
    const { method, target } = context
    if (!this.project.isEnabled || (method !== 'GET' && method !== 'HEAD') || context.hasBody()) return forwardUncached(this, createReader)
    const now = this.clock.now()
    const directives = parseRequestDirectives(context.fields('cache-control'), context.fields('pragma'))
    const urlEntry = this.project.find(this.origin, target)
    const range = context.header('range') ?? null
    const entry = urlEntry && this.#select(urlEntry, context, range)
    const hasPrecondition = context.header('if-match') !== undefined || context.header('if-unmodified-since') !== undefined
    if (entry && !hasPrecondition) {
      if (entry.serialized === null) return this.#loadThenHandle(createReader, entry, isAlone)
      entry.isRecentlyUsed = true
      const decision = decideReuse(entry, directives, now)
      if (decision === 'HIT') return createReader.respond(createStoredResponse(context, entry, now, 'HIT', 'hit'), 'hit')
      if (decision === 'STALE') {
        this.#revalidateInBackground(createReader, entry, urlEntry, now)
        return createReader.respond(createStoredResponse(context, entry, now, 'STALE', `hit; ttl=${entry.freshSecondsLeft(now)}`), 'hit')
      }
    }
    if (directives.only_if_cached) return createReader.respond(onlyIfCachedMiss, 'miss')
    if (method === 'HEAD') return forwardUncached(this, createReader)
    this.#fetch(createReader, urlEntry ?? this.project.ensureUrlEntry(this.origin, target), {
      entry: hasPrecondition ? undefined : entry,
      wish: directives,
      range,
      now,
      alone: isAlone || hasPrecondition,
    })
  }

  #fetch(
    createReader: CacheReader,
    urlEntry: UrlEntry,
    {
      entry,
      wish: directives,
      range,
      now,
      alone: isAlone,
    }: { entry: CacheEntry | undefined; wish: RequestDirectives; range: string | null; now: number; alone: boolean },
  ): void {
    const { context } = createReader
    const storageRequest = this.storageRequest(context, directives, now)
    // A request that asks for less than the whole gets an answer that is of no use to others.
    const isPartialOrConditional =
      range !== null || context.header('if-none-match') !== undefined || context.header('if-modified-since') !== undefined
    const canRevalidate =
      entry !== undefined && (entry.policy.etag !== '' || entry.policy.last_modified !== '') && !directives.no_store && entry.part === null
    const key = variantKey(context, urlEntry.vary)
    // A stream of events has no end to wait for.
    const canCollapse =
      !isAlone &&
      context.header('accept') !== 'text/event-stream' &&
      !directives.no_cache &&
      !directives.no_store &&
      range === null &&
      (!isPartialOrConditional || canRevalidate)
    const pendingFetch = canCollapse ? urlEntry.findFetch(key) : undefined
    if (pendingFetch?.matchesVariant(context)) return pendingFetch.join(createReader)
    const isLeader = canCollapse && urlEntry.hit_for_miss_until <= now && urlEntry.findFetch(key) === undefined
    const forwardReason = entry
      ? directives === noRequestDirectives || !entry.isFresh(now)
        ? 'stale'
        : 'request'
      : urlEntry.size > 0
        ? 'vary-miss'
        : 'uri-miss'
    new CacheFetch({
      cache: this,
      urlEntry,
      leader: createReader,
      upstream: createReader.upstream,
      request: createReader.request,
      storageRequest,
      stale: entry ?? null,
      canRevalidate,
      forwardReason,
      range,
    }).start(isLeader ? key : null)
  }

  /** Asks the app behind the back of a visitor who got what is stored. */
  #revalidateInBackground(createReader: CacheReader, entry: CacheEntry, urlEntry: UrlEntry, now: number): void {
    const { context } = createReader
    const key = variantKey(context, urlEntry.vary)
    if (urlEntry.findFetch(key)) return
    new CacheFetch({
      cache: this,
      urlEntry,
      leader: null,
      upstream: createReader.upstream,
      request: createReader.request,
      storageRequest: this.storageRequest(context, noRequestDirectives, now),
      stale: entry,
      canRevalidate: entry.policy.etag !== '' || entry.policy.last_modified !== '',
      forwardReason: 'stale',
      range: null,
    }).start(key)
  }

  storageRequest(context: CacheRequestContext, directives: RequestDirectives, now: number): StorageRequest {
    return {
      method: context.method,
      target: context.target,
      authorization: context.header('authorization') !== undefined,
      cookie: context.header('cookie') !== undefined,
      no_store: directives.no_store,
      sent_ms: now,
    }
  }

  #select(urlEntry: UrlEntry, context: CacheRequestContext, range: string | null): CacheEntry | undefined {
    return urlEntry.select(context) ?? (range === null ? undefined : urlEntry.selectPart(context, range))
  }

  #loadThenHandle(createReader: CacheReader, entry: CacheEntry, isAlone: boolean): void {
    void this.#services.loadFromDisk(entry).then(() => {
      if (!createReader.isOver) this.handle(createReader, isAlone)
      // Only now may it have to make room again.
      this.#services.trackInMemory(entry)
    })
  }
}
