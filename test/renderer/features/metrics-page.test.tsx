import { screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import MetricsPage from '../../../renderer/features/metrics/page.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { instanceOperations, settings } from '../../../server/contract/instance.ts'
import { metrics } from '../../../server/contract/metrics.ts'
import { type HistoryRange, historyBuckets } from '../../../server/contract/metrics-ranges.ts'
import { type MetricsHistory, projectMetricsOperations } from '../../../server/contract/project-metrics.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createSession = (is_instance_owner: boolean) => {
  const session = createExample(instanceOperations.getSession.success.json)
  return {
    ...session,
    user: { ...session.user, is_instance_owner },
    instance: { ...session.instance, edge_url: 'http://localhost:4780', apps_url: null },
  }
}
const example = createExample(projectMetricsOperations.getProjectMetrics.success.json)
const createMetrics = (range: HistoryRange, requests: number, own: Partial<MetricsHistory> = {}): MetricsHistory => {
  const { count, seconds } = historyBuckets[range]
  const [bucket] = example.buckets
  const buckets = Array.from({ length: count }, () => ({ ...bucket!, ts: '2026-01-31T12:00:00.000Z' }))
  return { ...example, range, buckets, bucket_seconds: seconds, totals: { ...example.totals, requests }, usage: [], deployments: [], ...own }
}
const withoutTimes = (text: string | null | undefined) => text?.replace(/,? \d\d:\d\d:\d\d/g, '')

interface State {
  search?: string
  value?: MetricsHistory
  isServing?: boolean
  isOwner?: boolean
  collects?: boolean
  answers?: PartOptions['answers']
}
const showPage = ({ search = '', value, isServing = true, isOwner = true, collects = true, answers = {} }: State) => {
  history.replaceState(null, '', `/app/${search}`)
  const chosen = new URLSearchParams(search).get('range') ?? undefined
  return renderPart(<MetricsPage slug="my-shop" />, {
    data: [
      [queryKeys.session, createSession(isOwner)],
      [queryKeys.settings, isOwner ? createExample(settings, { metrics: collects }) : undefined],
      [queryKeys.project('my-shop'), createExample(project)],
      [queryKeys.serving('my-shop'), isServing ? createExample(deployment) : null],
      [['metrics-history', 'my-shop', chosen], value],
    ],
    answers,
  })
}
const ranges = () => within(screen.getByLabelText('Range'))
const readRange = () => ranges().getByRole('radio', { checked: true }).textContent
const readRanges = () =>
  ranges()
    .getAllByRole('radio')
    .map(({ textContent }) => textContent)

test.each<[string, State, string, string]>([
  ['is shown without a range', { value: createMetrics('6h', 5) }, '6 hours', 'Updated'],
  ['is shown in a range', { search: '?range=7d', value: createMetrics('7d', 5, { first_at: null, buckets: [] }) }, '7 days', 'Updated'],
  [
    'is shorter than its range',
    { search: '?range=7d', value: createMetrics('7d', 5, { buckets: example.buckets }) },
    '7 days',
    'Data since Jan 31, 2026. Updated',
  ],
  ['is as long as its range', { search: '?range=24h', value: createMetrics('24h', 5) }, '24 hours', 'Updated'],
])('data that %s', (_, state, range, note) => {
  showPage(state)
  expect(readRange()).toBe(range)
  expect(withoutTimes(document.querySelector('p.text-subtle')?.textContent)).toBe(note)
  expect(screen.getByRole('heading', { name: 'Requests' })).toBeTruthy()
})

test('metrics are loaded', () => {
  const { text } = showPage({ search: '?range=century' })
  expect([readRange(), text().endsWith('Loading')]).toEqual(['Live', true])
})

test('metrics that cannot be loaded are explained', async () => {
  const { text } = showPage({ answers: { getProjectMetrics: problemResponse('project_not_found', 'There is no such project.') } })
  expect((await screen.findByRole('alert')).textContent).toContain('There is no such project.')
  expect(text()).not.toContain('Loading')
})

test('another range is chosen, and the earlier one is shown until it is loaded', async () => {
  const { user } = showPage({ value: createMetrics('live', 5) })
  await user.click(screen.getByRole('radio', { name: '30 days' }))
  expect([location.search, readRange()]).toEqual(['?range=30d', '30 days'])
  expect(document.querySelector('p.text-subtle')?.textContent).toBe('')
  expect(screen.getByRole('heading', { name: 'Requests' }).closest('[aria-busy]')?.getAttribute('aria-busy')).toBe('true')
})

test('a range without requests is not announced for another range', async () => {
  const { user } = showPage({ value: createMetrics('live', 0) })
  expect(screen.getByRole('heading', { level: 2 }).textContent).toBe('No requests in the last 15 minutes')
  await user.click(screen.getByRole('radio', { name: '1 hour' }))
  expect(screen.queryByText(/^No requests/)).toBeNull()
})

test.each<[string, State, string]>([
  [
    'a live project',
    { value: createMetrics('live', 0) },
    'No requests in the last 15 minutesOpen the app once: the request and its response time appear here within seconds.Open the app',
  ],
  [
    'a live project of another user',
    { value: createMetrics('1h', 0), search: '?range=1h', isOwner: false, collects: false },
    'No requests in the last hourOpen the app once: the request and its response time appear here within seconds.Open the app',
  ],
  [
    'a project that is not live',
    { value: createMetrics('30d', 0), search: '?range=30d', isServing: false },
    'No requests in the last 30 daysThe project is not live yet. Deploy it to see requests to its URL here.Go to overview',
  ],
  [
    'an instance that collects none',
    { value: createMetrics('24h', 0), search: '?range=24h', collects: false },
    'Metrics are offThis instance does not collect request metrics. Turn on “Collect request metrics” to see new requests here.Open settings',
  ],
])('no requests of %s', (_, state, expected) => {
  showPage(state)
  expect(screen.getByRole('heading', { level: 2 }).parentElement?.textContent).toBe(expected)
})

test('a bucket opens its requests', async () => {
  const { user } = showPage({ value: createMetrics('live', 5) })
  screen.getByRole('slider', { name: /^Requests by status/ }).focus()
  await user.keyboard('{Home}{Enter}')
  expect([location.pathname, location.search]).toEqual([
    '/projects/my-shop/logs/requests',
    '?since=2026-01-31T12%3A00%3A00.000Z&until=2026-01-31T12%3A00%3A10.000Z',
  ])
})

test('an instance of this machine has all ranges', () => {
  showPage({ value: createMetrics('live', 5) })
  expect(readRanges()).toEqual(['Live', '1 hour', '6 hours', '24 hours', '7 days', '30 days'])
  expect(screen.getByRole('link', { name: 'Read these metrics with Prometheus' })).toBeTruthy()
})

test('a hosted account has its ranges, and neither routes nor requests', async () => {
  useConnection.setState({ current: { ...localConnection, id: 'remote_1' } })
  renderPart(<MetricsPage slug="my-shop" />, {
    data: [
      [queryKeys.session, null],
      [queryKeys.project('my-shop'), createExample(project)],
    ],
    answers: { getMetrics: { ...createExample(metrics), range: '24h', totals: { ...example.totals, requests: 5 } } },
  })
  expect(await screen.findByRole('heading', { name: 'Requests' })).toBeTruthy()
  expect(readRanges()).toEqual(['24 hours', '7 days', '30 days'])
  expect(screen.queryByRole('link', { name: 'Read these metrics with Prometheus' })).toBeNull()
  expect(document.querySelectorAll('[data-selectable]').length).toBe(0)
})
