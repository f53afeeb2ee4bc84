import type { PurgeScope } from '../edge.ts'
import { hostName, isOfTheNetwork } from '../host.ts'
import { Entry } from './entry.ts'
import type { Fetch } from './fetch.ts'
import type { Shelf } from './shelf.ts'
import { Slot } from './slot.ts'

/** At most so many answers to one address: clients choose what they send. */
const variants_most = 100
/** Addresses that are only remembered as not storable, per project. */
const empty_most = 10_000

/** What bears a tag: most often one answer. */
type Bearers = Entry | { entries: Entry[]; /** When it has as many the dead are taken out. */ limit: number }

/** What is stored of one project. */
export class ProjectStore {
  readonly id: string
  enabled = true
  /** Rises when all is purged: what was stored before need not be marked one by one to be gone. */
  generation = 0
  objects = 0
  bytes = 0
  /** Slots by origin and address. Replaced as a whole when all is purged. */
  origins = new Map<string, Map<string, Slot>>()
  /** Answers on their way that may come to be stored. What was asked for before a purge is not stored after it. */
  readonly fetches = new Set<Fetch>()
  #tags = new Map<string, Bearers>()
  #tags_limit = 10_000
  #empty = 0
  /** Addresses that were changed while what is on disk was still being read: what it knows of them is from before. */
  #changed: Set<string> | null = new Set()
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
      for (const [target, slot] of slots) if (slot.is_empty) slots.delete(target)
      if (slots.size === 0) this.origins.delete(origin)
    }
  }

  put(entry: Entry): void {
    const { slot } = entry
    if (slot.vary.join() !== entry.terms.vary.join()) {
      for (const other of slot.all()) this.drop(other)
      slot.vary = entry.terms.vary
    }
    const before = slot.get(entry.variant)
    if (before) this.drop(before)
    if (slot.size >= variants_most)
      for (const oldest of slot.all()) {
        this.drop(oldest)
        break
      }
    if (this.find(slot.origin, slot.target) !== slot) this.#seat(slot)
    slot.set(entry)
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
    const bearers = this.#tags.get(tag)
    if (bearers === undefined || (bearers instanceof Entry && bearers.dead)) {
      this.#tags.set(tag, entry)
      if (this.#tags.size > this.#tags_limit) this.#tidyTags()
    } else if (bearers instanceof Entry) this.#tags.set(tag, { entries: [bearers, entry], limit: 16 })
    else if (bearers.entries.push(entry) >= bearers.limit) {
      bearers.entries = bearers.entries.filter((one) => !one.dead)
      bearers.limit = Math.max(16, bearers.entries.length * 2)
    }
  }

  #tidyTags(): void {
    for (const [tag, bearers] of this.#tags)
      if (bearers instanceof Entry ? bearers.dead : bearers.entries.every((entry) => entry.dead)) this.#tags.delete(tag)
    this.#tags_limit = Math.max(10_000, this.#tags.size * 2)
  }

  #bearersOf(tag: string): readonly Entry[] {
    const bearers = this.#tags.get(tag)
    if (bearers === undefined) return []
    return bearers instanceof Entry ? [bearers] : bearers.entries
  }

  /** Takes an entry out, here and now. `lasting`: on disk too. */
  drop(entry: Entry, lasting = true): void {
    this.#kill(entry)
    this.#forget(entry, lasting)
    this.unseat(entry)
  }

  /** Nothing may be served from it, nor written of it. */
  isGone(entry: Entry): boolean {
    return entry.dead || entry.slot.generation !== this.generation
  }

  #kill(entry: Entry): boolean {
    if (entry.dead) return false
    entry.dead = true
    // One of an earlier generation was counted out with all of it.
    if (entry.slot.generation !== this.generation) return true
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
    slot.delete(entry)
    if (!slot.is_empty) return
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
      this.generation++
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
        for (const entry of this.#bearersOf(tag)) if (this.#kill(entry)) gone.push(entry)
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
    return [...slot.all()].filter((entry) => this.#kill(entry))
  }

  /** Takes out what is stored of one address, however the name was asked for. */
  invalidate(host: string, target: string): void {
    this.#changed?.add(`http://${host}${target}`)
    for (const slot of this.slotsOf(host, target)) {
      const gone = this.#clear(slot)
      for (const entry of gone) this.#forget(entry, true)
      this.#bury(gone)
    }
  }

  /** Takes out all that is stored under a name. */
  dropName(host: string): void {
    for (const [origin, slots] of this.origins) {
      if (nameOf(origin) !== host) continue
      for (const slot of slots.values()) {
        const gone = this.#clear(slot)
        for (const entry of gone) this.#forget(entry, true)
        this.#bury(gone)
      }
    }
    for (const fetch of this.fetches) if (nameOf(fetch.slot.origin) === host) fetch.forget()
  }

  /** Whether an address was changed while what is on disk was being read. */
  wasChanged(origin: string, target: string): boolean {
    return this.#changed !== null && this.#changed.has(`http://${nameOf(origin) ?? ''}${target}`)
  }

  /** All that is on disk was read. The addresses that were changed meanwhile. */
  loaded(): string[] {
    const changed = [...(this.#changed ?? [])]
    this.#changed = null
    return changed
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
  for (const slots of origins.values()) for (const slot of slots.values()) yield* slot.all()
}

/** Name and address of what a person wrote; an address without a host is meant on all names. */
function place(url: string): { host: string | null; target: string } {
  const whole = /^https?:\/\/([^/?#]+)([^#]*)/i.exec(url)
  if (!whole) return { host: null, target: rooted(url.replace(/#.*$/, '')) }
  return { host: hostName(whole[1] ?? '') ?? '', target: rooted(whole[2] ?? '') }
}

const rooted = (path: string): string => (path.startsWith('/') ? path : `/${path}`)
