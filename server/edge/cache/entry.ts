import { STATUS_CODES } from 'node:http'
import type { Slotted } from '../slot-set.ts'
import type { ResponseHead } from '../upstream/response-head.ts'
import { fieldNames, fieldValue, omitFields } from './header-fields.ts'
import { resolveWithin, type StoredRange } from './partial-content.ts'
import type { StoragePolicy } from './storage-policy.ts'
import type { DiskSegment } from './disk-segment.ts'
import type { CacheReader } from './reader.ts'
import { preferredLanguage, noNames, variantKey, type RequestFields } from './vary.ts'

/** Where the bytes of an entry are on disk. */
export interface DiskLocation {
  segment: DiskSegment<CacheEntry>
  offset: number
  length: number
  checksum: number
}

const request_id_length = 30
const requestIdHeader = '\r\nX-Request-Id: '
const blankRequestId = ' '.repeat(request_id_length)

/** A stored response as sent: head with room for age and request id, and body, in one buffer. */
export class CacheEntry {
  readonly status: number
  policy: StoragePolicy
  readonly tags: readonly string[]
  readonly variant: string
  stored_ms: number
  /** Head and body; null when they are only on disk. */
  serialized: Buffer | null = null
  /** Where the app's own header fields end within the head. */
  lines_end = 0
  body_at = 0
  body_length: number
  diskLocation: DiskLocation | null = null
  /** The entry must not be served any more. */
  isRemoved = false
  /** The entry is queued for writing to disk. */
  isWritePending = false
  /** How many users need the bytes to stay in memory. */
  pins = 0
  /** Set while the bytes are read from disk. */
  loading: Promise<boolean> | null = null
  /** Used since the eviction queue last visited the entry (CLOCK). */
  isRecentlyUsed = false
  previous: CacheEntry | null = null
  next: CacheEntry | null = null
  /** The size in memory as counted by the eviction queue. */
  counted_bytes = 0
  /** For a 206: which range of the whole it is. */
  part: StoredRange | null = null
  readonly urlEntry: UrlEntry
  #age = -1
  #age_at = 0

  constructor(
    urlEntry: UrlEntry,
    variant: string,
    tags: readonly string[],
    status: number,
    policy: StoragePolicy,
    stored_ms: number,
    body_length: number,
  ) {
    this.urlEntry = urlEntry
    this.variant = variant
    this.tags = tags
    this.status = status
    this.policy = policy
    this.stored_ms = stored_ms
    this.body_length = body_length
  }

  /** Serializes a new response: `lines` are the app's header fields, `body` the parts of the body. */
  fill(reason: string, lines: string, body: readonly Buffer[]): void {
    const fields = `HTTP/1.1 ${this.status} ${reason}\r\n${lines}`
    this.lines_end = fields.length
    const head = this.#formatHead(fields, 0)
    this.body_at = head.length
    this.serialized = Buffer.allocUnsafeSlow(head.length + this.body_length)
    this.serialized.write(head, 0, 'latin1')
    let at = head.length
    for (const part of body) at += part.copy(this.serialized, at)
  }

  /** Restores the bytes read from disk. */
  load(serialized: Buffer, lines_end: number): void {
    this.lines_end = lines_end
    const head = this.#formatHead(serialized.toString('latin1', 0, lines_end), 0)
    this.body_at = head.length
    this.body_length = serialized.length - lines_end
    this.serialized = Buffer.allocUnsafeSlow(head.length + this.body_length)
    this.serialized.write(head, 0, 'latin1')
    serialized.copy(this.serialized, head.length, lines_end)
  }

  #formatHead(fields: string, age: number): string {
    const length = this.status === 204 ? '' : `Content-Length: ${this.body_length}\r\n`
    const start = `${fields}${length}X-Cache: HIT\r\nCache-Status: Homeport; hit\r\nAge: `
    this.#age = age
    this.#age_at = start.length
    return `${start}${age}${requestIdHeader}${blankRequestId}\r\n\r\n`
  }

  /** The size as reported in the project's cache statistics. */
  get stored_bytes(): number {
    return this.lines_end + this.body_length
  }

  ageAt(now: number): number {
    return Math.max(0, Math.floor((now - this.policy.born_ms) / 1000))
  }

  /** In seconds; negative when stale. */
  freshSecondsLeft(now: number): number {
    return this.policy.lifetime_s - this.ageAt(now)
  }

  isFresh(now: number): boolean {
    return !this.policy.validate && now - this.policy.born_ms < this.policy.lifetime_s * 1000
  }

  /** Status line and the app's header fields, as text. */
  get fields(): string {
    return this.serialized?.toString('latin1', 0, this.lines_end) ?? ''
  }

  /** The app's header fields, `Name: value\r\n` each. */
  get lines(): string {
    const fields = this.fields
    return fields.slice(fields.indexOf('\r\n') + 2)
  }

  get body(): Buffer {
    return this.serialized?.subarray(this.body_at) ?? emptyBuffer
  }

  /** The current head in its own buffer, followed by `extra` bytes of the body. */
  headFor(id: string, now: number, extra: number): Buffer {
    this.#updateAge(now)
    const serialized = this.serialized ?? emptyBuffer
    const head = Buffer.allocUnsafe(this.body_at + extra)
    serialized.copy(head, 0, 0, this.body_at + extra)
    head.write(id, this.body_at - 4 - request_id_length, request_id_length, 'latin1')
    return head
  }

  #updateAge(now: number): void {
    const age = this.ageAt(now)
    if (age === this.#age || this.serialized === null) return
    const digits = String(age)
    if (digits.length === String(this.#age).length) {
      this.#age = age
      this.serialized.write(digits, this.#age_at, 'latin1')
      return
    }
    // The age has one more digit (at 10 s, 100 s, 1000 s), so everything after it moves.
    const body = this.body
    const head = this.#formatHead(this.fields, age)
    const serialized = Buffer.allocUnsafeSlow(head.length + body.length)
    serialized.write(head, 0, 'latin1')
    body.copy(serialized, head.length)
    this.serialized = serialized
    this.body_at = head.length
  }
}

const emptyBuffer = Buffer.alloc(0)

/** Fields that are never stored, because they belong to one hop, to the cache or to the message framing. */
const unstoredFields = new Set([
  'content-length',
  'age',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'trailer',
  'warning',
  'cache-status',
])

/** The header fields of a response to store. */
export function storedLines(head: ResponseHead, policy: StoragePolicy, date: string): string {
  const unstoredByPolicy = new Set(policy.hidden)
  return omitFields(head.lines, (name) => unstoredFields.has(name) || unstoredByPolicy.has(name)) + (head.hasDate ? '' : date)
}

/** Fields that a 304 must not change, because they describe a body that the 304 does not have (RFC 9111 §3.2). */
const frozenFields = new Set([...unstoredFields, 'content-encoding', 'content-md5', 'content-range', 'etag', 'transfer-encoding'])

/** The fields of a stored response after a 304 has confirmed it. */
export function mergeRevalidated(stored: string, update: string, date: string): string {
  const updates = omitFields(update, (name) => frozenFields.has(name) || name === 'set-cookie')
  const names = fieldNames(updates)
  const dated = fieldValue(update, 'date') === undefined ? date : ''
  if (dated !== '') names.add('date')
  return omitFields(stored, (name) => names.has(name)) + updates + dated
}

export const reasonPhraseOf = (head: ResponseHead): string => (head.reason === '' ? (STATUS_CODES[head.status] ?? 'Unknown') : head.reason)

/** The project cache, as its entries see it. */
export interface EntryOwner {
  readonly id: string
  readonly generation: number
  removeEntry(entry: CacheEntry, isPersistent?: boolean): void
  unlink(entry: CacheEntry): void
  isRemoved(entry: CacheEntry): boolean
}

/** A request to the app whose response may be stored. */
export interface PendingFetch extends Slotted {
  readonly urlEntry: UrlEntry
  /** Tags of the response; null before its head arrived. */
  readonly tags: readonly string[] | null
  /** Whether a response whose head is known matches this request. */
  matchesVariant(fields: RequestFields): boolean
  join(reader: CacheReader): void
  /** A purge happened meanwhile: the response is served but not stored, and no further request may join. */
  discardResult(): void
}

/**
 * Everything known about one URL: its stored responses, active fetches, and whether it is cacheable. There may be a hundred thousand, most with one
 * response, so maps are created only when needed.
 */
export class UrlEntry {
  readonly project: EntryOwner
  readonly origin: string
  readonly target: string
  /** The project's generation at creation. Entries of an earlier generation were purged. */
  readonly generation: number
  /** The only response of a URL that does not vary. */
  unvaried: CacheEntry | null = null
  vary: readonly string[] = noNames
  /** Until then (clock ms) responses are considered uncacheable, and requests are not collapsed. */
  hit_for_miss_until = 0
  hit_for_miss_reason = ''
  /** Entries by variant key. */
  #variants: Map<string, CacheEntry> | null = null
  #fetch: PendingFetch | null = null
  #fetches: Map<string, PendingFetch> | null = null

  constructor(project: EntryOwner, origin: string, target: string) {
    this.project = project
    this.origin = origin
    this.target = target
    this.generation = project.generation
  }

  get size(): number {
    return (this.unvaried === null ? 0 : 1) + (this.#variants?.size ?? 0)
  }

  /** Nothing is stored and no fetch is active. */
  get is_empty(): boolean {
    return this.unvaried === null && this.#variants === null && this.#fetch === null && this.#fetches === null
  }

  get(variant: string): CacheEntry | undefined {
    return variant === '' ? (this.unvaried ?? undefined) : this.#variants?.get(variant)
  }

  *allEntries(): Generator<CacheEntry> {
    if (this.unvaried) yield this.unvaried
    if (this.#variants) yield* this.#variants.values()
  }

  set(entry: CacheEntry): void {
    if (entry.variant === '') this.unvaried = entry
    else (this.#variants ??= new Map()).set(entry.variant, entry)
  }

  delete(entry: CacheEntry): void {
    if (this.unvaried === entry) this.unvaried = null
    if (this.#variants?.get(entry.variant) !== entry) return
    this.#variants.delete(entry.variant)
    if (this.#variants.size === 0) this.#variants = null
  }

  findFetch(key: string): PendingFetch | undefined {
    return key === '' ? (this.#fetch ?? undefined) : this.#fetches?.get(key)
  }

  registerFetch(key: string, fetch: PendingFetch): void {
    if (key === '') this.#fetch = fetch
    else (this.#fetches ??= new Map()).set(key, fetch)
  }

  unregisterFetch(key: string, fetch: PendingFetch): void {
    if (this.#fetch === fetch) this.#fetch = null
    if (this.#fetches?.get(key) !== fetch) return
    this.#fetches.delete(key)
    if (this.#fetches.size === 0) this.#fetches = null
  }

  select(request: RequestFields): CacheEntry | undefined {
    const found = this.get(this.vary.length === 0 ? '' : variantKey(request, this.vary))
    if (found && !found.isRemoved) return found
    return this.vary.includes('accept-language') ? this.#selectByLanguage(request) : undefined
  }

  /** A stored part that contains the requested range. */
  selectPart(request: RequestFields, range: string): CacheEntry | undefined {
    const variant = variantKey(request, this.vary)
    const exact = this.get(`${variant}\n${range}`)
    if (exact && !exact.isRemoved) return exact
    for (const entry of this.allEntries())
      if (!entry.isRemoved && entry.part !== null && entry.variant.startsWith(`${variant}\n`) && resolveWithin(entry.part, entry.body_length, range))
        return entry
    return undefined
  }

  /** A request that prefers one language receives the response in it, whatever else it accepts. */
  #selectByLanguage(request: RequestFields): CacheEntry | undefined {
    const language = preferredLanguage(request.fields('accept-language'))
    if (language === undefined) return undefined
    const others = this.vary.filter((name) => name !== 'accept-language')
    const at = this.vary.indexOf('accept-language')
    const key = variantKey(request, others)
    for (const entry of this.allEntries()) {
      if (entry.isRemoved || entry.serialized === null) continue
      const rest = entry.variant.split('\n')
      rest.splice(at, 1)
      if (rest.join('\n') === key && fieldValue(entry.lines, 'content-language')?.toLowerCase() === language) return entry
    }
    return undefined
  }
}
