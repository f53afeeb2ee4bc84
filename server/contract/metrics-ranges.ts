/** The number of buckets of each range, and the length of a bucket. */
export const metricsBuckets = {
  '24h': { count: 96, seconds: 15 * 60 },
  '7d': { count: 168, seconds: 3600 },
  '30d': { count: 120, seconds: 6 * 3600 },
} as const satisfies Record<string, { count: number; seconds: number }>

/** The ranges of the dashboard, the shortest first. The length of each bucket is a multiple of the one before, so that stored rows can be merged. */
export const historyBuckets = {
  live: { count: 90, seconds: 10 },
  '1h': { count: 120, seconds: 30 },
  '6h': { count: 120, seconds: 180 },
  ...metricsBuckets,
} as const
export type HistoryRange = keyof typeof historyBuckets

/** The counters that are summed when buckets are merged. */
export const metricsCounters = [
  'requests',
  'status_2xx',
  'status_3xx',
  'status_4xx',
  'status_5xx',
  'bytes_out',
  'cold_starts',
  'cache_hits',
  'cache_misses',
  'cache_bypass',
] as const
