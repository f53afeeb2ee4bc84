import type { PurgeScope } from '../edge.ts'
import { hostName, isOfTheNetwork } from '../host.ts'
import type { Entry } from './entry.ts'
import { valueOf } from './fields.ts'
import type { Fetch } from './fetch.ts'
import type { Shelf } from './shelf.ts'
import { favouriteLanguage, none, variantOf, type Fields } from './vary.ts'
import { within } from './part.ts'

/** All that is known of one address: its answers, those that are on their way, and whether storing is worth a try. */
export class Slot {
  readonly project: ProjectStore
  readonly origin: string
  readonly target: string
  /** By what of the request selects them. */
  readonly entries = new Map<string, Entry>()
  /** The one answer of an address that does not vary. */
  plain: Entry | null = null
  vary: readonly string[] = none
  readonly filling = new Map<string, Fetch>()
  /** Until then (clock ms) its answers are taken for not storable: nobody waits for another's. */
  pass_until = 0
  pass_why = ''

  constructor(project: ProjectStore, origin: string, target: string) {
    this.project = project
    this.origin = origin
    this.target = target
  }

  select(request: Fields): Entry | undefined {
    const found = this.vary.length === 0 ? this.plain : this.entries.get(variantOf(request, this.vary))
    if (found && !found.dead) return found
    return this.vary.includes('accept-language') ? this.#inLanguage(request) : undefined
  }

  /** A stored part that is all that a request for a range asks for. */
  selectPart(request: Fields, range: string): Entry | undefined {
    const variant = variantOf(request, this.vary)
    const same = this.entries.get(`${variant}\n${range}`)
    if (same && !same.dead) return same
    for (const entry of this.entries.values())
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
    for (const entry of this.entries.values()) {
      if (entry.dead || entry.wire === null) continue
      const rest = entry.variant.split('\n')
      rest.splice(at, 1)
      if (rest.join('\n') === wanted && valueOf(entry.lines, 'content-language')?.toLowerCase() === language) return entry
    }
    return undefined
  }
}

/** At most so many answers to one address: clients choose what they send. */
const variants_most = 100
/** Addresses that are only remembered as not storable, per project. */
const empty_most = 10_000

interface Tagged {
  entries: Entry[]
  /** When it has as many the dead are taken out. */
  limit: number
}

/** What is stored of one project. */
export class ProjectStore {
  readonly id: string
  enabled = true
  objects = 0
  bytes = 0
  /** Slots by origin and address. Replaced as a whole when all is purged. */
  origins = new Map<string, Map<string, Slot>>()
  /** Answers on their way that may come to be stored. What was asked for before a purge is not stored after it. */
  readonly fetches = new Set<Fetch>()
  #tags = new Map<string, Tagged>()
  #empty = 0
  readonly #shelf: Shelf
  readonly #forget: (entry: Entry, lasting: boolean) => void
  readonly #bury: (entries: Iterable<Entry>) => void

  constructor(id: string, shelf: Shelf, bury: (entries: Iterable<Entry>) => void, forget: (entry: Entry, lasting: boolean) => void) {
    this.id = id
    this.#shelf = shelf
    this.#bury = bury
    this.#forget = forget
  }

  find(origin: string, target: string): Slot | undefined {
    return this.origins.get(origin)?.get(target)
  }

  slot(origin: string, target: string): Slot {
    let slots = this.origins.get(origin)
    if (slots === undefined) this.origins.set(origin, (slots = new Map()))
    let slot = slots.get(target)
    if (slot === undefined) {
      if (++this.#empty > empty_most) this.#tidy()
      slots = this.origins.get(origin) ?? new Map<string, Slot>()
      this.origins.set(origin, slots)
      slots.set(target, (slot = new Slot(this, origin, target)))
    }
    return slot
  }

  /** Forgets addresses of which nothing is stored. */
  #tidy(): void {
    this.#empty = 0
    for (const [origin, slots] of this.origins) {
      for (const [target, slot] of slots) if (slot.entries.size === 0 && slot.filling.size === 0) slots.delete(target)
      if (slots.size === 0) this.origins.delete(origin)
    }
  }

  put(entry: Entry): void {
    const { slot } = entry
    if (slot.vary.join() !== entry.terms.vary.join()) {
      for (const other of slot.entries.values()) this.drop(other)
      slot.vary = entry.terms.vary
    }
    const before = slot.entries.get(entry.variant)
    if (before) this.drop(before)
    if (slot.entries.size >= variants_most)
      for (const oldest of slot.entries.values()) {
        this.drop(oldest)
        break
      }
    if (this.find(slot.origin, slot.target) !== slot) this.#seat(slot)
    slot.entries.set(entry.variant, entry)
    if (entry.variant === '') slot.plain = entry
    slot.pass_until = 0
    this.objects++
    this.bytes += entry.stored_bytes
    for (const tag of entry.tags) this.#tag(tag, entry)
    if (entry.wire !== null) this.#shelf.add(entry)
  }

  #seat(slot: Slot): void {
    const slots = this.origins.get(slot.origin) ?? new Map<string, Slot>()
    this.origins.set(slot.origin, slots.set(slot.target, slot))
  }

  #tag(tag: string, entry: Entry): void {
    const tagged = this.#tags.get(tag)
    if (tagged === undefined) return void this.#tags.set(tag, { entries: [entry], limit: 16 })
    tagged.entries.push(entry)
    if (tagged.entries.length < tagged.limit) return
    tagged.entries = tagged.entries.filter((one) => !one.dead)
    tagged.limit = Math.max(16, tagged.entries.length * 2)
    if (this.#tags.size > 2 * (this.objects + 1000))
      for (const [name, one] of this.#tags) if (one.entries.every((each) => each.dead)) this.#tags.delete(name)
  }

  /** Takes an entry out, here and now. `lasting`: on disk too. */
  drop(entry: Entry, lasting = true): void {
    this.#kill(entry)
    this.#forget(entry, lasting)
    this.unseat(entry)
  }

  #kill(entry: Entry): boolean {
    if (entry.dead) return false
    entry.dead = true
    this.objects--
    this.bytes -= entry.stored_bytes
    return true
  }

  /** Takes the rest of a dead entry out of the maps. */
  unseat(entry: Entry): void {
    this.#shelf.remove(entry)
    this.#forget(entry, false)
    if (entry.pins === 0) entry.wire = null
    const { slot } = entry
    if (slot.entries.get(entry.variant) === entry) slot.entries.delete(entry.variant)
    if (slot.plain === entry) slot.plain = null
    if (slot.entries.size > 0 || slot.filling.size > 0) return
    const slots = this.origins.get(slot.origin)
    if (slots?.get(slot.target) !== slot) return
    slots.delete(slot.target)
    if (slots.size === 0) this.origins.delete(slot.origin)
  }

  /**
   * Marks what is to go, which is all that a look-up asks for, and leaves the maps to be tidied up later: the request next
   * door is not kept waiting.
   */
  purge(what: PurgeScope): number {
    const gone: Entry[] = []
    if ('all' in what) {
      const origins = this.origins
      const count = this.objects
      this.origins = new Map()
      this.#tags = new Map()
      this.objects = this.bytes = this.#empty = 0
      for (const fetch of this.fetches) fetch.forget()
      // The maps are let go of as they are; what they held is put away by and by.
      this.#bury(all(origins))
      return count
    }
    if ('tags' in what) {
      for (const tag of new Set(what.tags)) {
        for (const entry of this.#tags.get(tag)?.entries ?? []) if (this.#kill(entry)) gone.push(entry)
        this.#tags.delete(tag)
      }
      // What is on its way may bear the tag: nobody knows before its head is there.
      for (const fetch of this.fetches) if (fetch.tags === null || fetch.tags.some((tag) => what.tags.includes(tag))) fetch.forget()
    } else {
      for (const url of what.urls) {
        const { host, target } = place(url)
        for (const slot of this.slotsOf(host, target)) gone.push(...this.#clear(slot))
      }
    }
    this.#bury(gone)
    return gone.length
  }

  #clear(slot: Slot): Entry[] {
    for (const fetch of this.fetches) if (fetch.slot === slot) fetch.forget()
    return [...slot.entries.values()].filter((entry) => this.#kill(entry))
  }

  /** Takes out what is stored of one address, however the name was asked for. */
  invalidate(host: string, target: string): void {
    for (const slot of this.slotsOf(host, target)) {
      const gone = this.#clear(slot)
      for (const entry of gone) this.#forget(entry, true)
      this.#bury(gone)
    }
  }

  /** What is stored of an address under a name, or under any name. What the machine is called on the network stands for any. */
  slotsOf(host: string | null, target: string): Slot[] {
    const slots: Slot[] = []
    for (const [origin, known] of this.origins) {
      const slot = known.get(target)
      if (slot && (host === null || isSameName(nameOf(origin) ?? '', host))) slots.push(slot)
    }
    return slots
  }
}

const isSameName = (one: string, other: string): boolean => one === other || isOfTheNetwork(one) || isOfTheNetwork(other)

/** The name of an origin, without its port. */
export const nameOf = (origin: string): string | undefined => hostName(origin.slice(origin.indexOf('//') + 2))

function* all(origins: Map<string, Map<string, Slot>>): Generator<Entry> {
  for (const slots of origins.values()) for (const slot of slots.values()) yield* slot.entries.values()
}

/** Name and address of what a person wrote; an address without a host is meant on all names. */
export function place(url: string): { host: string | null; target: string } {
  const whole = /^https?:\/\/([^/?#]+)([^#]*)/i.exec(url)
  if (!whole) return { host: null, target: rooted(url.replace(/#.*$/, '')) }
  return { host: hostName(whole[1] ?? '') ?? '', target: rooted(whole[2] ?? '') }
}

const rooted = (path: string): string => (path.startsWith('/') ? path : `/${path}`)
