/** Reproducible random numbers: the same seed produces the same sequence. */
export interface SeededRandom {
  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(values: readonly T[]): T
}

/** Mulberry32: small and sufficiently uniform for tests. */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    chance: (probability) => next() < probability,
    pick<T>(values: readonly T[]): T {
      const value = values[Math.floor(next() * values.length)]
      if (value === undefined) throw new Error('There is nothing to pick from.')
      return value
    },
  }
}

/** Resolves after a number of event loop turns, to shuffle the order of events without waiting. */
export async function waitEventLoopTurns(count: number): Promise<void> {
  for (; count > 0; count--) await new Promise((resolve) => setImmediate(resolve))
}
