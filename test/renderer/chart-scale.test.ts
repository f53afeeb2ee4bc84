import { describe, expect, it } from 'vitest'
import { formatCompact, ticks, timeLabels, integerTicks } from '../../renderer/lib/chart-scale.ts'
import { formatLatency, formatPercent, formatSeconds } from '../../renderer/lib/format.ts'

describe('axis ticks', () => {
  it.each([
    [0, [0, 1]],
    [0.9, [0, 0.5, 1]],
    [3, [0, 1, 2, 3]],
    [637, [0, 200, 400, 600, 800]],
    [1_000, [0, 500, 1_000]],
  ])('up to %d', (max, expected) => expect(ticks(max)).toEqual(expected))

  it('cover the highest value, whatever it is', () => {
    for (let max = 0.003; max < 1e7; max *= 1.37) {
      const marks = ticks(max)
      expect(marks.at(-1)).toBeGreaterThanOrEqual(max)
      expect(marks.length).toBeLessThanOrEqual(6)
      expect(new Set(marks).size).toBe(marks.length)
    }
  })

  it.each([
    [0, [0, 1]],
    [1, [0, 1]],
    [2, [0, 1, 2]],
  ])('are integers for %d items', (max, expected) => expect(integerTicks(max)).toEqual(expected))
})

it.each([
  [9_999, '9,999'],
  [12_345, '12.3k'],
  [20_000, '20k'],
  [999_499, '999k'],
  [1_250_000, '1.3M'],
])('%d abbreviated', (value, words) => expect(formatCompact(value)).toBe(words))

it.each([
  [null, '–'],
  [0, '0 ms'],
  [0.42, '0.42 ms'],
  [0.999, '1 ms'],
  [8.13, '8.1 ms'],
  [140, '140 ms'],
  [1_300, '1.3 s'],
])('formats %s ms', (value, words) => expect(formatLatency(value)).toBe(words))

it.each([
  [0, '0 %'],
  [1, '100 %'],
  [0.0004, '< 0.1 %'],
  [0.9999, '> 99.9 %'],
  [0.053, '5.3 %'],
  [0.7, '70 %'],
])('%d as a percentage', (share, words) => expect(formatPercent(share)).toBe(words))

it.each([
  [1, '1 second'],
  [900, '15 minutes'],
  [3_600, '1 hour'],
  [9_000, '150 minutes'],
  [86_400, '1 day'],
])('%d seconds', (count, words) => expect(formatSeconds(count)).toBe(words))

describe('time axis ticks', () => {
  const starts = (count: number, bucketSeconds: number) =>
    Array.from({ length: count }, (_, index) => new Date(Date.UTC(2026, 10, 14) + index * bucketSeconds * 1000).toISOString())

  it.each([
    [96, 900],
    [168, 3600],
    [120, 6 * 3600],
  ])('%d buckets of %d s: some, not too many, in order, each once', (count, bucketSeconds) => {
    for (const room of [5, 10]) {
      const marks = timeLabels(starts(count, bucketSeconds), bucketSeconds, room)
      expect(marks.length).toBeGreaterThan(1)
      expect(marks.length).toBeLessThanOrEqual(room + 1)
      expect(new Set(marks.map(({ text }) => text)).size).toBe(marks.length)
    }
  })
})

it('labels minutes of short ranges', () => {
  const start = new Date(2026, 0, 31, 11, 52, 10).getTime()
  const starts = Array.from({ length: 90 }, (_, index) => new Date(start + index * 10_000).toISOString())
  expect(timeLabels(starts, 10, 10).map(({ text }) => text)).toEqual(['11:54', '11:56', '11:58', '12:00', '12:02', '12:04', '12:06'])
  expect(timeLabels(starts, 10, 5).map(({ text }) => text)).toEqual(['11:55', '12:00', '12:05'])
})
