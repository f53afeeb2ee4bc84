import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Server } from 'node:http'
import { get, paths, raw, startApp, startEdge, startRawApp, type Listening, type TestEdge } from '../support/edge.ts'

const host = 'Host: app.localhost\r\n'
const inner = `GET /smuggled HTTP/1.1\r\n${host}\r\n`

/** What must never become two requests, nor another request than it is. `at_most`: how many may reach the app. */
const cases: { name: string; bytes: string; at_most: number; status?: number }[] = [
  {
    name: 'length and chunks',
    bytes: `POST /a HTTP/1.1\r\n${host}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    at_most: 0,
    status: 400,
  },
  {
    name: 'chunks and length',
    bytes: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nContent-Length: 60\r\n\r\n0\r\n\r\n${inner}`,
    at_most: 0,
    status: 400,
  },
  { name: 'two lengths', bytes: `POST /a HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 40\r\n\r\n${inner}`, at_most: 0, status: 400 },
  { name: 'two equal lengths', bytes: `POST /a HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`, at_most: 0, status: 400 },
  { name: 'a list of lengths', bytes: `POST /a HTTP/1.1\r\n${host}Content-Length: 0, 40\r\n\r\n${inner}`, at_most: 0, status: 400 },
  { name: 'a signed length', bytes: `POST /a HTTP/1.1\r\n${host}Content-Length: +5\r\n\r\nhello`, at_most: 0, status: 400 },
  { name: 'a negative length', bytes: `POST /a HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n${inner}`, at_most: 0, status: 400 },
  { name: 'a hexadecimal length', bytes: `POST /a HTTP/1.1\r\n${host}Content-Length: 0x5\r\n\r\nhello`, at_most: 0, status: 400 },
  {
    name: 'a length beyond all numbers',
    bytes: `POST /a HTTP/1.1\r\n${host}Content-Length: 99999999999999999999999\r\n\r\n${inner}`,
    at_most: 0,
    status: 400,
  },
  {
    name: 'a space before the colon of the length',
    bytes: `POST /a HTTP/1.1\r\n${host}Content-Length : 40\r\n\r\n${inner}`,
    at_most: 0,
    status: 400,
  },
  { name: 'another coding', bytes: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${inner}`, at_most: 0, status: 400 },
  { name: 'an unknown coding', bytes: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`, at_most: 0, status: 400 },
  {
    name: 'chunked twice',
    bytes: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    at_most: 0,
    status: 400,
  },
  {
    name: 'identity after chunked',
    bytes: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${inner}`,
    at_most: 0,
    status: 400,
  },
  { name: 'a coding in quotes', bytes: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n${inner}`, at_most: 0, status: 400 },
  {
    name: 'a coding after a vertical tab',
    bytes: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${inner}`,
    at_most: 0,
    status: 400,
  },
  {
    name: 'a coding behind a fold',
    bytes: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${inner}`,
    at_most: 0,
    status: 400,
  },
  { name: 'chunks in HTTP/1.0', bytes: `POST /a HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`, at_most: 0, status: 400 },
  { name: 'a folded header', bytes: `GET /a HTTP/1.1\r\n${host}X-A: b\r\n Content-Length: 40\r\n\r\n${inner}`, at_most: 0, status: 400 },
  { name: 'a fold right after the request line', bytes: `GET /a HTTP/1.1\r\n X-A: b\r\n${host}\r\n`, at_most: 0, status: 400 },
  { name: 'bare line feeds', bytes: `GET /a HTTP/1.1\nHost: app.localhost\n\n${inner}`, at_most: 0, status: 400 },
  {
    name: 'a bare carriage return in a value',
    bytes: `GET /a HTTP/1.1\r\n${host}X-A: b\rContent-Length: 40\r\n\r\n${inner}`,
    at_most: 0,
    status: 400,
  },
  { name: 'a NUL in a value', bytes: `GET /a HTTP/1.1\r\n${host}X-A: b\0c\r\n\r\n`, at_most: 0, status: 400 },
  { name: 'a NUL in a name', bytes: `GET /a HTTP/1.1\r\n${host}X\0A: b\r\n\r\n`, at_most: 0, status: 400 },
  { name: 'a header without a name', bytes: `GET /a HTTP/1.1\r\n${host}: b\r\n\r\n`, at_most: 0, status: 400 },
  { name: 'a header without a colon', bytes: `GET /a HTTP/1.1\r\n${host}Content-Length\r\n\r\n`, at_most: 0, status: 400 },
  { name: 'two hosts', bytes: `GET /a HTTP/1.1\r\n${host}Host: other.localhost\r\n\r\n`, at_most: 0, status: 400 },
  { name: 'no host', bytes: 'GET /a HTTP/1.1\r\nX-A: b\r\n\r\n', at_most: 0, status: 400 },
  { name: 'an empty host', bytes: 'GET /a HTTP/1.1\r\nHost: \r\n\r\n', at_most: 0, status: 400 },
  { name: 'a host with user info', bytes: 'GET /a HTTP/1.1\r\nHost: app.localhost@other.localhost\r\n\r\n', at_most: 0, status: 400 },
  { name: 'a host with a path', bytes: 'GET /a HTTP/1.1\r\nHost: app.localhost/x\r\n\r\n', at_most: 0, status: 400 },
  { name: 'the absolute form', bytes: `GET http://app.localhost/a HTTP/1.1\r\n${host}\r\n`, at_most: 0, status: 400 },
  { name: 'another host in the absolute form', bytes: `GET http://evil.localhost/a HTTP/1.1\r\n${host}\r\n`, at_most: 0, status: 400 },
  { name: 'a target without a slash', bytes: `GET a HTTP/1.1\r\n${host}\r\n`, at_most: 0, status: 400 },
  { name: 'the asterisk form', bytes: `OPTIONS * HTTP/1.1\r\n${host}\r\n`, at_most: 0, status: 400 },
  { name: 'a space in the target', bytes: `GET /a b HTTP/1.1\r\n${host}\r\n`, at_most: 0, status: 400 },
  { name: 'a second version in the request line', bytes: `GET /a HTTP/1.1 HTTP/1.1\r\n${host}\r\n`, at_most: 0, status: 400 },
  { name: 'HTTP/0.9', bytes: 'GET /a\r\n\r\n', at_most: 0, status: 400 },
  { name: 'HTTP/2 by prior knowledge', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', at_most: 0, status: 400 },
  { name: 'HTTP/1.2', bytes: `GET /a HTTP/1.2\r\n${host}\r\n`, at_most: 0, status: 400 },
  { name: 'CONNECT', bytes: 'CONNECT app.localhost:80 HTTP/1.1\r\nHost: app.localhost:80\r\n\r\n', at_most: 0, status: 405 },
  { name: 'TRACE', bytes: `TRACE /a HTTP/1.1\r\n${host}\r\n`, at_most: 0, status: 405 },
  { name: 'an unknown method', bytes: `SMUGGLE /a HTTP/1.1\r\n${host}\r\n`, at_most: 0, status: 400 },
  { name: 'a method in lower case', bytes: `get /a HTTP/1.1\r\n${host}\r\n`, at_most: 0, status: 400 },
  { name: 'TLS on the plain port', bytes: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', at_most: 0, status: 400 },
  {
    name: 'more than 100 headers',
    bytes: `GET /a HTTP/1.1\r\n${host}${Array.from({ length: 101 }, (_, i) => `X-${i}: y\r\n`).join('')}\r\n`,
    at_most: 0,
    status: 431,
  },
  {
    name: 'a length hidden behind 3000 headers',
    bytes: `POST /a HTTP/1.1\r\n${host}${'A:b\r\n'.repeat(3000)}Content-Length: 40\r\n\r\n${inner}`,
    at_most: 0,
    status: 431,
  },
  { name: 'headers of 20 kB', bytes: `GET /a HTTP/1.1\r\n${host}X-A: ${'y'.repeat(20_000)}\r\n\r\n`, at_most: 0, status: 431 },
  { name: 'a broken chunk size', bytes: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n${inner}`, at_most: 1 },
  {
    name: 'a chunk size beyond all numbers',
    bytes: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc\r\n0\r\n\r\n${inner}`,
    at_most: 1,
  },
  {
    name: 'a chunk that is longer than it says',
    bytes: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n${inner}`,
    at_most: 1,
  },
  {
    name: 'a chunk extension that ends in a bare line feed',
    bytes: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3;x\nabc\r\n0\r\n\r\n${inner}`,
    at_most: 1,
  },
  {
    name: 'a request in the body of a GET',
    bytes: `GET /a HTTP/1.1\r\n${host}Content-Length: ${inner.length}\r\nConnection: close\r\n\r\n${inner}`,
    at_most: 1,
    status: 200,
  },
  {
    name: 'an upgrade to h2c',
    bytes: `GET /a HTTP/1.1\r\n${host}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    at_most: 1,
    status: 200,
  },
  {
    name: 'an upgrade with a body',
    bytes: `POST /a HTTP/1.1\r\n${host}Connection: Upgrade, close\r\nUpgrade: websocket\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    at_most: 1,
    status: 200,
  },
]

/** Sends the second only when the answer to the first has come. */
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

describe.each(paths)('smuggling, $name', ({ fast_path }) => {
  let edge: TestEdge
  let app: Listening<Server>
  let seen: string[] = []

  beforeAll(async () => {
    edge = await startEdge({ fast_path })
    app = await startApp((asked, answer) => {
      seen.push(`${asked.method} ${asked.url} ${asked.headers.upgrade ?? ''}`)
      asked.resume().on('end', () => answer.end('fine'))
      asked.on('error', () => {})
    })
    await edge.toPort(app.port)
  })
  beforeEach(() => {
    seen = []
  })
  afterAll(async () => {
    await edge.close()
    await app.close()
  })

  test.each(cases)('$name', async ({ bytes, at_most, status }) => {
    const { text } = await raw(edge.port, bytes)
    expect(seen.length).toBeLessThanOrEqual(at_most)
    expect(seen.join()).not.toContain('smuggled')
    expect(seen.join()).not.toMatch(/h2c|websocket/)
    if (status !== undefined) {
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(text).toMatch(/\r\nX-Request-Id: req_[0-9a-z]{26}\r\n/)
      expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
    }
    // Whoever comes next, on a new connection and over the same pool, gets an answer of one's own.
    const next = await get(edge.port, '/next')
    expect(next).toMatchObject({ status: 200, text: 'fine' })
  })

  test('garbage after a good request is refused too', async () => {
    const { text } = await raw(edge.port, `GET /a HTTP/1.1\r\n${host}\r\n`, { until: /fine/ })
    expect(text).toMatch(/^HTTP\/1\.1 200/)
    const both = await rawInTurn(edge.port, `GET /a HTTP/1.1\r\n${host}\r\n`, /fine/, 'GARBAGE\r\n\r\n')
    expect(both).toMatch(/^HTTP\/1\.1 200[^]*HTTP\/1\.1 400[^]*X-Request-Id: req_/)
  })

  test('a refusal is JSON for who asks for it', async () => {
    const { text } = await raw(edge.port, `GET /a b HTTP/1.1\r\nAccept: application/json\r\n${host}\r\n`)
    expect(JSON.parse(text.slice(text.indexOf('{'))).error).toMatchObject({ code: 'bad_request', request_id: /X-Request-Id: (\S+)/.exec(text)?.[1] })
  })
})

describe.each(paths)('answers of an app that lies, $name', ({ fast_path }) => {
  const answers: { name: string; bytes: string; status?: number; body?: string }[] = [
    { name: 'two lengths', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\nokok', status: 502 },
    { name: 'length and chunks', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', status: 502 },
    { name: 'a folded header', bytes: 'HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\nContent-Length: 2\r\n\r\nok', status: 502 },
    { name: 'no HTTP at all', bytes: 'SSH-2.0-OpenSSH_9.9\r\n', status: 502 },
    { name: 'bare line feeds', bytes: 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', status: 502 },
    { name: 'a switch that nobody asked for', bytes: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n', status: 502 },
    { name: 'a head without end', bytes: `HTTP/1.1 200 OK\r\n${'X-A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n'.repeat(3000)}`, status: 502 },
    {
      name: 'a second answer behind the first',
      bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil',
      status: 200,
      body: 'ok',
    },
    {
      name: 'interim answers first',
      bytes: 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
      status: 200,
      body: 'ok',
    },
    { name: 'no length, until the end', bytes: 'HTTP/1.0 200 OK\r\n\r\nok', status: 200, body: 'ok' },
    { name: 'no reason', bytes: 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok', status: 200, body: 'ok' },
  ]

  test.each(answers)('$name', async ({ bytes, status, body }) => {
    const edge = await startEdge({ fast_path })
    const app = await startRawApp((socket) => {
      socket.on('data', (asked) => {
        if (asked.toString().startsWith('GET /good')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood')
        else if (bytes.startsWith('HTTP/1.0')) socket.end(bytes)
        else socket.write(bytes)
      })
    })
    await edge.toPort(app.port)
    const got = await get(edge.port, '/')
    expect(got.status).toBe(status)
    if (body !== undefined) expect(got.text).toBe(body)
    for (let i = 0; i < 3; i++) expect((await get(edge.port, '/good')).text).toBe('good')
    await edge.close()
    await app.close()
  })
})
