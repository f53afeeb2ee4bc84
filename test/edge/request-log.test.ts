import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request, type IncomingHttpHeaders, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { limits } from '../../server/contract/limits.ts'
import type { StatusPage } from '../../server/edge/edge.ts'
import { createRequestLog, type RequestRecord } from '../../server/edge/request-log.ts'
import { spanIdOf, timeOfId, traceIdOf } from '../../server/lib/trace-context.ts'
import {
  edgePaths,
  get,
  routeOwner,
  sendRaw,
  startApp,
  startEdge,
  startRawApp,
  upstreamRoute,
  type ListeningServer,
  type TestEdge,
} from '../support/edge.ts'
import { fixedClock } from '../support/test-clock.ts'
import { createTestAuthority, getHttps, openHttp2 } from '../support/tls.ts'
import { until } from '../support/until.ts'
import { longEdgeTest } from '../support/full-test.ts'

const secret = 'probe-secret'

describe.each(edgePaths)('the request log, $name', ({ fast_path }) => {
  let edge: TestEdge
  let app: ListeningServer<Server>
  let sockets: WebSocketServer
  let folder: string
  let isOn = true
  /** The headers that the app received last. */
  let received: IncomingHttpHeaders = {}
  const authority = createTestAuthority()

  beforeAll(async () => {
    edge = await startEdge({
      fast_path,
      probe_secret: secret,
      isRequestLogEnabled: () => isOn,
      cache: { directory: null, memory_bytes: () => 1e7, disk_bytes: () => 0 },
      getTlsCredentials: authority.identityFor,
    })
    app = await startApp((message, response) => {
      received = message.headers
      const path = message.url ?? '/'
      if (path.startsWith('/status/')) return void response.writeHead(Number(path.slice(8))).end()
      if (path.startsWith('/cached')) response.setHeader('cache-control', 'max-age=600')
      if (path === '/never') return
      message.resume().on('end', () => response.end('hello'))
    })
    sockets = new WebSocketServer({ server: app.server })
    await edge.routeToPort(app.port)
    folder = mkdtempSync(join(tmpdir(), 'homeport-request-log-'))
    writeFileSync(join(folder, 'index.html'), '<p>hello</p>')
    await edge.edge.setRoute('site.localhost', { ...routeOwner, kind: 'static', directory: folder, spa_fallback: false })
    await edge.edge.setRoute('page.localhost', { ...routeOwner, kind: 'page', page: 'building' })
  })
  afterAll(async () => {
    sockets.close()
    await edge.close()
    await app.close()
    rmSync(folder, { recursive: true })
  })
  afterEach(async () => {
    isOn = true
    await edge.edge.requests.take()
  })

  /** The next `count` records. A request is over a moment after its client has the response. */
  async function take(count = 1): Promise<RequestRecord[]> {
    const records: RequestRecord[] = []
    await until(async () => records.push(...(await edge.edge.requests.take())) >= count || undefined, { what: `${count} records` })
    expect(records).toHaveLength(count)
    return records
  }

  test('a forwarded request with all that is known of it', async () => {
    const before = edge.now()
    const response = await get(edge.port, '/page?x=1', { headers: { 'user-agent': 'tester/1' } })
    const [record] = await take()
    expect(record).toEqual({
      project_id: 'prj_test',
      id: response.headers['x-request-id'],
      method: 'GET',
      host: 'app.localhost',
      target: '/page?x=1',
      protocol: 'HTTP/1.1',
      is_encrypted: false,
      status: 200,
      duration_ms: expect.any(Number),
      wake_ms: 0,
      queue_ms: expect.any(Number),
      app_ms: expect.any(Number),
      transfer_ms: expect.any(Number),
      bytes: 5,
      cache: 'miss',
      cache_status: 'fwd=uri-miss; fwd-status=200; detail="no lifetime given"',
      deployment_id: 'dpl_test',
      replica: null,
      client_ip: expect.stringMatching(/127\.0\.0\.1$/),
      user_agent: 'tester/1',
      traceparent: undefined,
      failure: null,
      skipped_before: 0,
      capture: null,
    })
    const { duration_ms, queue_ms, app_ms, transfer_ms } = record!
    expect(queue_ms! + app_ms! + transfer_ms).toBeCloseTo(duration_ms, 6)
    expect(timeOfId(record!.id)).toBeGreaterThanOrEqual(before)
  })

  test('methods, statuses and bodies', async () => {
    await get(edge.port, '/form', { method: 'POST', body: 'question' })
    await get(edge.port, '/status/404')
    await get(edge.port, '/page', { method: 'HEAD' })
    const records = await take(3)
    expect(records.map(({ method, status, bytes, cache }) => [method, status, bytes, cache])).toEqual([
      ['POST', 200, 5, 'bypass'],
      ['GET', 404, 0, 'miss'],
      ['HEAD', 200, 0, 'miss'],
    ])
  })

  test('cache hits, without times of an app', async () => {
    for (let i = 0; i < 3; i++) await get(edge.port, '/cached')
    const records = await take(3)
    expect(records.map(({ cache, cache_status }) => [cache, cache_status])).toEqual([
      ['miss', 'fwd=uri-miss; fwd-status=200; stored'],
      ['hit', 'hit'],
      ['hit', 'hit'],
    ])
    expect(records[0]?.app_ms).toEqual(expect.any(Number))
    expect(records[2]).toMatchObject({ queue_ms: null, app_ms: null, bytes: 5, failure: null })
  })

  test('each of many requests on one connection', async () => {
    const one = 'GET /x HTTP/1.1\r\nHost: app.localhost\r\n\r\n'
    await sendRaw(edge.port, one.repeat(9) + one.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    const records = await take(10)
    expect(new Set(records.map(({ id }) => id)).size).toBe(10)
  })

  test('static files and status pages', async () => {
    await get(edge.port, '/', { host: 'site.localhost' })
    await get(edge.port, '/', { host: 'page.localhost' })
    const [file, page] = await take(2)
    expect(file).toMatchObject({ status: 200, bytes: 12, cache: null, cache_status: null, queue_ms: null })
    expect(page).toMatchObject({ status: 503, cache: null, app_ms: null })
  })

  test('HTTPS and HTTP/2', async () => {
    const { certificate: ca } = await authority.ensure()
    const { port } = await edge.edge.listenSecure({ host: '127.0.0.1', port: 0 })
    await getHttps(port, '/secure', { ca })
    const http2 = await openHttp2(port, { ca })
    await http2.get('/streamed')
    await http2.close()
    const records = await take(2)
    expect(records.map(({ target, protocol, is_encrypted, failure }) => [target, protocol, is_encrypted, failure])).toEqual([
      ['/secure', 'HTTP/1.1', true, null],
      ['/streamed', 'HTTP/2', true, null],
    ])
  })

  test('a 502 with the reason', async () => {
    const broken = await startRawApp((socket) => socket.end('no HTTP at all\r\n\r\n'))
    await edge.edge.setRoute('broken.localhost', upstreamRoute(broken.port))
    await get(edge.port, '/', { host: 'broken.localhost' })
    const [record] = await take()
    expect(record).toMatchObject({ status: 502, failure: 'malformed', host: 'broken.localhost' })
    await broken.close()
  })

  longEdgeTest(fast_path)('a client that leaves before the response, as 499', async () => {
    const client = request({ host: '127.0.0.1', port: edge.port, path: '/never', headers: { host: 'app.localhost' } })
    client.on('error', () => {})
    const reached = new Promise((resolve) => app.server.once('request', resolve))
    client.end()
    await reached
    client.destroy()
    const [record] = await take()
    expect(record).toMatchObject({ status: 499, failure: 'client_closed', target: '/never' })
  })

  test('a WebSocket when it opens', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/socket`, { headers: { host: 'app.localhost' } })
    await new Promise((resolve) => socket.once('open', resolve))
    const [record] = await take()
    expect(record).toMatchObject({ status: 101, target: '/socket', failure: null })
    socket.close()
    await new Promise((resolve) => socket.once('close', resolve))
    expect(await edge.edge.requests.take()).toEqual([])
  })

  test('the wait for a sleeping app', async () => {
    const woken = Promise.withResolvers<void>()
    const sleeping = await startEdge({ fast_path, isRequestLogEnabled: () => true, wake: () => woken.resolve() })
    await sleeping.edge.setRoute('app.localhost', { ...routeOwner, kind: 'asleep' })
    const response = get(sleeping.port, '/early')
    await woken.promise
    await sleeping.advance(700)
    await sleeping.routeToPort(app.port)
    await response
    const records: RequestRecord[] = []
    await until(async () => records.push(...(await sleeping.edge.requests.take())) > 0 || undefined, { what: 'the record' })
    expect(records).toHaveLength(1)
    expect(records[0]).toMatchObject({ status: 200, failure: null, target: '/early' })
    expect(records[0]!.wake_ms).toBeGreaterThanOrEqual(700)
    expect(records[0]!.app_ms).toEqual(expect.any(Number))
    await sleeping.close()
  })

  test('the wait of a WebSocket for an app that starts', async () => {
    const asked = Promise.withResolvers<void>()
    const resolveUnknownHost = (): StatusPage => {
      asked.resolve()
      return { ...routeOwner, kind: 'page', page: 'starting' }
    }
    const starting = await startEdge({ fast_path, isRequestLogEnabled: () => true, resolveUnknownHost })
    const socket = new WebSocket(`ws://127.0.0.1:${starting.port}/socket`, { headers: { host: 'app.localhost' } })
    onTestFinished(async () => {
      socket.terminate()
      await starting.close()
    })
    const opened = new Promise((resolve) => socket.once('open', resolve))
    await asked.promise
    await starting.advance(700)
    await starting.routeToPort(app.port)
    await opened
    const [record] = await starting.edge.requests.take()
    expect(record).toMatchObject({ status: 101, target: '/socket' })
    expect(record!.wake_ms).toBeGreaterThanOrEqual(700)
  })

  test('the app receives the request ID, and a trace that begins at the edge', async () => {
    await get(edge.port, '/page')
    const [record] = await take()
    const { id } = record!
    expect(received['x-request-id']).toBe(id)
    expect(received.traceparent).toBe(`00-${traceIdOf(id)}-${spanIdOf(id)}-01`)
  })

  test('a trace of the client continues with the edge’s span', async () => {
    const sent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
    await get(edge.port, '/page', { headers: { traceparent: sent, tracestate: 'a=b' } })
    const [record] = await take()
    expect(received).toMatchObject({ traceparent: `00-0af7651916cd43dd8448eb211c80319c-${spanIdOf(record!.id)}-00`, tracestate: 'a=b' })
    expect(record?.traceparent).toBe(sent)
  })

  test.each(['', 'nonsense', '00-00000000000000000000000000000000-b7ad6b7169203331-01', 'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'])(
    'an invalid trace (%j) is replaced',
    async (traceparent) => {
      await get(edge.port, '/page', { headers: { traceparent } })
      const [record] = await take()
      expect(received.traceparent).toBe(`00-${traceIdOf(record!.id)}-${spanIdOf(record!.id)}-01`)
    },
  )

  test('no requests for unknown hosts, no invalid requests, and none of the platform’s own probes', async () => {
    await get(edge.port, '/', { host: 'unknown.localhost' })
    await get(edge.port, '/', { headers: { 'x-homeport-probe': secret } })
    // The app records no trace of it, which would have no request.
    expect(received.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    await sendRaw(edge.port, 'nonsense\r\n\r\n')
    await get(edge.port, '/last')
    const [record] = await take()
    expect(record?.target).toBe('/last')
  })

  test('no other header, whatever it is called', async () => {
    await get(edge.port, '/page', { headers: { authorization: 'Bearer s3cret', cookie: 'session=s3cret', 'x-api-key': 's3cret' } })
    expect(JSON.stringify(await take())).not.toContain('s3cret')
  })

  test('nothing while it is off; the client’s trace is forwarded as received', async () => {
    isOn = false
    await get(edge.port, '/off', { headers: { traceparent: 'as sent' } })
    expect(received.traceparent).toBe('as sent')
    await get(edge.port, '/off')
    expect(received.traceparent).toBeUndefined()
    isOn = true
    await get(edge.port, '/on')
    const [record] = await take()
    expect(record?.target).toBe('/on')
  })
})

describe('the log of a project', () => {
  const record = (project_id: string, status = 200): RequestRecord => ({ project_id, status, skipped_before: 0 }) as RequestRecord

  const { per_second, burst } = limits.request_log
  const logOfProject = (share?: number) => {
    const clock = fixedClock('2026-01-01')
    const log = createRequestLog({ clock, isEnabled: () => true, ...(share !== undefined && { share }) })
    const project = log.forProject('prj_a')
    const send = (count: number, status = 200) => {
      for (let i = 0; i < count; i++) if (project.hasRoom(status)) project.add(record('prj_a', status))
    }
    return { clock, log, send }
  }

  test('keeps so many requests at once, then so many in a second, and says how many it skipped', async () => {
    const { clock, log, send } = logOfProject()
    send(burst + 30)
    expect(await log.take()).toHaveLength(burst)
    send(5)
    // A server error is kept.
    send(1, 500)
    expect(await log.take()).toMatchObject([{ status: 500, skipped_before: 35 }])
    await clock.advance(1000)
    await log.take()
    send(per_second + 1)
    expect(await log.take()).toHaveLength(per_second)
  })

  test('has room for a burst again after a while, and errors take none of it', async () => {
    const { clock, log, send } = logOfProject()
    send(burst)
    send(2 * burst, 500)
    expect(await log.take()).toHaveLength(2 * burst)
    await clock.advance((burst / per_second) * 1000 + 60_000)
    await log.take()
    send(burst + 1)
    expect(await log.take()).toHaveLength(burst)
  })

  test.each([
    [0.5, 0.5],
    [1 / 16, 0.2],
  ])('one of several workers with the share %s keeps %s of them', async (share, kept) => {
    const { clock, log, send } = logOfProject(share)
    send(burst)
    expect(await log.take()).toHaveLength(burst * kept)
    await clock.advance(1000)
    await log.take()
    send(per_second)
    expect(await log.take()).toHaveLength(per_second * kept)
  })

  test('ends with the project', async () => {
    const log = createRequestLog({ clock: fixedClock('2026-01-01'), isEnabled: () => true })
    const project = log.forProject('prj_a')
    project.add(record('prj_a'))
    log.forgetProject('prj_a')
    project.add(record('prj_a'))
    expect(await log.take()).toEqual([])
  })
})
