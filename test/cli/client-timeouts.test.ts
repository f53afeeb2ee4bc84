import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createApiClient } from '../../server/cli/client.ts'
import { ApiError } from '../../server/client/api-error.ts'
import { runCommand } from '../support/command.ts'
import { fixedClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

// `fetch` aborts a response whose headers, or whose next byte, take 300 s. Here these limits are 100 ms, so that a client that has them fails:
// the dispatcher of this process is replaced for the duration of the test.
const dispatcherSymbol = Symbol.for('undici.globalDispatcher.1')
interface Dispatcher {
  close(): Promise<void>
  constructor: new (options: { headersTimeout: number; bodyTimeout: number }) => Dispatcher
}
let usual: Dispatcher
let hasty: Dispatcher
const globalDispatchers = globalThis as unknown as Record<symbol, Dispatcher>

/** By the end of the path; a path without an entry gets no response. */
let answers: Record<string, (response: ServerResponse) => Promise<void>>
const server = createServer((request, response) => {
  request.resume()
  const { pathname } = new URL(request.url ?? '', 'http://a')
  void answers[pathname.slice(pathname.lastIndexOf('/') + 1)]?.(response)
})
/** A silence that exceeds the limits of `fetch`: those of a request that started as late have passed. */
const fetchNever = () => fetch(`${url()}/never`).catch(() => {})
async function all<T>(pieces: AsyncIterable<T>): Promise<T[]> {
  const got: T[] = []
  for await (const piece of pieces) got.push(piece)
  return got
}
const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const client = () => createApiClient({ url: url(), token: 'svc_x' })

beforeEach(async () => {
  await fetch('data:,').then((first) => first.text())
  usual = globalDispatchers[dispatcherSymbol]!
  hasty = new usual.constructor({ headersTimeout: 100, bodyTimeout: 100 })
  globalDispatchers[dispatcherSymbol] = hasty
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(async () => {
  globalDispatchers[dispatcherSymbol] = usual
  server.closeAllConnections()
  server.close()
  await Promise.all([once(server, 'close'), hasty.close()])
})

test('fetch’s own timeouts do not apply: response headers, a download, a stream and an upload may pause for longer', async () => {
  answers = {
    async backups(response) {
      await fetchNever()
      response.setHeader('content-type', 'application/json').end('{"backup":{"name":"a"}}')
    },
    async source(response) {
      response.write('one ')
      await fetchNever()
      response.end('two')
    },
    async logs(response) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: 1\ndata: one\n\n')
      await fetchNever()
      response.end('id: 2\nevent: end\ndata: two\n\n')
    },
    async upload(response) {
      await fetchNever()
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"deployment_id":"dep_1"}')
    },
  }
  const apiClient = client()
  const never = new AbortController().signal
  async function* archive() {
    yield Buffer.from('abc')
    await fetchNever()
    yield Buffer.from('def')
  }
  const [head, file, events, uploaded] = await Promise.all([
    apiClient.call('createBackup', {}, 60_000),
    apiClient.download('downloadSource', { params: { slug: 'a', id: 'b' } }, never).then(async (bytes) => Buffer.concat(await all(bytes))),
    all(apiClient.stream('streamBuildLog', { params: { slug: 'a', id: 'b' } })),
    apiClient.upload('uploadProject', { params: { slug: 'a' } }, archive(), never),
  ])
  expect(head).toEqual({ backup: { name: 'a' } })
  expect(file.toString()).toBe('one two')
  expect(events.map(({ id, data }) => [id, data])).toEqual([
    ['1', 'one'],
    ['2', 'two'],
  ])
  expect(uploaded).toEqual({ deployment_id: 'dep_1' })
})

test('prints the last log lines however long the stream takes to begin', async () => {
  const clock = fixedClock('2026-01-31T12:00:00.000Z')
  const line = { seq: 1, ts: '2026-01-31T12:00:00.000Z', stream: 'stdout', line: 'good morning', deployment_id: null }
  answers = {
    async shop(response) {
      response.setHeader('content-type', 'application/json').end('{"project":{}}')
    },
    async 'runtime-logs'(response) {
      await clock.advance(3_600_000)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`:\n\nid: 1\nevent: log\ndata: ${JSON.stringify(line)}\n\n`)
    },
  }
  const onOutput = () => void clock.advance(500)
  expect(await runCommand({ api_url: url(), token: 'svc_x' }, '.', ['logs', 'shop'], { clock, onOutput })).toMatchObject({
    code: 0,
    out: 'good morning\n',
    err: '',
  })
})

test('a refused upload returns the error without producing the rest of the archive', async () => {
  answers = {
    async upload(response) {
      response.writeHead(413, { 'content-type': 'application/json' }).end('{"error":"payload_too_large","message":"Too large.","request_id":"req_1"}')
    },
  }
  let made = 0
  let hasEnded = false
  async function* archive() {
    try {
      for (; made < 10_000; made++) yield Buffer.alloc(2 ** 16)
    } finally {
      hasEnded = true
    }
  }
  const refusal = await client()
    .upload('uploadProject', { params: { slug: 'a' } }, archive(), new AbortController().signal)
    .catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(ApiError)
  expect(refusal).toMatchObject({ status: 413, code: 'payload_too_large' })
  await until(() => hasEnded || undefined, { what: 'an end of the archive' })
  expect(made).toBeLessThan(10_000)
})

test('a call has its own timeout, and a manual abort is reported as one', async () => {
  answers = {}
  const late = await client()
    .call('createBackup', {}, 50)
    .catch((error: unknown) => error)
  expect(late).toMatchObject({ code: 'unreachable' })
  expect((late as Error).message).toContain('in time')
  const stop = new AbortController()
  const waiting = client().download('downloadSource', { params: { slug: 'a', id: 'b' } }, stop.signal)
  stop.abort()
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
})
