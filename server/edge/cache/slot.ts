import type { Entry } from './entry.ts'
import type { Fetch } from './fetch.ts'
import { valueOf } from './fields.ts'
import { within } from './part.ts'
import type { ProjectStore } from './store.ts'
import { favouriteLanguage, none, variantOf, type Fields } from './vary.ts'

/**
 * All that is known of one address: its answers, those that are on their way, and whether storing is worth a try. There may
 * be a hundred thousand: most have one answer, and no map.
 */
export class Slot {
  readonly project: ProjectStore
  readonly origin: string
  readonly target: string
  /** That of its project when it was made: what is of an earlier one was purged with all. */
  readonly generation: number
  /** The one answer of an address that does not vary. */
  plain: Entry | null = null
  vary: readonly string[] = none
  /** Until then (clock ms) its answers are taken for not storable: nobody waits for another's. */
  pass_until = 0
  pass_why = ''
  /** By what of the request selects them. */
  #others: Map<string, Entry> | null = null
  #fetch: Fetch | null = null
  #fetches: Map<string, Fetch> | null = null

  constructor(project: ProjectStore, origin: string, target: string) {
    this.project = project
    this.origin = origin
    this.target = target
    this.generation = project.generation
  }

  get size(): number {
    return (this.plain === null ? 0 : 1) + (this.#others?.size ?? 0)
  }

  /** Nothing is here, nor on its way. */
  get is_empty(): boolean {
    return this.plain === null && this.#others === null && this.#fetch === null && this.#fetches === null
  }

  get(variant: string): Entry | undefined {
    return variant === '' ? (this.plain ?? undefined) : this.#others?.get(variant)
  }

  *all(): Generator<Entry> {
    if (this.plain) yield this.plain
    if (this.#others) yield* this.#others.values()
  }

  set(entry: Entry): void {
    if (entry.variant === '') this.plain = entry
    else (this.#others ??= new Map()).set(entry.variant, entry)
  }

  delete(entry: Entry): void {
    if (this.plain === entry) this.plain = null
    if (this.#others?.get(entry.variant) !== entry) return
    this.#others.delete(entry.variant)
    if (this.#others.size === 0) this.#others = null
  }

  fetchOf(key: string): Fetch | undefined {
    return key === '' ? (this.#fetch ?? undefined) : this.#fetches?.get(key)
  }

  list(key: string, fetch: Fetch): void {
    if (key === '') this.#fetch = fetch
    else (this.#fetches ??= new Map()).set(key, fetch)
  }

  unlist(key: string, fetch: Fetch): void {
    if (this.#fetch === fetch) this.#fetch = null
    if (this.#fetches?.get(key) !== fetch) return
    this.#fetches.delete(key)
    if (this.#fetches.size === 0) this.#fetches = null
  }

  select(request: Fields): Entry | undefined {
    const found = this.get(this.vary.length === 0 ? '' : variantOf(request, this.vary))
    if (found && !found.dead) return found
    return this.vary.includes('accept-language') ? this.#inLanguage(request) : undefined
  }

  /** A stored part that is all that a request for a range asks for. */
  selectPart(request: Fields, range: string): Entry | undefined {
    const variant = variantOf(request, this.vary)
    const same = this.get(`${variant}\n${range}`)
    if (same && !same.dead) return same
    for (const entry of this.all())
      if (!entry.dead && entry.part !== null && entry.variant.startsWith(`${variant}\n`) && within(entry.part, entry.body_length, range)) return entry
    return undefined
  }

  /** A request that likes one language best gets the answer in it, whatever else it would take as well. */
  #inLanguage(request: Fields): Entry | undefined {
    const language = favouriteLanguage(request.fields('accept-language'))
    if (language === undefined) return undefined
    const others = this.vary.filter((name) => name !== 'accept-language')
    const at = this.vary.indexOf('accept-language')
    const wanted = variantOf(request, others)
    for (const entry of this.all()) {
      if (entry.dead || entry.wire === null) continue
      const rest = entry.variant.split('\n')
      rest.splice(at, 1)
      if (rest.join('\n') === wanted && valueOf(entry.lines, 'content-language')?.toLowerCase() === language) return entry
    }
    return undefined
  }
}
