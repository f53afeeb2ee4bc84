import { historyBuckets, type HistoryRange } from '../contract/metrics-ranges.ts'
import type { BucketWindow } from './metrics.ts'

/** Data that has just begun fills at least this part of a range. */
const minimumPart = 1 / 7

const ranges = Object.entries(historyBuckets) as [HistoryRange, { count: number; seconds: number }][]

/**
 * The buckets of a range, the newest of which is still in progress. While the data is younger than the range, the buckets are those of the shortest range
 * that has all data, and they begin with the data. Without a range, that shortest one is chosen.
 */
export function chooseHistoryWindow(
  requested: HistoryRange | undefined,
  first_s: number | undefined,
  now_s: number,
): { range: HistoryRange; window: BucketWindow } {
  const bucketsSince = (seconds: number) => Math.floor(now_s / seconds) + 1 - Math.floor((first_s ?? now_s) / seconds)
  const [shortest, shortestBuckets] = ranges.find(([, { count, seconds }]) => bucketsSince(seconds) <= count) ?? ['30d', historyBuckets['30d']]
  const range = requested ?? shortest
  const isYounger = first_s !== undefined && historyBuckets[range].seconds > shortestBuckets.seconds
  const { count: most, seconds } = isYounger ? shortestBuckets : historyBuckets[range]
  const count = first_s === undefined ? most : Math.min(most, Math.max(Math.ceil(most * minimumPart), bucketsSince(seconds)))
  return { range, window: { from: (Math.floor(now_s / seconds) + 1 - count) * seconds, count, seconds } }
}
