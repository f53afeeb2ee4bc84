import type { CacheInspection } from '../edge.ts'
import type { Entry } from './entry.ts'
import { readWish } from './policy.ts'
import type { ProjectStore } from './store.ts'
import { verdict } from './verdict.ts'

interface Question {
  project_id: string
  origin: string
  target: string
  headers: Record<string, string>
}

/** What a plain GET of an address would get now, and why. Touches nothing. */
export function inspect(project: ProjectStore, { origin, target, headers }: Question, now: number): CacheInspection {
  const key = `${project.id} ${origin} ${target}`
  const without = (word: CacheInspection['verdict'], why: string): CacheInspection => ({ key, verdict: word, why, stored: null })
  if (!project.enabled) return without('BYPASS', 'Caching is off for this project.')
  const slot = project.find(origin, target)
  const fields = { fields: (name: string) => headers[name] }
  const entry = slot?.select(fields)
  if (!slot || !entry) {
    if (slot && slot.size > 0)
      return without(
        'MISS',
        `${slot.size} ${slot.size === 1 ? 'answer is' : 'answers are'} stored here, for other values of ${slot.vary.join(', ')}.`,
      )
    if (slot && slot.pass_until > now) return without('MISS', `Nothing is stored here. The last answer could not be: ${slot.pass_why}.`)
    return without('MISS', 'Nothing is stored here.')
  }
  const wish = readWish(headers['cache-control'], headers.pragma)
  const word = verdict(entry, wish, now)
  const fresh_for_s = entry.freshFor(now)
  const stored = describe(entry, now)
  const with_ = slot.vary.length === 0 ? key : `${key} ${slot.vary.map((name) => `${name}=${headers[name] ?? ''}`).join(' ')}`
  if (word === 'HIT') return { key: with_, verdict: word, why: `Stored, and fresh for another ${fresh_for_s} s.`, stored }
  if (word === 'STALE')
    return {
      key: with_,
      verdict: word,
      why: `Stale for ${-fresh_for_s} s, but may be served while the app is asked anew (stale-while-revalidate).`,
      stored,
    }
  const why = entry.terms.validate
    ? 'Stored, but the app wants to be asked each time (no-cache).'
    : entry.isFresh(now)
      ? 'Stored and fresh, but the request wants a newer one.'
      : `Stored, but stale for ${Math.max(0, -fresh_for_s)} s: the app is asked ${entry.terms.etag === '' && entry.terms.last_modified === '' ? 'for a new one' : 'whether it still holds'}.`
  return { key: with_, verdict: 'MISS', why, stored }
}

function describe(entry: Entry, now: number): CacheInspection['stored'] {
  const { terms } = entry
  return {
    status: entry.status,
    stored_at: new Date(entry.stored_ms).toISOString(),
    age_s: entry.age(now),
    fresh_for_s: terms.validate ? 0 : entry.freshFor(now),
    stale_while_revalidate_s: terms.strict ? 0 : terms.stale_while_revalidate_s,
    stale_if_error_s: terms.strict ? 0 : terms.stale_if_error_s,
    tags: [...entry.tags],
    vary: [...terms.vary],
    bytes: entry.body_length,
    tier: entry.wire === null ? 'disk' : 'memory',
    headers: [...entry.lines.matchAll(/^([^:\r\n]+):[ \t]*(.*?)[ \t]*$/gm)].map(([, name = '', value = '']) => [name, value]),
  }
}
