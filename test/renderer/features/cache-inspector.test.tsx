import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Inspector } from '../../../renderer/features/cache/inspector.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import type { CacheInspectionResult } from '../../../server/contract/network.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

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
afterEach(() => {
  useUi.setState({ toasts: [] })
  history.replaceState(null, '', '/app/')
})

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
