import { screen, within } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { Charts, UsageOnly } from '../../../renderer/features/metrics/charts.tsx'
import { type MetricsHistory, projectMetricsOperations } from '../../../server/contract/project-metrics.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

type Bucket = MetricsHistory['buckets'][number]
const example = createExample(projectMetricsOperations.getProjectMetrics.success.json)
const from = '2026-01-31T12:00:00.000Z'
const bucketStart = (index: number) => new Date(Date.parse(from) + index * 900_000).toISOString()
const emptyBucket: Omit<Bucket, 'ts'> = {
  requests: 0,
  status_2xx: 0,
  status_3xx: 0,
  status_4xx: 0,
  status_5xx: 0,
  bytes_out: 0,
  p50_ms: null,
  p95_ms: null,
  p99_ms: null,
  cold_starts: 0,
  cache_hits: 0,
  cache_misses: 0,
  cache_bypass: 0,
}
const busyBucket = {
  requests: 1010,
  status_2xx: 1000,
  status_3xx: 4,
  status_4xx: 3,
  status_5xx: 2,
  bytes_out: 5_000_000,
  p50_ms: 12,
  p95_ms: 40,
  p99_ms: 90,
  cold_starts: 7,
  cache_hits: 30,
  cache_misses: 20,
  cache_bypass: 5,
}
const createMetrics = (buckets: Partial<Bucket>[] = [{}, busyBucket, {}], own: Partial<MetricsHistory> = {}): MetricsHistory => ({
  ...example,
  range: '24h',
  from,
  bucket_seconds: 900,
  buckets: buckets.map((bucket, index) => ({ ...emptyBucket, ts: bucketStart(index), ...bucket })),
  totals: { requests: 12_345, errors: 2, error_rate: 0.02, bytes_out: 5_000_000, p50_ms: 12, p95_ms: 40, p99_ms: 90 },
  cache: { ...example.cache, hits: 30, misses: 20, bypass: 5, hit_ratio: 0.6 },
  cold_starts: { count: 7, p50_ms: 300, p95_ms: 900, last_at: from },
  resources: { cpu_percent: 3.25, memory_mb: 80.4, memory_limit_mb: 512 },
  usage: [],
  deployments: [],
  ...own,
})
const showCharts = (
  metrics: MetricsHistory,
  { cursor = null as number | null, onSelectTime = undefined as ((since: string, until: string) => void) | undefined } = {},
) => {
  const onCursorChange = vi.fn()
  return {
    onCursorChange,
    ...renderPart(<Charts slug="my-shop" metrics={metrics} cursor={cursor} onCursorChange={onCursorChange} onSelectTime={onSelectTime} />),
  }
}
const readCharts = () =>
  screen
    .getAllByRole('region')
    .map((region) => [region.querySelector('h2')?.textContent, within(region).getByRole('list', { name: 'Legend' }).textContent].join(' | '))

test.each<[string, MetricsHistory, string]>([
  [
    'requests',
    createMetrics(),
    'Requests |  2xx 1,000 3xx 4 4xx 3 5xx 2 WebSockets 1 || Response time |  p50 12 ms p95 40 ms p99 90 ms || Edge cache, 60 % |  Hits 30 Misses 20 Bypass 5 || Cold starts |  Cold starts 7p50 300 ms, p95 900 ms',
  ],
  [
    'only answered requests, without cache and cold starts',
    createMetrics([{ ...busyBucket, requests: 1009 }], {
      cache: { ...example.cache, hit_ratio: null },
      cold_starts: { count: 0, p50_ms: null, p95_ms: null, last_at: null },
    }),
    'Requests |  2xx 1,000 3xx 4 4xx 3 5xx 2 || Response time |  p50 12 ms p95 40 ms p99 90 ms || Edge cache |  Hits 30 Misses 20 Bypass 5 || Cold starts |  Cold starts 7',
  ],
  [
    'services',
    createMetrics(undefined, {
      usage: [
        { service: null, cpu_percent: [1, 12.4, null], memory_mb: [80, 90.6, null], replicas: [] },
        { service: 'worker', cpu_percent: [null, null, null], memory_mb: [null, null, 9.94], replicas: [] },
      ],
    }),
    'Requests |  2xx 1,000 3xx 4 4xx 3 5xx 2 WebSockets 1 || Response time |  p50 12 ms p95 40 ms p99 90 ms || CPU, percent of one core |  App 12 % worker – || Memory, limit 512 MB |  App 91 MB worker 10 MB || Edge cache, 60 % |  Hits 30 Misses 20 Bypass 5 || Cold starts |  Cold starts 7p50 300 ms, p95 900 ms',
  ],
  [
    'an app without a limit',
    createMetrics(undefined, { resources: null, usage: [{ service: null, cpu_percent: [9.94], memory_mb: [1], replicas: [] }] }),
    'Requests |  2xx 1,000 3xx 4 4xx 3 5xx 2 WebSockets 1 || Response time |  p50 12 ms p95 40 ms p99 90 ms || CPU, percent of one core |  App 9.9 % || Memory |  App 1 MB || Edge cache, 60 % |  Hits 30 Misses 20 Bypass 5 || Cold starts |  Cold starts 7p50 300 ms, p95 900 ms',
  ],
])('the charts of %s', (_, metrics, expected) => {
  showCharts(metrics)
  expect(readCharts().join(' || ')).toBe(expected)
})

const replicas = [1, 2].map((replica) => ({ replica, cpu_percent: [replica, null, null], memory_mb: [replica * 10, null, null] }))
test('the replicas of a service have their own charts', async () => {
  const usage = [
    { service: null, cpu_percent: [3, null, null], memory_mb: [30, null, null], replicas },
    { service: 'worker', cpu_percent: [1, null, null], memory_mb: [5, null, null], replicas: [] },
  ]
  const { user } = showCharts(createMetrics(undefined, { usage }))
  const select = screen.getByRole('combobox', { name: 'CPU and memory of' })
  expect(
    within(select)
      .getAllByRole('option')
      .map(({ textContent }) => textContent),
  ).toEqual(['CPU and memory of all services', 'Replicas of the app'])
  expect(readCharts().slice(2, 4).join(' || ')).toBe(
    'CPU, percent of one core |  App 3.0 % worker 1.0 % || Memory, limit 512 MB |  App 30 MB worker 5 MB',
  )
  await user.selectOptions(select, 'App')
  expect(readCharts().slice(2, 4).join(' || ')).toBe(
    'CPU, percent of one core |  Replica 1 1.0 % Replica 2 2.0 % || Memory |  Replica 1 10 MB Replica 2 20 MB',
  )
})

test.each([
  ['Requests by status', '2xx 1,000, 3xx 4, 4xx 3, 5xx 2, WebSockets 1'],
  ['Response time', 'p50 12 ms, p95 40 ms, p99 90 ms'],
  ['Cache results', 'Hits 30, Misses 20, Bypass 5'],
  ['Cold starts', 'Cold starts 7'],
])('the chart “%s” reads out the values at the cursor', (label, expected) => {
  showCharts(createMetrics(), { cursor: 1 })
  const value = screen.getByRole('slider', { name: `${label}; use the arrow keys to move through time` }).getAttribute('aria-valuetext')
  expect(value?.replace(/^.*?: /, '')).toBe(expected)
})

test('a bucket leads to its requests', async () => {
  const onSelectTime = vi.fn()
  const { user } = showCharts(createMetrics(), { cursor: 1, onSelectTime })
  screen.getByRole('slider', { name: /^Requests by status/ }).focus()
  await user.keyboard('{Enter}')
  expect(onSelectTime.mock.calls).toEqual([['2026-01-31T12:15:00.000Z', '2026-01-31T12:30:00.000Z']])
})

test('a cursor outside of the buckets leads nowhere', async () => {
  const onSelectTime = vi.fn()
  const { user } = showCharts(createMetrics(), { cursor: 3, onSelectTime })
  screen.getByRole('slider', { name: /^Requests by status/ }).focus()
  await user.keyboard('{Enter}')
  expect(onSelectTime).not.toHaveBeenCalled()
})

test.each([
  ['samples', [{ service: null, cpu_percent: [1], memory_mb: [1], replicas: [] }], 2],
  ['no samples', [], 0],
])('a project without requests has charts of its usage with %s', (_, usage, count) => {
  renderPart(<UsageOnly metrics={createMetrics([{}], { usage })} cursor={null} onCursorChange={vi.fn()} />)
  expect(screen.queryAllByRole('slider').length).toBe(count)
})
