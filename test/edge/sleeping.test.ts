import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { Route } from '../../server/edge/server.ts'
import { get, routeOwner, edgePaths, startApp, startEdge, upstreamRoute, type ListeningServer, type TestEdge } from '../support/edge.ts'
import { createTestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

const host = 'app.localhost'

describe.each(edgePaths)('a sleeping app, $name', ({ fast_path }) => {
  let edge: TestEdge
  let app: ListeningServer<Server>
  let requests: string[]
  let woken: Route[]
  const options = {
    fast_path,
    wake: (route: Route) => void woken.push(route),
    cache: { directory: null, memory_bytes: () => 64e6, disk_bytes: () => 0 },
  }
  const asleep = (): Route => ({ ...routeOwner, kind: 'asleep' })
  const wokenTimes = (count: number) => until(() => woken.length >= count || undefined, { what: `${count} calls of wake` })
  const wakes = () => edge.edge.setRoute(host, upstreamRoute(app.port))

  beforeEach(async () => {
    requests = []
    woken = []
    app = await startApp((request, response) => {
      requests.push(`${request.method} ${request.url}`)
      if (request.url === '/kept') response.setHeader('cache-control', 's-maxage=600')
      if (request.url === '/large') response.setHeader('cache-control', 's-maxage=600')
      if (request.url === '/large') return void response.end(Buffer.alloc(8e6, 'x'))
      if (request.url === '/error') response.setHeader('cache-control', 's-maxage=0, stale-if-error=600')
      request.pipe(response)
    })
    edge = await startEdge(options)
  })
  afterEach(async () => {
    await edge.close()
    await app.close()
  })

  test('requests wake it once, wait, and reach it with their bodies', async () => {
    await edge.edge.setRoute(host, asleep())
    const answers = [
      get(edge.port, '/'),
      get(edge.port, '/'),
      get(edge.port, '/form', { method: 'POST', body: 'a body' }),
      get(edge.port, '/', { method: 'HEAD' }),
    ]
    await wokenTimes(1)
    // All have arrived when a later one has been refused.
    await get(edge.port, '/', { headers: { host: 'nobody.localhost' } })
    expect(woken).toHaveLength(1)
    await wakes()
    expect((await Promise.all(answers)).map(({ status, text }) => [status, text])).toEqual([
      [200, ''],
      [200, ''],
      [200, 'a body'],
      [200, ''],
    ])
    expect(requests).toContain('POST /form')
    expect(woken).toHaveLength(1)
  })

  test('wakes again from each sleep', async () => {
    for (let i = 1; i <= 3; i++) {
      const route = asleep()
      await edge.edge.setRoute(host, route)
      const response = get(edge.port, `/${i}`)
      await wokenTimes(i)
      expect(woken.at(-1)).toBe(route)
      await wakes()
      expect((await response).status).toBe(200)
    }
  })

  test('goes through the starting page', async () => {
    await edge.edge.setRoute(host, asleep())
    const response = get(edge.port, '/')
    await wokenTimes(1)
    await edge.edge.setRoute(host, { ...routeOwner, kind: 'page', page: 'starting' })
    await wakes()
    expect((await response).status).toBe(200)
  })

  test('one that does not wake in time: 503 with Retry-After, in the requested format', async () => {
    await edge.edge.setRoute(host, asleep())
    const [page, json] = await edge.advanceUntilDone(
      Promise.all([get(edge.port, '/'), get(edge.port, '/', { headers: { accept: 'application/json' } })]),
    )
    expect([page.status, page.headers['retry-after'], page.headers['content-type']]).toEqual([503, '5', 'text/html; charset=utf-8'])
    expect([json.status, json.headers['retry-after']]).toEqual([503, '5'])
    expect(JSON.parse(json.text).error).toMatchObject({ code: 'starting', request_id: json.headers['x-request-id'] })
    expect(woken).toHaveLength(1)
  })

  test('one that is stopped or deleted while waking: its visitors are told', async () => {
    await edge.edge.setRoute(host, asleep())
    const first = get(edge.port, '/')
    await wokenTimes(1)
    await edge.edge.setRoute(host, { ...routeOwner, kind: 'page', page: 'stopped' })
    expect((await first).status).toBe(503)
    await edge.edge.setRoute(host, asleep())
    const second = get(edge.port, '/')
    await wokenTimes(2)
    await edge.edge.removeRoute(host)
    expect((await second).status).toBe(404)
  })

  test('a WebSocket wakes it', async () => {
    const sockets = new WebSocketServer({ server: app.server })
    sockets.on('connection', (socket) => socket.send('hello'))
    await edge.edge.setRoute(host, asleep())
    const client = new WebSocket(`ws://127.0.0.1:${edge.port}/`, { headers: { host } })
    const greeting = new Promise((resolve, reject) => client.once('message', (data) => resolve(String(data))).once('error', reject))
    await wokenTimes(1)
    await wakes()
    expect(await greeting).toBe('hello')
    client.terminate()
    sockets.close()
  })

  test('a cached response does not wake it, and counts as a visit', async () => {
    await wakes()
    await get(edge.port, '/kept')
    edge.edge.takeLastRequests()
    await edge.edge.setRoute(host, asleep())
    const stored = await get(edge.port, '/kept')
    expect([stored.status, stored.headers['x-cache']]).toEqual([200, 'HIT'])
    expect((await get(edge.port, '/kept', { headers: { range: 'bytes=0-0' } })).headers['x-cache']).toBe('HIT')
    expect(woken).toEqual([])
    expect([...edge.edge.takeLastRequests().keys()]).toEqual([routeOwner.project_id])
  })

  test('once awake it is requested, although a stale response could replace an error', async () => {
    await wakes()
    await get(edge.port, '/error')
    await edge.edge.setRoute(host, asleep())
    const response = get(edge.port, '/error')
    await wokenTimes(1)
    await wakes()
    expect((await response).headers['x-cache']).not.toBe('STALE')
    expect(requests).toEqual(['GET /error', 'GET /error'])
  })

  test('waking does not cut off a slow client of a cached response', async () => {
    await wakes()
    await get(edge.port, '/large')
    await edge.edge.setRoute(host, asleep())
    const slow = connect({ host: '127.0.0.1', port: edge.port })
    slow.write(`GET /large HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    await once(slow, 'readable')
    const other = get(edge.port, '/')
    await wokenTimes(1)
    void edge.edge.setRoute(host, upstreamRoute(app.port), { drain_ms: 3_600_000 })
    expect((await other).status).toBe(200)
    let bytes = 0
    for await (const chunk of slow) bytes += (chunk as Buffer).length
    expect(bytes).toBeGreaterThan(8e6)
    expect(requests.filter((line) => line === 'GET /large')).toHaveLength(1)
  })

  test('closing the edge leaves no request waiting', async () => {
    await edge.edge.setRoute(host, asleep())
    const response = get(edge.port, '/').then(
      ({ status }) => status,
      () => 'cut',
    )
    await wokenTimes(1)
    await edge.edge.close()
    expect([503, 'cut']).toContain(await response)
  })
})

test('the last visit is measured by the monotonic clock, is current while a stream is open, and ignores our own probes', async () => {
  const app = await startApp((request, response) => {
    if (request.url === '/stream') return void response.writeHead(200).write('here')
    response.end('x')
  })
  const edge = await startEdge({ clock: createTestClock({ frozen_at: '2026-01-31T12:00:00Z' }), probe_secret: 'the secret' })
  const idle = () => edge.edge.idleSince(host)
  try {
    expect(idle()).toBeUndefined()
    await edge.routeToPort(app.port)
    expect(idle()).toBe(0)
    await edge.advance(60_000)
    await get(edge.port, '/')
    await until(() => idle() === 60_000 || undefined, { what: 'the end of the visit' })
    await edge.advance(60_000)
    await get(edge.port, '/', { headers: { 'x-homeport-probe': 'the secret' } })
    expect(idle()).toBe(60_000)
    const stream = connect({ host: '127.0.0.1', port: edge.port })
    stream.write(`GET /stream HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    await once(stream, 'readable')
    expect(idle()).toBeUndefined()
    await edge.advance(60_000)
    expect(idle()).toBeUndefined()
    stream.destroy()
    // A half-closed client has one second to close the other half, from when the edge notices.
    const since = await until(() => edge.advance(250).then(idle), { what: 'the end of the stream' })
    expect(since).toBeGreaterThanOrEqual(180_000)
  } finally {
    await edge.close()
    await app.close()
  }
})
