import type { CacheEntry } from './entry.ts'

/** What an entry takes beside its bytes, roughly: the object, its strings, its places in maps. */
const entry_overhead_bytes = 1000

/** Stored answers in the order in which they came; what was used since gets a second chance before it goes. */
export interface EvictionQueue {
  readonly bytes: number
  readonly count: number
  add(entry: CacheEntry): void
  /** It weighs something else now. */
  updateSize(entry: CacheEntry): void
  remove(entry: CacheEntry): void
  /** Evicts until no more than so many bytes are left. */
  evictTo(bytes: number): void
}

export function createEvictionQueue(evict: (entry: CacheEntry) => void): EvictionQueue {
  let first: CacheEntry | null = null
  let last: CacheEntry | null = null

  const append = (entry: CacheEntry): void => {
    entry.previous = last
    entry.next = null
    if (last === null) first = entry
    else last.next = entry
    last = entry
  }
  const unlink = (entry: CacheEntry): void => {
    if (entry.previous === null) first = entry.next
    else entry.previous.next = entry.next
    if (entry.next === null) last = entry.previous
    else entry.next.previous = entry.previous
    entry.previous = entry.next = null
  }
  const queue = {
    bytes: 0,
    count: 0,
    add(entry: CacheEntry) {
      append(entry)
      queue.count++
      queue.updateSize(entry)
    },
    updateSize(entry: CacheEntry) {
      const size = (entry.serialized?.length ?? 0) + entry_overhead_bytes
      queue.bytes += size - entry.counted_bytes
      entry.counted_bytes = size
    },
    remove(entry: CacheEntry) {
      if (entry.counted_bytes === 0) return
      unlink(entry)
      queue.count--
      queue.bytes -= entry.counted_bytes
      entry.counted_bytes = 0
    },
    evictTo(bytes: number) {
      let second_chances = 64
      while (queue.bytes > bytes && first !== null) {
        const entry: CacheEntry = first
        if (entry.isRecentlyUsed && !entry.isRemoved && second_chances > 0) {
          second_chances--
          entry.isRecentlyUsed = false
          unlink(entry)
          append(entry)
        } else evict(entry)
      }
    },
  }
  return queue
}
