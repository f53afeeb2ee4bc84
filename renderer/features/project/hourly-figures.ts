import type { Metrics } from '../../../server/contract/metrics.ts'

export interface HourlyFigures {
  requests: number[]
  /** Server errors. */
  errors: number[]
  /** The median response of an hour: that of its quarter with the most requests. */
  p50_ms: number[]
  cache_hits: number[]
}

const hours = 24

/** The buckets of a day by hour, oldest first. */
export function hourlyFigures(buckets: Metrics['buckets']): HourlyFigures {
  const size = Math.max(1, Math.ceil(buckets.length / hours))
  const groups = Array.from({ length: Math.ceil(buckets.length / size) }, (_, index) => buckets.slice(index * size, (index + 1) * size))
  const sum = (name: 'requests' | 'status_5xx' | 'cache_hits') => groups.map((group) => group.reduce((total, bucket) => total + bucket[name], 0))
  return {
    requests: sum('requests'),
    errors: sum('status_5xx'),
    p50_ms: groups.map((group) => group.toSorted((a, b) => b.requests - a.requests)[0]?.p50_ms ?? 0),
    cache_hits: sum('cache_hits'),
  }
}
