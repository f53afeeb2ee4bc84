import { createHash } from 'node:crypto'
import { request, type IncomingMessage, type Server } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { get, paths, startApp, startEdge, startRawApp, until, type Listening, type TestEdge } from '../support/edge.ts'

/** Far more than all buffers between the app and a client that does not read. */
const dripped = 9_000 * 4000
let written = 0

describe.each(paths)('streams, $name', ({ fast_path }) => {
  let edge: TestEdge
  let app: Listening<Server>
  let sockets: WebSocketServer

  beforeAll(async () => {
    edge = await startEdge({ fast_path })
    app = await startApp((asked, answer) => {
      if (asked.url === '/events') {
        answer.writeHead(200, { 'content-type': 'text/event-stream' })
        const timer = setInterval(() => answer.write(`data: ${performance.timeOrigin + performance.now()}\n\n`), 20)
        answer.on('close', () => clearInterval(timer))
        return
      }
      if (asked.url === '/silent') {
        answer.writeHead(200, { 'content-type': 'text/event-stream' })
        answer.flushHeaders()
        return
      }
      if (asked.url?.startsWith('/drips')) {
        if (asked.url.endsWith('length')) answer.setHeader('content-length', dripped)
        const bytes = Buffer.alloc(9_000, 'd')
        let count = 0
        const next = (): void => {
          if (count === dripped / 9_000) return void answer.end()
          written = ++count
          // One small packet at a time: what waits for the client at the edge is then little, under any mark.
          answer.write(bytes, () => setImmediate(next))
        }
        return next()
      }
      if (asked.url === '/flood') {
        answer.writeHead(200)
        const bytes = Buffer.alloc(64 * 1024, 'f')
        let count = 0
        const next = (): void => {
          while (count++ < 1600) if (!answer.write(bytes)) return void answer.once('drain', next)
          answer.end()
        }
        return next()
      }
      const hash = createHash('sha256')
      let size = 0
      asked.on('data', (bytes: Buffer) => {
        size += bytes.length
        hash.update(bytes)
      })
      asked.on('end', () => answer.end(`${size} ${hash.digest('hex')}`))
    })
    sockets = new WebSocketServer({ server: app.server, handleProtocols: (offered) => [...offered][0] ?? false, perMessageDeflate: true })
    sockets.on('connection', (socket, asked) => {
      if (asked.url === '/close') return socket.close(4321, 'as told')
      socket.on('message', (data, binary) => socket.send(data, { binary }))
      socket.on('error', () => {})
    })
    await edge.toPort(app.port)
  })
  afterAll(async () => {
    sockets.close()
    await edge.close()
    await app.close()
  })

  const stream = (path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port: edge.port, path, agent: false, headers: { host: 'app.localhost' } }, resolve)
      asked.on('error', reject)
      asked.end()
    })

  test('an event arrives when it is sent', async () => {
    const answer = await stream('/events')
    const delays: number[] = []
    for await (const part of answer) {
      delays.push(performance.timeOrigin + performance.now() - Number(/data: (\S+)/.exec(String(part))?.[1]))
      if (delays.length === 20) break
    }
    // Two processes' worth of work run in this one; the median says what the edge adds.
    expect(delays.toSorted((a, b) => a - b)[10]).toBeLessThan(20)
  })

  test('the head of a silent stream arrives at once', async () => {
    const answer = await stream('/silent')
    expect(answer.headers['content-type']).toBe('text/event-stream')
    answer.destroy()
  })

  test('a client that does not read holds up its app and nobody else, in little memory', async () => {
    const before = process.memoryUsage().rss
    const stalled = Array.from({ length: 8 }, () => {
      const socket = connect({ host: '127.0.0.1', port: edge.port })
      socket.write('GET /flood HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
      return socket.pause()
    })
    const whole = await get(edge.port, '/flood')
    expect(whole.body.length).toBe(1600 * 64 * 1024)
    // 8 x 100 MB wait; what is held is a buffer or so each, on top of the 200 MB of the one that we took whole here.
    expect(process.memoryUsage().rss - before).toBeLessThan(450 * 1024 * 1024)
    for (const socket of stalled) socket.destroy()
  })

  test.each(['/drips?length', '/drips'])('a client that pauses gets all of %s in the end', async (path) => {
    for (let round = 0; round < 5; round++) {
      const answer = await stream(path)
      // Until nothing more fits anywhere on the way.
      let before = -1
      await until(() => {
        const still = written === before && answer.readableLength > 0
        before = written
        return still
      })
      let size = 0
      for await (const part of answer) {
        size += (part as Buffer).length
        if (size % 7 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      expect(size).toBe(dripped)
    }
  })

  test.each([
    ['with a length', false],
    ['in chunks', true],
  ])('an upload of 1 GB %s arrives whole, memory stays flat', { timeout: 60_000 }, async (_name, chunked) => {
    const part = Buffer.alloc(1024 * 1024, 'upload')
    const hash = createHash('sha256')
    const asked = request({
      host: '127.0.0.1',
      port: edge.port,
      path: '/upload',
      method: 'POST',
      agent: false,
      headers: { host: 'app.localhost', ...(chunked ? {} : { 'content-length': String(1024 * part.length) }) },
    })
    const answered = new Promise<IncomingMessage>((resolve, reject) => asked.once('response', resolve).once('error', reject))
    let most = 0
    const before = process.memoryUsage().rss
    for (let i = 0; i < 1024; i++) {
      hash.update(part)
      if (!asked.write(part)) await new Promise((resolve) => asked.once('drain', resolve))
      most = Math.max(most, process.memoryUsage().rss)
    }
    asked.end()
    let text = ''
    for await (const bytes of await answered) text += String(bytes)
    expect(text).toBe(`${1024 * part.length} ${hash.digest('hex')}`)
    expect(most - before).toBeLessThan(200 * 1024 * 1024)
  })

  describe('WebSockets', () => {
    const open = (path: string, protocols: string[] = []): Promise<WebSocket> =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`ws://127.0.0.1:${edge.port}${path}`, protocols, { headers: { host: 'app.localhost' } })
        socket.once('open', () => resolve(socket)).once('error', reject)
      })

    test('messages of any size go both ways', async () => {
      const socket = await open('/', ['chat'])
      expect(socket.protocol).toBe('chat')
      for (const size of [0, 1, 125, 126, 65_536, 3_000_000]) {
        const sent = Buffer.alloc(size, 'w')
        socket.send(sent)
        const got = await new Promise<Buffer>((resolve) => socket.once('message', (data) => resolve(data as Buffer)))
        expect(got.equals(sent)).toBe(true)
      }
      socket.terminate()
    })

    test('the app’s close code comes through', async () => {
      const socket = await open('/close')
      const [code, reason] = await new Promise<[number, string]>((resolve) => socket.once('close', (was, why) => resolve([was, why.toString()])))
      expect([code, reason]).toEqual([4321, 'as told'])
    })

    test('the client’s close code goes through', async () => {
      const told = new Promise<number>((resolve) => sockets.once('connection', (socket) => socket.once('close', resolve)))
      const socket = await open('/')
      socket.close(3999, 'bye')
      expect(await told).toBe(3999)
    })

    test('a client that vanishes is told to the app', async () => {
      const told = new Promise<number>((resolve) => sockets.once('connection', (socket) => socket.once('close', resolve)))
      const socket = await open('/')
      socket.terminate()
      expect(await told).toBe(1006)
    })

    test('an app that declines answers as it likes', async () => {
      const declining = await startApp((_asked, answer) => answer.writeHead(401, { 'x-why': 'no' }).end('sign in first'))
      await edge.toPort(declining.port, 'declining.localhost')
      const asked = request({
        host: '127.0.0.1',
        port: edge.port,
        agent: false,
        headers: {
          host: 'declining.localhost',
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-key': 'x'.repeat(22) + '==',
          'sec-websocket-version': '13',
        },
      })
      asked.end()
      const answer = await new Promise<IncomingMessage>((resolve, reject) => asked.once('response', resolve).once('error', reject))
      let text = ''
      for await (const part of answer) text += String(part)
      expect([answer.statusCode, answer.headers['x-why'], text]).toEqual([401, 'no', 'sign in first'])
      await declining.close()
    })

    test('half-closed ends: what the other side still says arrives', async () => {
      const raw = await startRawApp((socket) => {
        socket.once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'))
        socket.on('end', () => {})
      })
      raw.server.removeAllListeners('connection')
      raw.server.on('connection', (socket) => {
        raw.sockets.add(socket)
        socket.on('close', () => raw.sockets.delete(socket))
        socket.allowHalfOpen = true
        socket.once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst,'))
        socket.on('end', () => socket.end('last'))
      })
      await edge.toPort(raw.port, 'half.localhost')
      const client = connect({ host: '127.0.0.1', port: edge.port, allowHalfOpen: true })
      let text = ''
      client.on('data', (part) => (text += part.toString()))
      client.write('GET / HTTP/1.1\r\nHost: half.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
      await until(() => text.includes('first,'))
      client.end()
      await until(() => client.closed)
      expect(text).toMatch(/first,last$/)
      await raw.close()
    })

    test('an upgrade to a name without an app is answered with its page', async () => {
      const asked = request({
        host: '127.0.0.1',
        port: edge.port,
        agent: false,
        headers: { host: 'nobody.localhost', connection: 'Upgrade', upgrade: 'websocket' },
      })
      asked.end()
      const answer = await new Promise<IncomingMessage>((resolve, reject) => asked.once('response', resolve).once('error', reject))
      answer.resume()
      expect(answer.statusCode).toBe(404)
    })
  })
})
