import { screen, fireEvent } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { loadRequests } from '../../../renderer/api/requests.ts'
import RequestsPage from '../../../renderer/features/requests/page.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { allOperations } from '../../../server/contract/index.ts'
import { limits } from '../../../server/contract/limits.ts'
import { loggedRequest, type LoggedRequest } from '../../../server/contract/requests.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'
import { parseRequestFilters } from '../../../renderer/features/requests/filters.ts'

const createRequest = (own: Partial<LoggedRequest> = {}) =>
  createExample(loggedRequest, {
    id: 'req_1',
    method: 'GET',
    host: 'my-shop.localhost',
    path: '/cart',
    query: null,
    status: 200,
    duration_ms: 12,
    cache: null,
    skipped_before: 0,
    ...own,
  })
interface PageState {
  search?: string
  filters?: Record<string, string>
  requests?: LoggedRequest[] | null
  next_cursor?: string | null
  is_recording?: boolean
  isOwner?: boolean
  answers?: PartOptions['answers']
}
function openPage({
  search = '',
  filters = {},
  requests = [],
  next_cursor = null,
  is_recording = true,
  isOwner = false,
  answers = {},
}: PageState = {}) {
  history.replaceState(null, '', `/projects/my-shop/logs/requests${search}`)
  const follow = vi.spyOn(localConnection.client, 'follow')
  const session = createExample(allOperations.getSession.success.json)
  const page = { requests, next_cursor, last_event_id: 'event_7', is_recording }
  const part = renderPart(<RequestsPage slug="my-shop" />, {
    data: [
      [queryKeys.session, { ...session, user: { ...session.user, is_instance_owner: isOwner } }],
      [queryKeys.requests('my-shop', filters), requests === null ? undefined : { pages: [page], pageParams: [null] }],
    ],
    answers,
  })
  const [operation, input] = follow.mock.lastCall ?? []
  return { ...part, follow, followed: operation && { operation, input } }
}
const buttons = () => screen.queryAllByRole('button').map(({ textContent }) => textContent)
const button = (name: string | RegExp) => screen.getByRole('button', { name })

afterEach(() => vi.restoreAllMocks())

test.each<[string, PageState, string]>([
  ['none yet', {}, 'No requests yet Open the app once: the request appears here within a second, with its status, duration and cache result.'],
  [
    'none that match',
    { search: '?path=/a', filters: { path: '/a' } },
    'No requests match The last 100,000 requests of 3 days are kept. Clear filters',
  ],
  ['one', { requests: [createRequest()] }, '1 requestWhat is logged Download HAR'],
  [
    'several, and more to load',
    { requests: [createRequest(), createRequest({ id: 'req_2' })], next_cursor: 'next' },
    '2 requests; scroll to load moreWhat is logged Download HAR',
  ],
])('requests: %s', (_, state, end) => {
  const { text } = openPage(state)
  expect(text().slice(-end.length)).toBe(end)
  expect(text()).not.toContain('Loading')
})

test('the list is loading', () => {
  const { text } = openPage({ requests: null })
  expect(text()).toContain('[Requests] Loading')
  expect(text()).not.toContain('Download HAR')
  expect(text()).not.toContain('No requests')
})

test.each([
  [undefined, false],
  [null, true],
])('a hosted account has no request log: its session is %s', (session, isHosted) => {
  useConnection.setState({ current: { ...localConnection, id: 'hosted' } })
  const { text } = renderPart(<RequestsPage slug="my-shop" />, { data: [[queryKeys.session, session]] })
  expect(text().includes('No request log Hosted accounts have no request log. Homeport on your own machine has one.')).toBe(isHosted)
  expect(document.title).toContain('Requests · my-shop')
})

test.each([
  ['route_not_found', 'No request log This instance runs an older Homeport, which has no request log.', true],
  ['project_not_found', 'It was deleted. project_not_found', false],
] as const)('why the requests cannot be loaded: %s', async (code, expected, isWholePage) => {
  const { text } = openPage({ requests: null, answers: { listRequests: problemResponse(code, 'It was deleted.') } })
  await expect.poll(text).toContain(expected)
  expect(text()).not.toContain('Loading')
  expect(screen.queryByLabelText('Path') === null).toBe(isWholePage)
})

test.each<[string, PageState, boolean, boolean]>([
  ['is on', {}, false, false],
  ['is off, for the owner', { is_recording: false, isOwner: true }, true, true],
  ['is off, for another user', { is_recording: false }, true, false],
])('the request log %s', (_, state, isOff, canOpen) => {
  openPage(state)
  expect(screen.queryByText(/The request log of this instance is off/) !== null).toBe(isOff)
  expect(screen.queryByRole('link', { name: 'Open settings' }) !== null).toBe(canOpen)
})

test('new requests are followed with the filters, except the start of the list', () => {
  const filters = { path: '/a', since: '2026-01-31T09:00:00.000Z' }
  const { followed } = openPage({ search: `?${new URLSearchParams(filters)}`, filters })
  expect(followed).toEqual({ operation: 'streamRequests', input: { params: { slug: 'my-shop' }, query: { path: '/a', last_event_id: 'event_7' } } })
})

test('new requests are added first, and a lost connection is reported until the list is paused', async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const stream = writable.getWriter()
  const send = (...ids: string[]) =>
    stream.write(
      new TextEncoder().encode(
        ids.map((id) => `event: request\nid: ${id}\ndata: ${JSON.stringify(createRequest({ id, path: `/${id}` }))}\n\n`).join(''),
      ),
    )
  const streamRequests = new Response(readable, { headers: { 'content-type': 'text/event-stream' } })
  const { text, user } = openPage({ requests: [createRequest()], answers: { streamRequests } })
  expect(text()).toContain('1 requestWhat is logged')
  void send('a', 'b')
  await expect.poll(text).toContain('3 requestsWhat is logged')
  expect(text()).toMatch(/200GET\/b.*200GET\/a.*200GET\/cart/)
  expect(text()).not.toContain('Connection lost')
  void stream.close()
  await expect.poll(text).toContain('Connection lost; reconnecting…')
  await user.click(button('Pause'))
  expect(text()).toContain('1 requestWhat is logged')
  expect(buttons()).toContain('Resume')
})

test('pausing stops to follow, and resuming loads the list again', async () => {
  const { user, follow } = openPage({ requests: [createRequest()] })
  const send = vi.fn(globalThis.fetch)
  vi.stubGlobal('fetch', send)
  await user.click(button('Pause'))
  expect(follow.mock.lastCall?.[3].signal.aborted).toBe(true)
  expect(send).not.toHaveBeenCalled()
  await user.click(button('Resume'))
  expect(send.mock.calls.map(([address]) => address)).toContain('/instance/projects/my-shop/requests?limit=100')
  expect(follow).toHaveBeenCalledTimes(2)
})

test('a range of the past is not followed and can be removed', async () => {
  const filters = { since: '2026-01-31T09:00:00.000Z', until: '2026-01-31T10:00:00.000Z' }
  const { user, follow } = openPage({ search: `?${new URLSearchParams(filters)}`, filters, requests: [createRequest()] })
  expect(follow).not.toHaveBeenCalled()
  expect(buttons()).not.toContain('Pause')
  await user.click(button(/^from Jan 31, 2026, .* until Jan 31, 2026, /))
  expect(location.search).toBe('')
})

test.each([
  [{ since: '2026-01-31T09:00:00.000Z' }, /^from Jan 31, 2026, \d\d:\d\d:\d\d$/],
  [{ until: '2026-01-31T09:00:00.000Z' }, /^until Jan 31, 2026, \d\d:\d\d:\d\d$/],
  [{ host: 'docs--my-shop.localhost' }, /^Host docs--my-shop.localhost$/],
])('the filter %j has a button that removes it', async (filters, name) => {
  const { user } = openPage({ search: `?${new URLSearchParams(filters)}&method=GET`, filters: { method: 'GET', ...filters } })
  await user.click(button(name))
  expect(location.search).toBe('?method=GET')
})

test('a status has no button, because its field shows it', () => {
  openPage({ search: '?status=404', filters: { status: '404' } })
  expect(buttons()).toEqual(['More', 'Pause', 'Clear filters'])
  const select = screen.getByLabelText('Status')
  expect([...select.querySelectorAll('option')].map(({ value }) => value)).toEqual(['', '404', '2xx', '3xx', '4xx', '5xx'])
  expect(select).toHaveProperty('value', '404')
})

test.each([
  ['Status', '5xx', '?status=5xx'],
  ['Method', 'POST', '?method=POST'],
  ['Cache result', 'miss', '?cache=miss'],
  ['Duration', '500', '?min_duration_ms=500'],
])('requests are filtered by %s', async (label, value, search) => {
  const { user } = openPage()
  await user.selectOptions(screen.getByLabelText(label), value)
  expect(location.search).toBe(search)
})

test('requests are filtered by a path', async () => {
  const { user } = openPage({ search: '?method=GET', filters: { method: 'GET' } })
  await user.type(screen.getByLabelText('Path'), ' /api {Enter}')
  expect(location.search).toBe('?method=GET&path=%2Fapi')
})

test('all filters are cleared', async () => {
  const { user } = openPage({ search: '?method=GET', filters: { method: 'GET' } })
  await user.click(button('Clear filters'))
  expect(location.search).toBe('')
})

test('a filter of another field is added', async () => {
  const { user } = openPage()
  expect(screen.queryByLabelText('Field')).toBeNull()
  await user.click(button('More'))
  expect(screen.getByLabelText('Value')).toMatchObject({ placeholder: 'curl', title: 'Such as curl' })
  await user.selectOptions(screen.getByLabelText('Field'), 'route')
  expect(screen.getByLabelText('Value')).toHaveProperty('placeholder', '/users/:id')
  fireEvent.change(screen.getByLabelText('Value'), { target: { value: ' /users/:id ' } })
  await user.click(button('Add filter'))
  expect(location.search).toBe('?route=%2Fusers%2F%3Aid')
  await user.click(button('More'))
  expect(screen.queryByLabelText('Field')).toBeNull()
})

test('filters of an address that are invalid or unknown are ignored', () => {
  const search = 'status=404&method=GET&replica=222&cache=warm&other=1&min_bytes=9'
  expect(parseRequestFilters(new URLSearchParams(search))).toEqual({ status: '404', method: 'GET', min_bytes: '9' })
})

test('a request of the address opens in a dialog, which closes', async () => {
  const { user } = openPage({ search: '?request=req_1&method=GET', filters: { method: 'GET' } })
  expect(screen.getByRole('dialog', { name: 'Request' })).toBeTruthy()
  await user.click(button('Close'))
  expect(location.search).toBe('?method=GET')
})

test('a file has the newest requests up to the limit, oldest first', async () => {
  const most = limits.request_log.exported
  let calls = 0
  vi.spyOn(localConnection.client, 'call').mockImplementation(async () => {
    if (++calls > 4) throw new Error('It asked for more than a file may have.')
    const requests = Array.from({ length: most / 4 }, (_, index) => createRequest({ id: `req_${calls}_${index}` }))
    return { requests, next_cursor: 'older' } as never
  })
  const found = await loadRequests(localConnection.client, 'my-shop', {})
  expect([found.length, found[0]?.id, found.at(-1)?.id]).toEqual([most, `req_4_${most / 4 - 1}`, 'req_1_0'])
})
