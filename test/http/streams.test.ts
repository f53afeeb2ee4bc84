import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { limits } from '../../server/contract/limits.ts'
import type { StreamEvent } from '../../server/contract/operation.ts'
import { frame } from '../../server/http/sse.ts'
import { bearer, cookieName, sampleProject, startDouble } from './double.ts'
import type { Double } from './double.ts'
import { spent } from '../support/spent.ts'

let double: Double
let owner: Record<string, string>
const path = '/v1/projects/abc/runtime-logs'

beforeEach(async () => {
  double = await startDouble()
  owner = bearer(double.owner.token)
  double.projects.set('abc', { ...sampleProject('abc'), account_id: double.owner.caller.account_id })
})
afterEach(() => double.close())

/** Resolves when a condition holds; looked at on every turn of the event loop for 30 s at most. */
async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 30_000
  while (!condition()) {
    if (performance.now() > end) throw new Error(`this never held: ${condition.toString()}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** A source without events, which ends when it is told to. */
async function* silence(signal: AbortSignal): AsyncGenerator<StreamEvent> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  yield* []
}

/** Reads a stream as a browser would: fields by the rules of Server-Sent Events. */
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

describe('an event stream', () => {
  it('sends its headers before there is an event', async () => {
    double.stream = ({ signal }) => silence(signal)
    const answer = await double.fetch(path, { headers: owner })
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': expect.stringContaining('text/event-stream'),
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
      'x-ratelimit-limit': expect.any(String),
    })
    await answer.body?.cancel()
  })

  it('writes objects as one line of JSON and texts as they are', async () => {
    double.stream = async function* () {
      yield { event: 'log', id: 'a.1', data: { line: 'x\ny' } }
      yield { data: 'plain' }
      yield { data: '' }
    }
    const text = await (await double.fetch(path, { headers: owner })).text()
    expect(text).toContain('id: a.1\nevent: log\ndata: {"line":"x\\ny"}\n\ndata: plain\n\ndata: \n\n')
  })

  it('never lets what an app prints begin a frame or a field', () => {
    const hostile = 'a\n\nevent: status\ndata: {"status":"live"}\n\nid: 9\rretry: 1\r\n: comment'
    const text = frame({ event: 'x\nevent: y', id: '1\r\ndata: z', data: hostile })
    expect(parseEvents(text)).toEqual([{ event: 'x event: y', id: '1 data: z', data: hostile.replace(/\r\n|\r/g, '\n'), retry: undefined }])
  })

  it('streams 100 000 lines whole, in order, in large pieces', async () => {
    const count = 100_000
    let asked = 0
    double.stream = async function* () {
      for (; asked < count; asked++) yield { event: 'log', id: String(asked), data: { seq: asked, line: `line ${asked}` } }
    }
    const answer = await double.fetch(path, { headers: owner })
    const events = parseEvents(await answer.text())
    expect(events).toHaveLength(count)
    expect(events.every((event, i) => event.id === String(i))).toBe(true)
  })

  it('asks the source for no more than a slow reader takes', async () => {
    let asked = 0
    double.stream = async function* () {
      for (;;) {
        asked++
        yield { data: 'x'.repeat(1000) }
      }
    }
    const socket = connect(double.port, '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${double.port}\r\nAuthorization: Bearer ${double.owner.token}\r\n\r\n`)
    socket.once('data', () => socket.pause())
    // Still when nothing was asked for over many turns of the loop.
    let still = 0
    let last = -1
    await until(() => {
      still = asked > 0 && asked === last ? still + 1 : 0
      last = asked
      return still > 2000
    })
    expect(asked * 1000).toBeLessThan(limits.stream_backlog_bytes * 3)
    socket.destroy()
    await until(() => double.gate.openStreams() === 0)
  })

  it('is 404 as JSON, before any event', async () => {
    const answer = await double.fetch('/v1/projects/nope/runtime-logs', { headers: { ...owner, accept: 'text/event-stream' } })
    expect([answer.status, answer.headers.get('content-type'), ((await answer.json()) as { error: string }).error]).toEqual([
      404,
      'application/json; charset=utf-8',
      'project_not_found',
    ])
  })

  it('HEAD opens nothing', async () => {
    let ended = false
    double.stream = async function* () {
      try {
        yield { data: 'x' }
      } finally {
        ended = true
      }
    }
    const answer = await double.fetch(path, { method: 'HEAD', headers: owner })
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([200, 'text/event-stream; charset=utf-8', ''])
    expect(double.gate.openStreams()).toBe(0)
    expect(ended).toBe(false)
  })

  it('hands on where the reader was, the header before the address', async () => {
    const seen: (string | undefined)[] = []
    double.onStreamQuery = (query) => seen.push(query.last_event_id)
    await (await double.fetch(`${path}?last_event_id=old`, { headers: owner })).text()
    await (await double.fetch(`${path}?last_event_id=old`, { headers: { ...owner, 'last-event-id': 'new' } })).text()
    await (await double.fetch(path, { headers: owner })).text()
    expect(seen).toEqual(['old', 'new', undefined])
  })
})

describe('the end of a stream', () => {
  it('stops the source when the client goes', async () => {
    let ended = false
    double.stream = async function* ({ signal }) {
      try {
        yield { data: 'x' }
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      } finally {
        ended = true
      }
    }
    const answer = await double.fetch(path, { headers: owner })
    await answer.body?.getReader().cancel()
    await until(() => ended)
    expect(double.gate.openStreams()).toBe(0)
  })

  it('comes with a time to return when the platform stops', async () => {
    let aborted = false
    double.stream = async function* ({ signal }) {
      yield { data: 'x' }
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      aborted = signal.aborted
    }
    const answer = await double.fetch(path, { headers: owner })
    const text = answer.text()
    await until(() => double.gate.openStreams() === 1)
    await double.gate.close({ grace_ms: 30_000 })
    expect(parseEvents(await text).at(-1)).toMatchObject({ retry: '1000' })
    await until(() => aborted)
  })

  it('comes within 5 s when the token or session behind it is revoked, and for those alone', async () => {
    double.stream = ({ signal }) => silence(signal)
    double.projects.set('def', { ...sampleProject('def'), account_id: double.stranger.caller.account_id })
    const byToken = double.fetch('/v1/projects/def/runtime-logs', { headers: bearer(double.stranger.token) }).then((answer) => answer.text())
    const bySession = double
      .fetch('/v1/projects/def/runtime-logs', { headers: { cookie: `${cookieName}=${double.stranger.session}` } })
      .then((answer) => answer.text())
    const other = await double.fetch(path, { headers: owner })
    await until(() => double.gate.openStreams() === 3)
    double.revoked.add(double.stranger.caller.credential_id)
    // By a timer of the same loop: one that is held up is so for both, and what is due first is done first.
    const after5s = new Promise((resolve) => setTimeout(() => resolve(double.gate.openStreams()), 5000))
    expect(await Promise.all([byToken, bySession])).toEqual([':\n\n', ':\n\n'])
    expect(await after5s).toBe(1)
    await other.body?.cancel()
  })

  it('comes when the source fails, which is logged', async () => {
    double.stream = async function* () {
      yield { data: 'x' }
      throw new Error('the source broke')
    }
    expect(parseEvents(await (await double.fetch(path, { headers: owner })).text())).toHaveLength(1)
    expect(double.log.find((line) => line.event === 'stream_failed')).toMatchObject({ error: { message: 'the source broke' } })
  })
})

describe('an orderly end', () => {
  it('lets a request finish, refuses new connections and cuts what does not end', async () => {
    // Nothing else would end it for a minute.
    await double.close()
    double = await startDouble({ patience: { headers_ms: 60_000, request_ms: 60_000 } })
    const stuck = connect(double.port, '127.0.0.1')
    stuck.on('error', () => {})
    stuck.write('GET /v1/projects HTTP/1.1\r\nHost: x\r\n')
    const closed = new Promise((resolve) => stuck.once('close', resolve))
    await new Promise((resolve) => stuck.once('connect', resolve))
    expect(await spent(() => double.gate.close({ grace_ms: 300 }))).toBeLessThan(2000)
    await closed
    await expect(double.fetch('/healthz')).rejects.toThrow()
  })
})
