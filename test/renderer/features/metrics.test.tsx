import { screen, within } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { Charts, UsageOnly } from '../../../renderer/features/metrics/charts.tsx'
import { type MetricsHistory, projectMetricsOperations } from '../../../server/contract/project-metrics.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'
import { DeploymentMarkers, describeGroup, groupDeployments } from '../../../renderer/features/metrics/deployment-markers.tsx'
import { MetricTiles } from '../../../renderer/features/metrics/metric-tiles.tsx'
import { MetricsTable } from '../../../renderer/features/metrics/metrics-table.tsx'
import { project } from '../../../server/contract/projects.ts'

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
const withoutTimes = (text: string | null | undefined) => text?.replace(/, \d\d:\d\d:\d\d/g, '')

test.each<[string, Partial<MetricsHistory>, boolean, string]>([
  [
    'an app',
    {},
    false,
    '[Summary] Requests 12.3k 5.0 MB sent Errors 2.0 % 2 server errors (5xx) Median response 12 ms p95 40 ms, p99 90 ms Cache hit rate 60 % 30 hits, 20 misses Cold starts 7 300 ms, last Jan 31, 2026 Right now 80 MB of 512 MB; 3.3 % of one core',
  ],
  [
    'an app with one of each',
    {
      totals: { ...createMetrics().totals, requests: 999, errors: 1 },
      cache: { ...example.cache, hits: 1, misses: 1, hit_ratio: null },
      resources: { cpu_percent: 10, memory_mb: 80.5, memory_limit_mb: 512 },
    },
    false,
    '[Summary] Requests 999 5.0 MB sent Errors 2.0 % 1 server error (5xx) Median response 12 ms p95 40 ms, p99 90 ms Cache hit rate None 1 hit, 1 miss Cold starts 7 300 ms, last Jan 31, 2026 Right now 81 MB of 512 MB; 10 % of one core',
  ],
  [
    'an app that sleeps, without a cold start',
    { resources: null, cold_starts: { count: 0, p50_ms: null, p95_ms: null, last_at: null } },
    true,
    '[Summary] Requests 12.3k 5.0 MB sent Errors 2.0 % 2 server errors (5xx) Median response 12 ms p95 40 ms, p99 90 ms Cache hit rate 60 % 30 hits, 20 misses Cold starts 0 No cold starts Right now Not running Asleep; the next request wakes it',
  ],
  [
    'a static site',
    { resources: null },
    false,
    '[Summary] Requests 12.3k 5.0 MB sent Errors 2.0 % 2 server errors (5xx) Median response 12 ms p95 40 ms, p99 90 ms Cache hit rate 60 % 30 hits, 20 misses Cold starts 7 300 ms, last Jan 31, 2026 Right now Not running Stopped, or a static site without a process',
  ],
])('the figures of %s', (_, own, is_cold, expected) => {
  expect(renderPart(<MetricTiles metrics={createMetrics([], own)} project={createExample(project, { is_cold })} />).text()).toBe(expected)
})

test('the table has the buckets with requests or cold starts, the newest first', () => {
  renderPart(<MetricsTable metrics={createMetrics([{}, busyBucket, { cold_starts: 1 }])} />)
  const [head, ...rows] = [...document.querySelectorAll('tr')].map((row) => [...row.children].map(({ textContent }) => textContent))
  expect(head?.length).toBe(14)
  expect(rows.map((cells) => cells.slice(1).join(' '))).toEqual([
    '0 0 0 0 0 – – – 0 B 0 0 0 1',
    '1,010 1,000 4 3 2 12 ms 40 ms 90 ms 5.0 MB 30 20 5 7',
  ])
})

const marker = (id: string, minutes: number) => ({
  ...example.deployments[0]!,
  id,
  title: `Change ${id}`,
  ts: new Date(Date.parse(from) + minutes * 60_000).toISOString(),
})
const bucketsOf = (count: number) => Array.from({ length: count }, () => ({}))
test.each<[string, number, number[], [number, string[]][]]>([
  [
    'in other buckets',
    24,
    [0, 15, 30],
    [
      [0, ['0']],
      [1, ['15']],
      [2, ['30']],
    ],
  ],
  ['in one bucket', 24, [1, 14], [[0, ['1', '14']]]],
  [
    'that are closer than a chart has room for',
    48,
    [0, 15, 30],
    [
      [0, ['0', '15']],
      [2, ['30']],
    ],
  ],
])('deployments %s', (_, count, minutes, expected) => {
  const metrics = createMetrics(bucketsOf(count), { deployments: minutes.map((minute) => marker(String(minute), minute)) })
  expect(groupDeployments(metrics).map(({ index, deployments }) => [index, deployments.map(({ id }) => id)])).toEqual(expected)
})

test.each([
  [['a'], 'Deployed: Change a, Jan 31, 2026'],
  [['a', 'b'], '2 deployments, the last: Change b, Jan 31, 2026'],
])('a mark of %j links to the last deployment', (ids, expected) => {
  const group = { index: 1, deployments: ids.map((id) => marker(id, 0)) }
  expect(withoutTimes(describeGroup(group))).toBe(expected)
  renderPart(<DeploymentMarkers slug="my-shop" groups={[group]} count={4} />)
  expect(screen.getByRole('link').getAttribute('href')).toBe(`/projects/my-shop/deployments/${ids.at(-1)}`)
  expect(screen.getByRole('listitem').style.left).toBe('37.5%')
})

test('a chart without deployments has no marks', () => {
  expect(renderPart(<DeploymentMarkers slug="my-shop" groups={[]} count={4} />).text()).toBe('')
})
