import type { Timer } from '../../lib/clock.ts'
import type { Exchange, Failure, Sink, UpstreamRequest } from '../exchange.ts'
import type { ResponseHead } from '../response-head.ts'
import type { Upstream } from '../upstream.ts'
import { Entry, freshened, reasonOf, storedLines } from './entry.ts'
import { changeHead, valuesOf } from './fields.ts'
import type { HostCache } from './host.ts'
import { judge, type Asked, type Terms } from './policy.ts'
import { readPart, type Part } from './part.ts'
import type { Reader } from './reader.ts'
import { cacheLines, reply } from './reply.ts'
import type { Slot } from './slot.ts'
import { mayServeOnError } from './verdict.ts'
import { none, variantOf, type Fields } from './vary.ts'

export interface FetchOptions {
  cache: HostCache
  slot: Slot
  /** Whoever's request goes to the app; without one nobody waits for the answer. */
  lead: Reader | null
  upstream: Upstream
  request: UpstreamRequest
  asked: Asked
  /** What is stored, but may not be used as it is. */
  stale: Entry | null
  /** Whether the app is asked to confirm it. */
  validates: boolean
  /** Why the app is asked, as RFC 9211 calls it. */
  forward: string
  range: string | null
}

const conditional = /^if-(?:none-match|modified-since|match|unmodified-since|range)$/

/** How long a request waits for the head of an answer that another has asked for. */
const patience_ms = 10_000

/**
 * One request to the app for the cache's sake, and all who wait for its answer. When the answer may be stored they all get
 * it as it comes; when not, it is for its asker alone and the others look for themselves.
 */
export class Fetch implements Sink {
  readonly raw = false
  readonly readers = new Set<Reader>()
  /** What has come of the body. */
  parts: Buffer[] = []
  complete = false
  trailers = ''
  /** Of the answer; null before its head is there. */
  tags: readonly string[] | null = null
  readonly slot: Slot
  exchange: Exchange | null = null
  /** Whose answers are being read: null until the head is there. */
  vary: readonly string[] | null = null
  variant = ''
  readonly #options: FetchOptions
  #lead: Reader | null
  #key: string | null = null
  #forgotten = false
  #head: ResponseHead | null = null
  #lines = ''
  #terms: Terms | null = null
  #part: Part | null = null
  #bytes = 0
  #over = false
  /** More than may be stored: only as much is kept as the readers have not yet read. */
  #overflow = false
  #held = false
  #unpinned = false
  #patience: Timer | null = null

  constructor(options: FetchOptions) {
    this.#options = options
    this.slot = options.slot
    this.#lead = options.lead
    if (options.lead) {
      options.lead.fetch = this
      this.readers.add(options.lead)
    }
  }

  /** `key`: others with the same one may wait for this answer. */
  start(key: string | null): void {
    const { cache, slot, stale, validates, request, upstream } = this.#options
    this.#key = key
    cache.project.fetches.add(this)
    if (key !== null) slot.list(key, this)
    if (stale) stale.pins++
    let { head } = request
    if (stale && validates) {
      const { etag, last_modified } = stale.terms
      const lines = `${etag === '' ? '' : `If-None-Match: ${etag}\r\n`}${last_modified === '' ? '' : `If-Modified-Since: ${last_modified}\r\n`}`
      head = changeHead(head, (name) => conditional.test(name) || name === 'range', lines)
    }
    this.exchange = upstream.ask(this, { ...request, head })
    this.exchange.start()
  }

  /** Whether the answer that is on its way, and whose head is known, is for this request too. */
  suits(fields: Fields): boolean {
    return this.vary === null || variantOf(fields, this.vary) === this.variant
  }

  join(reader: Reader): void {
    reader.fetch = this
    this.readers.add(reader)
    if (this.#head === null) this.#patience ??= this.#options.cache.clock.setTimeout(() => this.#giveUp(), patience_ms).unref()
    if (this.#head) reader.begin(this.#head, this.#lines + cacheLines('MISS', 'fwd=uri-miss; collapsed'))
  }

  /** Nobody waits for ever on another's question: it may be one that is answered when something happens. */
  #giveUp(): void {
    if (this.#head || this.#over) return
    this.#unlist()
    for (const reader of this.readers) if (reader !== this.#lead) this.#release(reader)
  }

  leave(reader: Reader): void {
    this.readers.delete(reader)
    if (this.#lead === reader) this.#lead = null
    if (this.readers.size === 0 && !this.#over) this.#stop()
    else this.relieve()
  }

  /** A purge has come in between: it is served, but not stored, and nobody new may wait for it. */
  forget(): void {
    this.#forgotten = true
    this.#unlist()
  }

  ready(): void {}
  drained(): void {}
  proceed(): void {}

  /** For who asked: it is not stored, and others are told by what is. */
  interim(head: ResponseHead): void {
    if (this.#lead?.over === false) this.#lead.visit.interim(head)
  }

  head(head: ResponseHead): void {
    const { cache, asked, stale, validates, range } = this.#options
    const now = cache.clock.now()
    if (stale && validates && head.status === 304) return this.#confirmed(stale, head, now)
    if (stale && head.status >= 500 && mayServeOnError(stale, now, head.status)) {
      this.#serveStale(stale, now, `fwd=stale; fwd-status=${head.status}; detail="stale-if-error"`)
      return this.#stop()
    }
    const lines = head.dated ? head.lines : head.lines + cache.dateLine()
    const part = head.status === 206 && range !== null ? readPart(head, range) : null
    let terms = this.#forgotten ? 'purged meanwhile' : judge(asked, head, lines, now)
    if (head.status === 206 && part === null && typeof terms !== 'string') terms = 'part of a whole'
    if (typeof terms !== 'string' && head.length > cache.object_bytes) terms = 'too large'
    if (typeof terms === 'string') return this.#pass(head, terms, now)
    this.#terms = terms
    this.#head = head
    this.tags = head.tags === '' ? none : readTags(head.tags)
    this.vary = terms.vary
    this.variant = variantOf(fieldsOf(this.#options.request.head), terms.vary)
    if (part) this.variant = `${this.variant}\n${part.range}`
    this.#lines = head.lines
    if (part) this.#part = part
    for (const reader of this.readers) {
      if (reader === this.#lead)
        reader.begin(head, this.#lines + cacheLines('MISS', `fwd=${this.#options.forward}; fwd-status=${head.status}; stored`))
      else if (this.suits(reader.visit)) reader.begin(head, this.#lines + cacheLines('MISS', 'fwd=uri-miss; collapsed'))
      else this.#release(reader)
    }
  }

  flush(): void {
    for (const reader of this.readers) reader.flush()
  }

  data(bytes: Buffer, start: number, end: number): boolean {
    if (this.#over) return true
    const { cache } = this.#options
    const part = Buffer.allocUnsafeSlow(end - start)
    bytes.copy(part, 0, start, end)
    this.parts.push(part)
    this.#bytes += part.length
    cache.filling(part.length)
    if (!this.#overflow && (this.#bytes > cache.object_bytes || cache.isFull())) {
      this.#overflow = true
      // What goes by is not kept: who comes now would get the rest alone, as if it were the whole.
      this.#unlist()
    }
    for (const reader of this.readers) reader.pump()
    this.relieve()
    this.#held = this.#overflow && this.parts.length > 0
    return !this.#held
  }

  /** Past the limit: what all have read is let go of, and the app may go on. */
  relieve(): void {
    if (!this.#overflow || this.complete) return
    for (const reader of this.readers) if (reader.lags) return
    this.#letGo()
    for (const reader of this.readers) reader.rewind()
    if (!this.#held) return
    this.#held = false
    this.exchange?.resume()
  }

  #letGo(): void {
    for (const part of this.parts) this.#options.cache.filling(-part.length)
    this.parts = []
  }

  end(trailers: string): void {
    if (this.#over) return
    this.#over = true
    this.complete = true
    this.trailers = trailers
    const { cache, slot } = this.#options
    if (this.#head && this.#terms && !this.#overflow && !this.#forgotten) {
      const entry = new Entry(
        cache.project.slot(slot.origin, slot.target),
        this.variant,
        this.tags ?? none,
        this.#head.status,
        this.#terms,
        cache.clock.now(),
        this.#bytes,
      )
      entry.part = this.#part
      entry.fill(reasonOf(this.#head), storedLines(this.#head, this.#terms, cache.dateLine()), this.parts)
      cache.put(entry)
    }
    this.#done()
    for (const reader of this.readers) reader.pump()
    // What the slower ones still read stays in `parts`; it is theirs now, and no longer on its way.
    for (const part of this.parts) cache.filling(-part.length)
  }

  fail(failure: Failure): void {
    if (this.#over) return
    this.#over = true
    const { cache, stale } = this.#options
    const now = cache.clock.now()
    this.#done()
    if (stale && !this.#head && failure !== 'moved' && mayServeOnError(stale, now, 0))
      return this.#serveStale(stale, now, `fwd=stale; detail="${failure}"`)
    const readers = [...this.readers]
    this.readers.clear()
    this.#letGo()
    for (const reader of readers) {
      if (this.#head) reader.fail('cut')
      else if (reader === this.#lead || failure === 'refused' || failure === 'moved' || failure === 'timeout') reader.fail(failure)
      else reader.again()
    }
  }

  /** Not to be stored: for who asked, and nobody else. */
  #pass(head: ResponseHead, why: string, now: number): void {
    const { asked, cache, slot, stale } = this.#options
    const lead = this.#lead
    this.#over = true
    this.#done()
    if (head.status < 500 && head.status !== 304 && head.status !== 206 && !asked.no_store && !this.#forgotten) {
      slot.pass_until = now + cache.pass_ms
      slot.pass_why = why
      // An answer to somebody known says nothing about the one for all.
      if (stale && !stale.dead && !asked.cookie && !asked.authorization) cache.project.drop(stale)
    }
    for (const reader of this.readers) if (reader !== lead) this.#release(reader)
    if (lead === null) return this.exchange?.abort()
    const { exchange } = this
    if (exchange === null) return
    lead.direct = exchange
    lead.fetch = null
    exchange.sink = lead.visit
    lead.visit.cached('miss')
    head.lines += cacheLines('MISS', `fwd=${this.#options.forward}; fwd-status=${head.status}; detail="${why}"`)
    lead.visit.head(head)
  }

  /** The app says that what is stored is still right. */
  #confirmed(stale: Entry, head: ResponseHead, now: number): void {
    const { cache, asked, slot } = this.#options
    const lines = freshened(stale.lines, head.lines, head.dated ? '' : cache.dateLine())
    const now_head = { ...head, status: stale.status, lines, length: stale.body_length }
    const terms = this.#forgotten || stale.dead ? 'purged meanwhile' : judge(askedAgain(asked, stale), now_head, lines, now)
    let entry = stale
    if (typeof terms !== 'string') {
      entry = new Entry(
        cache.project.slot(slot.origin, slot.target),
        stale.variant,
        head.tags === '' ? stale.tags : readTags(head.tags),
        stale.status,
        terms,
        now,
        stale.body_length,
      )
      entry.part = stale.part
      const reason = /^HTTP\/1\.1 \d+ (.*)\r\n/.exec(stale.fields)?.[1] ?? ''
      entry.fill(reason, lines, [stale.body])
      cache.put(entry)
    }
    this.#answerAll(entry, now, 'HIT', 'fwd=stale; fwd-status=304')
    if (entry === stale && !stale.dead) cache.project.drop(stale)
  }

  #serveStale(stale: Entry, now: number, status: string): void {
    this.#answerAll(stale, now, 'STALE', status)
  }

  #answerAll(entry: Entry, now: number, word: 'HIT' | 'STALE', status: string): void {
    this.#over = true
    this.#done()
    const readers = [...this.readers]
    this.readers.clear()
    for (const reader of readers) {
      if (reader !== this.#lead && variantOf(reader.visit, entry.terms.vary) !== entry.variant) reader.again()
      else reader.answer(reply(reader.visit, entry, now, word, status), 'hit')
    }
  }

  #release(reader: Reader): void {
    this.readers.delete(reader)
    reader.again()
  }

  #stop(): void {
    this.#over = true
    this.#done()
    this.#letGo()
    this.exchange?.abort()
  }

  /** Nobody here needs the bytes of what was stored any more. */
  #unpin(): void {
    const { stale } = this.#options
    if (stale === null || this.#unpinned) return
    this.#unpinned = true
    stale.pins--
    if (stale.pins === 0 && stale.counted === 0 && (stale.dead || stale.place !== null)) stale.wire = null
  }

  #done(): void {
    this.#patience?.cancel()
    this.#unlist()
    this.#options.cache.project.fetches.delete(this)
    // What is stale may still be served in this very step.
    queueMicrotask(() => this.#unpin())
  }

  #unlist(): void {
    if (this.#key !== null) this.slot.unlist(this.#key, this)
  }
}

/** A stored answer that is freshened stays the answer to a request with Authorization. */
export const askedAgain = (asked: Asked, stored: Entry): Asked => ({ ...asked, authorization: asked.authorization || stored.terms.authorized })

/** What the app was asked with: the visit itself may be about something else by the time of the answer. */
const fieldsOf = (head: string): Fields => ({
  fields(name) {
    const values = valuesOf(head, name)
    return values.length === 0 ? undefined : values.join(', ')
  },
})

/** Tags of `Surrogate-Key` (between spaces) and `Cache-Tag` (between commas), a line each since the head was read. They are UTF-8, as in a purge. */
export const readTags = (text: string): string[] => [...new Set(text.split('\n').filter((tag) => tag !== ''))].map(decoded)

function decoded(tag: string): string {
  if (!/[\x80-\xff]/.test(tag)) return tag
  const text = Buffer.from(tag, 'latin1').toString()
  return text.includes('\ufffd') ? tag : text
}
