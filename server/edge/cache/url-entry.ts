import type { CacheEntry } from './entry.ts'
import type { CacheFetch } from './fetch.ts'
import { fieldValue } from './header-fields.ts'
import { resolveWithin } from './partial-content.ts'
import type { ProjectCache } from './project-cache.ts'
import { preferredLanguage, noNames, variantKey, type RequestFields } from './vary.ts'

/**
 * Everything known about one URL: its stored responses, active fetches, and whether it is cacheable. There may be a hundred thousand, most with one
 * response, so maps are created only when needed.
 */
export class UrlEntry {
  readonly project: ProjectCache
  readonly origin: string
  readonly target: string
  /** The project's generation at creation. Entries of an earlier generation were purged. */
  readonly generation: number
  /** The only response of a URL that does not vary. */
  unvaried: CacheEntry | null = null
  vary: readonly string[] = noNames
  /** Until then (clock ms) responses are considered uncacheable, and requests are not collapsed. */
  hit_for_miss_until = 0
  hit_for_miss_reason = ''
  /** Entries by variant key. */
  #variants: Map<string, CacheEntry> | null = null
  #fetch: CacheFetch | null = null
  #fetches: Map<string, CacheFetch> | null = null

  constructor(project: ProjectCache, origin: string, target: string) {
    this.project = project
    this.origin = origin
    this.target = target
    this.generation = project.generation
  }

  get size(): number {
    return (this.unvaried === null ? 0 : 1) + (this.#variants?.size ?? 0)
  }

  /** Nothing is stored and no fetch is active. */
  get is_empty(): boolean {
    return this.unvaried === null && this.#variants === null && this.#fetch === null && this.#fetches === null
  }

  get(variant: string): CacheEntry | undefined {
    return variant === '' ? (this.unvaried ?? undefined) : this.#variants?.get(variant)
  }

  *allEntries(): Generator<CacheEntry> {
    if (this.unvaried) yield this.unvaried
    if (this.#variants) yield* this.#variants.values()
  }

  set(entry: CacheEntry): void {
    if (entry.variant === '') this.unvaried = entry
    else (this.#variants ??= new Map()).set(entry.variant, entry)
  }

  delete(entry: CacheEntry): void {
    if (this.unvaried === entry) this.unvaried = null
    if (this.#variants?.get(entry.variant) !== entry) return
    this.#variants.delete(entry.variant)
    if (this.#variants.size === 0) this.#variants = null
  }

  findFetch(key: string): CacheFetch | undefined {
    return key === '' ? (this.#fetch ?? undefined) : this.#fetches?.get(key)
  }

  registerFetch(key: string, fetch: CacheFetch): void {
    if (key === '') this.#fetch = fetch
    else (this.#fetches ??= new Map()).set(key, fetch)
  }

  unregisterFetch(key: string, fetch: CacheFetch): void {
    if (this.#fetch === fetch) this.#fetch = null
    if (this.#fetches?.get(key) !== fetch) return
    this.#fetches.delete(key)
    if (this.#fetches.size === 0) this.#fetches = null
  }

  select(request: RequestFields): CacheEntry | undefined {
    const found = this.get(this.vary.length === 0 ? '' : variantKey(request, this.vary))
    if (found && !found.isRemoved) return found
    return this.vary.includes('accept-language') ? this.#selectByLanguage(request) : undefined
  }

  /** A stored part that contains the requested range. */
  selectPart(request: RequestFields, range: string): CacheEntry | undefined {
    const variant = variantKey(request, this.vary)
    const exact = this.get(`${variant}\n${range}`)
    if (exact && !exact.isRemoved) return exact
    for (const entry of this.allEntries())
      if (!entry.isRemoved && entry.part !== null && entry.variant.startsWith(`${variant}\n`) && resolveWithin(entry.part, entry.body_length, range))
        return entry
    return undefined
  }

  /** A request that prefers one language receives the response in it, whatever else it accepts. */
  #selectByLanguage(request: RequestFields): CacheEntry | undefined {
    const language = preferredLanguage(request.fields('accept-language'))
    if (language === undefined) return undefined
    const others = this.vary.filter((name) => name !== 'accept-language')
    const at = this.vary.indexOf('accept-language')
    const key = variantKey(request, others)
    for (const entry of this.allEntries()) {
      if (entry.isRemoved || entry.serialized === null) continue
      const rest = entry.variant.split('\n')
      rest.splice(at, 1)
      if (rest.join('\n') === key && fieldValue(entry.lines, 'content-language')?.toLowerCase() === language) return entry
    }
    return undefined
  }
}
