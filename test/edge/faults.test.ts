import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { get, edgePaths, startApp, startEdge, startRawApp, upstreamRoute, type TestEdge } from '../support/edge.ts'
import { createTestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'
import { longEdgeTest } from '../support/full-test.ts'

// Faults of timing and order; test/edge/endurance-suite.ts has every fault of an app or a client, many at once.
describe.each(edgePaths)('faults, $name', ({ fast_path }) => {
  let edge: TestEdge
  const closers: (() => Promise<void>)[] = []

  beforeEach(async () => {
    edge = await startEdge({ fast_path })
    closers.push(() => edge.close())
  })
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
  })

  const rawApp = async (onSocket: (socket: Socket) => void): Promise<Awaited<ReturnType<typeof startRawApp>>> => {
    const app = await startRawApp(onSocket)
    closers.push(app.close)
    await edge.routeToPort(app.port)
    return app
  }

  /** Another edge in place of the default one. */
  const useEdge = async (options: Parameters<typeof startEdge>[0]): Promise<void> => {
    edge = await startEdge({ fast_path, ...options })
    closers.push(edge.close)
  }

  /** Sends raw bytes and returns everything received until the connection ends. */
  const open = (bytes: string) => {
    const socket = connect({ host: '127.0.0.1', port: edge.port })
    let text = ''
    socket.on('data', (part) => (text += part.toString()))
    socket.on('error', () => {})
    socket.write(bytes)
    return { socket, closed: new Promise<string>((resolve) => socket.on('close', () => resolve(text))) }
  }

  /** Sends a byte now and then while the clock advances, until the connection ends. */
  const drip = async (bytes: string): Promise<string> => {
    const { socket, closed } = open(bytes)
    await until(
      () => {
        if (!socket.closed) socket.write('x')
        return edge.advance(2_000).then(() => socket.closed || undefined)
      },
      { what: 'the end of the connection' },
    )
    return closed
  }

  test('an app that does not listen: 502 after the connect timeout, as a page and as JSON', async () => {
    const app = await rawApp(() => {})
    await app.close()
    const page = await edge.advanceUntilDone(get(edge.port, '/', { headers: { accept: 'text/html' } }))
    expect([page.status, page.headers['content-type']]).toEqual([502, 'text/html; charset=utf-8'])
    expect(page.text).toContain(page.headers['x-request-id'])
    const json = await edge.advanceUntilDone(get(edge.port, '/', { headers: { accept: 'application/json' } }))
    expect(json.status).toBe(502)
    expect(JSON.parse(json.text).error.request_id).toBe(json.headers['x-request-id'])
  })

  test('an app that listens again within the connect timeout: no error', async () => {
    const app = await rawApp(() => {})
    await app.close()
    const waiting = get(edge.port, '/', { method: 'POST', body: 'once' })
    const again = await startApp((req, response) => void req.pipe(response))
    closers.push(again.close)
    // The old port stays refused, so the route changes to the new one, which the waiting request then uses.
    await edge.edge.setRoute('app.localhost', upstreamRoute(again.port), { drain_ms: 60_000 })
    expect(await waiting).toMatchObject({ status: 200, text: 'once' })
  })

  test('a client that disconnects before the response aborts the request to the app', async () => {
    // The clock is frozen, so that no timeout ends the request instead of the client.
    await useEdge({ clock: createTestClock({ frozen_at: '2026-01-31T12:00:00Z' }) })
    const app = await rawApp((socket) => socket.on('data', () => {}))
    const { socket } = open('GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
    await until(() => app.sockets.size === 1 || undefined, { what: 'the request at the app' })
    socket.resetAndDestroy()
    await until(() => app.sockets.size === 0 || undefined, { what: 'the end of the request at the app' })
  })

  test('a request that must not be repeated is sent once', async () => {
    let posts = 0
    await rawApp((socket) =>
      socket.on('data', (bytes) => {
        if (!bytes.toString().startsWith('POST')) return void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        posts++
        // On the connection of the first request, or on a new one if a second has passed.
        socket.destroy()
      }),
    )
    expect((await get(edge.port, '/')).status).toBe(200)
    expect((await get(edge.port, '/', { method: 'POST' })).status).toBe(502)
    expect(posts).toBe(1)
  })

  test('unterminated headers hold up no other client', async () => {
    await useEdge({ header_timeout_ms: 3_600_000 })
    await rawApp((socket) => socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')))
    const drips = Array.from({ length: 100 }, () => open('GET / HTTP/1.1\r\nHost: app.localhost\r\n'))
    expect((await get(edge.port, '/')).status).toBe(200)
    expect(drips.filter(({ socket }) => socket.closed)).toEqual([])
    for (const { socket } of drips) socket.destroy()
  })

  // Node's own server uses real timers, which the test clock does not advance.
  const head_timeout_ms = fast_path ? 10_000 : 200

  test('slowly sent headers: 408', async () => {
    await useEdge({ header_timeout_ms: head_timeout_ms })
    expect(await drip('GET / HTTP/1.1\r\nHost: app.localhost\r\nX')).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('an idle connection without a request is closed silently', async () => {
    await useEdge({ header_timeout_ms: head_timeout_ms })
    expect(await edge.advanceUntilDone(open('').closed)).toBe('')
  })

  longEdgeTest(fast_path)('a slowly sent body: 408', async () => {
    await rawApp((socket) => socket.on('data', () => {}))
    expect(await drip('POST / HTTP/1.1\r\nHost: app.localhost\r\nContent-Length: 1000000\r\n\r\n')).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('the log names a failure by its request id, without its content', async () => {
    const lines: string[] = []
    const logged = await startEdge({
      fast_path,
      log: { info: () => {}, warn: (event, fields) => void lines.push(JSON.stringify({ event, ...fields })), error: () => {} },
    })
    const app = await startRawApp((socket) => socket.on('data', () => socket.end()))
    closers.push(app.close, logged.close)
    await logged.edge.setRoute('app.localhost', upstreamRoute(app.port))
    const { headers } = await get(logged.port, '/secret?token=sentinel', { headers: { authorization: 'Bearer sentinel' } })
    expect(lines.join('\n')).toContain(headers['x-request-id'])
    expect(lines.join('\n')).not.toContain('sentinel')
  })
})
