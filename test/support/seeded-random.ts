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

/** A copy with one to four random changes: of bits, bytes and lengths. */
export function mutateBytes(bytes: Buffer, seededRandom: SeededRandom): Buffer {
  let copy = Buffer.from(bytes)
  for (let times = seededRandom.between(1, 4); times > 0; times--) {
    const at = seededRandom.between(0, copy.length - 1)
    const length = seededRandom.between(1, Math.min(600, copy.length - at))
    const way = seededRandom.between(0, 5)
    if (way === 0) copy.writeUInt8((copy[at] ?? 0) ^ (1 << seededRandom.between(0, 7)), at)
    else if (way === 1) copy.writeUInt8(seededRandom.between(0, 255), at)
    else if (way === 2) copy.fill(seededRandom.pick([0, 0xff, 0x2e, 0x2f]), at, at + seededRandom.between(1, Math.min(16, length)))
    else if (way === 3) copy = copy.subarray(0, Math.max(1, at))
    else if (way === 4) copy = Buffer.concat([copy.subarray(0, at), copy.subarray(at + length)])
    else copy = Buffer.concat([copy.subarray(0, at + length), copy.subarray(at)])
    if (copy.length === 0) return Buffer.from([0x1f])
  }
  return copy
}
