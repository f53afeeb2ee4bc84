import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareResponses } from '../../server/contract/replay-summary.ts'
import type { CapturedExchange, OriginalResponse, ReplayedResponse } from '../../server/contract/request-captures.ts'
import type { LoggedRequest } from '../../server/contract/requests.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { fullTest } from '../support/full-test.ts'
import { commitToBranch, waitForFirstCheck, waitForPreview } from '../support/git-branches.ts'
import { get } from '../support/edge.ts'
import { har } from '../support/har.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { commandLine } from '../support/command.ts'
import { makeRepository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { createApiContext, expectError, issuePaths, type ApiContext, type ApiResponse, type Caller } from './api-context.ts'

/** An app that receives webhooks. `fee` differs between the branches. */
const webhookApp = (fee: number) => ({
  'package.json': JSON.stringify({ name: 'payments', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const http = require('node:http')
http.createServer((request, response) => {
  let body = ''
  request.on('data', (part) => (body += part))
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.setHeader('set-cookie', 'session=s3cret-session')
    const order = body.startsWith('{') ? JSON.parse(body) : {}
    response.end(JSON.stringify({ order: order.id ?? null, fee: ${fee}, url: request.url, method: request.method, token: 's3cret-answer',
      replay: request.headers['x-homeport-replay'] ?? null, signed: request.headers.authorization === undefined ? 'none' : 'given',
      event: request.headers['x-event'] ?? null }))
  })
}).listen(process.env.PORT, process.env.HOST)
`,
})

const folder = createTempFolder('request-captures')
const repository = makeRepository(webhookApp(1))
let context: ApiContext
let webhook: LoggedRequest
const settings = '/instance/projects/payments/request-capture'

beforeAll(async () => {
  context = await createApiContext()
  await context.platform.createProject({ slug: 'payments', repo_url: repository.url, pushes: true })
  await waitForFirstCheck(context.platform, 'payments')
  const { id } = await context.platform.deploy('payments')
  expect(await context.platform.waitForEnd('payments', id)).toMatchObject({ status: 'ready' })
  await waitForPreview(context.platform, 'payments', 'dearer', commitToBranch(repository.folder, 'dearer', webhookApp(2), 'Raise the fee'))
})
afterAll(async () => {
  await context.close()
  repository.remove()
  folder.remove()
})

const hookBody = '{"id":7,"card_number":"s3cret-card","customer":{"email":"ada@example.com"}}'
async function sendHook(path = '/hook?a=1&token=s3cret-query'): Promise<string> {
  const { headers } = await get(Number(new URL(context.platform.handle.edge_url).port), path, {
    host: 'payments.localhost',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer s3cret-header', cookie: 'a=s3cret-cookie', 'x-event': 'paid' },
    body: hookBody,
  })
  return String(headers['x-request-id'])
}
const findLogged = (id: string): Promise<LoggedRequest> =>
  until(
    async () => {
      const { status, body } = await context.request('owner', 'GET', `/instance/requests/${id}`)
      return status === 200 ? (body.request as LoggedRequest) : undefined
    },
    { what: 'the request' },
  )
const readCaptured = async (id: string, who: Caller = 'owner'): Promise<ApiResponse> =>
  context.request(who, 'GET', `/instance/projects/payments/requests/${id}/capture`)
const replay = (id: string, body: object, who: Caller = 'owner') =>
  context.request(who, 'POST', `/instance/projects/payments/requests/${id}/replay`, body)
interface Replay {
  original: OriginalResponse
  replayed: ReplayedResponse
}

describe('/instance/projects/{slug}/request-capture', () => {
  test('capture is off at first, and nothing is kept', async () => {
    expect((await context.request('member', 'GET', settings)).body).toEqual({
      capture: { until: null, path: null, method: null, status: null, masked_fields: [] },
    })
    const { id, is_captured } = await findLogged(await sendHook())
    expect(is_captured).toBe(false)
    expect((await readCaptured(id)).body).toEqual({ captured: null })
    expectError(await replay(id, { target: { kind: 'production' } }), 409, 'replay_not_possible')
  })

  test('400 for a time that is past or too far', async () => {
    for (const hours of [-1, 25]) {
      const until_ms = (await context.platform.now()) + hours * 3600_000
      const response = await context.request('owner', 'PUT', settings, { until: new Date(until_ms).toISOString() })
      expectError(response, 400, 'invalid_input')
      expect(issuePaths(response)).toEqual(['until'])
    }
    const response = await context.request('owner', 'PUT', settings, { status: '9xx', masked_fields: ['a b\n'] })
    expect(issuePaths(response)).toEqual(['masked_fields.0', 'status'])
  })

  test('is for those who may use the project', async () => {
    expectError(await context.request('stranger', 'PUT', settings, {}), 404, 'project_not_found')
    expectError(await context.request('stranger', 'GET', settings), 404, 'project_not_found')
  })

  test('captures for an hour, with fields masked that the project names', async () => {
    const { status, body } = await context.request('member', 'PUT', settings, { path: '/hook', method: 'post', masked_fields: ['email'] })
    expect([status, body]).toEqual([
      200,
      { capture: { until: expect.stringMatching(/Z$/), path: '/hook', method: 'post', status: null, masked_fields: ['email'] } },
    ])
    webhook = await findLogged(await sendHook())
    expect(webhook).toMatchObject({ is_captured: true, query: 'a=1&token=***' })
    const { captured } = (await readCaptured(webhook.id, 'member')).body as { captured: CapturedExchange }
    expect(captured.request.body).toBe('{"id":7,"card_number":"***","customer":{"email":"***"}}')
    expect(JSON.parse(captured.response.body ?? '')).toMatchObject({ fee: 1, order: 7, token: '***' })
    expect((await findLogged(await sendHook('/other'))).is_captured).toBe(false)
    expectError(await readCaptured(webhook.id, 'stranger'), 404, 'project_not_found')
    expectError(await readCaptured('req_00000000000000000000000000'), 404, 'request_not_found')
  })

  test('nothing of a secret, and no body, is readable in the data folder or in a response', async () => {
    await context.platform.advance(2_000)
    const { data_dir } = context.platform
    for (const file of ['requests.db', 'requests.db-wal']) {
      const bytes = readFileSync(join(data_dir, file)).toString('latin1')
      for (const mark of ['s3cret', 'ada@example.com', 'card_number']) expect([file, bytes.includes(mark)]).toEqual([file, false])
    }
    expect((await readCaptured(webhook.id)).text).not.toMatch(/s3cret|ada@/)
  })
})

describe('POST /instance/projects/{slug}/requests/{id}/replay', () => {
  test('to production, without the masked headers', async () => {
    const { status, body } = await replay(webhook.id, { target: { kind: 'production' } })
    expect(status).toBe(200)
    const { original, replayed } = body as unknown as Replay
    expect(original).toMatchObject({ status: 200, deployment_id: webhook.deployment_id })
    expect(replayed).toMatchObject({ status: 200, host: 'payments.localhost', deployment_id: webhook.deployment_id })
    expect(JSON.parse(replayed.body ?? '')).toMatchObject({
      order: 7,
      replay: webhook.id,
      signed: 'none',
      event: 'paid',
      method: 'POST',
      url: '/hook?a=1&token=***',
    })
    expect(await findLogged(replayed.request_id ?? '')).toMatchObject({ method: 'POST', path: '/hook', is_captured: true })
    expect(JSON.stringify(body)).not.toContain('s3cret')
  })

  test('to a preview: the difference is what the branch changed', async () => {
    const { body } = await replay(webhook.id, { target: { kind: 'preview', branch: 'dearer' } })
    const { original, replayed } = body as unknown as Replay
    expect(replayed.host).toBe('dearer--payments.localhost')
    const { is_same, is_same_status, headers, body: difference } = compareResponses(original, replayed)
    expect([is_same, is_same_status, headers]).toEqual([false, true, []])
    expect(difference).toMatchObject({ kind: 'json', changes: expect.arrayContaining([{ path: 'fee', kind: 'changed', before: '1', after: '2' }]) })
  })

  test('edited', async () => {
    const { body } = await replay(webhook.id, {
      target: { kind: 'production' },
      method: 'PUT',
      path: '/edited?x=1',
      headers: [
        ['Authorization', 'Bearer mine'],
        ['Host', 'evil.example.com'],
        ['Connection', 'upgrade'],
        ['X-Forwarded-Host', 'evil.example.com'],
        ['Content-Length', '3'],
      ],
      body: '{"id":8}',
    })
    const { replayed } = body as unknown as Replay
    expect(JSON.parse(replayed.body ?? '')).toMatchObject({ order: 8, method: 'PUT', url: '/edited?x=1', signed: 'given', event: null })
  })

  test.each([
    ['an address', { path: 'http://169.254.169.254/latest' }],
    ['another host', { path: '//x y' }],
    ['an end of line in a header', { headers: [['X-A', 'a\r\nHost: evil']] }],
    ['a space in a header name', { headers: [['X A', 'a']] }],
    ['another method', { method: 'CONNECT' }],
    ['an unknown target', { target: { kind: 'url', url: 'http://localhost:1' } }],
  ])('400 for %s', async (_, change) => {
    expectError(await replay(webhook.id, { target: { kind: 'production' }, ...change }), 400, 'invalid_input')
  })

  test('a path with two slashes stays at the same host', async () => {
    const { body } = await replay(webhook.id, { target: { kind: 'production' }, path: '//evil.example.com/x' })
    expect((body as unknown as Replay).replayed.host).toBe('payments.localhost')
  })

  fullTest('to the previous version, which runs only for the replay', async () => {
    repository.commit(webhookApp(3), 'Raise the fee again')
    const { id } = await context.platform.deploy('payments')
    expect(await context.platform.waitForEnd('payments', id)).toMatchObject({ status: 'ready' })
    const previous = webhook.deployment_id
    const { status, body } = await replay(webhook.id, { target: { kind: 'deployment', id: previous } })
    expect([status, body]).toMatchObject([200, { replayed: { status: 200, deployment_id: previous } }])
    const { original, replayed } = body as unknown as Replay
    expect(compareResponses(original, replayed).body).toMatchObject({ changes: [{ path: 'replay' }, { path: 'signed' }] })
    expect(replayed.host).toMatch(/^replay-[0-9a-f]{20}\.localhost$/)
    // It is gone, and its host with it.
    const { edge_url } = context.platform.handle
    expect(await get(Number(new URL(edge_url).port), '/', { host: replayed.host })).toMatchObject({ status: 404 })
    expect(await findLogged(replayed.request_id ?? '')).toMatchObject({ deployment_id: previous, host: replayed.host, is_captured: true })
    const current = (await replay(webhook.id, { target: { kind: 'deployment', id } })).body as unknown as Replay
    expect([current.replayed.host, JSON.parse(current.replayed.body ?? '')]).toMatchObject(['payments.localhost', { fee: 3 }])
  })

  test('409 for a preview or a deployment that does not exist', async () => {
    expectError(await replay(webhook.id, { target: { kind: 'preview', branch: 'gone' } }), 409, 'replay_not_possible')
    expectError(await replay(webhook.id, { target: { kind: 'deployment', id: 'dpl_none' } }), 409, 'replay_not_possible')
  })

  test('is for those who may use the project', async () => {
    expectError(await replay(webhook.id, { target: { kind: 'production' } }, 'stranger'), 404, 'project_not_found')
  })
})

describe('homeport requests', () => {
  const run = (...args: string[]) => commandLine(context.platform.handle.instance, folder.path)('requests', ...args)

  test('capture on and off', async () => {
    // Other files may have moved the clock of the shared platform.
    const ahead_ms = (await context.platform.now()) - Date.now()
    const clock = { ...systemClock, now: () => Date.now() + ahead_ms }
    const runThen = commandLine(context.platform.handle.instance, folder.path, { clock })
    expect((await runThen('requests', 'capture', 'payments', 'on', '--for', '2h', '--path', '/hook', '--mask', 'email, iban')).out).toMatch(
      /^Capturing headers and bodies of requests that match \/hook until \S+Z\. Also masked: email, iban\.$/m,
    )
    expect((await run('capture', 'payments', '--json')).out).toContain('"path":"/hook"')
    expect(await run('capture', 'payments', 'on', '--for', 'ever')).toMatchObject({ code: 2 })
    expect(await run('capture', 'payments', 'maybe')).toMatchObject({ code: 2 })
  })

  test('replay prints the difference, and exits with 1', async () => {
    for (const target of ['dearer', 'preview:dearer']) {
      const { code, out } = await run('replay', webhook.id, '--to', target)
      expect([code, out]).toEqual([1, expect.stringMatching(/^ {2}~ fee: 1 -> 2$/m)])
    }
    expect(await run('replay', webhook.id, '--to', 'http://localhost')).toMatchObject({ code: 2 })
  })

  test('--har contains captured headers and bodies', async () => {
    const { log } = har.parse(JSON.parse((await run('payments', '--har', '--path', '/hook')).out))
    const entry = log.entries.find(({ comment }) => comment === webhook.id)
    expect(entry).toMatchObject({
      request: {
        postData: { mimeType: 'application/json', text: expect.stringContaining('"id":7') },
        headers: expect.arrayContaining([{ name: expect.stringMatching(/^x-event$/i), value: 'paid' }]),
      },
      response: { content: { mimeType: 'application/json', text: expect.stringContaining('"fee":1') } },
    })
  })
})

test('capture stops, and what was captured is deleted', async () => {
  expect((await context.request('owner', 'DELETE', `${settings}?captured=delete`)).body).toMatchObject({
    capture: { until: null, masked_fields: ['email', 'iban'] },
  })
  expect((await readCaptured(webhook.id)).body).toEqual({ captured: null })
  expect((await findLogged(await sendHook())).is_captured).toBe(false)
})

test('capture ends at its time', async () => {
  await context.request('owner', 'PUT', settings, {})
  expect((await findLogged(await sendHook())).is_captured).toBe(true)
  await context.platform.jump(3601_000)
  expect((await context.request('owner', 'GET', settings)).body).toMatchObject({ capture: { until: null } })
  expect((await findLogged(await sendHook())).is_captured).toBe(false)
})
