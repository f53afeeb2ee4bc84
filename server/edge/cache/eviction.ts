import type { CacheEntry } from './entry.ts'

/** Approximate memory of an entry in addition to its bytes: the object, its strings, its map entries. */
const entry_overhead_bytes = 1000

/** Entries in memory in order of arrival (CLOCK): an entry used since the last visit gets a second chance before it is evicted. */
export interface EvictionQueue {
  readonly bytes: number
  readonly count: number
  add(entry: CacheEntry): void
  /** Counts the entry's size again after it changed. */
  updateSize(entry: CacheEntry): void
  remove(entry: CacheEntry): void
  /** Evicts until at most this many bytes are left. */
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
