/**
 * A histogram of durations whose quantiles are accurate to 1 %: log-linear buckets, 64 per doubling, from 2^-10 to 2^22 (in milliseconds: 1 us to 70
 * minutes; values outside are clamped). Histograms merge without loss.
 */
export interface Histogram {
  /** The number of values. */
  readonly count: number
  /** Costs a few increments and almost never allocates. */
  add(value: number): void
  /** Adds the values of another histogram. */
  merge(other: Histogram): void
  /** Adds the values of an encoded histogram. */
  mergeEncoded(bytes: Uint8Array): void
  /** The smallest value that at least the fraction `q` of all values does not exceed; null without values. */
  quantile(q: number): number | null
  /** How many values are at most `value`, to the same accuracy. */
  countUpTo(value: number): number
  /** The sum of all values, to the same accuracy. */
  sum(): number
  /** Pairs of (distance to the next non-empty bucket, count), each as a varint: about a hundred bytes for a typical app. */
  encode(): Uint8Array
  /** Resets the histogram for reuse. */
  clear(): void
  /** Calls back with each non-empty bucket, in order. */
  forEach(callback: (bucket: number, count: number) => void): void
}

const bucketsPerOctave = 64
const octaves = 32
/** A bucket is the 8 exponent bits and the first 6 fraction bits of a 32-bit float, minus those of 2^-10. */
const droppedBits = 23 - 6
const lowestBucket = (127 - 10) << 6

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

function bucketOf(value: number): number {
  float[0] = value
  const bucket = ((bits[0] ?? 0) >>> droppedBits) - lowestBucket
  // NaN and values of 0 or less count in the lowest bucket.
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

/** A class, because there may be ten thousand instances. The counts of one doubling are allocated with its first value. */
class LogLinearHistogram implements Histogram {
  count = 0
  /** Counts by doubling, allocated on demand. */
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
      // A damaged row must not prevent reading the others.
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

  countUpTo(value: number): number {
    const last = bucketOf(value)
    let below = 0
    this.forEach((bucket, count) => {
      if (bucket <= last) below += count
    })
    return below
  }

  sum(): number {
    let sum = 0
    this.forEach((bucket, count) => (sum += (count * (lowerBoundOf(bucket) + lowerBoundOf(bucket + 1))) / 2))
    return sum
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
