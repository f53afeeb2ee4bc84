import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Server } from 'node:http'
import { get, edgePaths, sendRaw, startApp, startEdge, startRawApp, type ListeningServer, type TestEdge } from '../support/edge.ts'

const host = 'Host: app.localhost\r\n'
const inner = `GET /smuggled HTTP/1.1\r\n${host}\r\n`

/** Refused with 400 before anything reaches the app. */
const malformed: [name: string, bytes: string][] = [
  ['Content-Length before Transfer-Encoding', `POST /a HTTP/1.1\r\n${host}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`],
  ['Transfer-Encoding before Content-Length', `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nContent-Length: 60\r\n\r\n0\r\n\r\n${inner}`],
  ['two lengths', `POST /a HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 40\r\n\r\n${inner}`],
  ['two equal Content-Lengths', `POST /a HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`],
  ['a list of Content-Lengths', `POST /a HTTP/1.1\r\n${host}Content-Length: 0, 40\r\n\r\n${inner}`],
  ['a signed length', `POST /a HTTP/1.1\r\n${host}Content-Length: +5\r\n\r\nhello`],
  ['a negative length', `POST /a HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n${inner}`],
  ['a hexadecimal length', `POST /a HTTP/1.1\r\n${host}Content-Length: 0x5\r\n\r\nhello`],
  ['a Content-Length too large for a number', `POST /a HTTP/1.1\r\n${host}Content-Length: 99999999999999999999999\r\n\r\n${inner}`],
  ['a space before the colon of the length', `POST /a HTTP/1.1\r\n${host}Content-Length : 40\r\n\r\n${inner}`],
  ['another coding', `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${inner}`],
  ['an unknown coding', `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`],
  ['chunked twice', `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`],
  ['identity after chunked', `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${inner}`],
  ['a quoted coding', `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n${inner}`],
  ['a coding after a vertical tab', `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${inner}`],
  ['a coding on a folded line', `POST /a HTTP/1.1\r\n${host}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${inner}`],
  ['chunks in HTTP/1.0', `POST /a HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`],
  ['a folded header', `GET /a HTTP/1.1\r\n${host}X-A: b\r\n Content-Length: 40\r\n\r\n${inner}`],
  ['a fold right after the request line', `GET /a HTTP/1.1\r\n X-A: b\r\n${host}\r\n`],
  ['bare line feeds', `GET /a HTTP/1.1\nHost: app.localhost\n\n${inner}`],
  ['a bare carriage return in a value', `GET /a HTTP/1.1\r\n${host}X-A: b\rContent-Length: 40\r\n\r\n${inner}`],
  ['a NUL in a value', `GET /a HTTP/1.1\r\n${host}X-A: b\0c\r\n\r\n`],
  ['a NUL in a name', `GET /a HTTP/1.1\r\n${host}X\0A: b\r\n\r\n`],
  ['a header without a name', `GET /a HTTP/1.1\r\n${host}: b\r\n\r\n`],
  ['a header without a colon', `GET /a HTTP/1.1\r\n${host}Content-Length\r\n\r\n`],
  ['two hosts', `GET /a HTTP/1.1\r\n${host}Host: other.localhost\r\n\r\n`],
  ['no host', 'GET /a HTTP/1.1\r\nX-A: b\r\n\r\n'],
  ['an empty host', 'GET /a HTTP/1.1\r\nHost: \r\n\r\n'],
  ['a host with user info', 'GET /a HTTP/1.1\r\nHost: app.localhost@other.localhost\r\n\r\n'],
  ['a host with a path', 'GET /a HTTP/1.1\r\nHost: app.localhost/x\r\n\r\n'],
  ['the absolute form', `GET http://app.localhost/a HTTP/1.1\r\n${host}\r\n`],
  ['another host in the absolute form', `GET http://evil.localhost/a HTTP/1.1\r\n${host}\r\n`],
  ['a target without a slash', `GET a HTTP/1.1\r\n${host}\r\n`],
  ['the asterisk form', `OPTIONS * HTTP/1.1\r\n${host}\r\n`],
  ['a space in the target', `GET /a b HTTP/1.1\r\n${host}\r\n`],
  ['a second version in the request line', `GET /a HTTP/1.1 HTTP/1.1\r\n${host}\r\n`],
  ['HTTP/0.9', 'GET /a\r\n\r\n'],
  ['HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['HTTP/1.2', `GET /a HTTP/1.2\r\n${host}\r\n`],
  ['an unknown method', `SMUGGLE /a HTTP/1.1\r\n${host}\r\n`],
  ['a method in lower case', `get /a HTTP/1.1\r\n${host}\r\n`],
  ['TLS on the plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
]
/** Must not become two requests either, nor a different one. `at_most`: how many may reach the app. */
type Case = [name: string, bytes: string, at_most: number, status?: number]
const others: Case[] = [
  ['CONNECT', 'CONNECT app.localhost:80 HTTP/1.1\r\nHost: app.localhost:80\r\n\r\n', 0, 405],
  ['TRACE', `TRACE /a HTTP/1.1\r\n${host}\r\n`, 0, 405],
  ['more than 100 headers', `GET /a HTTP/1.1\r\n${host}${Array.from({ length: 101 }, (_, i) => `X-${i}: y\r\n`).join('')}\r\n`, 0, 431],
  ['a Content-Length after 3000 headers', `POST /a HTTP/1.1\r\n${host}${'A:b\r\n'.repeat(3000)}Content-Length: 40\r\n\r\n${inner}`, 0, 431],
  ['headers of 20 kB', `GET /a HTTP/1.1\r\n${host}X-A: ${'y'.repeat(20_000)}\r\n\r\n`, 0, 431],
  ['a broken chunk size', `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n${inner}`, 1, 400],
  [
    'a chunk size too large for a number',
    `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc\r\n0\r\n\r\n${inner}`,
    1,
    400,
  ],
  ['a chunk longer than its size', `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n${inner}`, 1, 400],
  [
    'a chunk extension that ends in a bare line feed',
    `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3;x\nabc\r\n0\r\n\r\n${inner}`,
    1,
    400,
  ],
  ['a request in the body of a GET', `GET /a HTTP/1.1\r\n${host}Content-Length: ${inner.length}\r\nConnection: close\r\n\r\n${inner}`, 1, 200],
  [
    'an upgrade to h2c',
    `GET /a HTTP/1.1\r\n${host}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    1,
    200,
  ],
  [
    'an upgrade with a body',
    `POST /a HTTP/1.1\r\n${host}Connection: Upgrade, close\r\nUpgrade: websocket\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    1,
    200,
  ],
]

/** Sends the second only after the response to the first. */
async function rawInTurn(port: number, first: string, answered: RegExp, second: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port })
  let text = ''
  let sent = false
  socket.on('data', (part) => {
    text += part.toString()
    if (!sent && answered.test(text)) {
      sent = true
      socket.write(second)
    }
  })
  socket.write(first)
  await new Promise((resolve) => socket.on('close', resolve))
  return text
}

describe.each(edgePaths)('smuggling, $name', ({ fast_path }) => {
  let edge: TestEdge
  let app: ListeningServer<Server>
  let seen: string[] = []

  beforeAll(async () => {
    edge = await startEdge({ fast_path })
    app = await startApp((req, response) => {
      seen.push(`${req.method} ${req.url} ${req.headers.upgrade ?? ''}`)
      req.resume().on('end', () => response.end('fine'))
      req.on('error', () => {})
    })
    await edge.routeToPort(app.port)
  })
  beforeEach(() => {
    seen = []
  })
  afterAll(async () => {
    await edge.close()
    await app.close()
  })

  test.each<Case>([...malformed.map(([name, bytes]): Case => [name, bytes, 0, 400]), ...others])('%s', async (_name, bytes, at_most, status) => {
    const { text } = await sendRaw(edge.port, bytes)
    expect(seen.length).toBeLessThanOrEqual(at_most)
    expect(seen.join()).not.toContain('smuggled')
    expect(seen.join()).not.toMatch(/h2c|websocket/)
    if (status !== undefined) {
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(text).toMatch(/\r\nX-Request-Id: req_[0-9a-z]{26}\r\n/)
      expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
    }
    // The next client, on a new connection and over the same pool, gets its own response.
    const next = await get(edge.port, '/next')
    expect(next).toMatchObject({ status: 200, text: 'fine' })
  })

  test('invalid bytes after a valid request are refused too', async () => {
    const { text } = await sendRaw(edge.port, `GET /a HTTP/1.1\r\n${host}\r\n`, { until: /fine/ })
    expect(text).toMatch(/^HTTP\/1\.1 200/)
    const both = await rawInTurn(edge.port, `GET /a HTTP/1.1\r\n${host}\r\n`, /fine/, 'GARBAGE\r\n\r\n')
    expect(both).toMatch(/^HTTP\/1\.1 200[^]*HTTP\/1\.1 400[^]*X-Request-Id: req_/)
  })

  test('a refusal is JSON for a client that asks for it', async () => {
    const { text } = await sendRaw(edge.port, `GET /a b HTTP/1.1\r\nAccept: application/json\r\n${host}\r\n`)
    expect(JSON.parse(text.slice(text.indexOf('{'))).error).toMatchObject({ code: 'bad_request', request_id: /X-Request-Id: (\S+)/.exec(text)?.[1] })
  })
})

describe.each(edgePaths)('invalid responses of an app, $name', ({ fast_path }) => {
  test.each<[name: string, status: number, bytes: string]>([
    ['two lengths', 502, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\nokok'],
    ['Content-Length before Transfer-Encoding', 502, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a folded header', 502, 'HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\nContent-Length: 2\r\n\r\nok'],
    ['not HTTP', 502, 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['bare line feeds', 502, 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
    ['an unrequested protocol switch', 502, 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'],
    ['an endless head', 502, `HTTP/1.1 200 OK\r\n${'X-A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n'.repeat(3000)}`],
    ['a second response after the first', 200, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'],
    [
      'interim responses first',
      200,
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    ],
    ['no length: body until the connection closes', 200, 'HTTP/1.0 200 OK\r\n\r\nok'],
    ['no reason', 200, 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok'],
  ])('%s', async (_name, status, bytes) => {
    const edge = await startEdge({ fast_path })
    const app = await startRawApp((socket) => {
      socket.on('data', (chunk) => {
        if (chunk.toString().startsWith('GET /good')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood')
        else if (bytes.startsWith('HTTP/1.0')) socket.end(bytes)
        else socket.write(bytes)
      })
    })
    await edge.routeToPort(app.port)
    const got = await get(edge.port, '/')
    expect(got.status).toBe(status)
    if (status === 200) expect(got.text).toBe('ok')
    for (let i = 0; i < 3; i++) expect((await get(edge.port, '/good')).text).toBe('good')
    await edge.close()
    await app.close()
  })
})
