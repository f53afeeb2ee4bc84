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
import type { CacheRequestContext } from './reader.ts'
import { noNames, parseVary } from './vary.ts'

/**
 * What a shared cache in front of an app may store, and for how long (RFC 9111 §3 and §4, RFC 9213, RFC 5861). Stricter than the RFC where it would
 * allow one visitor to see another's page: no Set-Cookie, no server errors, and no response to a request with a cookie unless the app addresses
 * shared caches explicitly.
 */

/** How a stored response may be reused. */
export interface StoragePolicy {
  lifetime_s: number
  stale_while_revalidate_s: number
  stale_if_error_s: number
  /** The app sent stale-if-error itself: it also applies to error responses, not only when the app does not respond. */
  explicit_stale_if_error: boolean
  /** Never served stale under any circumstances. */
  strict: boolean
  /** A response to a request with Authorization. It may be stored, or stored again after revalidation, only with a directive of RFC 9111 §3.5. */
  authorized: boolean
  /** Must be revalidated each time. */
  validate: boolean
  /** Fields that are not stored (`no-cache="..."`). */
  hidden: readonly string[]
  vary: readonly string[]
  etag: string
  last_modified: string
  /** Clock ms at which the response had age 0. */
  born_ms: number
}

/** The properties of a request that decide whether its response may be stored. */
export interface StorageRequest {
  method: string
  target: string
  authorization: boolean
  cookie: boolean
  no_store: boolean
  /** Clock ms at which the request was sent. */
  sent_ms: number
}

export const createStorageRequest = (
  context: Pick<CacheRequestContext, 'method' | 'target' | 'header'>,
  { no_store }: RequestDirectives,
  sent_ms: number,
): StorageRequest => ({
  method: context.method,
  target: context.target,
  authorization: context.header('authorization') !== undefined,
  cookie: context.header('cookie') !== undefined,
  no_store,
  sent_ms,
})

/** How long a stale response is served when the app does not respond, unless its policy forbids it. */
const default_stale_if_error_s = 30
/** Means forever (RFC 9111 §1.2.2). */
const max_delta_s = 2 ** 31
/** The maximum heuristic freshness. */
const max_heuristic_s = 3600

const understoodStatuses = new Set([
  200, 203, 204, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 426,
  428, 429, 431, 451,
])
/** The only statuses with heuristic freshness (RFC 9110 §15.1). */
const heuristicStatuses = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])

/** The storage policy of a response, or a short reason why it is not stored. `lines` are its headers. */
export function decideStorage(request: StorageRequest, head: ResponseHead, lines: string, now: number): StoragePolicy | string {
  if (request.no_store) return 'request has no-store'
  // 501 describes the app and is not a failure. RFC 9110 defines it as cacheable.
  if (head.status >= 500 && head.status !== 501) return 'server error'
  if (head.status < 200 || head.status === 304 || head.status === 101) return 'not a final response'
  if (head.length < 0 && !head.chunked && head.status !== 204) return 'body ends with the connection'
  if (fieldValue(lines, 'set-cookie') !== undefined) return 'Set-Cookie'
  const targeted = parseTargetedDirectives(fieldValues(lines, 'cdn-cache-control'))
  const directives = targeted ?? parseDirectives(fieldValues(lines, 'cache-control'))
  // must-understand means no-store if the status is not understood, and overrides it otherwise (RFC 9111 §5.2.2.3).
  const must_understand = directives.has('must-understand')
  if (must_understand && !understoodStatuses.has(head.status)) return 'must-understand'
  if (directives.has('no-store') && !must_understand) return 'no-store'
  if (directives.has('private')) return 'private'
  const vary = parseVary(fieldValues(lines, 'vary'))
  if (vary === undefined) return 'Vary: *'
  // Frameworks send `public` regardless of sign-in. These two address a cache in front of the app.
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
  if (lifetime_s === undefined && !directives.has('no-cache')) return 'no lifetime given'
  const no_cache = directives.get('no-cache')
  const validate = no_cache === true || no_cache === ''
  const policy: StoragePolicy = {
    lifetime_s: lifetime_s ?? 0,
    stale_while_revalidate_s: directiveSeconds(directives, 'stale-while-revalidate') ?? 0,
    stale_if_error_s: directiveSeconds(directives, 'stale-if-error') ?? (directives.has('s-maxage') ? 0 : default_stale_if_error_s),
    explicit_stale_if_error: directives.has('stale-if-error'),
    // With Authorization, s-maxage allows storing only on the terms of proxy-revalidate (RFC 9111 §3.5 and §5.2.2.10).
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
    // The larger of apparent age and received age; the response delay counts as age (RFC 9111 §4.2.3).
    born_ms: now - Math.max(now - date, age * 1000 + (now - request.sent_ms), 0),
  }
  const fresh_ms = policy.validate ? 0 : policy.lifetime_s * 1000 - (now - policy.born_ms)
  const isUseful = fresh_ms > 0 || etag !== '' || last_modified !== '' || (policy.stale_while_revalidate_s > 0 && !policy.strict)
  return isUseful ? policy : 'stale on arrival'
}

function explicitLifetime(directives: CacheDirectives, expires: boolean, lines: string, date: number, now: number): number | undefined {
  const seconds = directiveSeconds(directives, 's-maxage') ?? directiveSeconds(directives, 'max-age')
  if (seconds !== undefined || !expires) return seconds
  const values = fieldValues(lines, 'expires')
  if (values.length === 0) return undefined
  // An invalid date counts as past (RFC 9111 §5.3).
  const until = values.length === 1 ? parseHttpDate(values[0], now) : undefined
  return until === undefined ? 0 : Math.max(0, Math.floor((until - date) / 1000))
}

/** A tenth of the time since the last modification (RFC 9111 §4.2.2), for responses without explicit lifetime. */
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

/** The first member of `Age` counts; an invalid one counts as 0 (RFC 9111 §5.1). */
function parseAge(values: readonly string[]): number {
  const [first = ''] = values[0]?.split(',') ?? []
  return /^\d+$/.test(first.trim()) ? Math.min(Number(first), max_delta_s) : 0
}

/** The cache directives of a request. */
export interface RequestDirectives {
  no_store: boolean
  no_cache: boolean
  only_if_cached: boolean
  max_age_s: number
  min_fresh_s: number
  /** How stale the response may be. */
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
