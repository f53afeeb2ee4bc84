import { fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { parseRequestFilters } from '../../../renderer/features/requests/filters.ts'
import RequestsPage from '../../../renderer/features/requests/page.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { allOperations } from '../../../server/contract/index.ts'
import { loggedRequest, type LoggedRequest } from '../../../server/contract/requests.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'

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
  return { ...part, follow }
}
const buttons = () => screen.queryAllByRole('button').map(({ textContent }) => textContent)
const button = (name: string | RegExp) => screen.getByRole('button', { name })

afterEach(() => {
  vi.restoreAllMocks()
  useConnection.setState({ current: localConnection })
  useUi.setState({ toasts: [] })
  history.replaceState(null, '', '/app/')
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
