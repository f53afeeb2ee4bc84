import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { waitEventLoopTurns } from '../support/seeded-random.ts'
import { collectResponse, get, edgePaths, startApp, startEdge, startRawApp, type ListeningServer, type TestEdge } from '../support/edge.ts'
import { until } from '../support/until.ts'
import { isFullTier } from '../support/tier.ts'
import { longEdgeTest } from '../support/full-test.ts'

/** Far more than all buffers between the app and a client that does not read. */
const dripped = 9_000 * 2_000
const flood = 128 * 2 ** 20
/** The maximum that the kernel and the edge may buffer of a stream: sockets on both sides of the edge have tens of megabytes. */
const buffers = flood * 0.75

/** Waits until a count has not grown for a while, because every buffer is full. */
async function stalled(count: () => number): Promise<void> {
  let before = -1
  let same = 0
  const look = () => {
    same = count() > 0 && count() === before ? same + 1 : 0
    before = count()
    return same === 5 || undefined
  }
  await until(look, { what: 'the stream to be held up' })
}

describe.each(edgePaths)('streams, $name', ({ fast_path }) => {
  let edge: TestEdge
  let app: ListeningServer<Server>
  let sockets: WebSocketServer
  let events: ServerResponse | undefined
  let upload: IncomingMessage | undefined
  let written = 0
  /** By connection. */
  const flooded: number[] = []

  beforeAll(async () => {
    edge = await startEdge({ fast_path })
    app = await startApp((req, response) => {
      if (req.url === '/events') return (events = response.writeHead(200, { 'content-type': 'text/event-stream' })).flushHeaders()
      if (req.url?.startsWith('/drips')) {
        if (req.url.endsWith('length')) response.setHeader('content-length', dripped)
        const bytes = Buffer.alloc(9_000, 'd')
        written = 0
        const next = (): void => {
          if (written === dripped / 9_000) return void response.end()
          written++
          // One small packet at a time, so that the edge buffers little for the client, below every high-water mark.
          response.write(bytes, () => setImmediate(next))
        }
        return next()
      }
      if (req.url === '/flood') {
        const bytes = Buffer.alloc(64 * 1024, 'f')
        const at = flooded.push(0) - 1
        const next = (): void => {
          while ((flooded[at] ?? 0) < flood) {
            flooded[at]! += bytes.length
            if (!response.write(bytes)) return void response.once('drain', next)
          }
          response.end()
        }
        return next()
      }
      upload = req
      const hash = createHash('sha256')
      req.on('data', (bytes: Buffer) => hash.update(bytes)).pause()
      req.on('end', () => response.end(hash.digest('hex')))
    })
    sockets = new WebSocketServer({ server: app.server, handleProtocols: (offered) => [...offered][0] ?? false, perMessageDeflate: true })
    sockets.on('connection', (socket, req) => {
      if (req.url === '/close') return socket.close(4321, 'as told')
      socket.on('message', (data, binary) => socket.send(data, { binary }))
      socket.on('error', () => {})
    })
    await edge.routeToPort(app.port)
  })
  afterAll(async () => {
    sockets.close()
    await edge.close()
    await app.close()
  })

  const openRequest = (options: { path?: string; method?: string; headers?: Record<string, string> }) =>
    request({ host: '127.0.0.1', port: edge.port, agent: false, ...options, headers: { host: 'app.localhost', ...options.headers } })
  const stream = async (path: string): Promise<IncomingMessage> => {
    const req = openRequest({ path }).end()
    const [response] = (await once(req, 'response')) as [IncomingMessage]
    return response
  }

  test('the headers of a stream arrive at once, and each event before the next is sent', async () => {
    const response = await stream('/events')
    expect(response.headers['content-type']).toBe('text/event-stream')
    for (let i = 0; i < 20; i++) {
      const arrived = once(response, 'data')
      events?.write(`data: ${i}\n\n`)
      expect(String(await arrived)).toBe(`data: ${i}\n\n`)
    }
    response.destroy()
  })

  longEdgeTest(fast_path)('clients that do not read slow down only their app, in little memory', async () => {
    const clients = Array.from({ length: 8 }, () => {
      const socket = connect({ host: '127.0.0.1', port: edge.port })
      socket.write('GET /flood HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
      return socket.pause()
    })
    await until(() => flooded.length === 8 || undefined, { what: 'the requests at the app' })
    expect((await get(edge.port, '/flood')).body.length).toBe(flood)
    // By the time that the ninth has everything, the others would have it too, if they were not held up.
    for (const bytes of flooded.splice(0).slice(0, 8)) expect(bytes).toBeLessThan(buffers)
    for (const socket of clients) socket.destroy()
  })

  test.each(fast_path || isFullTier ? ['/drips?length', '/drips'] : ['/drips'])('a client that pauses gets all of %s in the end', async (path) => {
    const response = await stream(path)
    await stalled(() => written)
    let size = 0
    for await (const part of response) {
      size += (part as Buffer).length
      if (size % 7 === 0) await waitEventLoopTurns(1)
    }
    expect(size).toBe(dripped)
  })

  const uploads: [string, Record<string, string>][] = [
    ['with a length', { 'content-length': String(flood) }],
    ['in chunks', {}],
  ]
  test.each(isFullTier ? uploads : uploads.slice(fast_path ? 0 : 1, fast_path ? 1 : 2))(
    'an upload %s waits for an app that does not read, and arrives complete',
    async (_name, headers) => {
      const part = Buffer.alloc(2 ** 20, 'upload')
      const hash = createHash('sha256')
      const req = openRequest({ method: 'POST', headers })
      let sent = 0
      const send = async () => {
        while (sent < flood) {
          hash.update(part)
          sent += part.length
          if (!req.write(part)) await once(req, 'drain')
        }
        req.end()
      }
      const sending = send()
      await stalled(() => sent)
      expect(sent).toBeLessThan(buffers)
      upload?.resume()
      await sending
      const [response] = (await once(req, 'response')) as [IncomingMessage]
      expect((await collectResponse(response)).text).toBe(hash.digest('hex'))
    },
  )

  describe('WebSockets', () => {
    const open = (path: string, protocols: string[] = []): Promise<WebSocket> =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`ws://127.0.0.1:${edge.port}${path}`, protocols, { headers: { host: 'app.localhost' } })
        socket.once('open', () => resolve(socket)).once('error', reject)
      })

    test('messages of any size pass both ways', async () => {
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

    test('the app’s close code arrives at the client', async () => {
      const socket = await open('/close')
      const [code, reason] = await new Promise<[number, string]>((resolve) => socket.once('close', (was, why) => resolve([was, why.toString()])))
      expect([code, reason]).toEqual([4321, 'as told'])
    })

    test('the client’s close code arrives at the app', async () => {
      const closed = new Promise<number>((resolve) => sockets.once('connection', (socket) => socket.once('close', resolve)))
      const socket = await open('/')
      socket.close(3999, 'bye')
      expect(await closed).toBe(3999)
    })

    test('the app is told when a client vanishes', async () => {
      const closed = new Promise<number>((resolve) => sockets.once('connection', (socket) => socket.once('close', resolve)))
      const socket = await open('/')
      socket.terminate()
      expect(await closed).toBe(1006)
    })

    test('an app may refuse with any response', async () => {
      const declining = await startApp((_asked, response) => response.writeHead(401, { 'x-why': 'no' }).end('sign in first'))
      await edge.routeToPort(declining.port, 'declining.localhost')
      const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': `${'x'.repeat(22)}==`, 'sec-websocket-version': '13' }
      const req = openRequest({ headers: { host: 'declining.localhost', ...headers } }).end()
      const [response] = (await once(req, 'response')) as [IncomingMessage]
      const got = await collectResponse(response)
      expect([got.status, got.headers['x-why'], got.text]).toEqual([401, 'no', 'sign in first'])
      await declining.close()
    })

    test('half-closed: what the other side still sends arrives', async () => {
      const raw = await startRawApp((socket) => {
        socket.allowHalfOpen = true
        socket.once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst,'))
        socket.on('end', () => socket.end('last'))
      })
      await edge.routeToPort(raw.port, 'half.localhost')
      const client = connect({ host: '127.0.0.1', port: edge.port, allowHalfOpen: true })
      let text = ''
      client.on('data', (part) => (text += part.toString()))
      client.write('GET / HTTP/1.1\r\nHost: half.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
      await until(() => text.includes('first,') || undefined, { what: 'the first message' })
      client.end()
      await once(client, 'close')
      expect(text).toMatch(/first,last$/)
      await raw.close()
    })

    test('an upgrade for a host without an app gets its page', async () => {
      const req = openRequest({ headers: { host: 'unknown.localhost', connection: 'Upgrade', upgrade: 'websocket' } }).end()
      const [response] = (await once(req, 'response')) as [IncomingMessage]
      response.resume()
      expect(response.statusCode).toBe(404)
    })
  })
})
