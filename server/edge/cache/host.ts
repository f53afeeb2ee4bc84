import type { Clock } from '../../lib/clock.ts'
import { methodFetch } from './method.ts'
import type { Entry } from './entry.ts'
import { Fetch } from './fetch.ts'
import { noWish, readWish, type Asked, type Wish } from './policy.ts'
import { Reader, type CacheVisit } from './reader.ts'
import { nothingStored, reply } from './reply.ts'
import { verdict } from './verdict.ts'
import type { Slot } from './slot.ts'
import type { ProjectStore } from './store.ts'
import { variantOf } from './vary.ts'
import type { Upstream } from '../upstream.ts'

/** What all names share. */
export interface Commons {
  clock: Clock
  object_bytes: number
  /** How long an address is taken for not storable after an answer that was not. */
  pass_ms: number
  dateLine(): string
  /** More or less of answers on their way is held in memory. */
  filling(bytes: number): void
  isFull(): boolean
  put(project: ProjectStore, entry: Entry): void
  /** Brings the bytes of an entry back from disk; an entry whose bytes are gone is taken out. */
  load(entry: Entry): Promise<void>
  /** Counts what was brought back. */
  settle(entry: Entry): void
}

/** The cache of one name, as it is asked for. */
export class HostCache {
  readonly project: ProjectStore
  /** `http://name:port` as it was asked for: the app may answer each of them differently. */
  readonly origin: string
  readonly #commons: Commons

  constructor(commons: Commons, project: ProjectStore, origin: string) {
    this.#commons = commons
    this.project = project
    this.origin = origin
  }

  get clock(): Clock {
    return this.#commons.clock
  }
  get object_bytes(): number {
    return this.#commons.object_bytes
  }
  get pass_ms(): number {
    return this.#commons.pass_ms
  }
  dateLine(): string {
    return this.#commons.dateLine()
  }
  filling(bytes: number): void {
    this.#commons.filling(bytes)
  }
  isFull(): boolean {
    return this.#commons.isFull()
  }
  put(entry: Entry): void {
    this.#commons.put(this.project, entry)
  }

  /** What a plain GET without any condition gets at once out of memory. The way of most hits: nothing is made for it. */
  quick(target: string, now: number): Entry | null {
    if (!this.project.enabled) return null
    const entry = this.project.find(this.origin, target)?.plain
    if (!entry || entry.dead || entry.wire === null || !entry.isFresh(now)) return null
    entry.used = true
    return entry
  }

  /** A request that cannot be answered at once; `start` it once it is in place. */
  reader(visit: CacheVisit, upstream: Upstream): Reader {
    return new Reader(this, visit, upstream)
  }

  /** `alone`: not together with others, since that has just failed. */
  begin(reader: Reader, alone: boolean): void {
    const { visit } = reader
    const { method, target } = visit
    if (!this.project.enabled || (method !== 'GET' && method !== 'HEAD') || visit.hasBody()) return methodFetch(this, reader)
    const now = this.clock.now()
    const wish = readWish(visit.fields('cache-control'), visit.fields('pragma'))
    const slot = this.project.find(this.origin, target)
    const range = visit.header('range') ?? null
    const entry = slot && this.#select(slot, visit, range)
    const precondition = visit.header('if-match') !== undefined || visit.header('if-unmodified-since') !== undefined
    if (entry && !precondition) {
      if (entry.wire === null) return this.#loadFirst(reader, entry, alone)
      entry.used = true
      const word = verdict(entry, wish, now)
      if (word === 'HIT') return reader.answer(reply(visit, entry, now, 'HIT', 'hit'), 'hit')
      if (word === 'STALE') {
        this.#refresh(reader, entry, slot, now)
        return reader.answer(reply(visit, entry, now, 'STALE', `hit; ttl=${entry.freshFor(now)}`), 'hit')
      }
    }
    if (wish.only_if_cached) return reader.answer(nothingStored, 'miss')
    if (method === 'HEAD') return methodFetch(this, reader)
    this.#fetch(reader, slot ?? this.project.slot(this.origin, target), {
      entry: precondition ? undefined : entry,
      wish,
      range,
      now,
      alone: alone || precondition,
    })
  }

  #fetch(
    reader: Reader,
    slot: Slot,
    { entry, wish, range, now, alone }: { entry: Entry | undefined; wish: Wish; range: string | null; now: number; alone: boolean },
  ): void {
    const { visit } = reader
    const asked = this.asked(visit, wish, now)
    // A request that asks for less than the whole gets an answer that is of no use to others.
    const special = range !== null || visit.header('if-none-match') !== undefined || visit.header('if-modified-since') !== undefined
    const validates = entry !== undefined && (entry.terms.etag !== '' || entry.terms.last_modified !== '') && !wish.no_store && entry.part === null
    const key = variantOf(visit, slot.vary)
    // A stream of events has no end to wait for.
    const mayWait =
      !alone && visit.header('accept') !== 'text/event-stream' && !wish.no_cache && !wish.no_store && range === null && (!special || validates)
    const under_way = mayWait ? slot.fetchOf(key) : undefined
    if (under_way?.suits(visit)) return under_way.join(reader)
    const leads = mayWait && slot.pass_until <= now && slot.fetchOf(key) === undefined
    const forward = entry ? (wish === noWish || !entry.isFresh(now) ? 'stale' : 'request') : slot.size > 0 ? 'vary-miss' : 'uri-miss'
    new Fetch({
      cache: this,
      slot,
      lead: reader,
      upstream: reader.upstream,
      request: reader.request,
      asked,
      stale: entry ?? null,
      validates,
      forward,
      range,
    }).start(leads ? key : null)
  }

  /** Asks the app behind the back of a visitor who got what is stored. */
  #refresh(reader: Reader, entry: Entry, slot: Slot, now: number): void {
    const { visit } = reader
    const key = variantOf(visit, slot.vary)
    if (slot.fetchOf(key)) return
    new Fetch({
      cache: this,
      slot,
      lead: null,
      upstream: reader.upstream,
      request: reader.request,
      asked: this.asked(visit, noWish, now),
      stale: entry,
      validates: entry.terms.etag !== '' || entry.terms.last_modified !== '',
      forward: 'stale',
      range: null,
    }).start(key)
  }

  asked(visit: CacheVisit, wish: Wish, now: number): Asked {
    return {
      method: visit.method,
      target: visit.target,
      authorization: visit.header('authorization') !== undefined,
      cookie: visit.header('cookie') !== undefined,
      no_store: wish.no_store,
      sent_ms: now,
    }
  }

  #select(slot: Slot, visit: CacheVisit, range: string | null): Entry | undefined {
    return slot.select(visit) ?? (range === null ? undefined : slot.selectPart(visit, range))
  }

  #loadFirst(reader: Reader, entry: Entry, alone: boolean): void {
    void this.#commons.load(entry).then(() => {
      if (!reader.over) this.begin(reader, alone)
      // Only now may it have to make room again.
      this.#commons.settle(entry)
    })
  }
}
