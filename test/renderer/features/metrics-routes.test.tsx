import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { Routes } from '../../../renderer/features/metrics/routes.tsx'
import { projectMetricsOperations, type RouteMetrics } from '../../../server/contract/project-metrics.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const withoutTimes = (text: string | null | undefined) => text?.replace(/,? \d\d:\d\d:\d\d/g, '')

type RoutesPage = ReturnType<typeof createRoutes>
const routesExample = createExample(projectMetricsOperations.listRoutes.success.json)
const createRoute = (index: number, own: Partial<RouteMetrics> = {}): RouteMetrics => ({
  method: 'GET',
  route: `/r/${index}`,
  requests: 1200,
  errors: 0,
  error_rate: 0,
  p50_ms: 12,
  p95_ms: 40,
  p99_ms: 90,
  bytes: 5_000_000,
  ...own,
})
const createRoutes = (count: number, own: Partial<typeof routesExample> = {}) => ({
  ...routesExample,
  routes: Array.from({ length: count }, (_, index) => createRoute(index)),
  other: { ...createRoute(0), routes: 5, requests: 3 },
  skipped: 0,
  ...own,
})
const showRoutes = (value: RoutesPage | undefined, answers: PartOptions['answers'] = {}) =>
  renderPart(<Routes slug="my-shop" range="1h" />, { data: [[queryKeys.routes('my-shop', '1h', 'slowest'), value]], answers })
const readRoutes = () => screen.getAllByRole('rowheader').map(({ textContent }) => textContent)

test('a route leads to its requests', () => {
  showRoutes(createRoutes(0, { routes: [createRoute(1, { method: 'POST', errors: 1001, error_rate: 0.5 }), createRoute(2)], skipped: 1001 }))
  expect(
    screen
      .getAllByRole('row')
      .map(({ textContent }) => textContent)
      .join(' | '),
  ).toBe(
    'RouteRequestsErrorsp50p95p99Sent | POST /r/11,2001,001 (50 %)12 ms40 ms90 ms5.0 MB | GET /r/21,200012 ms40 ms90 ms5.0 MB | Other routes3012 ms40 ms90 ms5.0 MB',
  )
  expect(screen.getAllByRole('link')[0]?.getAttribute('href')).toBe(
    '/projects/my-shop/logs/requests?method=POST&route=%2Fr%2F1&since=2026-01-31T12%3A00%3A00.000Z',
  )
  expect(document.querySelectorAll('[data-failed=true]').length).toBe(1)
  expect(withoutTimes(document.querySelector('footer')?.textContent)).toBe(
    'From the request log since Jan 31, 2026; 1,001 requests were too many in a second to be logged.',
  )
})

test.each([
  [10, 11, []],
  [11, 10, ['Show all 11 routes']],
])('%d routes have %d rows at first', (count, rows, buttons) => {
  showRoutes(createRoutes(count))
  expect(readRoutes().length).toBe(rows)
  expect(screen.queryAllByRole('button').map(({ textContent }) => textContent)).toEqual(buttons)
})

test('all routes are shown, then the others together', async () => {
  const { user } = showRoutes(createRoutes(11))
  await user.click(screen.getByRole('button', { name: 'Show all 11 routes' }))
  expect(readRoutes().slice(-2)).toEqual(['GET /r/10', 'Other routes'])
  expect(screen.queryByRole('button')).toBeNull()
})

test('without other routes there is no row for them', () => {
  showRoutes(createRoutes(1, { other: null }))
  expect(readRoutes()).toEqual(['GET /r/0'])
  expect(screen.queryByText(/were too many/)).toBeNull()
})

test('without any route they are left out', () => {
  expect(showRoutes(createRoutes(0)).text()).toBe('')
})

test('routes are sorted', async () => {
  const { user, text } = showRoutes(createRoutes(1))
  await user.click(screen.getByRole('radio', { name: 'Most errors' }))
  expect(screen.getByRole('radio', { checked: true }).textContent).toBe('Most errors')
  expect(text()).toContain('/r/0')
})

test('routes that cannot be loaded are explained', async () => {
  const { text } = showRoutes(undefined, { listRoutes: problemResponse('project_not_found', 'There is no such project.') })
  expect(text().endsWith('Loading')).toBe(true)
  expect((await screen.findByRole('alert')).textContent).toContain('There is no such project.')
  expect(text()).not.toContain('Loading')
})
