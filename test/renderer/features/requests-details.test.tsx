import { screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { RequestDialog } from '../../../renderer/features/requests/request-dialog.tsx'
import { deployment } from '../../../server/contract/deployments.ts'
import { allOperations } from '../../../server/contract/index.ts'
import { type CapturedMessage } from '../../../server/contract/request-captures.ts'
import { loggedRequest, type LoggedRequest } from '../../../server/contract/requests.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const createRequest = (own: Partial<LoggedRequest> = {}) =>
  createExample(loggedRequest, {
    id: 'req_1',
    time: '2026-01-31T09:00:00.118Z',
    method: 'GET',
    host: 'my-shop.localhost',
    path: '/cart',
    query: null,
    scheme: 'http',
    protocol: 'HTTP/1.1',
    status: 200,
    duration_ms: 12,
    wake_ms: 0,
    queue_ms: null,
    app_ms: 12,
    transfer_ms: 0,
    bytes: 2000,
    cache: null,
    cache_status: null,
    deployment_id: null,
    replica: null,
    client_ip: '192.0.2.0',
    user_agent: null,
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    failure: null,
    is_captured: false,
    skipped_before: 0,
    ...own,
  })
const createMessage = (own: Partial<CapturedMessage> = {}): CapturedMessage => ({
  headers: [['accept', 'text/html']],
  body: 'sent',
  encoding: 'text',
  is_truncated: false,
  omitted: null,
  ...own,
})
function openDialog(request: LoggedRequest | null, captured: CapturedMessage | null = null) {
  const session = createExample(allOperations.getSession.success.json)
  const onClose = vi.fn()
  const part = renderPart(<RequestDialog slug="my-shop" id="req_1" onClose={onClose} />, {
    data: [
      [queryKeys.session, { ...session, instance: { ...session.instance, edge_url: 'http://127.0.0.1:4601', edge_https_url: null } }],
      [queryKeys.request('req_1'), request ?? undefined],
      [[...queryKeys.capturedRequests('my-shop'), 'req_1'], captured && { request: captured, response: createMessage({ body: 'answered' }) }],
      [queryKeys.deployment('my-shop', 'dpl_1'), createExample(deployment, { id: 'dpl_1', number: 3, commit_message: 'Add cart' })],
    ],
  })
  return { ...part, onClose }
}
/** The facts of the dialog by name. */
const details = () => {
  const names = [...document.querySelectorAll('[role=dialog] dl > dt')]
  return Object.fromEntries(names.map((name) => [name.textContent, name.nextElementSibling?.textContent]))
}

afterEach(() => vi.restoreAllMocks())

const plain = {
  Status: '200',
  Time: expect.stringMatching(/^Jan 31, 2026, /),
  Host: 'my-shop.localhost http, HTTP/1.1',
  Cache: 'Not used',
  Body: '2 kB',
  Deployment: 'None',
  Client: '192.0.2.0 shortened',
  'User agent': 'None',
  'Request ID': 'req_1',
  'Trace ID': '0af7651916cd43dd8448eb211c80319c',
  Trace: 'Show trace',
}
test.each<[string, Partial<LoggedRequest>, object]>([
  ['without anything special', {}, plain],
  [
    'with everything',
    {
      status: 502,
      failure: 'closed',
      query: 'page=2',
      cache: 'miss',
      cache_status: 'fwd=uri-miss; stored',
      deployment_id: 'dpl_1',
      replica: 2,
      user_agent: 'curl/8',
    },
    {
      ...plain,
      Status: '502 The app closed the connection without a response.',
      Query: 'page=2',
      Cache: 'Miss Stored for the next request',
      Deployment: '#3 Add cart',
      Replica: '2',
      'User agent': 'curl/8',
    },
  ],
  ['of a deployment that is not loaded', { deployment_id: 'dpl_123456789' }, { ...plain, Deployment: '…456789' }],
])('a request %s', (_, own, expected) => {
  const { text } = openDialog(createRequest(own))
  expect(details()).toEqual(expected)
  expect(text()).toContain("curl --include 'http://my-shop.localhost:4601/cart")
  expect(screen.getByRole('dialog', { name: 'GET /cart' })).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Replay…' })).toBeNull()
})

test.each([
  ['my-shop.localhost', '/projects/my-shop/logs/requests?host=my-shop.localhost'],
  ['2', '/projects/my-shop/logs/requests?replica=2'],
  ['192.0.2.0', '/projects/my-shop/logs/requests?client_ip=192.0.2.0'],
  ['#3 Add cart', '/projects/my-shop/deployments/dpl_1'],
  ['Show trace', '/projects/my-shop/logs/traces/0af7651916cd43dd8448eb211c80319c'],
])('the link %s', (name, address) => {
  openDialog(createRequest({ replica: 2, deployment_id: 'dpl_1' }))
  expect(screen.getByRole('link', { name }).getAttribute('href')).toBe(address)
})

test.each<[string, Partial<LoggedRequest>, string]>([
  ['one phase', {}, '[Duration] 12 ms app 12 ms'],
  ['no phase', { app_ms: null, transfer_ms: 0.04 }, '[Duration] 12 ms'],
  [
    'all phases',
    { wake_ms: 2000, queue_ms: 0.05, transfer_ms: 3 },
    '[Duration] 12 ms wake 2.0 s, queue 0.05 ms, app 12 ms, transfer 3 ms [Duration: Wake 2.0 s, Queue 0 ms, App 12 ms, Transfer 3 ms]',
  ],
])('the duration of a request with %s', (_, own, expected) => {
  const { text } = openDialog(createRequest(own))
  expect(text()).toContain(`GET /cart ${expected} Status`)
})

test('a captured request has both messages and can be replayed', async () => {
  const { text, user } = openDialog(createRequest({ is_captured: true }), createMessage())
  expect(text()).toContain('[Request] Request 1 header accept text/html [Body] sent [Copy body]')
  expect(text()).toContain('[Response] Response 1 header accept text/html [Body] answered [Copy body]')
  expect(text()).toContain("curl --include --header 'accept: text/html' 'http://my-shop.localhost:4601/cart' --data-raw 'sent'")
  await user.click(screen.getByRole('button', { name: 'Replay…' }))
  expect(screen.getByRole('dialog', { name: 'Replay GET /cart' })).toBeTruthy()
  await user.click(screen.getByRole('button', { name: 'Back to the request' }))
  expect(screen.getByRole('dialog', { name: 'GET /cart' })).toBeTruthy()
})

test('a request whose headers are not kept cannot be replayed', () => {
  openDialog(createRequest({ is_captured: true }), null)
  expect(screen.queryByRole('button', { name: 'Replay…' })).toBeNull()
})

test('a request is downloaded as a HAR file', async () => {
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue()
  const createUrl = vi.spyOn(URL, 'createObjectURL')
  const { user } = openDialog(createRequest({ is_captured: true }), createMessage())
  await user.click(screen.getByRole('button', { name: 'Download HAR' }))
  await expect.poll(() => createUrl.mock.calls).toHaveLength(1)
  const file = createUrl.mock.lastCall?.[0]
  const har: unknown = file instanceof Blob ? JSON.parse(await file.text()) : null
  expect(har).toMatchObject({ log: { entries: [{ request: { method: 'GET', headers: [{ name: 'accept', value: 'text/html' }] } }] } })
})

test('the request is loading', () => {
  expect(openDialog(null).text()).toBe('Request Loading [Close]')
})

test('why the request cannot be loaded', async () => {
  const { text } = renderPart(<RequestDialog slug="my-shop" id="req_1" onClose={vi.fn()} />, {
    answers: { getRequest: problemResponse('request_not_found', 'It is no longer kept.') },
  })
  await expect.poll(text).toContain('It is no longer kept.')
  expect(text()).not.toContain('Loading')
})
