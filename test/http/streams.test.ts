import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { limits } from '../../server/contract/limits.ts'
import type { EventStream, StreamEvent } from '../../server/contract/operation.ts'
import type { OperationContext } from '../../server/features/context.ts'
import type { ApiServerOptions } from '../../server/api/server.ts'
import { createStreams, formatEvent } from '../../server/api/sse.ts'
import { silentLog } from '../../server/lib/log.ts'
import { type ApiServer, bearer, startApiServer } from '../support/api-server.ts'
import { waitForAbort, silentStream } from '../support/event-stream.ts'
import { createTestClock } from '../support/test-clock.ts'
import { isFullTier } from '../support/tier.ts'
import { until } from '../support/until.ts'

const path = '/v1/projects/abc/runtime-logs'
const lineCount = isFullTier ? 100_000 : 20_000

let server: ApiServer
let owner: Record<string, string>
/** What the runtime log of every project yields, in place of its lines. */
let source: (context: OperationContext) => EventStream
let lastEventIds: (string | undefined)[]

/** The real operation finds the project; the events come from the test. */
const withSource = ({ handlers }: ApiServerOptions): Partial<ApiServerOptions> => ({
  handlers: {
    ...handlers,
    async streamRuntimeLog(context, input) {
      await handlers.getProject(context, { params: input.params, query: {}, body: undefined })
      lastEventIds.push(input.query.last_event_id)
      return source(context)
    },
  },
})

beforeAll(async () => {
  server = await startApiServer({ overrides: withSource })
  owner = bearer(server.owner.token)
  await server.createProject('abc')
})
beforeEach(() => {
  source = ({ signal }) => silentStream(signal)
  lastEventIds = []
})
afterAll(() => server.close())

/** Parses a stream like a browser: fields by the rules of Server-Sent Events. */
function parseEvents(text: string) {
  return text
    .split('\n\n')
    .map((block) => block.split('\n').filter((line) => line !== '' && !line.startsWith(':')))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const fields = lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const)
      const of = (name: string) => fields.filter(([field]) => field === name).map(([, value]) => value)
      return { event: of('event')[0], id: of('id')[0], data: of('data').join('\n'), retry: of('retry')[0] }
    })
}

/** Reads chunks of a stream until they contain a text. */
async function readUntil(response: Response, text: string): Promise<string> {
  const reader = response.body?.getReader()
  let seen = ''
  while (!seen.includes(text)) {
    const piece = await reader?.read()
    if (piece === undefined || piece.done) throw new Error(`the stream ended after ${JSON.stringify(seen)}`)
    seen += Buffer.from(piece.value).toString()
  }
  reader?.releaseLock()
  return seen
}

describe('an event', () => {
  it('output of an app cannot start an event or a field', () => {
    const hostile = 'a\n\nevent: status\ndata: {"status":"live"}\n\nid: 9\rretry: 1\r\n: comment'
    const text = formatEvent({ event: 'x\nevent: y', id: '1\r\ndata: z', data: hostile })
    expect(parseEvents(text)).toEqual([{ event: 'x event: y', id: '1 data: z', data: hostile.replace(/\r\n|\r/g, '\n'), retry: undefined }])
  })

  it('round-trips any text as one event', () => {
    const anyText = fc.string({ unit: fc.constantFrom('a', '\r', '\n', ':', ' ', 'data: ', 'event: x', 'id: 1', '\0', 'é') })
    const property = fc.property(anyText, (data) => {
      const blocks = formatEvent({ event: 'log', data }).split('\n\n')
      expect(blocks).toHaveLength(2)
      const [head, ...lines] = (blocks[0] ?? '').split('\n')
      expect(head).toBe('event: log')
      expect(lines.every((line) => line.startsWith('data: '))).toBe(true)
      expect(lines.map((line) => line.slice(6)).join('\n')).toBe(data.replace(/\r\n|\r/g, '\n'))
    })
    fc.assert(property, { seed: 20_261_121 })
  })
})

describe('an event stream', () => {
  it('sends its headers before the first event', async () => {
    const response = await server.fetch(path, { headers: owner })
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': expect.stringContaining('text/event-stream') as string,
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String) as string,
      'x-ratelimit-limit': expect.any(String) as string,
    })
    await response.body?.cancel()
  })

  it('writes objects as one line of JSON and strings as they are', async () => {
    source = async function* () {
      yield { event: 'log', id: 'a.1', data: { line: 'x\ny' } }
      yield { data: 'plain' }
      yield { data: '' }
    }
    const text = await (await server.fetch(path, { headers: owner })).text()
    expect(text).toContain('id: a.1\nevent: log\ndata: {"line":"x\\ny"}\n\ndata: plain\n\ndata: \n\n')
  })

  it('sends a comment after a silence, so that proxies keep the connection', async () => {
    const response = await server.fetch(path, { headers: owner })
    expect(await readUntil(response, ':\n\n')).toBe(':\n\n')
    await server.clock.advance(limits.stream_comment_ms)
    expect(await readUntil(response, ':\n\n')).toBe(':\n\n')
    await response.body?.cancel()
  })

  it(`streams ${lineCount} lines completely, in order, in large chunks`, async () => {
    source = async function* () {
      for (let seq = 0; seq < lineCount; seq++) yield { event: 'log', id: String(seq), data: { seq, line: `line ${seq}` } }
    }
    const response = await server.fetch(path, { headers: owner })
    const events = parseEvents(await response.text())
    expect(events).toHaveLength(lineCount)
    expect(events.every((event, i) => event.id === String(i))).toBe(true)
  })

  it('reads from the source no faster than a slow client', async () => {
    const clock = createTestClock({ frozen_at: 0 })
    const streams = createStreams({ clock, log: silentLog })
    const access = { key: 'tok_1', isGranted: () => Promise.resolve(true) }
    let reads = 0
    async function* endless(): AsyncGenerator<StreamEvent> {
      for (;;) {
        reads++
        yield { data: 'x'.repeat(1000) }
      }
    }
    // A connection that reads a chunk only when told to.
    const taken: (() => void)[] = []
    const connection = new Writable({ write: (_piece, _encoding, done) => void taken.push(done) })
    streams.eventStream(endless(), { access, request_id: 'req_1', onEnd: () => {} })(connection as ServerResponse)
    const settled = async () => {
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
      return reads
    }
    const first = await settled()
    expect(first).toBeGreaterThan(60)
    expect(first * 1000).toBeLessThan(limits.stream_backlog_bytes)
    expect(await settled()).toBe(first)
    // Reading makes space for as much again.
    while (taken.length > 0 && reads < 1000) {
      taken.shift()?.()
      expect((await settled()) - first).toBeLessThanOrEqual(1100)
    }
    expect(reads).toBeGreaterThanOrEqual(1000)
    connection.destroy()
    await once(connection, 'close')
    expect(streams.size).toBe(0)
    streams.close()
  })

  it('is 404 as JSON, before any event', async () => {
    const response = await server.fetch('/v1/projects/nope/runtime-logs', { headers: { ...owner, accept: 'text/event-stream' } })
    expect([response.status, response.headers.get('content-type'), ((await response.json()) as { error: string }).error]).toEqual([
      404,
      'application/json; charset=utf-8',
      'project_not_found',
    ])
  })

  it('HEAD opens no stream', async () => {
    let isAsked = false
    source = async function* () {
      isAsked = true
      yield { data: 'x' }
    }
    const response = await server.fetch(path, { method: 'HEAD', headers: owner })
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([200, 'text/event-stream; charset=utf-8', ''])
    expect(isAsked).toBe(false)
  })

  it('passes on the last event id, the header before the query', async () => {
    source = async function* () {}
    await (await server.fetch(`${path}?last_event_id=old`, { headers: owner })).text()
    await (await server.fetch(`${path}?last_event_id=old`, { headers: { ...owner, 'last-event-id': 'new' } })).text()
    await (await server.fetch(path, { headers: owner })).text()
    expect(lastEventIds).toEqual(['old', 'new', undefined])
  })
})

describe('the end of a stream', () => {
  it('stops the source when the client disconnects', async () => {
    const ended = Promise.withResolvers<void>()
    source = async function* ({ signal }) {
      try {
        yield { data: 'x' }
        await waitForAbort(signal)
      } finally {
        ended.resolve()
      }
    }
    const response = await server.fetch(path, { headers: owner })
    await response.body?.cancel()
    await ended.promise
  })

  it('sends a retry time when the platform stops', async () => {
    const other = await startApiServer({ overrides: withSource })
    await other.createProject('abc')
    const ended = Promise.withResolvers<unknown>()
    source = async function* ({ signal }) {
      yield { data: 'x' }
      ended.resolve(waitForAbort(signal))
      await ended.promise
    }
    const response = await other.fetch(path, { headers: bearer(other.owner.token) })
    const [text] = await Promise.all([response.text(), other.close()])
    expect(parseEvents(text).at(-1)).toMatchObject({ retry: '1000' })
    await ended.promise
  })

  it('comes within 5 s when its token or session is revoked, and only for those', async () => {
    await server.createProject('theirs', { owner: server.stranger })
    const open = (headers: Record<string, string>) => server.fetch('/v1/projects/theirs/runtime-logs', { headers })
    const byToken = await open(bearer(server.stranger.token))
    const session = {
      cookie: `${server.cookie_name}=${server.stranger.session}`,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
    }
    const bySession = await open(session)
    const goOn = Promise.withResolvers<void>()
    source = async function* () {
      await goOn.promise
      yield { data: 'still here' }
    }
    const other = await server.fetch(path, { headers: owner })
    expect((await server.fetch('/instance/sign-out', { method: 'POST', headers: session })).status).toBe(200)
    await server.clock.advance(5_000)
    expect(await bySession.text()).toBe(':\n\n')
    expect((await server.fetch('/instance/users/stranger%40example.com', { method: 'DELETE', headers: owner })).status).toBe(204)
    await server.clock.advance(5_000)
    expect(await byToken.text()).toBe(':\n\n')
    goOn.resolve()
    expect(await other.text()).toContain('data: still here')
  })

  it('comes when the source fails, which is logged', async () => {
    source = async function* () {
      yield { data: 'x' }
      throw new Error('the source broke')
    }
    expect(parseEvents(await (await server.fetch(path, { headers: owner })).text())).toHaveLength(1)
    expect(server.log.find((line) => line.event === 'stream_failed')).toMatchObject({ error: { message: 'the source broke' } })
  })
})

describe('an orderly shutdown', () => {
  it('lets requests finish, refuses new connections and cuts those that do not end', async () => {
    const [held, reached] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const other = await startApiServer({
      overrides: ({ handlers }) => ({
        handlers: {
          ...handlers,
          async listProjects(context, input) {
            reached.resolve()
            await held.promise
            return handlers.listProjects(context, input)
          },
        },
      }),
    })
    const stuck = connect(other.port, '127.0.0.1')
    stuck.on('error', () => {})
    stuck.write(`GET /healthz HTTP/1.1\r\nHost: localhost:${other.port}\r\n\r\n`)
    await once(stuck, 'data')
    stuck.write('GET /v1/projects HTTP/1.1\r\nHost: x\r\n')
    const slow = other.fetch('/v1/projects', { headers: bearer(other.owner.token) })
    await reached.promise
    const stopped = other.platform.stop()
    await until(
      () =>
        other.fetch('/healthz').then(
          () => undefined,
          () => true,
        ),
      { what: 'a refused connection' },
    )
    held.resolve()
    expect((await slow).status).toBe(200)
    expect(stuck.destroyed).toBe(false)
    const closed = once(stuck, 'close')
    await other.close()
    await Promise.all([closed, stopped])
  })
})
