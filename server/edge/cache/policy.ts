import type { ResponseHead } from '../response-head.ts'
import { readDate, readDirectives, readTargeted, secondsOf, valueOf, valuesOf, type Directives } from './fields.ts'
import { none, readVary } from './vary.ts'

/**
 * What a shared cache in front of an app may keep, and for how long (RFC 9111, 3 and 4; RFC 9213; RFC 5861). Stricter than
 * the RFC where its leave would let one visitor see another's page: no Set-Cookie, no server errors, nothing that was asked
 * for with a cookie unless the app says so to caches like this one.
 */

/** What an answer says about its own reuse. */
export interface Terms {
  lifetime_s: number
  stale_while_revalidate_s: number
  stale_if_error_s: number
  /** The app said so itself: it counts for its errors too, not only when it does not answer. */
  explicit_stale_if_error: boolean
  /** Never served stale, whatever happens. */
  strict: boolean
  /** It answered a request with Authorization: only a directive of RFC 9111 §3.5 lets it be stored, also after it was freshened. */
  authorized: boolean
  /** Asked about each time. */
  validate: boolean
  /** Fields that are not stored (`no-cache="..."`). */
  hidden: readonly string[]
  vary: readonly string[]
  etag: string
  last_modified: string
  /** Clock ms at which it would have been of age 0. */
  born_ms: number
}

/** What of a request matters to whether its answer may be stored. */
export interface Asked {
  method: string
  target: string
  authorization: boolean
  cookie: boolean
  no_store: boolean
  /** Clock ms when it was sent. */
  sent_ms: number
}

/** When an app does not answer at all, what is stale may still be served for so long, unless its terms forbid it. */
const grace_s = 30
/** As long as forever (RFC 9111 §1.2.2). */
const longest_s = 2 ** 31
/** The most that is taken for fresh without a word about it. */
const guess_most_s = 3600

const understood = new Set([
  200, 203, 204, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 426,
  428, 429, 431, 451,
])
/** Of these alone freshness may be guessed (RFC 9110, 15.1). */
const guessable = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])

/** The terms of an answer, or in a few words why it is not stored. `lines` are its headers. */
export function judge(asked: Asked, head: ResponseHead, lines: string, now: number): Terms | string {
  if (asked.no_store) return 'the request says no-store'
  // 501 is no failure but a fact about the app; RFC 9110 calls it cacheable.
  if (head.status >= 500 && head.status !== 501) return 'server error'
  if (head.status < 200 || head.status === 304 || head.status === 101) return 'no answer of its own'
  if (head.length < 0 && !head.chunked && head.status !== 204) return 'its end is the end of the connection'
  if (valueOf(lines, 'set-cookie') !== undefined) return 'Set-Cookie'
  const targeted = readTargeted(valuesOf(lines, 'cdn-cache-control'))
  const said = targeted ?? readDirectives(valuesOf(lines, 'cache-control'))
  // It stands for no-store where the status is not understood, and instead of it where it is (RFC 9111 §5.2.2.3).
  const must_understand = said.has('must-understand')
  if (must_understand && !understood.has(head.status)) return 'must-understand'
  if (said.has('no-store') && !must_understand) return 'no-store'
  if (said.has('private')) return 'private'
  const vary = readVary(valuesOf(lines, 'vary'))
  if (vary === undefined) return 'Vary: *'
  // Frameworks say `public` without a thought of who is signed in; these two are meant for a cache in front of the app.
  const shared = targeted !== undefined || said.has('s-maxage')
  const has_s_maxage = /^\d+$/.test(String(said.get('s-maxage')))
  if (asked.authorization && !said.has('public') && !has_s_maxage && !said.has('must-revalidate')) return 'Authorization'
  if (asked.cookie && !shared && !vary.includes('cookie')) return 'Cookie without Vary'

  const date = readDate(valueOf(lines, 'date'), now) ?? now
  const age = ageOf(valuesOf(lines, 'age'))
  const last_modified = valueOf(lines, 'last-modified') ?? ''
  const etag = valueOf(lines, 'etag') ?? ''
  const explicit = explicitLifetime(said, targeted === undefined, lines, date, now)
  const private_ = asked.cookie || asked.authorization
  const lifetime_s = explicit ?? (private_ ? undefined : guess(head.status, said, lines, date, last_modified, now))
  if (lifetime_s === undefined && !said.has('no-cache')) return 'nothing says for how long'
  const no_cache = said.get('no-cache')
  const validate = no_cache === true || no_cache === ''
  const terms: Terms = {
    lifetime_s: lifetime_s ?? 0,
    stale_while_revalidate_s: secondsOf(said, 'stale-while-revalidate') ?? 0,
    stale_if_error_s: secondsOf(said, 'stale-if-error') ?? (said.has('s-maxage') ? 0 : grace_s),
    explicit_stale_if_error: said.has('stale-if-error'),
    // With Authorization, s-maxage allows to store on its own terms alone: those of proxy-revalidate (RFC 9111 §3.5 and §5.2.2.10).
    strict: validate || said.has('must-revalidate') || said.has('proxy-revalidate') || (asked.authorization && !said.has('public')),
    authorized: asked.authorization,
    validate,
    hidden:
      typeof no_cache === 'string'
        ? no_cache
            .toLowerCase()
            .split(',')
            .map((name) => name.trim())
        : none,
    vary,
    etag,
    last_modified,
    // Apparent age and the age that it came with, whichever is more; the time of the way counts as age (4.2.3).
    born_ms: now - Math.max(now - date, age * 1000 + (now - asked.sent_ms), 0),
  }
  const fresh_ms = terms.validate ? 0 : terms.lifetime_s * 1000 - (now - terms.born_ms)
  const useful = fresh_ms > 0 || etag !== '' || last_modified !== '' || (terms.stale_while_revalidate_s > 0 && !terms.strict)
  return useful ? terms : 'stale from the start'
}

function explicitLifetime(said: Directives, expires: boolean, lines: string, date: number, now: number): number | undefined {
  const seconds = secondsOf(said, 's-maxage') ?? secondsOf(said, 'max-age')
  if (seconds !== undefined || !expires) return seconds
  const values = valuesOf(lines, 'expires')
  if (values.length === 0) return undefined
  // One that makes no sense is in the past (RFC 9111, 5.3).
  const until = values.length === 1 ? readDate(values[0], now) : undefined
  return until === undefined ? 0 : Math.max(0, Math.floor((until - date) / 1000))
}

/** A tenth of the time since it was changed (RFC 9111, 4.2.2), for pages that nobody asked for by name. */
function guess(status: number, said: Directives, lines: string, date: number, last_modified: string, now: number): number | undefined {
  if (!guessable.has(status) && !said.has('public')) return undefined
  if (said.size === 0 && /(?:^|,)\s*no-cache/i.test(valueOf(lines, 'pragma') ?? '')) return undefined
  const changed = readDate(last_modified, now)
  return changed === undefined || changed >= date ? undefined : Math.min(guess_most_s, Math.floor((date - changed) / 10_000))
}

/** The first member of `Age` counts, and one that is no number counts for nothing (RFC 9111 §5.1). */
function ageOf(values: readonly string[]): number {
  const [first = ''] = values[0]?.split(',') ?? []
  return /^\d+$/.test(first.trim()) ? Math.min(Number(first), longest_s) : 0
}

/** What a request asks of the cache. */
export interface Wish {
  no_store: boolean
  no_cache: boolean
  only_if_cached: boolean
  max_age_s: number
  min_fresh_s: number
  /** How stale it may be. */
  max_stale_s: number
}

export const noWish: Wish = { no_store: false, no_cache: false, only_if_cached: false, max_age_s: Infinity, min_fresh_s: 0, max_stale_s: 0 }

export function readWish(cache_control: string | undefined, pragma: string | undefined): Wish {
  if (cache_control === undefined) return pragma !== undefined && /(?:^|,)\s*no-cache/i.test(pragma) ? { ...noWish, no_cache: true } : noWish
  const said = readDirectives([cache_control])
  return {
    no_store: said.has('no-store'),
    no_cache: said.has('no-cache'),
    only_if_cached: said.has('only-if-cached'),
    max_age_s: secondsOf(said, 'max-age') ?? Infinity,
    min_fresh_s: secondsOf(said, 'min-fresh') ?? 0,
    max_stale_s: said.get('max-stale') === true ? Infinity : (secondsOf(said, 'max-stale') ?? 0),
  }
}
