import type { Entry } from './entry.ts'
import type { Wish } from './policy.ts'

/** What may be done with a stored answer for a request (RFC 9111, 4.2.4 and 5.2.1). MISS: the app has to be asked. */
export function verdict(entry: Entry, wish: Wish, now: number): 'HIT' | 'STALE' | 'MISS' {
  if (wish.no_store || wish.no_cache || entry.terms.validate) return 'MISS'
  if (entry.age(now) > wish.max_age_s || wish.max_age_s === 0) return 'MISS'
  if (entry.isFresh(now)) return wish.min_fresh_s === 0 || entry.freshFor(now) >= wish.min_fresh_s ? 'HIT' : 'MISS'
  if (entry.terms.strict || wish.min_fresh_s > 0) return 'MISS'
  return -entry.freshFor(now) < Math.max(entry.terms.stale_while_revalidate_s, wish.max_stale_s) ? 'STALE' : 'MISS'
}

/** `status`: the app's error; 0 when it did not answer at all. */
export function mayServeOnError(entry: Entry, now: number, status: number): boolean {
  const { strict, stale_if_error_s, explicit_stale_if_error } = entry.terms
  if (entry.slot.project.isGone(entry) || entry.wire === null || strict || (status !== 0 && !explicit_stale_if_error)) return false
  return -entry.freshFor(now) <= stale_if_error_s
}
