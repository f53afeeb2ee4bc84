import type { PurgeScope } from '../edge.ts'
import { parseHostName, isLocalNetworkName } from '../host-header.ts'
import { CacheEntry } from './entry.ts'
import type { CacheFetch } from './fetch.ts'
import type { EvictionQueue } from './eviction.ts'
import { UrlEntry } from './url-entry.ts'

/** At most so many answers to one address: clients choose what they send. */
const maxVariants = 100
/** Addresses that are only remembered as not storable, per project. */
const maxEmptyUrls = 10_000

/** What bears a tag: most often one answer. */
type TaggedEntries = CacheEntry | { entries: CacheEntry[]; /** When it has as many the dead are taken out. */ limit: number }

/** What is stored of one project. */
export class ProjectCache {
  readonly id: string
  isEnabled = true
  /** Rises when all is purged: what was stored before need not be marked one by one to be gone. */
  generation = 0
  objects = 0
  bytes = 0
  /** Slots by origin and address. Replaced as a whole when all is purged. */
  origins = new Map<string, Map<string, UrlEntry>>()
  /** Answers on their way that may come to be stored. What was asked for before a purge is not stored after it. */
  readonly fetches = new Set<CacheFetch>()
  #tags = new Map<string, TaggedEntries>()
  #tags_limit = 10_000
  #emptyUrls = 0
  /** Addresses that were changed while what is on disk was still being read: what it knows of them is from before. */
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
    let ensureUrlEntry = urlEntries.get(target)
    if (ensureUrlEntry === undefined) {
      if (++this.#emptyUrls > maxEmptyUrls) this.#removeEmptyUrls()
      urlEntries = this.origins.get(origin) ?? new Map<string, UrlEntry>()
      this.origins.set(origin, urlEntries)
      urlEntries.set(target, (ensureUrlEntry = new UrlEntry(this, origin, target)))
    }
    return ensureUrlEntry
  }

  /** Forgets addresses of which nothing is stored. */
  #removeEmptyUrls(): void {
    this.#emptyUrls = 0
    for (const [origin, urlEntries] of this.origins) {
      for (const [target, ensureUrlEntry] of urlEntries) if (ensureUrlEntry.is_empty) urlEntries.delete(target)
      if (urlEntries.size === 0) this.origins.delete(origin)
    }
  }

  put(entry: CacheEntry): void {
    const { urlEntry: ensureUrlEntry } = entry
    if (ensureUrlEntry.vary.join() !== entry.policy.vary.join()) {
      for (const other of ensureUrlEntry.allEntries()) this.removeEntry(other)
      ensureUrlEntry.vary = entry.policy.vary
    }
    const replaced = ensureUrlEntry.get(entry.variant)
    if (replaced) this.removeEntry(replaced)
    if (ensureUrlEntry.size >= maxVariants)
      for (const oldest of ensureUrlEntry.allEntries()) {
        this.removeEntry(oldest)
        break
      }
    if (this.find(ensureUrlEntry.origin, ensureUrlEntry.target) !== ensureUrlEntry) this.#link(ensureUrlEntry)
    ensureUrlEntry.set(entry)
    ensureUrlEntry.hit_for_miss_until = 0
    this.objects++
    this.bytes += entry.stored_bytes
    for (const tag of entry.tags) this.#addTag(tag, entry)
    if (entry.serialized !== null) this.#eviction.add(entry)
  }

  #link(ensureUrlEntry: UrlEntry): void {
    const urlEntries = this.origins.get(ensureUrlEntry.origin) ?? new Map<string, UrlEntry>()
    this.origins.set(ensureUrlEntry.origin, urlEntries.set(ensureUrlEntry.target, ensureUrlEntry))
  }

  #addTag(tag: string, entry: CacheEntry): void {
    const tagged = this.#tags.get(tag)
    if (tagged === undefined || (tagged instanceof CacheEntry && tagged.isRemoved)) {
      this.#tags.set(tag, entry)
      if (this.#tags.size > this.#tags_limit) this.#removeDeadTags()
    } else if (tagged instanceof CacheEntry) this.#tags.set(tag, { entries: [tagged, entry], limit: 16 })
    else if (tagged.entries.push(entry) >= tagged.limit) {
      tagged.entries = tagged.entries.filter((one) => !one.isRemoved)
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

  /** Takes an entry out, here and now. `lasting`: on disk too. */
  removeEntry(entry: CacheEntry, isPersistent = true): void {
    this.#markRemoved(entry)
    this.#forgetOnDisk(entry, isPersistent)
    this.unlink(entry)
  }

  /** Nothing may be served from it, nor written of it. */
  isRemoved(entry: CacheEntry): boolean {
    return entry.isRemoved || entry.urlEntry.generation !== this.generation
  }

  #markRemoved(entry: CacheEntry): boolean {
    if (entry.isRemoved) return false
    entry.isRemoved = true
    // One of an earlier generation was counted out with all of it.
    if (entry.urlEntry.generation !== this.generation) return true
    this.objects--
    this.bytes -= entry.stored_bytes
    return true
  }

  /** Takes the rest of a dead entry out of the maps. */
  unlink(entry: CacheEntry): void {
    this.#eviction.remove(entry)
    this.#forgetOnDisk(entry, false)
    if (entry.pins === 0) entry.serialized = null
    const { urlEntry: ensureUrlEntry } = entry
    ensureUrlEntry.delete(entry)
    if (!ensureUrlEntry.is_empty) return
    const urlEntries = this.origins.get(ensureUrlEntry.origin)
    if (urlEntries?.get(ensureUrlEntry.target) !== ensureUrlEntry) return
    urlEntries.delete(ensureUrlEntry.target)
    if (urlEntries.size === 0) this.origins.delete(ensureUrlEntry.origin)
  }

  /**
   * Marks what is to go, which is all that a look-up asks for, and leaves the maps to be tidied up later: the request next
   * door is not kept waiting.
   */
  purge(scope: PurgeScope): number {
    const removed: CacheEntry[] = []
    if ('all' in scope) {
      const origins = this.origins
      const count = this.objects
      this.generation++
      this.origins = new Map()
      this.#tags = new Map()
      this.objects = this.bytes = this.#emptyUrls = 0
      for (const fetch of this.fetches) fetch.discardResult()
      // The maps are let go of as they are; what they held is put away by and by.
      this.#deferRemoval(allEntries(origins))
      return count
    }
    if ('tags' in scope) {
      for (const tag of new Set(scope.tags)) {
        for (const entry of this.#entriesByTag(tag)) if (this.#markRemoved(entry)) removed.push(entry)
        this.#tags.delete(tag)
      }
      // What is on its way may bear the tag: nobody knows before its head is there.
      for (const fetch of this.fetches) if (fetch.tags === null || fetch.tags.some((tag) => scope.tags.includes(tag))) fetch.discardResult()
    } else {
      for (const url of scope.urls) {
        const { host, target } = parsePurgeUrl(url)
        for (const ensureUrlEntry of this.findUrlEntries(host, target)) removed.push(...this.#markUrlRemoved(ensureUrlEntry))
      }
    }
    this.#deferRemoval(removed)
    return removed.length
  }

  #markUrlRemoved(ensureUrlEntry: UrlEntry): CacheEntry[] {
    for (const fetch of this.fetches) if (fetch.urlEntry === ensureUrlEntry) fetch.discardResult()
    return [...ensureUrlEntry.allEntries()].filter((entry) => this.#markRemoved(entry))
  }

  /** Takes out what is stored of one address, however the name was asked for. */
  invalidate(host: string, target: string): void {
    this.#invalidatedWhileLoading?.add(`http://${host}${target}`)
    for (const ensureUrlEntry of this.findUrlEntries(host, target)) {
      const removed = this.#markUrlRemoved(ensureUrlEntry)
      for (const entry of removed) this.#forgetOnDisk(entry, true)
      this.#deferRemoval(removed)
    }
  }

  /** Takes out all that is stored under a name. */
  removeHost(host: string): void {
    for (const [origin, urlEntries] of this.origins) {
      if (hostOfOrigin(origin) !== host) continue
      for (const ensureUrlEntry of urlEntries.values()) {
        const removed = this.#markUrlRemoved(ensureUrlEntry)
        for (const entry of removed) this.#forgetOnDisk(entry, true)
        this.#deferRemoval(removed)
      }
    }
    for (const fetch of this.fetches) if (hostOfOrigin(fetch.urlEntry.origin) === host) fetch.discardResult()
  }

  /** Whether an address was changed while what is on disk was being read. */
  wasInvalidatedWhileLoading(origin: string, target: string): boolean {
    return this.#invalidatedWhileLoading !== null && this.#invalidatedWhileLoading.has(`http://${hostOfOrigin(origin) ?? ''}${target}`)
  }

  /** All that is on disk was read. The addresses that were changed meanwhile. */
  finishLoading(): string[] {
    const changed = [...(this.#invalidatedWhileLoading ?? [])]
    this.#invalidatedWhileLoading = null
    return changed
  }

  /** What is stored of an address under a name, or under any name. What the machine is called on the network stands for any. */
  findUrlEntries(host: string | null, target: string): UrlEntry[] {
    const urlEntries: UrlEntry[] = []
    for (const [origin, known] of this.origins) {
      const ensureUrlEntry = known.get(target)
      if (ensureUrlEntry && (host === null || isSameHost(hostOfOrigin(origin) ?? '', host))) urlEntries.push(ensureUrlEntry)
    }
    return urlEntries
  }
}

const isSameHost = (one: string, other: string): boolean => one === other || isLocalNetworkName(one) || isLocalNetworkName(other)

/** The name of an origin, without its port. */
export const hostOfOrigin = (origin: string): string | undefined => parseHostName(origin.slice(origin.indexOf('//') + 2))

function* allEntries(origins: Map<string, Map<string, UrlEntry>>): Generator<CacheEntry> {
  for (const urlEntries of origins.values()) for (const urlEntry of urlEntries.values()) yield* urlEntry.allEntries()
}

/** Name and address of what a person wrote; an address without a host is meant on all names. */
function parsePurgeUrl(url: string): { host: string | null; target: string } {
  const absolute = /^https?:\/\/([^/?#]+)([^#]*)/i.exec(url)
  if (!absolute) return { host: null, target: withLeadingSlash(url.replace(/#.*$/, '')) }
  return { host: parseHostName(absolute[1] ?? '') ?? '', target: withLeadingSlash(absolute[2] ?? '') }
}

const withLeadingSlash = (path: string): string => (path.startsWith('/') ? path : `/${path}`)
