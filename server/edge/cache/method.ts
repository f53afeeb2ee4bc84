import type { Exchange, Failure, Sink } from '../exchange.ts'
import { hostName } from '../host.ts'
import type { ResponseHead } from '../response-head.ts'
import { Entry, freshened, reasonOf, storedLines } from './entry.ts'
import { askedAgain, readTags } from './fetch.ts'
import { valueOf } from './fields.ts'
import type { HostCache } from './host.ts'
import { judge, noWish, type Terms } from './policy.ts'
import type { Reader } from './reader.ts'
import { cacheLines, type XCache } from './reply.ts'
import { nameOf } from './store.ts'

/** A request that is not answered out of the store: it goes by, and the cache draws its conclusions from the answer. */
export function methodFetch(cache: HostCache, reader: Reader): void {
  new Passing(cache, reader).start()
}

const safe = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

class Passing implements Sink {
  readonly raw = false
  readonly #cache: HostCache
  readonly #reader: Reader
  readonly #sent_ms: number
  #exchange: Exchange | null = null
  /** Of a POST whose answer is the page itself. */
  #storing: { head: ResponseHead; terms: Terms; parts: Buffer[]; bytes: number } | null = null

  constructor(cache: HostCache, reader: Reader) {
    this.#cache = cache
    this.#reader = reader
    this.#sent_ms = cache.clock.now()
  }

  start(): void {
    const exchange = this.#reader.upstream.ask(this, this.#reader.request)
    this.#exchange = exchange
    this.#reader.direct = exchange
    exchange.start()
  }

  ready(): void {
    this.#reader.visit.ready()
  }
  drained(): void {
    this.#reader.visit.drained()
  }
  proceed(): void {
    this.#reader.visit.proceed()
  }
  interim(head: ResponseHead): void {
    this.#reader.visit.interim(head)
  }
  flush(): void {
    this.#reader.visit.flush()
  }

  head(head: ResponseHead): void {
    const cache = this.#cache
    const { visit } = this.#reader
    const { method } = visit
    let word: XCache = 'BYPASS'
    let why = 'fwd=bypass'
    if (cache.project.enabled) {
      if (method === 'HEAD') {
        word = 'MISS'
        why = 'fwd=uri-miss'
        this.#learn(head)
      } else if (!safe.has(method)) {
        why = 'fwd=method'
        if (head.status >= 200 && head.status < 400) this.#invalidate(head)
        if (method === 'POST') this.#storing = this.#isPage(head)
      }
    }
    visit.cached(word === 'MISS' ? 'miss' : 'bypass')
    head.lines += cacheLines(word, `${why}; fwd-status=${head.status}`)
    if (this.#storing) return visit.head({ ...head, chunked: false })
    if (this.#exchange) this.#exchange.sink = visit
    visit.head(head)
  }

  /** What was changed, and what it says was changed with it (RFC 9111, 4.4), of this name alone. */
  #invalidate(head: ResponseHead): void {
    const { project, origin } = this.#cache
    const { target } = this.#reader.visit
    const host = nameOf(origin) ?? ''
    project.invalidate(host, target)
    for (const name of ['location', 'content-location']) {
      const other = sameHost(valueOf(head.lines, name), origin, target)
      if (other !== undefined) project.invalidate(host, other)
    }
  }

  /** A HEAD tells what a GET would (RFC 9111, 4.3.5): what is stored is freshened, or found to be old. */
  #learn(head: ResponseHead): void {
    const cache = this.#cache
    const { visit } = this.#reader
    const slot = cache.project.find(cache.origin, visit.target)
    const stored = slot?.select(visit)
    if (!slot || !stored || stored.wire === null || stored.part !== null || head.status >= 500 || head.status === 304) return
    const { etag, last_modified } = stored.terms
    const same =
      head.status === stored.status &&
      (valueOf(head.lines, 'etag') ?? etag) === etag &&
      (valueOf(head.lines, 'last-modified') ?? last_modified) === last_modified &&
      (head.length < 0 || head.length === stored.body_length)
    const now = cache.clock.now()
    const lines = same ? freshened(stored.lines, head.lines, head.dated ? '' : cache.dateLine()) : ''
    const terms = same
      ? judge(
          { ...askedAgain(cache.asked(visit, noWish, this.#sent_ms), stored), method: 'GET' },
          { ...head, lines, length: stored.body_length },
          lines,
          now,
        )
      : ''
    if (typeof terms === 'string') return cache.project.drop(stored)
    const entry = new Entry(slot, stored.variant, head.tags === '' ? stored.tags : readTags(head.tags), stored.status, terms, now, stored.body_length)
    entry.fill(reasonOf(head), lines, [stored.body])
    cache.put(entry)
  }

  /** The answer to a POST stands for the page when it says that it is it (RFC 9110, 9.3.3). */
  #isPage(head: ResponseHead): { head: ResponseHead; terms: Terms; parts: Buffer[]; bytes: number } | null {
    const cache = this.#cache
    const { visit } = this.#reader
    if (head.status !== 200 || sameHost(valueOf(head.lines, 'content-location'), cache.origin, visit.target) !== visit.target) return null
    const now = cache.clock.now()
    const lines = head.dated ? head.lines : head.lines + cache.dateLine()
    const terms = judge(cache.asked(visit, noWish, this.#sent_ms), head, lines, now)
    if (typeof terms === 'string' || terms.vary.length > 0 || head.length > cache.object_bytes) return null
    if (!/^(?:cache-control|cdn-cache-control|expires):/im.test(lines)) return null
    return { head: { ...head }, terms, parts: [], bytes: 0 }
  }

  data(bytes: Buffer, start: number, end: number): boolean {
    const storing = this.#storing
    if (storing && storing.bytes + end - start <= this.#cache.object_bytes) {
      storing.parts.push(Buffer.from(bytes.subarray(start, end)))
      storing.bytes += end - start
    } else this.#storing = null
    return this.#reader.visit.data(bytes, start, end)
  }

  end(trailers: string): void {
    const cache = this.#cache
    const storing = this.#storing
    const { visit } = this.#reader
    if (storing && cache.project.enabled) {
      const { head, terms, parts, bytes } = storing
      const entry = new Entry(cache.project.slot(cache.origin, visit.target), '', readTags(head.tags), head.status, terms, cache.clock.now(), bytes)
      entry.fill(reasonOf(head), storedLines(head, terms, cache.dateLine()), parts)
      cache.put(entry)
    }
    visit.end(trailers)
  }

  fail(failure: Failure): void {
    this.#reader.fail(failure)
  }
}

/** The address that a reference leads to, when it is of the same name. */
function sameHost(reference: string | undefined, origin: string, base: string): string | undefined {
  if (reference === undefined) return undefined
  const url = URL.parse(reference, `${origin}${base}`)
  return url && /^https?:$/.test(url.protocol) && hostName(url.host) === nameOf(origin) ? url.pathname + url.search : undefined
}
