import { expect, test } from 'vitest'
import { historyBuckets, type HistoryRange } from '../../server/contract/metrics-ranges.ts'
import { chooseHistoryWindow } from '../../server/features/history-window.ts'

const now = Date.UTC(2026, 0, 31, 12, 7) / 1000
const minute = 60
const hour = 3600
const day = 24 * hour

test.each([
  [0, 'live'],
  [10 * minute, 'live'],
  [20 * minute, '1h'],
  [5 * hour, '6h'],
  [14 * hour, '24h'],
  [3 * day, '7d'],
  [20 * day, '30d'],
  [400 * day, '30d'],
] as const)('data of %d s is first shown in the range %s', (age, range) => {
  expect(chooseHistoryWindow(undefined, now - age, now).range).toBe(range)
})

test('the first day of a project fills the chart, in every range', () => {
  for (let age = 4 * minute; age <= day - 15 * minute; age += 7 * minute) {
    for (const requested of [undefined, '24h', '7d', '30d'] as const) {
      const { window } = chooseHistoryWindow(requested, now - age, now)
      const firstBucket = Math.floor((now - age - window.from) / window.seconds)
      // The first bucket has data, and the chart has enough of them.
      expect([age, requested, firstBucket]).toEqual([age, requested, 0])
      expect(window.count).toBeGreaterThanOrEqual(20)
    }
  }
})

test('buckets are aligned, have all data, and are at most those of the range', () => {
  for (const requested of [undefined, ...(Object.keys(historyBuckets) as HistoryRange[])])
    for (let age = 0; age < 40 * day; age = Math.ceil((age + 1) * 1.3)) {
      const { range, window } = chooseHistoryWindow(requested, now - age, now)
      const { from, count, seconds } = window
      expect(from % seconds).toBe(0)
      expect(from + count * seconds).toBeGreaterThan(now)
      expect(from + (count - 1) * seconds).toBeLessThanOrEqual(now)
      expect(count * seconds).toBeLessThanOrEqual(historyBuckets[range].count * historyBuckets[range].seconds)
      if (requested === undefined && age < 30 * day - 6 * hour) expect(from).toBeLessThanOrEqual(now - age)
    }
})

test('a range that is older than its data shows all of it; without data it is whole', () => {
  expect(chooseHistoryWindow('1h', now - 5 * day, now).window).toMatchObject(historyBuckets['1h'])
  expect(chooseHistoryWindow('24h', undefined, now).window).toMatchObject(historyBuckets['24h'])
  // The clock was set back.
  expect(chooseHistoryWindow(undefined, now + day, now)).toMatchObject({ range: 'live', window: { count: 13 } })
})
