import { STATUS_CODES } from 'node:http'
import type { ResponseHead } from '../upstream/response-head.ts'
import { fieldNames, fieldValue, omitFields } from './header-fields.ts'
import type { StoredRange } from './partial-content.ts'
import type { StoragePolicy } from './storage-policy.ts'
import type { DiskSegment } from './disk-segment.ts'
import type { UrlEntry } from './url-entry.ts'

/** Where the bytes of an entry are on disk. */
export interface DiskLocation {
  segment: DiskSegment
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
