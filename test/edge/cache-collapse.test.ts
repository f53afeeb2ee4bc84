import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { countingHandler, projectId, startCachedEdge } from '../support/cached-edge.ts'
import { get, edgePaths, startApp, startEdge, startRawApp } from '../support/edge.ts'
import { until } from '../support/until.ts'
import { longEdgeTest } from '../support/full-test.ts'

// A hundred concurrent requests become one to the app, and no client gets another's variant or a truncated response.
describe.each(edgePaths)('concurrent requests, $name', ({ fast_path }) => {
  const start = () => startCachedEdge({ fast_path })
  const hundred = <T>(ask: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 100 }, ask))

  test('a hundred misses become one request', async () => {
    const cached = await start()
    const held = cached.holdRequests()
    const all = hundred(() => cached.request('/'))
    const [first] = await held(1)
    first?.writeHead(200, { 'cache-control': 'max-age=60' }).end('x'.repeat(200_000))
    const got = await all
    expect(got.every((one) => one.status === 200 && one.text === 'x'.repeat(200_000))).toBe(true)
    // Some may have arrived after the response.
    expect(got.filter((one) => String(one.headers['cache-status']).includes('collapsed')).length).toBeGreaterThan(0)
    expect(cached.requests).toHaveLength(1)
  })

  test('a response that must not be stored goes only to the request that caused it', async () => {
    const cached = await start()
    cached.app = countingHandler({ 'cache-control': 'private' })
    const got = await hundred(() => cached.request('/'))
    expect(new Set(got.map((one) => one.text)).size).toBe(100)
    expect(cached.requests).toHaveLength(100)
  })

  test('after a response that must not be stored, requests no longer wait for each other', async () => {
    const cached = await start()
    cached.app = countingHandler({})
    await cached.request('/')
    const held = cached.holdRequests()
    const all = hundred(() => cached.request('/'))
    for (const response of await held(100)) response.end()
    await all
  })

  test('waiting requests get the variant for their own language', async () => {
    const cached = await start()
    cached.app = (request, response) => {
      const language = String(request.headers['accept-language'])
      response.writeHead(200, { 'cache-control': 'max-age=60', vary: 'accept-language' }).end(language)
    }
    const languages = Array.from({ length: 100 }, (_, i) => ['de', 'en', 'fr'][i % 3] ?? '')
    const got = await Promise.all(languages.map((language) => cached.request('/', { 'accept-language': language })))
    expect(got.map((one) => one.text)).toEqual(languages)
  })

  test('a slow response is streamed to all waiting requests', async () => {
    const cached = await start()
    let slow: ServerResponse | undefined
    cached.app = (_request, response) => {
      slow = response.writeHead(200, { 'cache-control': 'max-age=60' })
      response.write('first ')
    }
    const texts = ['', '', '']
    const sockets = texts.map((_, i) => {
      const socket = connect(cached.edge.port, '127.0.0.1')
      socket.on('data', (bytes) => (texts[i] += bytes.toString()))
      socket.write('GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n')
      return socket
    })
    await until(() => texts.every((text) => text.includes('first')) || undefined, { what: 'the first part at all three' })
    slow?.end('last')
    await Promise.all(sockets.map((socket) => once(socket, 'close')))
    expect(texts.every((text) => text.includes('last'))).toBe(true)
    expect(cached.requests).toHaveLength(1)
  })

  test('the first client may disconnect; the others get their response', async () => {
    const cached = await start()
    const held = cached.holdRequests()
    const first = connect(cached.edge.port, '127.0.0.1')
    first.write('GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
    await held(1)
    const second = cached.request('/')
    const third = cached.request('/')
    // They have joined once a later request has its response.
    const other = cached.request('/other')
    const [shared, behind] = await held(2)
    first.destroy()
    behind?.end()
    await other
    shared?.writeHead(200, { 'cache-control': 'max-age=60' }).end('good')
    expect((await second).text).toBe('good')
    expect((await third).text).toBe('good')
  })

  test('requests that wait ten seconds for response headers are sent to the app themselves', async () => {
    const cached = await start()
    const held = cached.holdRequests()
    const first = cached.request('/')
    await held(1)
    const [second, other] = [cached.request('/'), cached.request('/other')]
    await held(2)
    await cached.edge.advance(10_000)
    for (const [at, response] of (await held(3)).toReversed().entries()) response.writeHead(200, { 'cache-control': 'max-age=60' }).end(String(at))
    expect(await Promise.all([first, second, other].map(async (one) => (await one).text))).toEqual(['2', '0', '1'])
  })

  longEdgeTest(fast_path)('when every client has disconnected the request to the app is aborted', async () => {
    const cached = await start()
    let closed = false
    cached.app = (_request, response) => {
      response.on('close', () => (closed = true))
      response.writeHead(200, { 'cache-control': 'max-age=60' }).write('begun')
    }
    const sockets = [0, 1].map(() => {
      const socket = connect(cached.edge.port, '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
      return socket
    })
    await Promise.all(sockets.map((socket) => once(socket, 'data')))
    for (const socket of sockets) socket.destroy()
    await until(() => closed || undefined, { what: 'the end of the app’s answer' })
    expect(cached.edge.edge.cache.stats(projectId).objects).toBe(0)
  })

  test('a slow reader does not hold up the others', async () => {
    const cached = await start()
    const body = Buffer.alloc(4 * 2 ** 20, 'y')
    cached.app = (_request, response) =>
      void response.writeHead(200, { 'cache-control': 'max-age=60', 'content-length': String(body.length) }).end(body)
    const slow = connect(cached.edge.port, '127.0.0.1')
    slow.pause()
    slow.write('GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
    await until(() => cached.requests.length === 1 || undefined, { what: 'the request at the app' })
    expect((await cached.request('/')).body.equals(body)).toBe(true)
    expect((await cached.request('/')).headers['x-cache']).toBe('HIT')
    let bytes = 0
    slow.on('data', (part) => (bytes += part.length))
    slow.resume()
    await until(() => bytes > body.length || undefined, { what: 'all of the body at the slow client' })
    slow.destroy()
  })

  test('a response over the storage limit is passed completely to every waiting client', async () => {
    const cached = await start()
    const part = Buffer.alloc(2 ** 20, 'z')
    cached.app = (_request, response) => {
      response.writeHead(200, { 'cache-control': 'max-age=60' })
      let left = 10
      const more = (): void => {
        if (left-- === 0) response.end()
        else response.write(part, more)
      }
      more()
    }
    const got = await Promise.all([cached.request('/'), cached.request('/'), cached.request('/')])
    for (const one of got) expect(one.body.length).toBe(10 * 2 ** 20)
    expect(cached.edge.edge.cache.stats(projectId).objects).toBe(0)
    expect((await cached.request('/')).headers['x-cache']).toBe('MISS')
  })

  test('a client that joins midway gets the complete response', async () => {
    const cached = await start()
    const waiting: ServerResponse[] = []
    cached.app = (_request, response) => {
      waiting.push(response.writeHead(200, { 'cache-control': 'max-age=60' }))
      for (let i = 0; i < 10; i++) response.write(Buffer.alloc(2 ** 20, 'z'))
    }
    let bytes = 0
    const first = connect(cached.edge.port, '127.0.0.1')
    first.on('data', (part) => (bytes += part.length))
    first.write('GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
    await until(() => bytes > 10 * 2 ** 20 || undefined, { what: 'ten parts at the first client' })
    const late = cached.request('/')
    await until(() => waiting.length === 2 || undefined, { what: 'the second request at the app' })
    for (const response of waiting) response.end()
    expect((await late).body.length).toBe(10 * 2 ** 20)
    first.destroy()
  })

  test('a change while the response is in flight: it is served, not stored', async () => {
    const cached = await start()
    const held = cached.holdRequests()
    const before = cached.request('/')
    await held(1)
    expect(await cached.edge.edge.cache.purge(projectId, { all: true })).toBe(0)
    const after = cached.request('/')
    const [first, second] = await held(2)
    first?.writeHead(200, { 'cache-control': 'max-age=60' }).end('old')
    second?.writeHead(200, { 'cache-control': 'max-age=60' }).end('new')
    expect((await before).text).toBe('old')
    expect((await after).text).toBe('new')
    expect(await cached.getStatusAndBody('/')).toBe('HIT new')
  })

  test('requests that waited for a version which was replaced: they are served by it, and nothing of it is stored', async () => {
    const cached = await start()
    const next = await startApp((_request, response) => response.writeHead(200, { 'cache-control': 'max-age=60' }).end('new'))
    onTestFinished(() => next.close())
    const held = cached.holdRequests()
    const all = hundred(() => cached.request('/'))
    const [first] = await held(1)
    void cached.edge.routeToPort(next.port)
    await cached.edge.edge.cache.purge(projectId, { all: true })
    const old = (response: ServerResponse) => response.writeHead(200, { 'cache-control': 'max-age=60' }).end('old')
    cached.app = (_request, response) => void old(response)
    if (first) old(first)
    expect((await all).filter(({ text }) => text === 'old').length).toBeGreaterThan(1)
    expect((await cached.request('/')).text).toBe('new')
  })

  test.each<[string, (response: ServerResponse) => unknown]>([
    ['500', (response) => response.writeHead(500).end('broken')],
    ['a reset', (response) => response.destroy()],
  ])('a purged response is not served for a later error: %s', async (_name, fails) => {
    const cached = await start()
    cached.app = countingHandler({ 'cache-control': 'max-age=1, stale-if-error=600' })
    await cached.request('/')
    cached.advanceSeconds(10)
    for (const purged of [false, true]) {
      const held = cached.holdRequests()
      const pending = cached.request('/')
      const [waiting] = await held(1)
      if (purged) await cached.edge.edge.cache.purge(projectId, { all: true })
      cached.app = (_request, response) => void fails(response)
      if (waiting) fails(waiting)
      expect((await pending).headers['x-cache'] === 'STALE').toBe(!purged)
    }
  })

  test('a response delimited by the end of the connection is served to its client, and not stored', async () => {
    let count = 0
    const app = await startRawApp((socket) => {
      socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\n${++count}`))
    })
    const edge = await startEdge({ fast_path, cache: { directory: null, memory_bytes: () => 2 ** 20, disk_bytes: () => 0 } })
    await edge.routeToPort(app.port)
    expect((await get(edge.port, '/')).text).toBe('1')
    expect((await get(edge.port, '/')).text).toBe('2')
    await edge.close()
    await app.close()
  })
})
