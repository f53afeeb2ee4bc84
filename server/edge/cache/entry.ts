import { STATUS_CODES } from 'node:http'
import type { ResponseHead } from '../response-head.ts'
import { namesOf, valueOf, without } from './fields.ts'
import type { Part } from './part.ts'
import type { Terms } from './policy.ts'
import type { Segment } from './segment.ts'
import type { Slot } from './slot.ts'

/** Where on disk the bytes of an entry are. */
export interface Place {
  segment: Segment
  offset: number
  length: number
  checksum: number
}

const id_length = 30
const between = '\r\nX-Request-Id: '
const noId = ' '.repeat(id_length)

/** A stored answer, as it goes over the wire: head with room for age and request id, and body, in one. */
export class Entry {
  readonly status: number
  terms: Terms
  readonly tags: readonly string[]
  readonly variant: string
  stored_ms: number
  /** Head and body; null when they are on disk alone. */
  wire: Buffer | null = null
  /** Where the fields that the app sent end, within the head. */
  lines_end = 0
  body_at = 0
  body_length: number
  place: Place | null = null
  /** Nothing may be served from it any more. */
  dead = false
  /** Its turn to be written to disk has not come. */
  queued = false
  /** How many need its bytes to stay in memory. */
  pins = 0
  /** While its bytes come back from disk. */
  loading: Promise<boolean> | null = null
  /** Used since the hand of the clock last came by. */
  used = false
  before: Entry | null = null
  after: Entry | null = null
  /** What it takes in memory, as it was counted. */
  counted = 0
  /** Of a 206: which of how many bytes it is. */
  part: Part | null = null
  readonly slot: Slot
  #age = -1
  #age_at = 0

  constructor(slot: Slot, variant: string, tags: readonly string[], status: number, terms: Terms, stored_ms: number, body_length: number) {
    this.slot = slot
    this.variant = variant
    this.tags = tags
    this.status = status
    this.terms = terms
    this.stored_ms = stored_ms
    this.body_length = body_length
  }

  /** Its first form: `lines` are the app's own, `body` the parts of the body. */
  fill(reason: string, lines: string, body: readonly Buffer[]): void {
    const fields = `HTTP/1.1 ${this.status} ${reason}\r\n${lines}`
    this.lines_end = fields.length
    const head = this.#head(fields, 0)
    this.body_at = head.length
    this.wire = Buffer.allocUnsafeSlow(head.length + this.body_length)
    this.wire.write(head, 0, 'latin1')
    let at = head.length
    for (const part of body) at += part.copy(this.wire, at)
  }

  /** Comes back from disk. */
  load(wire: Buffer, lines_end: number): void {
    this.lines_end = lines_end
    const head = this.#head(wire.toString('latin1', 0, lines_end), 0)
    this.body_at = head.length
    this.body_length = wire.length - lines_end
    this.wire = Buffer.allocUnsafeSlow(head.length + this.body_length)
    this.wire.write(head, 0, 'latin1')
    wire.copy(this.wire, head.length, lines_end)
  }

  #head(fields: string, age: number): string {
    const length = this.status === 204 ? '' : `Content-Length: ${this.body_length}\r\n`
    const start = `${fields}${length}X-Cache: HIT\r\nCache-Status: Homeport; hit\r\nAge: `
    this.#age = age
    this.#age_at = start.length
    return `${start}${age}${between}${noId}\r\n\r\n`
  }

  /** What it counts for in the figures of a project. */
  get stored_bytes(): number {
    return this.lines_end + this.body_length
  }

  age(now: number): number {
    return Math.max(0, Math.floor((now - this.terms.born_ms) / 1000))
  }

  /** Seconds; negative once it is stale. */
  freshFor(now: number): number {
    return this.terms.lifetime_s - this.age(now)
  }

  isFresh(now: number): boolean {
    return !this.terms.validate && now - this.terms.born_ms < this.terms.lifetime_s * 1000
  }

  /** Status line and the app's own fields, as text. */
  get fields(): string {
    return this.wire?.toString('latin1', 0, this.lines_end) ?? ''
  }

  /** The app's own fields, `Name: value\r\n` each. */
  get lines(): string {
    const fields = this.fields
    return fields.slice(fields.indexOf('\r\n') + 2)
  }

  get body(): Buffer {
    return this.wire?.subarray(this.body_at) ?? nothing
  }

  /** The head as it goes out now, in bytes of its own, with room for `extra` bytes behind it. */
  headFor(id: string, now: number, extra: number): Buffer {
    this.#keepAge(now)
    const wire = this.wire ?? nothing
    const head = Buffer.allocUnsafe(this.body_at + extra)
    wire.copy(head, 0, 0, this.body_at + extra)
    head.write(id, this.body_at - 4 - id_length, id_length, 'latin1')
    return head
  }

  #keepAge(now: number): void {
    const age = this.age(now)
    if (age === this.#age || this.wire === null) return
    const digits = String(age)
    if (digits.length === String(this.#age).length) {
      this.#age = age
      this.wire.write(digits, this.#age_at, 'latin1')
      return
    }
    // A digit more: everything behind moves by one, which happens at 10 s, 100 s, 1000 s.
    const body = this.body
    const head = this.#head(this.fields, age)
    const wire = Buffer.allocUnsafeSlow(head.length + body.length)
    wire.write(head, 0, 'latin1')
    body.copy(wire, head.length)
    this.wire = wire
    this.body_at = head.length
  }
}

const nothing = Buffer.alloc(0)

/** Fields of an app's answer that belong to one hop, to the cache itself or to its framing: never stored. */
const unstored = new Set([
  'content-length',
  'age',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'trailer',
  'warning',
  'cache-status',
])

/** The fields to store of an answer. */
export function storedLines(head: ResponseHead, terms: Terms, date: string): string {
  const hidden = new Set(terms.hidden)
  return without(head.lines, (name) => unstored.has(name) || hidden.has(name)) + (head.dated ? '' : date)
}

/** What a 304 must not change: it describes a body that it does not have (RFC 9111, 3.2). */
const unchanged = new Set([...unstored, 'content-encoding', 'content-md5', 'content-range', 'etag', 'transfer-encoding'])

/** The fields of a stored answer after the app has said that it is still the same. */
export function freshened(stored: string, update: string, date: string): string {
  const news = without(update, (name) => unchanged.has(name) || name === 'set-cookie')
  const names = namesOf(news)
  const dated = valueOf(update, 'date') === undefined ? date : ''
  if (dated !== '') names.add('date')
  return without(stored, (name) => names.has(name)) + news + dated
}

export const reasonOf = (head: ResponseHead): string => (head.reason === '' ? (STATUS_CODES[head.status] ?? 'Unknown') : head.reason)
