import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createHistogram } from '../../server/lib/histogram.ts'

const quantiles = [0, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1]

/** Nearest rank: the smallest value with at least the fraction `q` of all values at or below it. */
const exactly = (sorted: number[], q: number): number => sorted[Math.max(1, Math.ceil(q * sorted.length)) - 1]!

const lots = (shape: (random: () => number) => number) => {
  let state = 1
  const random = () => (state = (Math.imul(state, 48_271) >>> 0) % 2_147_483_647) / 2_147_483_647
  return Array.from({ length: 20_000 }, () => shape(random))
}

const shapes: Record<string, number[]> = {
  'all alike': lots(() => 7.3),
  even: lots((random) => random() * 100),
  'fast with a slow tail': lots((random) => (random() < 0.97 ? 0.2 + random() : 500 + random() * 20_000)),
  'over eight powers of ten': lots((random) => 10 ** (random() * 9 - 2.9)),
  bell: lots((random) => Math.exp(Math.sqrt(-2 * Math.log(random() || 1e-9)) * Math.cos(2 * Math.PI * random()) + 2)),
  'two speeds': lots((random) => (random() < 0.5 ? 1 : 1000)),
}

test.each(Object.keys(shapes))('quantiles are accurate to 1 %: %s', (name) => {
  const values = shapes[name]!
  const histogram = createHistogram()
  for (const value of values) histogram.add(value)
  const sorted = values.toSorted((a, b) => a - b)
  for (const q of quantiles) {
    const exact = exactly(sorted, q)
    expect(Math.abs(histogram.quantile(q)! - exact) / exact, `the quantile ${q} of ${exact}`).toBeLessThan(0.01)
  }
})

test('quantiles are accurate to 1 % for any values', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0.002, max: 4_000_000, noNaN: true }), { minLength: 1, maxLength: 200 }), (values) => {
      const histogram = createHistogram()
      for (const value of values) histogram.add(value)
      const sorted = values.toSorted((a, b) => a - b)
      for (const q of quantiles) {
        const exact = exactly(sorted, q)
        expect(Math.abs(histogram.quantile(q)! - exact)).toBeLessThanOrEqual(0.01 * exact)
      }
    }),
  )
})

test('merged parts, encoded or not, equal the whole', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.double({ min: 0, max: 1e8, noNaN: true }), { maxLength: 60 }), { maxLength: 8 }), (parts) => {
      const whole = createHistogram()
      const merged = createHistogram()
      for (const [i, part] of parts.entries()) {
        const one = createHistogram()
        for (const value of part) {
          one.add(value)
          whole.add(value)
        }
        if (i % 2 === 0) merged.merge(one)
        else merged.mergeEncoded(one.encode())
      }
      expect(merged.count).toBe(whole.count)
      expect(merged.encode()).toEqual(whole.encode())
      expect(createHistogram(merged.encode()).encode()).toEqual(whole.encode())
    }),
  )
})

test('a cleared histogram equals a new one', () => {
  const histogram = createHistogram()
  for (const value of shapes.even!) histogram.add(value)
  histogram.clear()
  expect([histogram.count, histogram.quantile(0.5), histogram.encode().length]).toEqual([0, null, 0])
  histogram.add(5)
  expect(histogram.quantile(0.5)).toBeCloseTo(5, 1)
})

test('counts of any size survive encoding', () => {
  const histogram = createHistogram()
  for (let i = 0; i < 3; i++) histogram.add(12)
  let encoded = histogram.encode()
  // Doubled 40 times: far over 32 bits.
  for (let i = 0; i < 40; i++) {
    const twice = createHistogram(encoded)
    twice.mergeEncoded(encoded)
    encoded = twice.encode()
  }
  expect(createHistogram(encoded).count).toBe(3 * 2 ** 40)
})

test('an invalid duration counts as zero, and an excessive one as the maximum', () => {
  const histogram = createHistogram()
  for (const value of [Number.NaN, -5, 0, 1e-9]) histogram.add(value)
  expect(histogram.count).toBe(4)
  expect(histogram.quantile(1)).toBeLessThan(0.001)
  histogram.add(Number.POSITIVE_INFINITY)
  histogram.add(1e12)
  expect(histogram.count).toBe(6)
  expect(histogram.quantile(1)).toBeGreaterThan(4_000_000)
  expect(createHistogram().quantile(0.5)).toBeNull()
})

test('is small, whatever the number of values', () => {
  const histogram = createHistogram()
  for (const value of shapes['fast with a slow tail']!) histogram.add(value)
  expect(histogram.encode().length).toBeLessThan(1500)
  // Every possible bucket; counts take a byte for each seven bits.
  const worst = createHistogram()
  for (let octave = -10; octave < 22; octave++) for (let i = 0; i < 64; i++) worst.add(2 ** octave * (1 + i / 64))
  expect(worst.encode().length).toBe(2 * 64 * 32)
})

test('invalid bytes are ignored', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const histogram = createHistogram(bytes)
      expect(histogram.count).toBeGreaterThanOrEqual(0)
    }),
  )
})
