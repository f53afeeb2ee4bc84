import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { routeOwner } from '../support/edge.ts'
import { startSecureEdge, type SecureEdge } from '../support/secure-edge.ts'
import { createSeededRandom, type SeededRandom, waitEventLoopTurns } from '../support/seeded-random.ts'
import { type Http2Client, openHttp2 } from '../support/tls.ts'
import { isFullTier } from '../support/tier.ts'
import { longEdgeTest } from '../support/full-test.ts'

const messages = isFullTier ? 1_000 : 300
const seed = Number(process.env.HOMEPORT_TEST_SEED ?? 20_261_124)

/** Texts in order, most of them as small as those of a development server, some larger than all buffers in between. */
function createTexts(random: SeededRandom): string[] {
  const fill = 'x'.repeat(200_000)
  return Array.from(
    { length: messages },
    (_, index) => `${index} ${fill.slice(0, random.chance(0.01) ? random.between(20_000, 200_000) : random.between(0, 120))}`,
  )
}

/** Sends texts in bursts, so that some share a packet and others do not. */
async function sendAll(socket: WebSocket, texts: readonly string[], random: SeededRandom): Promise<void> {
  for (const text of texts) {
    socket.send(text)
    if (random.chance(0.3)) await waitEventLoopTurns(random.between(1, 4))
  }
}

/** The first message that is missing or out of order. */
function findDifference(received: readonly string[], sent: readonly string[]): string | null {
  const index = sent.findIndex((text, at) => received[at] !== text)
  return index < 0 ? null : `message ${index} of ${sent.length}: ${received[index]?.slice(0, 20) ?? 'missing'}`
}

/** Collects the messages of a socket; a slow reader pauses repeatedly. */
function collect(socket: WebSocket, random: SeededRandom | null): string[] {
  const received: string[] = []
  socket.on('message', (bytes: Buffer) => {
    received.push(bytes.toString())
    if (!random?.chance(0.05)) return
    socket.pause()
    void waitEventLoopTurns(random.between(1, 50)).then(() => socket.resume())
  })
  return received
}

/** The library has no types for a socket on a stream. */
type StreamSocket = new (
  address: null,
  protocols: undefined,
  options: object,
) => WebSocket & { setSocket(stream: Duplex, head: Buffer, options: object): void }

/** WebSockets over HTTPS: on streams of one HTTP/2 connection to an app, and on separate connections to a development server. */
describe.each(['upstream', 'development'] as const)('messages to the %s route', (kind) => {
  let secureEdge: SecureEdge
  let client: Http2Client
  let app: Server
  const sockets = new WebSocketServer({ noServer: true })
  /** The app's behavior per path. */
  const onSocket = new Map<string, (socket: WebSocket) => void>()
  const onStream = new Map<string, (stream: Duplex) => void>()

  beforeAll(async () => {
    secureEdge = await startSecureEdge()
    app = createServer().listen(0, '127.0.0.1')
    await once(app, 'listening')
    app.on('upgrade', (request, stream, head) => {
      const raw = onStream.get(request.url ?? '')
      if (!raw) return sockets.handleUpgrade(request, stream, head, (socket) => onSocket.get(request.url ?? '')?.(socket))
      stream.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n')
      raw(stream)
    })
    const { port } = app.address() as AddressInfo
    if (kind === 'upstream') await secureEdge.edge.routeToPort(port)
    else secureEdge.edge.edge.setDevelopmentRoute('app.localhost', { ...routeOwner, kind, host: '127.0.0.1', port, host_header: 'localhost' })
    client = await openHttp2(secureEdge.port, { ca: secureEdge.ca })
    if (client.session.remoteSettings.enableConnectProtocol === undefined) await once(client.session, 'remoteSettings')
  })
  afterAll(async () => {
    client.session.destroy()
    await secureEdge.close()
    app.closeAllConnections()
    app.close()
  })

  /** A stream to the app after its 101: on the HTTP/2 connection, or a separate connection. */
  const openStream = async (path: string): Promise<Duplex> => {
    const authority = `app.localhost:${secureEdge.port}`
    if (kind === 'development') {
      const socket = connect({ host: '127.0.0.1', port: secureEdge.port, ca: secureEdge.ca, servername: 'app.localhost' })
      const lines = [
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Sec-WebSocket-Version: 13',
        `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
      ]
      socket.write([`GET ${path} HTTP/1.1`, `Host: ${authority}`, ...lines, '', ''].join('\r\n'))
      let head = ''
      while (!head.endsWith('\r\n\r\n')) {
        const byte = socket.read(1) as Buffer | null
        if (byte) head += byte.toString('latin1')
        else await once(socket, 'readable')
      }
      expect(head).toContain('HTTP/1.1 101')
      return socket
    }
    const stream = client.session.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'https',
      ':path': path,
      ':authority': authority,
      'sec-websocket-version': '13',
    })
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
    expect(head[':status']).toBe(200)
    return stream
  }

  /** A WebSocket of the library on such a stream. */
  const open = async (path: string): Promise<WebSocket> => {
    const stream = await openStream(path)
    const socket = new (WebSocket as unknown as StreamSocket)(null, undefined, { autoPong: true, closeTimeout: 30_000 })
    Object.assign(socket, { _isServer: false })
    socket.setSocket(stream, Buffer.alloc(0), { maxPayload: 2 ** 20 })
    return socket
  }

  test(`${messages} messages on each of 8 sockets arrive in order in both directions, before either side ends`, async () => {
    const run = async (number: number): Promise<void> => {
      const random = createSeededRandom(seed + number)
      const [toApp, toClient] = [createTexts(random), createTexts(random)]
      const isSlow = number % 2 === 0
      const path = `/socket-${number}`
      const atApp = Promise.withResolvers<string[]>()
      // The app closes the first sockets right after its last message, the client the others.
      const talk = async (socket: WebSocket, texts: string[], closes: boolean): Promise<string[]> => {
        const received = collect(socket, isSlow ? random : null)
        const closed = once(socket, 'close')
        const hasAll = new Promise<void>((resolve) => socket.on('message', () => received.length === messages && resolve()))
        await sendAll(socket, texts, random)
        if (closes) void hasAll.then(() => socket.close())
        await closed
        return received
      }
      onSocket.set(path, (socket) => void talk(socket, toClient, number < 4).then(atApp.resolve))
      const received = await talk(await open(path), toApp, number >= 4)
      expect([findDifference(received, toClient), findDifference(await atApp.promise, toApp)]).toEqual([null, null])
    }
    await Promise.all(Array.from({ length: 8 }, (_, number) => run(number)))
  })

  test('an app that sends everything and closes is read to the last byte, even by a client that closed first', async () => {
    const random = createSeededRandom(seed)
    const text = createTexts(random).join('\n')
    const heard = Promise.withResolvers<string>()
    onStream.set('/half', (stream) => {
      let all = ''
      stream.on('data', (bytes: Buffer) => (all += bytes.toString()))
      stream.on('end', () => {
        heard.resolve(all)
        stream.end(text)
      })
    })
    const stream = await openStream('/half')
    stream.end(text)
    let received = ''
    stream.on('data', (bytes: Buffer) => (received += bytes.toString()))
    await once(stream, 'close')
    expect([(await heard.promise) === text, received === text]).toEqual([true, true])
  })

  longEdgeTest(kind === 'upstream')('backpressure: a client that does not read pauses the app, and gets everything once it reads', async () => {
    let written = 0
    const part = Buffer.alloc(65_536, 'p')
    onStream.set('/slow', (stream) => {
      const write = () => {
        while (written < 2_000) {
          written++
          if (!stream.write(part)) return void stream.once('drain', write)
        }
        stream.end()
      }
      write()
    })
    const stream = await openStream('/slow')
    let before = -1
    // The app has paused when nothing was written for some turns.
    while (before !== written) {
      before = written
      await waitEventLoopTurns(2_000)
    }
    expect(written).toBeLessThan(2_000)
    let bytes = 0
    stream.on('data', (chunk: Buffer) => (bytes += chunk.length))
    await once(stream, 'end')
    expect(bytes).toBe(2_000 * part.length)
    stream.destroy()
  })

  test('only the other hostnames offer WebSockets on streams; an earlier connection ends with its streams', async () => {
    expect(client.session.remoteSettings.enableConnectProtocol).toBe(kind === 'upstream')
    if (kind === 'development') return
    const { port } = app.address() as AddressInfo
    secureEdge.edge.edge.setDevelopmentRoute('app.localhost', {
      ...routeOwner,
      kind: 'development',
      host: '127.0.0.1',
      port,
      host_header: 'localhost',
    })
    const before = await openHttp2(secureEdge.port, { ca: secureEdge.ca })
    expect(before.session.remoteSettings.enableConnectProtocol).not.toBe(true)
    const ended = once(client.session, 'goaway')
    app.once('request', (_request, response) => response.end('served'))
    expect((await client.get('/')).body.toString()).toBe('served')
    await ended
    before.session.destroy()
    secureEdge.edge.edge.removeDevelopmentRoute('app.localhost')
  })
})
