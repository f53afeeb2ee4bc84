/**
 * How long things took, so that quantiles come out within 1 %: log-linear counts, 64 to each doubling, from 2^-10 to 2^22
 * (of milliseconds: 1 us to 70 minutes; what is beyond counts as the end). Histograms merge without any loss.
 */
export interface Histogram {
  /** How many values were added. */
  readonly count: number
  /** Costs a few increments and allocates next to nothing. */
  add(value: number): void
  /** Adds what another one has. */
  merge(other: Histogram): void
  /** Adds what another one had when it was encoded. */
  mergeEncoded(bytes: Uint8Array): void
  /** The value that the fraction `q` of all is not above; null when there is none. */
  quantile(q: number): number | null
  /** Pairs of (how far to the next place that counts, how many), each as a varint: a hundred bytes or so for what one app does. */
  encode(): Uint8Array
  /** Forgets all, to be used again. */
  clear(): void
  /** Calls with each place that counts, in order. */
  forEach(callback: (bucket: number, count: number) => void): void
}

const bucketsPerOctave = 64
const octaves = 32
/** Of a 32-bit float: the 8 bits of its exponent and the first 6 of its fraction are the place, less those of 2^-10. */
const droppedBits = 23 - 6
const lowestBucket = (127 - 10) << 6

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

function bucketOf(value: number): number {
  float[0] = value
  const bucket = ((bits[0] ?? 0) >>> droppedBits) - lowestBucket
  // Not a number, or below zero, counts as nothing at all: the least there is.
  if (!(value > 0) || bucket < 0) return 0
  return Math.min(bucket, bucketsPerOctave * octaves - 1)
}

function lowerBoundOf(bucket: number): number {
  bits[0] = (bucket + lowestBucket) << droppedBits
  return float[0] ?? 0
}

export function createHistogram(encoded?: Uint8Array): Histogram {
  const histogram = new LogLinearHistogram()
  if (encoded) histogram.mergeEncoded(encoded)
  return histogram
}

/** A class, as there may be ten thousand of them; a page of counts comes with the first value within its doubling. */
class LogLinearHistogram implements Histogram {
  count = 0
  /** By doubling; most are never there. */
  readonly #pages: (Float64Array | undefined)[] = []

  add(value: number): void {
    this.#raise(bucketOf(value), 1)
  }

  merge(other: Histogram): void {
    other.forEach((bucket, count) => this.#raise(bucket, count))
  }

  mergeEncoded(bytes: Uint8Array): void {
    let at = 0
    const next = (): number => {
      let number = 0
      for (let unit = 1; at < bytes.length; unit *= 128) {
        const byte = bytes[at++] ?? 0
        number += (byte & 127) * unit
        if (byte < 128) return number
      }
      return number
    }
    for (let bucket = -1; at < bytes.length;) {
      bucket += next() + 1
      const count = next()
      // A row that was damaged must not break the reading of all others.
      if (bucket >= bucketsPerOctave * octaves) return
      this.#raise(bucket, count)
    }
  }

  quantile(q: number): number | null {
    if (this.count === 0) return null
    const rank = Math.max(1, Math.ceil(q * this.count))
    let below = 0
    for (let page = 0; page < octaves; page++) {
      const counts = this.#pages[page]
      if (!counts) continue
      for (let i = 0; i < bucketsPerOctave; i++) {
        below += counts[i] ?? 0
        if (below < rank) continue
        const found = page * bucketsPerOctave + i
        return (lowerBoundOf(found) + lowerBoundOf(found + 1)) / 2
      }
    }
    return null
  }

  encode(): Uint8Array {
    const bytes: number[] = []
    const put = (number: number): void => {
      let left = number
      for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128)
      bytes.push(left)
    }
    let last = -1
    this.forEach((bucket, count) => {
      put(bucket - last - 1)
      put(count)
      last = bucket
    })
    return Uint8Array.from(bytes)
  }

  clear(): void {
    this.count = 0
    for (const counts of this.#pages) counts?.fill(0)
  }

  forEach(callback: (bucket: number, count: number) => void): void {
    for (let page = 0; page < octaves; page++) {
      const counts = this.#pages[page]
      if (!counts) continue
      for (let i = 0; i < bucketsPerOctave; i++) {
        const count = counts[i] ?? 0
        if (count > 0) callback(page * bucketsPerOctave + i, count)
      }
    }
  }

  #raise(bucket: number, by: number): void {
    const page = bucket >> 6
    const counts = (this.#pages[page] ??= new Float64Array(bucketsPerOctave))
    const at = bucket & (bucketsPerOctave - 1)
    counts[at] = (counts[at] ?? 0) + by
    this.count += by
  }
}
