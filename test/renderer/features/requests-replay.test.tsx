import { fireEvent, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { ReplayForm } from '../../../renderer/features/requests/replay-form.tsx'
import { ReplayResult } from '../../../renderer/features/requests/replay-result.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { deployment, type Deployment } from '../../../server/contract/deployments.ts'
import { preview } from '../../../server/contract/previews.ts'
import type { CapturedMessage, OriginalResponse, ReplayedResponse } from '../../../server/contract/request-captures.ts'
import { loggedRequest, type LoggedRequest } from '../../../server/contract/requests.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

type Answers = NonNullable<PartOptions['answers']>
const createMessage = (own: Partial<CapturedMessage> = {}): CapturedMessage => ({
  headers: [
    ['Host', 'my-shop.localhost'],
    ['X-Forwarded-For', '192.0.2.7'],
    ['Cookie', '***'],
    ['Accept', 'text/html'],
  ],
  body: '{"a":1}',
  encoding: 'text',
  is_truncated: false,
  omitted: null,
  ...own,
})
const createDeployment = (number: number, own: Partial<Deployment> = {}) =>
  createExample(deployment, { id: `dpl_${number}`, number, commit_message: 'Add cart', is_current: false, can_rollback: true, ...own })
interface FormState {
  message?: CapturedMessage
  own?: Partial<LoggedRequest>
  deployments?: Deployment[]
  answers?: Answers
}
function openForm({ message = createMessage(), own = {}, deployments = [], answers = {} }: FormState = {}) {
  const request = createExample(loggedRequest, { id: 'req_1', method: 'POST', path: '/cart', query: 'a=1', ...own })
  const onBack = vi.fn()
  const part = renderPart(
    <ReplayForm slug="my-shop" request={request} captured={{ request: message, response: createMessage() }} onBack={onBack} />,
    {
      data: [
        [queryKeys.previews('my-shop'), [createExample(preview, { branch: 'docs' })]],
        [
          queryKeys.deployments('my-shop', { target: 'production', status: 'ready' }),
          { pages: [{ deployments, next_cursor: null }], pageParams: [null] },
        ],
      ],
      answers,
    },
  )
  return { ...part, onBack }
}
const fill = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } })
const send = () => fireEvent.submit(document.querySelector('form') ?? document.body)
const choices = (label: string) => [...screen.getByLabelText(label).querySelectorAll('option')].map(({ textContent }) => textContent)
const button = (name: string) => screen.getByRole('button', { name })
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => `${kind}: ${text}`)
const original: OriginalResponse = { ...createMessage({ headers: [], body: '{"a":1}' }), status: 200, duration_ms: 12, deployment_id: null }
const replayed: ReplayedResponse = { ...original, request_id: 'req_2', host: 'my-shop.localhost', duration_ms: 8 }

test('the form has what was captured, without headers that the new connection has of its own', () => {
  const { text } = openForm()
  expect(screen.getByLabelText('Path')).toHaveProperty('value', '/cart?a=1')
  expect(screen.getByLabelText('Headers')).toHaveProperty('value', 'Accept: text/html')
  expect(screen.getByLabelText('Body')).toHaveProperty('value', '{\n  "a": 1\n}')
  expect(choices('Method')).toEqual(['POST', 'GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
  expect(text()).not.toMatch(/\*\*\*|not text|Starts this version/)
})

test.each<[string, Partial<CapturedMessage>, string, string]>([
  ['a masked value', { body: 'token=***' }, 'token=***', 'Masked values (***) are sent literally.'],
  ['no text', { encoding: 'base64' }, '', 'The captured body is not text. It is sent as captured unless you enter another.'],
  ['nothing', { body: null }, '', ''],
])('a body with %s', (_, own, value, hint) => {
  openForm({ message: createMessage(own), own: { query: null } })
  const field = screen.getByLabelText('Body')
  expect(field).toHaveProperty('value', value)
  expect(field.parentElement?.querySelector('p')?.textContent).toBe(hint)
  expect(screen.getByLabelText('Path')).toHaveProperty('value', '/cart')
})

test('a request can be sent to a preview and to five earlier versions', () => {
  openForm({
    deployments: [
      createDeployment(9, { is_current: true }),
      createDeployment(8, { can_rollback: false }),
      ...[7, 6, 5, 4, 3, 2].map((number) => createDeployment(number)),
    ],
  })
  expect(choices('Send to')).toEqual(['Production', 'Preview of docs', ...[7, 6, 5, 4, 3].map((number) => `Earlier version #${number} Add cart`)])
})

test.each<[string, [string, string][], object]>([
  ['as captured', [], { target: { kind: 'production' } }],
  ['to a preview', [['Send to', 'preview:docs']], { target: { kind: 'preview', branch: 'docs' } }],
  ['to an earlier version', [['Send to', 'deployment:dpl_7']], { target: { kind: 'deployment', id: 'dpl_7' } }],
  [
    'edited',
    [
      ['Method', 'PUT'],
      ['Path', '/items'],
      ['Headers', 'Accept:  */*\n\nX-Test: a:b'],
      ['Body', 'b'],
    ],
    {
      target: { kind: 'production' },
      method: 'PUT',
      path: '/items',
      headers: [
        ['Accept', '*/*'],
        ['X-Test', 'a:b'],
      ],
      body: 'b',
    },
  ],
  ['without a body', [['Body', '']], { target: { kind: 'production' }, body: null }],
])('a request is sent %s', async (_, changes, body) => {
  const { sent, text } = openForm({ deployments: [createDeployment(7)] })
  for (const [label, value] of changes) fill(label, value)
  expect(text().includes('Starts this version for the replay')).toBe('target' in body && JSON.stringify(body.target).includes('dpl_7'))
  send()
  await expect.poll(() => sent).toEqual([{ operation: 'replayRequest', params: { slug: 'my-shop', id: 'req_1' }, body }])
})

test('an invalid header is not sent', () => {
  const { sent } = openForm()
  fill('Headers', 'Accept: a\nX Test')
  expect(screen.getByRole('alert').textContent).toBe('Write headers as “Name: value”, one per line. This line is not: X Test')
  send()
  expect(sent).toEqual([])
})

test('the result of a replay, and why there is none', async () => {
  const { text } = openForm({ answers: { replayRequest: { original, replayed } } })
  expect(text()).not.toContain('Both responses')
  send()
  await expect.poll(text).toContain('[Result] Both responses are the same. Open the new request')
})

test('why a request was not sent', async () => {
  const { user, onBack } = openForm({ answers: { replayRequest: problemResponse('project_not_found', 'It was deleted.') } })
  send()
  expect((await screen.findByRole('alert')).textContent).toContain('It was deleted.')
  expect(toasts()).toEqual([])
  await user.click(button('Back to the request'))
  expect(onBack).toHaveBeenCalledOnce()
})

const sides = (replay: string) => `200 12 ms [Original] Original 0 headers [Body] { "a": 1 } [Copy body] ${replay}`
const replaySide = '200 8 ms, my-shop.localhost [Replay] Replay 0 headers'
test.each<[string, Partial<ReplayedResponse>, string]>([
  ['the same', { request_id: null }, `Both responses are the same. ${sides(`${replaySide} [Body] { "a": 1 } [Copy body]`)}`],
  [
    'of JSON that differs',
    { body: '{"a":2}' },
    `The responses differ. Open the new request JSON Field Original Replay a 1 2 ${sides(`${replaySide} [Body] { "a": 2 } [Copy body]`)}`,
  ],
  [
    'of text that differs',
    { body: 'b' },
    `The responses differ. Open the new request The bodies differ. ${sides(`${replaySide} [Body] b [Copy body]`)}`,
  ],
])('responses: %s', (_, own, expected) => {
  const { text } = renderPart(<ReplayResult slug="my-shop" original={original} replayed={{ ...replayed, ...own }} />)
  expect(text().replace(/JSON Field Original Replay \S+ /, 'JSON Field Original Replay a ')).toBe(`[Result] ${expected}`)
})

test('headers that differ or are missing', () => {
  const headers = (value: string): [string, string][] => [['etag', value]]
  const { text } = renderPart(
    <ReplayResult
      slug="my-shop"
      original={{ ...original, headers: [...headers('a'), ['x-old', '1']] }}
      replayed={{ ...replayed, headers: headers('b') }}
    />,
  )
  expect(text()).toContain('Headers Field Original Replay etag a b x-old 1 missing')
})
