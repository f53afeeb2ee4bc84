import type { ResponseHead } from '../upstream/response-head.ts'
import {
  parseHttpDate,
  parseDirectives,
  parseTargetedDirectives,
  directiveSeconds,
  fieldValue,
  fieldValues,
  type CacheDirectives,
} from './header-fields.ts'
import { noNames, parseVary } from './vary.ts'

/**
 * What a shared cache in front of an app may keep, and for how long (RFC 9111, 3 and 4; RFC 9213; RFC 5861). Stricter than
 * the RFC where its leave would let one visitor see another's page: no Set-Cookie, no server errors, nothing that was asked
 * for with a cookie unless the app says so to caches like this one.
 */

/** What an answer says about its own reuse. */
export interface StoragePolicy {
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
export interface StorageRequest {
  method: string
  target: string
  authorization: boolean
  cookie: boolean
  no_store: boolean
  /** Clock ms when it was sent. */
  sent_ms: number
}

/** When an app does not answer at all, what is stale may still be served for so long, unless its terms forbid it. */
const default_stale_if_error_s = 30
/** As long as forever (RFC 9111 §1.2.2). */
const max_delta_s = 2 ** 31
/** The most that is taken for fresh without a word about it. */
const max_heuristic_s = 3600

const understoodStatuses = new Set([
  200, 203, 204, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 426,
  428, 429, 431, 451,
])
/** Of these alone freshness may be guessed (RFC 9110, 15.1). */
const heuristicStatuses = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])

/** The terms of an answer, or in a few words why it is not stored. `lines` are its headers. */
export function decideStorage(request: StorageRequest, head: ResponseHead, lines: string, now: number): StoragePolicy | string {
  if (request.no_store) return 'the request says no-store'
  // 501 is no failure but a fact about the app; RFC 9110 calls it cacheable.
  if (head.status >= 500 && head.status !== 501) return 'server error'
  if (head.status < 200 || head.status === 304 || head.status === 101) return 'no answer of its own'
  if (head.length < 0 && !head.chunked && head.status !== 204) return 'its end is the end of the connection'
  if (fieldValue(lines, 'set-cookie') !== undefined) return 'Set-Cookie'
  const targeted = parseTargetedDirectives(fieldValues(lines, 'cdn-cache-control'))
  const directives = targeted ?? parseDirectives(fieldValues(lines, 'cache-control'))
  // It stands for no-store where the status is not understood, and instead of it where it is (RFC 9111 §5.2.2.3).
  const must_understand = directives.has('must-understand')
  if (must_understand && !understoodStatuses.has(head.status)) return 'must-understand'
  if (directives.has('no-store') && !must_understand) return 'no-store'
  if (directives.has('private')) return 'private'
  const vary = parseVary(fieldValues(lines, 'vary'))
  if (vary === undefined) return 'Vary: *'
  // Frameworks say `public` without a thought of who is signed in; these two are meant for a cache in front of the app.
  const isForSharedCaches = targeted !== undefined || directives.has('s-maxage')
  const has_s_maxage = /^\d+$/.test(String(directives.get('s-maxage')))
  if (request.authorization && !directives.has('public') && !has_s_maxage && !directives.has('must-revalidate')) return 'Authorization'
  if (request.cookie && !isForSharedCaches && !vary.includes('cookie')) return 'Cookie without Vary'

  const date = parseHttpDate(fieldValue(lines, 'date'), now) ?? now
  const age = parseAge(fieldValues(lines, 'age'))
  const last_modified = fieldValue(lines, 'last-modified') ?? ''
  const etag = fieldValue(lines, 'etag') ?? ''
  const explicit = explicitLifetime(directives, targeted === undefined, lines, date, now)
  const isPersonal = request.cookie || request.authorization
  const lifetime_s = explicit ?? (isPersonal ? undefined : heuristicLifetime(head.status, directives, lines, date, last_modified, now))
  if (lifetime_s === undefined && !directives.has('no-cache')) return 'nothing says for how long'
  const no_cache = directives.get('no-cache')
  const validate = no_cache === true || no_cache === ''
  const policy: StoragePolicy = {
    lifetime_s: lifetime_s ?? 0,
    stale_while_revalidate_s: directiveSeconds(directives, 'stale-while-revalidate') ?? 0,
    stale_if_error_s: directiveSeconds(directives, 'stale-if-error') ?? (directives.has('s-maxage') ? 0 : default_stale_if_error_s),
    explicit_stale_if_error: directives.has('stale-if-error'),
    // With Authorization, s-maxage allows to store on its own terms alone: those of proxy-revalidate (RFC 9111 §3.5 and §5.2.2.10).
    strict:
      validate || directives.has('must-revalidate') || directives.has('proxy-revalidate') || (request.authorization && !directives.has('public')),
    authorized: request.authorization,
    validate,
    hidden:
      typeof no_cache === 'string'
        ? no_cache
            .toLowerCase()
            .split(',')
            .map((name) => name.trim())
        : noNames,
    vary,
    etag,
    last_modified,
    // Apparent age and the age that it came with, whichever is more; the time of the way counts as age (4.2.3).
    born_ms: now - Math.max(now - date, age * 1000 + (now - request.sent_ms), 0),
  }
  const fresh_ms = policy.validate ? 0 : policy.lifetime_s * 1000 - (now - policy.born_ms)
  const isUseful = fresh_ms > 0 || etag !== '' || last_modified !== '' || (policy.stale_while_revalidate_s > 0 && !policy.strict)
  return isUseful ? policy : 'stale from the start'
}

function explicitLifetime(directives: CacheDirectives, expires: boolean, lines: string, date: number, now: number): number | undefined {
  const seconds = directiveSeconds(directives, 's-maxage') ?? directiveSeconds(directives, 'max-age')
  if (seconds !== undefined || !expires) return seconds
  const values = fieldValues(lines, 'expires')
  if (values.length === 0) return undefined
  // One that makes no sense is in the past (RFC 9111, 5.3).
  const until = values.length === 1 ? parseHttpDate(values[0], now) : undefined
  return until === undefined ? 0 : Math.max(0, Math.floor((until - date) / 1000))
}

/** A tenth of the time since it was changed (RFC 9111, 4.2.2), for pages that nobody asked for by name. */
function heuristicLifetime(
  status: number,
  directives: CacheDirectives,
  lines: string,
  date: number,
  last_modified: string,
  now: number,
): number | undefined {
  if (!heuristicStatuses.has(status) && !directives.has('public')) return undefined
  if (directives.size === 0 && /(?:^|,)\s*no-cache/i.test(fieldValue(lines, 'pragma') ?? '')) return undefined
  const changed = parseHttpDate(last_modified, now)
  return changed === undefined || changed >= date ? undefined : Math.min(max_heuristic_s, Math.floor((date - changed) / 10_000))
}

/** The first member of `Age` counts, and one that is no number counts for nothing (RFC 9111 §5.1). */
function parseAge(values: readonly string[]): number {
  const [first = ''] = values[0]?.split(',') ?? []
  return /^\d+$/.test(first.trim()) ? Math.min(Number(first), max_delta_s) : 0
}

/** What a request asks of the cache. */
export interface RequestDirectives {
  no_store: boolean
  no_cache: boolean
  only_if_cached: boolean
  max_age_s: number
  min_fresh_s: number
  /** How stale it may be. */
  max_stale_s: number
}

export const noRequestDirectives: RequestDirectives = {
  no_store: false,
  no_cache: false,
  only_if_cached: false,
  max_age_s: Infinity,
  min_fresh_s: 0,
  max_stale_s: 0,
}

export function parseRequestDirectives(cache_control: string | undefined, pragma: string | undefined): RequestDirectives {
  if (cache_control === undefined)
    return pragma !== undefined && /(?:^|,)\s*no-cache/i.test(pragma) ? { ...noRequestDirectives, no_cache: true } : noRequestDirectives
  const directives = parseDirectives([cache_control])
  return {
    no_store: directives.has('no-store'),
    no_cache: directives.has('no-cache'),
    only_if_cached: directives.has('only-if-cached'),
    max_age_s: directiveSeconds(directives, 'max-age') ?? Infinity,
    min_fresh_s: directiveSeconds(directives, 'min-fresh') ?? 0,
    max_stale_s: directives.get('max-stale') === true ? Infinity : (directiveSeconds(directives, 'max-stale') ?? 0),
  }
}
