import { expect, type Page } from '@playwright/test'
import { historyBuckets } from '../../server/contract/metrics-ranges.ts'
import type { MetricsHistory, RouteMetrics } from '../../server/contract/project-metrics.ts'
import type { Screen } from './screen.ts'

/** A wave with some noise, the same in every run. */
const wave = (index: number, size: number, period: number) => Math.max(0, size * (1 + Math.sin(index / period)) + ((index * 7919) % 13) * (size / 12))

function createMetrics(count: number): MetricsHistory {
  const range = '24h'
  const { seconds } = historyBuckets[range]
  const from = Math.floor(Date.now() / 1000 / seconds) * seconds - (count - 1) * seconds
  const iso = (index: number) => new Date((from + index * seconds) * 1000).toISOString()
  const buckets = Array.from({ length: count }, (_, index) => {
    const requests = Math.round(wave(index, 220, 7))
    const status_5xx = index % 17 === 3 ? Math.round(requests / 8) : 0
    const status_4xx = Math.round(requests / 30)
    const status_3xx = Math.round(requests / 18)
    const slow = index > count * 0.7 ? 2.2 : 1
    return {
      ts: iso(index),
      requests,
      status_2xx: requests - status_3xx - status_4xx - status_5xx,
      status_3xx,
      status_4xx,
      status_5xx,
      bytes_out: requests * 9_000,
      p50_ms: 14 * slow + wave(index, 2, 5),
      p95_ms: 60 * slow + wave(index, 14, 4),
      p99_ms: 140 * slow + wave(index, 40, 3),
      cold_starts: index % 23 === 0 ? 1 : 0,
      cache_hits: Math.round(requests * 0.6),
      cache_misses: Math.round(requests * 0.3),
      cache_bypass: Math.round(requests * 0.1),
    }
  })
  const sum = (name: 'requests' | 'status_5xx' | 'bytes_out' | 'cold_starts' | 'cache_hits' | 'cache_misses' | 'cache_bypass') =>
    buckets.reduce((all, bucket) => all + bucket[name], 0)
  return {
    range,
    bucket_seconds: seconds,
    from: iso(0),
    to: iso(count),
    first_at: iso(0),
    buckets,
    totals: {
      requests: sum('requests'),
      errors: sum('status_5xx'),
      error_rate: sum('status_5xx') / sum('requests'),
      bytes_out: sum('bytes_out'),
      p50_ms: 17.2,
      p95_ms: 118,
      p99_ms: 342,
    },
    cold_starts: { count: sum('cold_starts'), p50_ms: 412, p95_ms: 690, last_at: iso(count - 3) },
    cache: { hits: sum('cache_hits'), misses: sum('cache_misses'), bypass: sum('cache_bypass'), hit_ratio: 0.667, objects: 41, bytes: 2_400_000 },
    resources: { cpu_percent: 12.4, memory_mb: 188, memory_limit_mb: 512 },
    usage: [null, 'worker'].map((service, which) => ({
      service,
      cpu_percent: buckets.map((_, index) => (index % 23 === 22 ? null : wave(index, which === 0 ? 11 : 4, 6))),
      memory_mb: buckets.map((_, index) => (index % 23 === 22 ? null : (which === 0 ? 160 : 70) + wave(index, 9, 9))),
      replicas:
        which === 0
          ? [1, 2, 3].map((replica) => ({
              replica,
              cpu_percent: buckets.map((_, index) => (index < replica * 5 ? null : wave(index, 3 + replica, 2))),
              memory_mb: buckets.map((_, index) => (index < replica * 5 ? null : 50 + wave(index, 3 * replica, 3))),
            }))
          : [],
    })),
    deployments: [3, 4, Math.round(count * 0.7), count - 6].map((index, which) => ({
      id: `dpl_${which}`,
      trigger: 'push',
      branch: 'main',
      commit_sha: 'a3f9c1d'.repeat(5),
      title: ['Read tides from the new feed', 'Fix the time zone of tides', 'Render maps on the server', 'Cache maps for an hour'][which] ?? '',
      ts: iso(index),
    })),
  }
}

const routes: RouteMetrics[] = (
  [
    ['GET', '/api/orders/:id', 4_211, 96, 412],
    ['POST', '/api/orders', 812, 3, 287],
    ['GET', '/maps/:id.png', 9_120, 0, 184],
    ['GET', '/api/customers/:id/invoices/:id', 377, 0, 121],
    ['GET', '/', 18_402, 0, 24],
    ['GET', '/assets/index-:hash.js', 12_118, 0, 3.4],
    ['GET', '/calendar/:date', 88, 1, 2.9],
  ] as const
).map(([method, route, requests, errors, p95_ms]) => ({
  method,
  route,
  requests,
  errors,
  error_rate: errors / requests,
  p50_ms: p95_ms / 4,
  p95_ms,
  p99_ms: p95_ms * 2.1,
  bytes: requests * 8_300,
}))

const withMetrics = (count: number) => async (page: Page) => {
  const metrics = createMetrics(count)
  await page.route('**/instance/projects/harbour-shop/metrics*', (route) => route.fulfill({ json: metrics }))
  await page.route('**/instance/projects/harbour-shop/routes*', (route) =>
    route.fulfill({ json: { range: metrics.range, from: metrics.from, routes, other: null, skipped: 1_240, is_recording: true } }),
  )
}

const path = 'projects/harbour-shop/metrics'

export const metricsScreens: Screen[] = [
  // A project of nine hours.
  {
    name: 'metrics-day',
    path,
    before: withMetrics(36),
    act: (page) => expect(page.getByRole('region', { name: 'Routes as a table' })).toBeVisible(),
  },
  {
    name: 'metrics-replicas',
    path,
    before: withMetrics(36),
    async act(page) {
      await page.getByLabel('CPU and memory of').selectOption('Replicas of the app')
      const memory = page.getByRole('region', { name: 'Memory' })
      await expect(memory).toContainText('Replica 3')
      await memory.scrollIntoViewIfNeeded()
    },
  },
]
