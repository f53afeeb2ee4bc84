import type { Entry } from './entry.ts'

/** What an entry takes beside its bytes, roughly: the object, its strings, its places in maps. */
const overhead_bytes = 1000

/** Stored answers in the order in which they came; what was used since gets a second chance before it goes. */
export interface Shelf {
  readonly bytes: number
  readonly count: number
  add(entry: Entry): void
  /** It weighs something else now. */
  weigh(entry: Entry): void
  remove(entry: Entry): void
  /** Evicts until no more than so many bytes are left. */
  fit(bytes: number): void
}

export function createShelf(evict: (entry: Entry) => void): Shelf {
  let first: Entry | null = null
  let last: Entry | null = null

  const append = (entry: Entry): void => {
    entry.before = last
    entry.after = null
    if (last === null) first = entry
    else last.after = entry
    last = entry
  }
  const cut = (entry: Entry): void => {
    if (entry.before === null) first = entry.after
    else entry.before.after = entry.after
    if (entry.after === null) last = entry.before
    else entry.after.before = entry.before
    entry.before = entry.after = null
  }
  const shelf = {
    bytes: 0,
    count: 0,
    add(entry: Entry) {
      append(entry)
      shelf.count++
      shelf.weigh(entry)
    },
    weigh(entry: Entry) {
      const weight = (entry.wire?.length ?? 0) + overhead_bytes
      shelf.bytes += weight - entry.counted
      entry.counted = weight
    },
    remove(entry: Entry) {
      if (entry.counted === 0) return
      cut(entry)
      shelf.count--
      shelf.bytes -= entry.counted
      entry.counted = 0
    },
    fit(bytes: number) {
      let chances = 64
      while (shelf.bytes > bytes && first !== null) {
        const entry: Entry = first
        if (entry.used && !entry.dead && chances > 0) {
          chances--
          entry.used = false
          cut(entry)
          append(entry)
        } else evict(entry)
      }
    },
  }
  return shelf
}
