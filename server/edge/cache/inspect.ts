import type { CacheInspection } from '../edge.ts'
import type { CacheEntry } from './entry.ts'
import { parseRequestDirectives } from './storage-policy.ts'
import type { ProjectCache } from './project-cache.ts'
import { decideReuse } from './reuse-decision.ts'

interface CacheInspectionRequest {
  project_id: string
  origin: string
  target: string
  headers: Record<string, string>
}

/** What a GET of a URL would receive now, and why. Has no side effects. */
export function inspectProjectCache(project: ProjectCache, { origin, target, headers }: CacheInspectionRequest, now: number): CacheInspection {
  const key = `${project.id} ${origin} ${target}`
  const notStored = (decision: CacheInspection['cache_status'], why: string): CacheInspection => ({ key, cache_status: decision, why, stored: null })
  if (!project.isEnabled) return notStored('BYPASS', 'Caching is off for this project.')
  const urlEntry = project.find(origin, target)
  const fields = { fields: (name: string) => headers[name] }
  const entry = urlEntry?.select(fields)
  if (!urlEntry || !entry) {
    if (urlEntry && urlEntry.size > 0)
      return notStored(
        'MISS',
        `${urlEntry.size} ${urlEntry.size === 1 ? 'response is' : 'responses are'} cached for this URL, but for other values of ${urlEntry.vary.join(', ')}.`,
      )
    if (urlEntry && urlEntry.hit_for_miss_until > now)
      return notStored('MISS', `Not cached. The last response could not be stored: ${urlEntry.hit_for_miss_reason}.`)
    return notStored('MISS', 'Not cached.')
  }
  const directives = parseRequestDirectives(headers['cache-control'], headers.pragma)
  const decision = decideReuse(entry, directives, now)
  const fresh_for_s = entry.freshSecondsLeft(now)
  const stored = describeEntry(entry, now)
  const fullKey = urlEntry.vary.length === 0 ? key : `${key} ${urlEntry.vary.map((name) => `${name}=${headers[name] ?? ''}`).join(' ')}`
  if (decision === 'HIT') return { key: fullKey, cache_status: decision, why: `Cached, and fresh for another ${fresh_for_s} s.`, stored }
  if (decision === 'STALE')
    return {
      key: fullKey,
      cache_status: decision,
      why: `Stale for ${-fresh_for_s} s, but served while it is revalidated (stale-while-revalidate).`,
      stored,
    }
  const why = entry.policy.validate
    ? 'Cached, but must be revalidated each time (no-cache).'
    : entry.isFresh(now)
      ? 'Cached and fresh, but the request asks for a newer response.'
      : `Cached, but stale for ${Math.max(0, -fresh_for_s)} s: ${entry.policy.etag === '' && entry.policy.last_modified === '' ? 'the app is asked for a new response' : 'it is revalidated with the app'}.`
  return { key: fullKey, cache_status: 'MISS', why, stored }
}

function describeEntry(entry: CacheEntry, now: number): CacheInspection['stored'] {
  const { policy } = entry
  return {
    status: entry.status,
    stored_at: new Date(entry.stored_ms).toISOString(),
    age_s: entry.ageAt(now),
    fresh_for_s: policy.validate ? 0 : entry.freshSecondsLeft(now),
    stale_while_revalidate_s: policy.strict ? 0 : policy.stale_while_revalidate_s,
    stale_if_error_s: policy.strict ? 0 : policy.stale_if_error_s,
    tags: [...entry.tags],
    vary: [...policy.vary],
    bytes: entry.body_length,
    tier: entry.serialized === null ? 'disk' : 'memory',
    headers: [...entry.lines.matchAll(/^([^:\r\n]+):[ \t]*(.*?)[ \t]*$/gm)].map(([, name = '', value = '']) => [name, value]),
  }
}
