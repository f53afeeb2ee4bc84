import type { CacheEntry } from './entry.ts'
import type { RequestDirectives } from './storage-policy.ts'

/** How a stored response may be used for a request (RFC 9111 §4.2.4 and §5.2.1). MISS: the request must be forwarded to the app. */
export function decideReuse(entry: CacheEntry, directives: RequestDirectives, now: number): 'HIT' | 'STALE' | 'MISS' {
  if (directives.no_store || directives.no_cache || entry.policy.validate) return 'MISS'
  if (entry.ageAt(now) > directives.max_age_s || directives.max_age_s === 0) return 'MISS'
  if (entry.isFresh(now)) return directives.min_fresh_s === 0 || entry.freshSecondsLeft(now) >= directives.min_fresh_s ? 'HIT' : 'MISS'
  if (entry.policy.strict || directives.min_fresh_s > 0) return 'MISS'
  return -entry.freshSecondsLeft(now) < Math.max(entry.policy.stale_while_revalidate_s, directives.max_stale_s) ? 'STALE' : 'MISS'
}

/** `status`: the app's error status; 0 if the app did not respond. */
export function canServeStaleOnError(entry: CacheEntry, now: number, status: number): boolean {
  const { strict, stale_if_error_s, explicit_stale_if_error } = entry.policy
  if (entry.urlEntry.project.isRemoved(entry) || entry.serialized === null || strict || (status !== 0 && !explicit_stale_if_error)) return false
  return -entry.freshSecondsLeft(now) <= stale_if_error_s
}
