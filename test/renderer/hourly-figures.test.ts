import { expect, test } from 'vitest'
import { hourlyFigures } from '../../renderer/features/project/hourly-figures.ts'
import type { Metrics } from '../../server/contract/metrics.ts'

test('96 quarters of an hour become 24 hours, with the median of the busiest quarter', () => {
  const buckets = Array.from({ length: 96 }, (_, index) => ({
    requests: index,
    status_5xx: index === 95 ? 2 : 0,
    cache_hits: 1,
    p50_ms: index === 94 ? null : index * 10,
  })) as unknown as Metrics['buckets']
  const { requests, errors, p50_ms, cache_hits } = hourlyFigures(buckets)
  expect([requests.length, requests[0], requests[23]]).toEqual([24, 0 + 1 + 2 + 3, 92 + 93 + 94 + 95])
  expect([errors[22], errors[23], cache_hits[0], p50_ms[23]]).toEqual([0, 2, 4, 950])
  expect(hourlyFigures([])).toEqual({ requests: [], errors: [], p50_ms: [], cache_hits: [] })
})
