import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSecureEdge, type SecureEdge } from '../support/secure-edge.ts'
import { openHttp2, type Http2Client } from '../support/tls.ts'
import { until } from '../support/until.ts'

/** RFC 8441: a WebSocket on a stream of an HTTP/2 connection, as browsers open it. */
describe('WebSockets over HTTP/2', () => {
  let secureEdge: SecureEdge
  let client: Http2Client
  const upgrades: { headers: Record<string, unknown>; socket: Socket }[] = []

  beforeAll(async () => {
    secureEdge = await startSecureEdge()
    secureEdge.app.server.on('upgrade', (request, stream) => {
      const socket = stream as Socket
      upgrades.push({ headers: request.headers, socket })
      if (request.url === '/refused') return void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno')
      const accept = 'Sec-WebSocket-Accept: whatever\r\nSec-WebSocket-Protocol: echo\r\n'
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${accept}\r\n`)
      socket.pipe(socket)
    })
    client = await openHttp2(secureEdge.port, { ca: secureEdge.ca })
    if (!client.session.remoteSettings.enableConnectProtocol) await once(client.session, 'remoteSettings')
  })
  afterAll(async () => {
    await client.close()
    await secureEdge.close()
  })

  const open = (path: string) => {
    const stream = client.session.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'https',
      ':path': path,
      ':authority': `app.localhost:${secureEdge.port}`,
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'echo',
    })
    let text = ''
    stream.on('data', (bytes: Buffer) => (text += bytes.toString()))
    return { stream, received: () => text }
  }

  test('the app sees an HTTP/1.1 upgrade, and bytes pass both ways while other streams are served', async () => {
    const { stream, received } = open('/chat')
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
    expect(head).toMatchObject({ ':status': 200, 'sec-websocket-protocol': 'echo' })
    expect(Object.keys(head)).not.toContain('sec-websocket-accept')
    expect(upgrades.at(-1)?.headers).toMatchObject({
      host: `app.localhost:${secureEdge.port}`,
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-key': expect.stringMatching(/^.{24}$/),
      'sec-websocket-version': '13',
      'x-forwarded-proto': 'https',
    })
    stream.write('hello')
    await until(() => (received() === 'hello' ? true : undefined), { what: 'the echo' })
    expect((await client.get('/')).status).toBe(200)
    const large = 'x'.repeat(3_000_000)
    stream.write(large)
    await until(() => (received().length === 5 + large.length ? true : undefined), { what: 'all of it' })
    stream.end()
    await once(stream, 'close')
    expect(stream.rstCode).toBe(0)
  })

  test('closing either side closes the other', async () => {
    const first = open('/chat')
    await once(first.stream, 'response')
    upgrades.at(-1)?.socket.end()
    await once(first.stream, 'end')
    first.stream.end()
    await once(first.stream, 'close')
    const second = open('/chat')
    await once(second.stream, 'response')
    const closed = once(upgrades.at(-1)!.socket, 'close')
    second.stream.close(8)
    await closed
  })

  test('a refusal of the app becomes the response', async () => {
    const { stream, received } = open('/refused')
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
    await once(stream, 'end')
    expect([head[':status'], received()]).toEqual([403, 'no'])
    stream.close()
  })

  test('CONNECT for another protocol is not supported', async () => {
    const stream = client.session.request({ ':method': 'CONNECT', ':authority': 'example.org:443' })
    stream.resume()
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
    expect(head[':status']).toBeGreaterThanOrEqual(400)
    stream.close()
  })
})
