import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { Agent, request, type Server, type ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import {
  collectResponse,
  get,
  routeOwner,
  edgePaths,
  sendRaw,
  startApp,
  startEdge,
  upstreamRoute,
  type HttpResponse,
  type ListeningServer,
  type TestEdge,
} from '../support/edge.ts'
import { createEdge, type Route } from '../../server/edge/server.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createTestClock, type TestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

const page = (name: Extract<Route, { kind: 'page' }>['page']): Route => ({ ...routeOwner, kind: 'page', page: name })

describe.each(edgePaths)('routes, $name', ({ fast_path }) => {
  let edge: TestEdge
  const apps: ListeningServer<Server>[] = []

  let clock: TestClock

  beforeEach(async () => {
    // The clock is frozen, so that a drain or grace period ends exactly when the test says.
    clock = createTestClock({ frozen_at: '2026-01-31T12:00:00Z' })
    edge = await startEdge({ fast_path, clock })
  })
  afterEach(async () => {
    await edge.close()
    for (const app of apps.splice(0)) await app.close()
  })

  /** Responses of `/slow`, which the test ends. */
  const slowly: ServerResponse[] = []
  const says = async (text: string): Promise<ListeningServer<Server>> => {
    const app = await startApp((req, response) => {
      req.resume()
      if (req.url === '/slow') slowly.push(response)
      else if (req.url === '/never') response.writeHead(200).flushHeaders()
      else response.end(text)
    })
    apps.push(app)
    return app
  }

  test('8 switches under load: no request fails, and each old app is idle when its drain resolves', async () => {
    let current = await says('0')
    await edge.routeToPort(current.port)
    const agent = new Agent({ keepAlive: true })
    const failures: string[] = []
    let answered = 0
    let running = true
    const ask = (method: string): Promise<HttpResponse> =>
      new Promise((resolve, reject) => {
        const req = request(
          { host: '127.0.0.1', port: edge.port, path: '/', method, agent, headers: { host: 'app.localhost' } },
          (response) => void collectResponse(response).then(resolve, reject),
        )
        req.on('error', reject)
        req.end(method === 'POST' ? 'body' : undefined)
      })
    const clients = Array.from({ length: 16 }, async (_, i) => {
      while (running) {
        try {
          const { status } = await ask(i % 4 === 0 ? 'POST' : 'GET')
          answered++
          if (status !== 200) failures.push(String(status))
        } catch (error) {
          failures.push(String(error))
        }
      }
    })
    for (let swap = 1; swap <= 8; swap++) {
      const next = await says(String(swap))
      const reached = answered + 50
      // Nothing is cut off on a busy machine.
      await edge.edge.setRoute('app.localhost', upstreamRoute(next.port), { drain_ms: 60_000 })
      await current.close()
      current = next
      expect((await get(edge.port, '/')).text).toBe(String(swap))
      await until(() => answered > reached || undefined, { what: '50 more answers' })
    }
    running = false
    await Promise.all(clients)
    agent.destroy()
    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(400)
  })

  test('a switch waits for requests in flight, and new requests do not wait for it', async () => {
    const [old, fresh] = [await says('old'), await says('new')]
    await edge.routeToPort(old.port)
    const slow = get(edge.port, '/slow')
    await until(() => slowly.length === 1 || undefined, { what: 'the request at the app' })
    let drained = false
    const swap = edge.edge.setRoute('app.localhost', upstreamRoute(fresh.port), { drain_ms: 60_000 }).then(() => (drained = true))
    expect((await get(edge.port, '/')).text).toBe('new')
    expect(drained).toBe(false)
    slowly.pop()?.end('old')
    expect((await slow).text).toBe('old')
    await swap
  })

  test('after drain_ms streams and WebSockets are closed', async () => {
    const old = await says('old')
    const sockets = new WebSocketServer({ server: old.server })
    await edge.routeToPort(old.port)
    const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/`, { headers: { host: 'app.localhost' } })
    await new Promise((resolve) => socket.once('open', resolve))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const stream = sendRaw(edge.port, 'GET /never HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
    await new Promise<void>((resolve) => old.server.once('request', () => resolve()))
    let isOpen = true
    void closed.then(() => (isOpen = false))
    const drained = edge.edge.setRoute('app.localhost', page('stopped'), { drain_ms: 60_000 })
    await clock.advance(59_999)
    expect((await get(edge.port, '/')).status).toBe(503)
    expect(isOpen).toBe(true)
    await clock.advance(1)
    await drained
    await closed
    expect((await stream).closed).toBe(true)
    sockets.close()
  })

  test('a request that the replaced app never answers is sent to the new one, if it may be repeated', async () => {
    let arrived = 0
    const dead = await startApp(() => arrived++)
    apps.push(dead)
    const fresh = await says('new')
    await edge.routeToPort(dead.port)
    const waiting = [get(edge.port, '/'), get(edge.port, '/', { method: 'HEAD' }), get(edge.port, '/', { method: 'POST', body: 'x' })]
    await until(() => arrived === 3 || undefined, { what: 'the requests at the app' })
    await edge.edge.setRoute('app.localhost', upstreamRoute(fresh.port), { drain_ms: 0 })
    const [got, head, posted] = await Promise.all(waiting)
    expect([got?.status, got?.text, head?.status, posted?.status]).toEqual([200, 'new', 200, 502])
  })

  test('an open WebSocket ends the drain when it closes', async () => {
    const old = await says('old')
    const sockets = new WebSocketServer({ server: old.server })
    await edge.routeToPort(old.port)
    const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/`, { headers: { host: 'app.localhost' } })
    await new Promise((resolve) => socket.once('open', resolve))
    const drained = edge.edge.removeRoute('app.localhost', { drain_ms: 10_000 })
    expect((await get(edge.port, '/')).status).toBe(404)
    socket.close()
    await drained
    sockets.close()
  })

  test('a request for a starting app waits and is served', async () => {
    await edge.edge.setRoute('app.localhost', page('starting'))
    const waiting = [
      get(edge.port, '/'),
      get(edge.port, '/', { method: 'POST', body: Buffer.alloc(200_000) }),
      get(edge.port, '/', { method: 'HEAD' }),
    ]
    const app = await says('awake')
    await edge.edge.setRoute('app.localhost', page('starting'))
    await edge.routeToPort(app.port)
    expect((await Promise.all(waiting)).map((got) => [got.status, got.text])).toEqual([
      [200, 'awake'],
      [200, 'awake'],
      [200, ''],
    ])
  })

  test('an app that takes too long to start gives 503', async () => {
    await edge.edge.setRoute('app.localhost', page('starting'))
    const { status, headers } = await edge.advanceUntilDone(get(edge.port, '/'))
    expect([status, headers['retry-after']]).toEqual([503, '5'])
  })

  test.each([
    ['not_deployed', 404],
    ['building', 503],
    ['stopped', 503],
    ['crashed', 502],
    ['failed', 404],
    ['no_web_service', 404],
  ] as const)('the page %s has status %i, in HTML and in JSON', async (name, status) => {
    await edge.edge.setRoute('app.localhost', { ...page(name), project_name: '<script>alert(1)</script>' })
    const html = await get(edge.port, '/', { headers: { accept: 'text/html,*/*' } })
    expect(html.status).toBe(status)
    expect(html.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(html.headers['cache-control']).toBe('no-store')
    expect(html.text).not.toContain('<script')
    expect(html.text).toContain(html.headers['x-request-id'])
    expect(html.text).toContain('href="http://localhost:4600/app/projects/app"')
    // Nothing is loaded from elsewhere.
    expect(html.text).not.toMatch(/\ssrc=|@import|url\(|<link/)
    const json = await get(edge.port, '/', { headers: { accept: 'application/json' } })
    expect(json.status).toBe(status)
    expect(JSON.parse(json.text).error).toMatchObject({ code: name, request_id: json.headers['x-request-id'] })
    expect((await get(edge.port, '/', { method: 'HEAD' })).text).toBe('')
  })

  test('the page of a build refreshes by itself', async () => {
    await edge.edge.setRoute('app.localhost', page('building'))
    const { text, headers } = await get(edge.port, '/')
    expect(text).toContain('http-equiv="refresh"')
    expect(headers['retry-after']).toBe('5')
  })

  test.each(['nobody.localhost', 'localhost', '127.0.0.1', '[::1]', 'app.localhost.evil.com', 'xapp.localhost', 'app'])(
    'the host %s has no route',
    async (host) => {
      await edge.routeToPort((await says('private')).port)
      for (const name of [host, `${host}:${edge.port}`]) {
        const { status, text } = await get(edge.port, '/', { host: name })
        expect(status).toBe(404)
        expect(text).not.toMatch(/private|My app|localhost:4600/)
      }
    },
  )

  test('last requests are reported once, and those of an open stream repeatedly', async () => {
    await edge.routeToPort((await says('x')).port)
    await get(edge.port, '/')
    expect([...edge.edge.takeLastRequests()]).toEqual([['prj_test', clock.now()]])
    expect(edge.edge.takeLastRequests().size).toBe(0)
    const stream = connect({ host: '127.0.0.1', port: edge.port })
    stream.write('GET /never HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
    await once(stream, 'data')
    for (let i = 0; i < 3; i++) {
      await clock.advance(1_000)
      expect([...edge.edge.takeLastRequests()]).toEqual([['prj_test', clock.now()]])
    }
    stream.destroy()
    await until(() => clock.advance(250).then(() => edge.edge.takeLastRequests().size === 0 || undefined), { what: 'the end of the stream' })
    expect(edge.edge.takeLastRequests().size).toBe(0)
  })

  test('the platform’s own probe is not a visit, and its secret is not forwarded', async () => {
    const own = await startEdge({ fast_path, probe_secret: 'sentinel' })
    const app = await startApp((req, response) => response.end(JSON.stringify(req.headers)))
    apps.push(app)
    await own.routeToPort(app.port)
    expect((await get(own.port, '/', { headers: { 'x-homeport-probe': 'sentinel' } })).text).not.toContain('sentinel')
    expect(own.edge.takeLastRequests().size).toBe(0)
    await get(own.port, '/', { headers: { 'x-homeport-probe': 'guessed' } })
    expect(own.edge.takeLastRequests().size).toBe(1)
    await own.close()
  })

  test('requests through a probe endpoint are not visits, WebSockets included, and are cut when it closes', async () => {
    const own = await startEdge({ fast_path, isMetricsEnabled: () => true, isHttpsRedirectEnabled: () => true })
    const app = await says('x')
    const sockets = new WebSocketServer({ server: app.server })
    await own.routeToPort(app.port)
    const probeListener = await own.edge.listenOnNetwork({ address: '127.0.0.1', port: 0, is_probe: true })
    expect((await get(probeListener.port, '/')).text).toBe('x')
    const socket = new WebSocket(`ws://127.0.0.1:${probeListener.port}/`, { headers: { host: 'app.localhost' } })
    await new Promise((resolve) => socket.once('open', resolve))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    expect(own.edge.takeLastRequests().size).toBe(0)
    await probeListener.close()
    await closed
    expect(own.edge.takeLastRequests().size).toBe(0)
    await get(own.port, '/')
    expect(own.edge.takeLastRequests().size).toBe(1)
    sockets.close()
    await own.close()
  })

  test('a taken port falls back to the next free one', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const address = taken.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const second = createEdge({ log: silentLog, fast_path })
    const got = await second.listen({ host: '127.0.0.1', port })
    expect(got.fell_back).toBe(true)
    expect(got.port).not.toBe(port)
    await second.close()
    taken.close()
  })

  test.each(['', 'GET / HTTP/1.1\r\nHost: app'])('close waits for the request of a client that has sent %j, and answers it', async (sent) => {
    const app = await says('x')
    await edge.routeToPort(app.port)
    const client = connect({ host: '127.0.0.1', port: edge.port })
    client.write(sent)
    // The edge has accepted it, and read what it has sent, once it has answered a later one.
    await get(edge.port, '/')
    const closed = edge.edge.close({ grace_ms: 5_000 })
    client.write('GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n'.slice(sent.length))
    const answer = await text(client)
    expect(answer).toContain('HTTP/1.1 200 OK')
    expect(answer).toContain('Connection: close')
    await closed
  })

  test('close ends idle connections at once, and streams after the grace period', async () => {
    const app = await says('x')
    await edge.routeToPort(app.port)
    const stream = connect({ host: '127.0.0.1', port: edge.port })
    stream.write('GET /never HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
    await once(stream, 'data')
    const idle = connect({ host: '127.0.0.1', port: edge.port })
    idle.write('GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
    expect(String(await once(idle, 'data'))).toContain('200 OK')
    const closed = edge.edge.close({ grace_ms: 5_000 })
    await once(idle, 'close')
    await clock.advance(4_999)
    expect(stream.closed).toBe(false)
    const streamGone = once(stream, 'close')
    await clock.advance(1)
    await Promise.all([closed, streamGone])
  })
})
