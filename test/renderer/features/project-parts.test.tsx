import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { DevServers } from '../../../renderer/features/project/dev-servers.tsx'
import { OpenPreviews } from '../../../renderer/features/project/open-previews.tsx'
import { Traffic } from '../../../renderer/features/project/traffic.tsx'
import { type DevSession, devSession } from '../../../server/contract/dev.ts'
import { instanceOperations } from '../../../server/contract/instance.ts'
import { metrics, type Metrics } from '../../../server/contract/metrics.ts'
import { preview } from '../../../server/contract/previews.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const createSession = (is_instance_owner: boolean) => {
  const session = createExample(instanceOperations.getSession.success.json)
  return { ...session, user: { ...session.user, is_instance_owner } }
}
const createServer = (own: Partial<DevSession> = {}) =>
  createExample(devSession, { id: 'dev_1', status: 'running', folder: '/home/me/shop', branch: 'main', fork_branch: null, port: 5173, ...own })
const showServers = (servers: DevSession[] | null, isOwner = true) =>
  renderPart(<DevServers slug="my-shop" />, {
    data: [
      [queryKeys.session, createSession(isOwner)],
      [queryKeys.devServers('my-shop'), servers],
    ],
  })

test.each<[string, DevSession[] | null, string]>([
  ['none', [], ''],
  ['an instance without them', null, ''],
  [
    'one that runs',
    [createServer()],
    '[Development server] Development server my-shop.localhost:4780/home/me/shop Branch mainPort 5173since Jan 31, 2026 Switch back',
  ],
  [
    'one that starts, with its own data',
    [createServer({ status: 'starting', branch: null, fork_branch: 'docs', is_production_address: true, url: 'javascript:alert(1)' })],
    '[Development server is starting] Development server is starting javascript:alert(1)/home/me/shop Own copy of production’s dataPort 5173since Jan 31, 2026Visitors from other machines still get the production build. Switch back',
  ],
])('the development servers: %s', (_, servers, expected) => {
  expect(showServers(servers).text()).toBe(expected)
})

test('only the owner of the instance switches back', async () => {
  const { user, sent } = showServers([createServer()])
  await user.click(screen.getByRole('button', { name: 'Switch back' }))
  expect(sent).toEqual([{ operation: 'endDevSession', params: { slug: 'my-shop', session: 'dev_1' } }])
})

test('another user sees a development server without a button', () => {
  showServers([createServer()], false)
  expect(screen.queryByRole('button', { name: 'Switch back' })).toBeNull()
})

const createMetrics = (errors: number, own: Partial<Metrics> = {}) => {
  const example = createExample(metrics, own)
  return { ...example, totals: { ...example.totals, requests: 1200, error_rate: errors, p50_ms: 12 } }
}
const showTraffic = (value?: Metrics) => renderPart(<Traffic slug="my-shop" />, { data: value ? [[queryKeys.metrics('my-shop', '24h'), value]] : [] })

test.each<[string, Metrics | undefined, string]>([
  ['while it loads', undefined, 'Last 24 hours Metrics Requests Errors Median response Cache hit rate Memory'],
  [
    'of an app',
    createMetrics(0.01, {
      cache: { ...createExample(metrics).cache, hit_ratio: 0.5 },
      resources: { cpu_percent: 1, memory_mb: 80.4, memory_limit_mb: 512 },
    }),
    'Last 24 hours Metrics Requests 1,200 [Requests by hour] Requests by hour Errors 1.0 % [Errors by hour] Errors by hour Median response 12 ms [Median response by hour] Median response by hour Cache hit rate 50 % [Cache hit rate by hour] Cache hit rate by hour Memory 80 MB',
  ],
  [
    'of a static site',
    createMetrics(0.01, { cache: { ...createExample(metrics).cache, hit_ratio: null }, resources: null }),
    'Last 24 hours Metrics Requests 1,200 [Requests by hour] Requests by hour Errors 1.0 % [Errors by hour] Errors by hour Median response 12 ms [Median response by hour] Median response by hour Cache hit rate None [Cache hit rate by hour] Cache hit rate by hour Memory None',
  ],
])('the traffic %s', (_, value, expected) => expect(showTraffic(value).text()).toBe(expected))

test.each([
  [0.05, 0],
  [0.051, 1],
])('an error rate of %d has %d alarming figures', (rate, count) => {
  showTraffic(createMetrics(rate))
  expect(document.querySelectorAll('dd[class*=trafficAlarming]').length).toBe(count)
})

test('the traffic is left out after an error', async () => {
  const { text } = renderPart(<Traffic slug="my-shop" />, { answers: { getMetrics: problemResponse('project_not_found', 'No such project.') } })
  await waitFor(() => expect(text()).toBe(''))
})

test.each([
  [0, ''],
  [
    1,
    'Previews All previews [Deployment of branch-0, Live] branch-0my-shop.localhost:4780 [Copy URL of branch-0] [Log of branch-0] Show prices with tax3f8a6c1 Jan 31, 2026 Live',
  ],
  [
    4,
    'Previews All 4 previews [Deployment of branch-0, Live] branch-0my-shop.localhost:4780 [Copy URL of branch-0] [Log of branch-0] Show prices with tax3f8a6c1 Jan 31, 2026 Live [Deployment of branch-1, Live] branch-1my-shop.localhost:4780 [Copy URL of branch-1] [Log of branch-1] Show prices with tax3f8a6c1 Jan 31, 2026 Live [Deployment of branch-2, Live] branch-2my-shop.localhost:4780 [Copy URL of branch-2] [Log of branch-2] Show prices with tax3f8a6c1 Jan 31, 2026 Live',
  ],
])('the overview shows %d previews', (count, expected) => {
  const previews = Array.from({ length: count }, (_, index) => createExample(preview, { branch: `branch-${index}`, status: 'ready' }))
  expect(renderPart(<OpenPreviews slug="my-shop" />, { data: [[queryKeys.previews('my-shop'), previews]] }).text()).toBe(expected)
})
