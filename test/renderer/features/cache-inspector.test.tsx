import { screen, waitFor, within } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import { Inspector } from '../../../renderer/features/cache/inspector.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import type { CacheInspectionResult } from '../../../server/contract/network.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'
import { InspectionResult } from '../../../renderer/features/cache/inspection-result.tsx'
import { purgeSummary } from '../../../renderer/features/cache/purge-summary.ts'
import { formatDateTime } from '../../../renderer/lib/format.ts'

type Stored = NonNullable<CacheInspectionResult['stored']>
type Answer = NonNullable<CacheInspectionResult['answer']>

const storedAt = '2026-01-31T12:00:00.000Z'
const createStored = (own: Partial<Stored> = {}): Stored => ({
  status: 200,
  stored_at: storedAt,
  age_s: 30,
  fresh_for_s: 30,
  stale_while_revalidate_s: 0,
  stale_if_error_s: 0,
  tags: [],
  vary: [],
  bytes: 2000,
  tier: 'memory',
  headers: [['content-type', 'text/html']],
  ...own,
})
const createAnswer = (own: Partial<Answer> = {}): Answer => ({
  status: 200,
  x_cache: 'HIT',
  cache_status: null,
  age_s: 4,
  ms: 12,
  headers: [['server', 'demo']],
  ...own,
})
const createInspection = (own: Partial<CacheInspectionResult> = {}): CacheInspectionResult => ({
  url: '/shop',
  key: 'GET /shop',
  cache_status: 'MISS',
  why: 'Nothing is stored.',
  stored: null,
  answer: null,
  ...own,
})
const renderInspector = (answers: PartOptions['answers'] = {}) => renderPart(<Inspector slug="shop" />, { answers })
const button = (name: string) => screen.getByRole('button', { name })
const inspectCall = (body: object) => ({ operation: 'inspectCache', params: { slug: 'shop' }, body })

beforeEach(() => history.replaceState(null, '', '/app/projects/shop/cache'))

test('a path is inspected without a request', async () => {
  const { user, sent, text } = renderInspector({ inspectCache: createInspection() })
  expect(screen.getByLabelText('Path or URL')).toHaveProperty('value', '/')
  await user.clear(screen.getByLabelText('Path or URL'))
  await user.type(screen.getByLabelText('Path or URL'), ' /shop ')
  await user.click(button('Inspect'))
  expect(sent).toEqual([inspectCall({ url: '/shop' })])
  expect(location.search).toBe('?url=%2Fshop')
  expect(await screen.findByText('Miss: served by the app')).toBeTruthy()
  expect(text()).toContain('Cache key GET /shop')
})

test('the URL of the address is inspected at once', async () => {
  history.replaceState(null, '', '/app/projects/shop/cache?url=/shop')
  const { sent } = renderInspector({ inspectCache: createInspection() })
  expect(await screen.findByText('Miss: served by the app')).toBeTruthy()
  expect(sent).toEqual([inspectCall({ url: '/shop' })])
  expect(screen.getByLabelText('Path or URL')).toHaveProperty('value', '/shop')
})

test('nothing is inspected without a URL in the address', () => expect(renderInspector().sent).toEqual([]))

test('a real request is inspected again afterwards', async () => {
  const { user, sent, text } = renderInspector({ inspectCache: createInspection({ answer: createAnswer(), stored: createStored() }) })
  await user.click(button('Send a request'))
  expect(await screen.findByText('Test request')).toBeTruthy()
  await waitFor(() => expect(sent).toEqual([inspectCall({ url: '/', send: true }), inspectCall({ url: '/' })]))
  expect(text()).toContain('30 s old, fresh for another 30 s')
})

test('a request to nowhere is not sent', async () => {
  const { user, sent } = renderInspector()
  await user.clear(screen.getByLabelText('Path or URL'))
  await user.type(screen.getByLabelText('Path or URL'), ' ')
  await user.click(button('Send a request'))
  expect(sent).toEqual([])
})

test.each([
  ['Inspect', 'Inspect', 'Send a request'],
  ['Send a request', 'Send a request', 'Inspect'],
])('only the button “%s” is busy while it works', async (name, busy, idle) => {
  const { user } = renderInspector()
  await user.click(button(name))
  expect(button(busy).getAttribute('aria-busy')).toBe('true')
  expect(button(idle).getAttribute('aria-busy')).toBeNull()
})

test('request headers are sent in lower case', async () => {
  const { user, sent, text } = renderInspector()
  await user.type(screen.getByLabelText('Request headers'), 'Accept-Language:  nb{Enter}{Enter} X-Empty:')
  expect(text()).toContain('One per line. They matter when responses vary by them.')
  await user.click(button('Inspect'))
  expect(sent).toEqual([inspectCall({ url: '/', headers: { 'accept-language': 'nb', 'x-empty': '' } })])
})

test.each(['no colon', ': no name', 'a b: c'])('“%s” is not a request header', async (line) => {
  const { user, sent } = renderInspector()
  await user.type(screen.getByLabelText('Request headers'), line)
  await user.click(button('Inspect'))
  expect(screen.getByRole('alert').textContent).toBe(`“${line}” is not a header. Write one per line, as Name: value.`)
  expect(screen.getByLabelText('Request headers').getAttribute('aria-invalid')).toBe('true')
  expect(sent).toEqual([])
})

test('a corrected header is sent', async () => {
  const { user, sent } = renderInspector()
  await user.type(screen.getByLabelText('Request headers'), 'x')
  await user.click(button('Inspect'))
  await user.type(screen.getByLabelText('Request headers'), ': 1')
  await user.click(button('Inspect'))
  expect(screen.queryByRole('alert')).toBeNull()
  expect(sent).toEqual([inspectCall({ url: '/', headers: { x: '1' } })])
})

test('an inspection that fails says why', async () => {
  const { user } = renderInspector({ inspectCache: problemResponse('project_not_found', 'It is gone.') })
  await user.click(button('Inspect'))
  expect(within(await screen.findByRole('alert')).getByText('It is gone.')).toBeTruthy()
  expect(screen.getByRole('status').textContent).toBe('')
})
const renderResult = (own: Partial<CacheInspectionResult>, onAgain = () => {}, answers: PartOptions['answers'] = {}) =>
  renderPart(<InspectionResult slug="shop" inspection={createInspection(own)} onAgain={onAgain} />, { answers })

test.each([
  ['HIT', 'Hit: served by the edge'],
  ['STALE', 'Stale: served by the edge while it revalidates with the app'],
  ['MISS', 'Miss: served by the app'],
  ['BYPASS', 'Bypass: served by the app and not stored'],
] as const)('a result %s is explained', (cache_status, expected) => {
  expect(renderResult({ cache_status }).text()).toBe(`${expected} Nothing is stored. Cache key GET /shop`)
})

test.each<[string, Partial<Stored>, string, string]>([
  ['is fresh', {}, '30 s old, fresh for another 30 s', '1 minute fresh'],
  ['is fresh for the last moment', { age_s: 30, fresh_for_s: 0 }, '30 s old, fresh for another 0 s', '30 seconds fresh'],
  ['is stale', { age_s: 60, fresh_for_s: -59 }, '1 min 00 s old, stale for 59 s', '1 second fresh'],
  ['was never fresh', { age_s: 20, fresh_for_s: -30 }, '20 s old, stale for 30 s', ''],
  [
    'may be used while it is stale',
    { stale_while_revalidate_s: 60, stale_if_error_s: 3600 },
    '30 s old, fresh for another 30 s',
    '1 minute fresh 1 minute usable during revalidation 1 hour usable when the app fails',
  ],
])('a stored response %s', (_, own, state, phases) => {
  expect(renderResult({ stored: createStored(own) }).text()).toBe(
    `Miss: served by the app Nothing is stored. Purge this URL ${state}${phases === '' ? '' : ` ${phases}`} Response 200, 2 kB, in memory Stored ${formatDateTime(storedAt)} ` +
      'Varies by Nothing: one response for all requests Tags None Stored response headers [Stored response headers] content-type text/html Cache key GET /shop',
  )
})

test.each<[string, Partial<Stored>, string[], string]>([
  ['fresh for half of its life', {}, ['60'], '50%'],
  ['stale', { age_s: 60, fresh_for_s: -30 }, ['30', '30'], '100%'],
  ['stale but usable', { age_s: 60, fresh_for_s: -30, stale_while_revalidate_s: 90 }, ['30', '90'], '50%'],
  ['just stored', { age_s: 0, fresh_for_s: 0 }, ['1'], '0%'],
])('the bar of a response that is %s shows its age to scale', (_, own, shares, left) => {
  renderResult({ stored: createStored(own) })
  const parts = [...(screen.getByText(/ old, /).nextElementSibling?.children ?? [])].filter((one) => one instanceof HTMLElement)
  expect(parts.map(({ style }) => style.flexGrow).filter(Boolean)).toEqual(shares)
  expect(parts.at(-1)?.style.left).toBe(left)
})

test('a stored response on disk has tags and varies', () => {
  const { text } = renderResult({ stored: createStored({ tier: 'disk', tags: ['a', 'b'], vary: ['accept', 'cookie'] }) })
  expect(text()).toContain('Response 200, 2 kB, on disk')
  expect(text()).toContain('Varies by accept, cookie')
  expect(screen.getAllByTestId('tag').map(({ textContent }) => textContent)).toEqual(['a', 'b'])
})

test.each<[string, Partial<Answer>, string]>([
  ['with facts', {}, 'X-Cache HIT Age 4 s'],
  ['without facts', { x_cache: null, age_s: null }, 'X-Cache None Age None'],
  ['at age zero', { age_s: 0 }, 'X-Cache HIT Age 0 s'],
  [
    'with the header',
    { cache_status: 'Homeport; hit; ttl=30' },
    'X-Cache HIT Age 4 s Cache-Status Homeport served a stored response; fresh for another 30 s. Homeport; hit; ttl=30',
  ],
])('a test request %s', (_, own, facts) => {
  expect(renderResult({ answer: createAnswer(own) }).text()).toBe(
    `Miss: served by the app Nothing is stored. [Test request] Test request Response 200 in 12 ms ${facts} Response headers [Response headers] server demo Cache key GET /shop`,
  )
})

test('a stored response is purged and inspected again', async () => {
  const onAgain = vi.fn()
  const { user, sent } = renderResult({ stored: createStored() }, onAgain, { purgeUrls: { ok: true, purged: 1 } })
  await user.click(button('Purge this URL'))
  expect(sent).toEqual([{ operation: 'purgeUrls', params: { slug: 'shop' }, body: { urls: ['/shop'] } }])
  await waitFor(() => expect(onAgain.mock.calls).toHaveLength(1))
  expect(useUi.getState().toasts.map(({ text }) => text)).toEqual(['Purged 1 stored response.'])
})

test.each([
  [0, 'Nothing to purge: no matching responses were stored.'],
  [1, 'Purged 1 stored response.'],
  [1200, 'Purged 1,200 stored responses.'],
])('a purge of %i responses is summarized', (purged, expected) => expect(purgeSummary({ purged })).toBe(expected))
