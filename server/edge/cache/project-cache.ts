import type { PurgeScope } from '../edge.ts'
import { parseHostName, isLocalNetworkName } from '../host-header.ts'
import { SlotSet } from '../slot-set.ts'
import { CacheEntry, UrlEntry, type EntryOwner, type PendingFetch } from './entry.ts'
import type { EvictionQueue } from './eviction.ts'

/** The maximum number of variants per URL, because clients choose the header values. */
const maxVariants = 100
/** The maximum number of URLs per project that are remembered only as uncacheable. */
const maxEmptyUrls = 10_000

/** The entries with a tag; most often one. */
type TaggedEntries = CacheEntry | { entries: CacheEntry[]; /** Removed entries are dropped when this number is reached. */ limit: number }

/** The cached responses of one project. */
export class ProjectCache implements EntryOwner {
  readonly id: string
  isEnabled = true
  /** Incremented by a purge of everything, so that older entries need not be marked one by one. */
  generation = 0
  /** Incremented by a purge of everything or of a host, which follows a new version. A request from before goes to the version of then. */
  version = 0
  objects = 0
  bytes = 0
  /** URL entries by origin and target. Replaced as a whole when everything is purged. */
  origins = new Map<string, Map<string, UrlEntry>>()
  /** Active fetches whose responses may be stored. A response requested before a purge is not stored after it. */
  readonly fetches = new SlotSet<PendingFetch>()
  #tags = new Map<string, TaggedEntries>()
  #tags_limit = 10_000
  #emptyUrls = 0
  /** URLs that were invalidated while the disk index was being read. The index still has their old responses. */
  #invalidatedWhileLoading: Set<string> | null = new Set()
  readonly #eviction: EvictionQueue
  readonly #forgetOnDisk: (entry: CacheEntry, isPersistent: boolean) => void
  readonly #deferRemoval: (entries: Iterable<CacheEntry>) => void

  constructor(
    id: string,
    eviction: EvictionQueue,
    deferRemoval: (entries: Iterable<CacheEntry>) => void,
    forget: (entry: CacheEntry, isPersistent: boolean) => void,
  ) {
    this.id = id
    this.#eviction = eviction
    this.#deferRemoval = deferRemoval
    this.#forgetOnDisk = forget
  }

  find(origin: string, target: string): UrlEntry | undefined {
    return this.origins.get(origin)?.get(target)
  }

  ensureUrlEntry(origin: string, target: string): UrlEntry {
    let urlEntries = this.origins.get(origin)
    if (urlEntries === undefined) this.origins.set(origin, (urlEntries = new Map()))
    let urlEntry = urlEntries.get(target)
    if (urlEntry === undefined) {
      if (++this.#emptyUrls > maxEmptyUrls) this.#removeEmptyUrls()
      urlEntries = this.origins.get(origin) ?? new Map<string, UrlEntry>()
      this.origins.set(origin, urlEntries)
      urlEntries.set(target, (urlEntry = new UrlEntry(this, origin, target)))
    }
    return urlEntry
  }

  /** Drops URL entries without stored responses. */
  #removeEmptyUrls(): void {
    this.#emptyUrls = 0
    for (const [origin, urlEntries] of this.origins) {
      for (const [target, urlEntry] of urlEntries) if (urlEntry.is_empty) urlEntries.delete(target)
      if (urlEntries.size === 0) this.origins.delete(origin)
    }
  }

  put(entry: CacheEntry): void {
    const { urlEntry } = entry
    if (urlEntry.vary.join() !== entry.policy.vary.join()) {
      for (const other of urlEntry.allEntries()) this.removeEntry(other)
      urlEntry.vary = entry.policy.vary
    }
    const replaced = urlEntry.get(entry.variant)
    if (replaced) this.removeEntry(replaced)
    if (urlEntry.size >= maxVariants)
      for (const oldest of urlEntry.allEntries()) {
        this.removeEntry(oldest)
        break
      }
    if (this.find(urlEntry.origin, urlEntry.target) !== urlEntry) this.#link(urlEntry)
    urlEntry.set(entry)
    urlEntry.hit_for_miss_until = 0
    this.objects++
    this.bytes += entry.stored_bytes
    for (const tag of entry.tags) this.#addTag(tag, entry)
    if (entry.serialized !== null) this.#eviction.add(entry)
  }

  #link(urlEntry: UrlEntry): void {
    const urlEntries = this.origins.get(urlEntry.origin) ?? new Map<string, UrlEntry>()
    this.origins.set(urlEntry.origin, urlEntries.set(urlEntry.target, urlEntry))
  }

  #addTag(tag: string, entry: CacheEntry): void {
    const tagged = this.#tags.get(tag)
    if (tagged === undefined || (tagged instanceof CacheEntry && tagged.isRemoved)) {
      this.#tags.set(tag, entry)
      if (this.#tags.size > this.#tags_limit) this.#removeDeadTags()
    } else if (tagged instanceof CacheEntry) this.#tags.set(tag, { entries: [tagged, entry], limit: 16 })
    else if (tagged.entries.push(entry) >= tagged.limit) {
      tagged.entries = tagged.entries.filter((other) => !other.isRemoved)
      tagged.limit = Math.max(16, tagged.entries.length * 2)
    }
  }

  #removeDeadTags(): void {
    for (const [tag, tagged] of this.#tags)
      if (tagged instanceof CacheEntry ? tagged.isRemoved : tagged.entries.every((entry) => entry.isRemoved)) this.#tags.delete(tag)
    this.#tags_limit = Math.max(10_000, this.#tags.size * 2)
  }

  #entriesByTag(tag: string): readonly CacheEntry[] {
    const tagged = this.#tags.get(tag)
    if (tagged === undefined) return []
    return tagged instanceof CacheEntry ? [tagged] : tagged.entries
  }

  /** Removes an entry immediately. `isPersistent`: the removal on disk is recorded. */
  removeEntry(entry: CacheEntry, isPersistent = true): void {
    this.#markRemoved(entry)
    this.#forgetOnDisk(entry, isPersistent)
    this.unlink(entry)
  }

  /** Whether the entry may no longer be served or written. */
  isRemoved(entry: CacheEntry): boolean {
    return entry.isRemoved || entry.urlEntry.generation !== this.generation
  }

  #markRemoved(entry: CacheEntry): boolean {
    if (entry.isRemoved) return false
    entry.isRemoved = true
    // An entry of an earlier generation is no longer counted.
    if (entry.urlEntry.generation !== this.generation) return true
    this.objects--
    this.bytes -= entry.stored_bytes
    return true
  }

  /** Removes a marked entry from the maps. */
  unlink(entry: CacheEntry): void {
    this.#eviction.remove(entry)
    this.#forgetOnDisk(entry, false)
    if (entry.pins === 0) entry.serialized = null
    const { urlEntry } = entry
    urlEntry.delete(entry)
    if (!urlEntry.is_empty) return
    const urlEntries = this.origins.get(urlEntry.origin)
    if (urlEntries?.get(urlEntry.target) !== urlEntry) return
    urlEntries.delete(urlEntry.target)
    if (urlEntries.size === 0) this.origins.delete(urlEntry.origin)
  }

  /** Marks the purged entries, which is enough for look-ups, and removes them from the maps later, so that no other request is delayed. */
  purge(scope: PurgeScope): number {
    const removed: CacheEntry[] = []
    if ('all' in scope) {
      const origins = this.origins
      const count = this.objects
      this.generation++
      this.version++
      this.origins = new Map()
      this.#tags = new Map()
      this.objects = this.bytes = this.#emptyUrls = 0
      for (const fetch of this.fetches.values()) fetch.discardResult()
      // The old maps are removed in the background.
      this.#deferRemoval(allEntries(origins))
      return count
    }
    if ('tags' in scope) {
      for (const tag of new Set(scope.tags)) {
        for (const entry of this.#entriesByTag(tag)) if (this.#markRemoved(entry)) removed.push(entry)
        this.#tags.delete(tag)
      }
      // A response whose head has not arrived may have the tag.
      for (const fetch of this.fetches.values()) if (fetch.tags === null || fetch.tags.some((tag) => scope.tags.includes(tag))) fetch.discardResult()
    } else {
      for (const url of scope.urls) {
        const { host, target } = parsePurgeUrl(url)
        for (const urlEntry of this.findUrlEntries(host, target)) removed.push(...this.#markUrlRemoved(urlEntry))
      }
    }
    this.#deferRemoval(removed)
    return removed.length
  }

  #markUrlRemoved(urlEntry: UrlEntry): CacheEntry[] {
    for (const fetch of this.fetches.values()) if (fetch.urlEntry === urlEntry) fetch.discardResult()
    return [...urlEntry.allEntries()].filter((entry) => this.#markRemoved(entry))
  }

  /** Invalidates the cached responses of one URL, for every scheme and port of the host. */
  invalidate(host: string, target: string): void {
    this.#invalidatedWhileLoading?.add(`http://${host}${target}`)
    for (const urlEntry of this.findUrlEntries(host, target)) {
      const removed = this.#markUrlRemoved(urlEntry)
      for (const entry of removed) this.#forgetOnDisk(entry, true)
      this.#deferRemoval(removed)
    }
  }

  /** Removes everything cached under a host name. */
  removeHost(host: string): void {
    this.version++
    for (const [origin, urlEntries] of this.origins) {
      if (hostOfOrigin(origin) !== host) continue
      for (const urlEntry of urlEntries.values()) {
        const removed = this.#markUrlRemoved(urlEntry)
        for (const entry of removed) this.#forgetOnDisk(entry, true)
        this.#deferRemoval(removed)
      }
    }
    for (const fetch of this.fetches.values()) if (hostOfOrigin(fetch.urlEntry.origin) === host) fetch.discardResult()
  }

  /** Whether a URL was invalidated while the disk index was being read. */
  wasInvalidatedWhileLoading(origin: string, target: string): boolean {
    return this.#invalidatedWhileLoading !== null && this.#invalidatedWhileLoading.has(`http://${hostOfOrigin(origin) ?? ''}${target}`)
  }

  /** Called when the disk index has been read. Returns the URLs that were invalidated meanwhile. */
  finishLoading(): string[] {
    const changed = [...(this.#invalidatedWhileLoading ?? [])]
    this.#invalidatedWhileLoading = null
    return changed
  }

  /** The URL entries of a target under one host or any host. A local-network name matches every host. */
  findUrlEntries(host: string | null, target: string): UrlEntry[] {
    const urlEntries: UrlEntry[] = []
    for (const [origin, known] of this.origins) {
      const urlEntry = known.get(target)
      if (urlEntry && (host === null || isSameHost(hostOfOrigin(origin) ?? '', host))) urlEntries.push(urlEntry)
    }
    return urlEntries
  }
}

const isSameHost = (host: string, other: string): boolean => host === other || isLocalNetworkName(host) || isLocalNetworkName(other)

/** The host of an origin, without its port. */
export const hostOfOrigin = (origin: string): string | undefined => parseHostName(origin.slice(origin.indexOf('//') + 2))

function* allEntries(origins: Map<string, Map<string, UrlEntry>>): Generator<CacheEntry> {
  for (const urlEntries of origins.values()) for (const urlEntry of urlEntries.values()) yield* urlEntry.allEntries()
}

/** Host and target of a URL in a purge request. A URL without a host applies to all hosts. */
function parsePurgeUrl(url: string): { host: string | null; target: string } {
  const absolute = /^https?:\/\/([^/?#]+)([^#]*)/i.exec(url)
  if (!absolute) return { host: null, target: withLeadingSlash(url.replace(/#.*$/, '')) }
  return { host: parseHostName(absolute[1] ?? '') ?? '', target: withLeadingSlash(absolute[2] ?? '') }
}

const withLeadingSlash = (path: string): string => (path.startsWith('/') ? path : `/${path}`)
