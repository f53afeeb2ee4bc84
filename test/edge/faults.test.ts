import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { get, paths, raw, startApp, startEdge, startRawApp, until, upstreamRoute, type TestEdge } from '../support/edge.ts'
import { spent } from '../support/spent.ts'

describe.each(paths)('faults, $name', ({ fast_path }) => {
  let edge: TestEdge
  const closers: (() => Promise<void>)[] = []

  beforeEach(async () => {
    edge = await startEdge({ fast_path, upstream_timeout_ms: 700, connect_timeout_ms: 600, head_timeout_ms: 1000, body_window_ms: 1000 })
  })
  afterEach(async () => {
    await edge.close()
    for (const close of closers.splice(0)) await close()
  })

  const rawApp = async (onSocket: (socket: Socket) => void, before = edge): Promise<Awaited<ReturnType<typeof startRawApp>>> => {
    const app = await startRawApp(onSocket)
    closers.push(app.close)
    await before.toPort(app.port)
    return app
  }

  /** For what must not be cut short by the time that a busy machine takes. */
  const patientEdge = async (): Promise<TestEdge> => {
    const patient = await startEdge({ fast_path, upstream_timeout_ms: 120_000 })
    closers.push(patient.close)
    return patient
  }

  describe('R25: the app before it answers', () => {
    const expectPage = async (status: number): Promise<void> => {
      const page = await get(edge.port, '/', { headers: { accept: 'text/html' } })
      expect(page.status).toBe(status)
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
      expect(page.text).toContain(page.headers['x-request-id'])
      const json = await get(edge.port, '/', { headers: { accept: 'application/json' } })
      expect(json.status).toBe(status)
      expect(JSON.parse(json.text).error.request_id).toBe(json.headers['x-request-id'])
    }

    test('hangs: 504', async () => {
      await rawApp(() => {})
      await expectPage(504)
    })
    test('hangs in the middle of the head: 504', async () => {
      await rawApp((socket) => socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-')))
      await expectPage(504)
    })
    test('closes: 502', async () => {
      await rawApp((socket) => socket.on('data', () => socket.end()))
      await expectPage(502)
    })
    test('resets: 502', async () => {
      await rawApp((socket) => socket.on('data', () => socket.resetAndDestroy()))
      await expectPage(502)
    })
    test('sends garbage: 502', async () => {
      await rawApp((socket) => socket.on('data', () => socket.write('\x00\x01\x02garbage garbage\r\n\r\n')))
      await expectPage(502)
    })
    test('does not listen: 502 after the connect time', async () => {
      const app = await startRawApp(() => {})
      await app.close()
      await edge.toPort(app.port)
      await expectPage(502)
    })
    test('listens again within the connect time: nobody notices', async () => {
      const patient = await patientEdge()
      const app = await startRawApp(() => {})
      await app.close()
      await patient.toPort(app.port)
      const waiting = get(patient.port, '/', { method: 'POST', body: 'once' })
      const again = await startApp((asked, answer) => void asked.pipe(answer))
      closers.push(again.close)
      // Its own port stays refused, so the name is led to the new one: the waiting request goes there.
      await patient.edge.setRoute('app.localhost', upstreamRoute(again.port), { drain_ms: 60_000 })
      expect(await waiting).toMatchObject({ status: 200, text: 'once' })
    })
  })

  describe('R26: the app dies in the middle of a body', () => {
    const cut = async (answer: string, how: (socket: Socket) => void): Promise<void> => {
      await rawApp((socket) => socket.on('data', () => socket.write(answer, () => how(socket))))
      await expect(get(edge.port, '/')).rejects.toMatchObject({ code: 'ECONNRESET' })
      const { text, closed } = await raw(edge.port, 'GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
      expect(closed).toBe(true)
      expect(text.endsWith('0\r\n\r\n')).toBe(false)
    }
    test('with a length, reset', () => cut('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789', (socket) => socket.resetAndDestroy()))
    test('with a length, closed', () => cut('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789', (socket) => socket.end()))
    test('in chunks, closed', () => cut('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n', (socket) => socket.end()))
    test('in chunks, closed before the last line', () =>
      cut('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n', (socket) => socket.end()))
    test('in chunks that are broken', () =>
      cut('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n', (socket) => setTimeout(() => socket.write('zz\r\n'), 20)))
    test('without a length, reset', () => cut('HTTP/1.1 200 OK\r\n\r\n0123456789', (socket) => setTimeout(() => socket.resetAndDestroy(), 20)))
  })

  test('R27: a client that goes away takes its request with it, a thousand times', async () => {
    const app = await rawApp((socket) => socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n')))
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 50 }, () => raw(edge.port, 'GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n', { until: /\r\n\r\n/ })))
    }
    await until(() => app.sockets.size === 0)
  })

  test('R27: a client that goes away before the answer', async () => {
    // Nothing else would end it within the test.
    const patient = await patientEdge()
    const app = await rawApp((socket) => socket.on('data', () => {}), patient)
    const socket = connect({ host: '127.0.0.1', port: patient.port })
    socket.write('GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
    await until(() => app.sockets.size === 1)
    const gone = spent(() => until(() => app.sockets.size === 0))
    socket.resetAndDestroy()
    expect(await gone).toBeLessThan(500)
  })

  test('R28: an app that closes idle connections at random gives no 502', async () => {
    const patient = await patientEdge()
    await rawApp(
      (socket) =>
        socket.on('data', () => {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
          if (Math.random() < 0.5) setTimeout(() => (Math.random() < 0.5 ? socket.end() : socket.resetAndDestroy()), Math.random() * 3)
        }),
      patient,
    )
    const statuses = new Map<number, number>()
    for (let round = 0; round < 50; round++) {
      for (const { status } of await Promise.all(Array.from({ length: 20 }, () => get(patient.port, '/'))))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    expect(Object.fromEntries(statuses)).toEqual({ 200: 1000 })
  })

  test('R28: what must not be sent twice is sent once', async () => {
    let posts = 0
    await rawApp((socket) =>
      socket.on('data', (bytes) => {
        if (!bytes.toString().startsWith('POST')) return void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        posts++
        // On the connection of the first request, or on a new one when a second has gone by since.
        socket.destroy()
      }),
    )
    expect((await get(edge.port, '/')).status).toBe(200)
    expect((await get(edge.port, '/', { method: 'POST' })).status).toBe(502)
    expect(posts).toBe(1)
  })

  test('R29: a head that drips is answered 408 and does not hold up anybody', async () => {
    const patient = await patientEdge()
    const app = await rawApp((socket) => socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')), patient)
    await edge.toPort(app.port)
    const drip = ({ port }: TestEdge) => {
      const socket = connect({ host: '127.0.0.1', port })
      let text = ''
      socket.on('data', (bytes) => (text += bytes.toString()))
      socket.on('error', () => {})
      socket.write('GET / HTTP/1.1\r\nHost: app.localhost\r\n')
      const timer = setInterval(() => socket.write('X'), 50)
      const closed = new Promise<string>((resolve) => socket.on('close', () => (clearInterval(timer), resolve(text))))
      return { socket, closed }
    }
    const drips = Array.from({ length: 100 }, () => drip(edge))
    expect((await get(edge.port, '/')).status).toBe(200)
    for (const { closed } of drips) expect(await closed).toMatch(/^HTTP\/1\.1 408 /)
    // Where they may go on for ten seconds, the answer to somebody else is there while all of them are.
    const others = Array.from({ length: 100 }, () => drip(patient))
    const took = await spent(async () => expect((await get(patient.port, '/')).status).toBe(200))
    expect(took).toBeLessThan(500)
    expect(others.filter(({ socket }) => socket.closed)).toEqual([])
    for (const { socket } of others) socket.destroy()
  })

  // The plain path leaves it open as long as one between two requests.
  if (!fast_path)
    test('a connection on which nothing comes is closed without a word', async () => {
      const socket = connect({ host: '127.0.0.1', port: edge.port })
      let text = ''
      socket.on('data', (bytes) => (text += bytes.toString()))
      await new Promise((resolve) => socket.on('close', resolve))
      expect(text).toBe('')
    })

  test('R29: a body that drips is answered 408', async () => {
    await rawApp((socket) => socket.on('data', () => {}))
    const socket = connect({ host: '127.0.0.1', port: edge.port })
    let text = ''
    socket.on('data', (bytes) => (text += bytes.toString()))
    socket.on('error', () => {})
    socket.write('POST / HTTP/1.1\r\nHost: app.localhost\r\nContent-Length: 1000000\r\n\r\n')
    const timer = setInterval(() => socket.write('x'), 50)
    await until(() => socket.closed)
    clearInterval(timer)
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('the log names a failure by its request id and nothing of its content', async () => {
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
