import { screen, within } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { CapturedMessageView, formatJson } from '../../../renderer/features/requests/captured-message.tsx'
import { explainCacheStatus } from '../../../renderer/features/requests/labels.ts'
import { RequestList } from '../../../renderer/features/requests/request-list.tsx'
import { type CapturedMessage } from '../../../server/contract/request-captures.ts'
import { loggedRequest, type LoggedRequest } from '../../../server/contract/requests.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const createRequest = (own: Partial<LoggedRequest> = {}) =>
  createExample(loggedRequest, {
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
const createMessage = (own: Partial<CapturedMessage> = {}): CapturedMessage => ({
  headers: [['accept', 'text/html']],
  body: 'sent',
  encoding: 'text',
  is_truncated: false,
  omitted: null,
  ...own,
})
test.each<[string, Partial<CapturedMessage>, string]>([
  ['text', {}, '1 header accept text/html [Body] sent [Copy body]'],
  ['no header and JSON', { headers: [], body: '{"a":1}' }, '0 headers [Body] { "a": 1 } [Copy body]'],
  ['a long text', { is_truncated: true }, '1 header accept text/html [Body] sent [Copy body] Only the first 64 kB were captured.'],
  ['no body', { body: null }, '1 header accept text/html No body'],
  ['an image', { encoding: 'base64' }, '1 header accept text/html The body is not text. The HAR file has its bytes.'],
  ['a stream', { body: null, omitted: 'stream' }, '1 header accept text/html The body is an event stream, which is not captured.'],
  [
    'an unreadable body',
    { body: null, omitted: 'unreadable' },
    '1 header accept text/html The body was not captured, because its encoding cannot be read and secrets in it could not be masked.',
  ],
])('a message with %s', (_, own, expected) => {
  expect(renderPart(<CapturedMessageView title="Request" message={createMessage(own)} />).text()).toBe(`[Request] Request ${expected}`)
})

test.each([
  [' [1,2]', '[\n  1,\n  2\n]'],
  ['{"a":', '{"a":'],
  ['"a"', '"a"'],
  ['3', '3'],
])('the body %j is shown as %j', (body, shown) => expect(formatJson(body)).toBe(shown))

test.each<[string | null, string | null]>([
  [null, null],
  ['hit', null],
  ['fwd=other', null],
  ['fwd=miss; detail="no lifetime"; stored', 'Not stored: no lifetime'],
  ['fwd=miss; collapsed; stored', 'Answered together with another request'],
  ['fwd=vary-miss', 'Nothing was stored for these headers'],
])('the cache status %j means %j', (status, meaning) => expect(explainCacheStatus(status)).toBe(meaning))

test.each<[string, Partial<LoggedRequest>, string]>([
  ['plain', {}, '200GET/cart12 ms'],
  [
    'of another host, with a query',
    { host: 'docs--my-shop.localhost', query: 'a=1', cache: 'hit', status: 404 },
    '404GET/cart?a=1 docs--my-shop.localhostHit12 ms',
  ],
  ['after one that was not logged', { skipped_before: 1 }, '200GET/cart12 ms1 request not logged: more than 250 in a second for long'],
  ['after some that were not logged', { skipped_before: 2000 }, '200GET/cart12 ms2,000 requests not logged: more than 250 in a second for long'],
])('a row: %s', async (_, own, expected) => {
  const onSelect = vi.fn()
  const request = createRequest(own)
  const { user } = renderPart(
    <RequestList main_host="my-shop.localhost" requests={[request]} isComplete={false} onSelect={onSelect} onEndReached={vi.fn()} />,
  )
  const row = screen.getByRole('listitem')
  expect(row.textContent?.replace(/^[\d:.]+\.\d{3}(?=\d{3})/, '')).toBe(expected)
  expect(row.getAttribute('aria-setsize')).toBe('-1')
  await user.click(within(row).getByRole('button'))
  expect(onSelect.mock.calls).toEqual([[request]])
})
