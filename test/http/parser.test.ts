import { connect } from 'node:net'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApiServer, bearer, startApiServer } from '../support/api-server.ts'
import { until } from '../support/until.ts'
import { sendRaw, type RawAnswer } from './raw-request.ts'

/*
 * Raw requests that no well-behaved client sends: every response is the envelope, with its id and the rate limit headers.
 */

let server: ApiServer
let host: string
let auth: string

beforeAll(async () => {
  server = await startApiServer()
  host = `Host: 127.0.0.1:${server.port}\r\n`
  auth = `Authorization: ${bearer(server.owner.token).authorization}\r\n`
  await server.createProject('abc')
})
afterAll(() => server.close())

function isEnvelope(response: RawAnswer, status: number, code: string) {
  expect({ status: response.status, error: response.json?.error, all: response.status === status ? '' : response.all.slice(0, 400) }).toEqual({
    status,
    error: code,
    all: '',
  })
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
  expect(response.json?.request_id).toBe(response.headers.get('x-request-id'))
  expect(String(response.json?.message).length).toBeGreaterThan(10)
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) expect(response.headers.get(name)).toMatch(/^\d+$/)
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  expect(response.all).not.toMatch(/\bat .*\.ts:\d+/)
}

/** `{host}` stands for the right Host header, `{auth}` for a valid Authorization header, `{port}` for our port with its colon. */
const cases: [name: string, bytes: string, status: number, code: string][] = [
  ['no Host', 'GET /v1/projects HTTP/1.1\r\n\r\n', 400, 'bad_request'],
  ['two Hosts', 'GET /v1/projects HTTP/1.1\r\n{host}{auth}Host: evil.example\r\n\r\n', 400, 'bad_request'],
  ['two equal Hosts', 'GET /v1/projects HTTP/1.1\r\n{host}{host}{auth}\r\n', 400, 'bad_request'],
  ['empty Host', 'GET /v1/projects HTTP/1.1\r\nHost:\r\n{auth}\r\n', 421, 'misdirected_request'],
  ['foreign Host', 'GET /v1/projects HTTP/1.1\r\nHost: evil.example\r\n{auth}\r\n', 421, 'misdirected_request'],
  ['Host with our name as a prefix', 'GET /v1/projects HTTP/1.1\r\nHost: localhost.evil.example{port}\r\n{auth}\r\n', 421, 'misdirected_request'],
  ['Host of a wildcard DNS name', 'GET /v1/projects HTTP/1.1\r\nHost: 127.0.0.1.nip.io{port}\r\n{auth}\r\n', 421, 'misdirected_request'],
  ['wrong port', 'GET /v1/projects HTTP/1.1\r\nHost: localhost:1\r\n{auth}\r\n', 421, 'misdirected_request'],
  ['no port', 'GET /v1/projects HTTP/1.1\r\nHost: localhost\r\n{auth}\r\n', 421, 'misdirected_request'],
  ['0.0.0.0', 'GET /v1/projects HTTP/1.1\r\nHost: 0.0.0.0{port}\r\n{auth}\r\n', 421, 'misdirected_request'],
  ['an app of the edge', 'GET /v1/projects HTTP/1.1\r\nHost: abc.localhost{port}\r\n{auth}\r\n', 421, 'misdirected_request'],
  ['trailing dot', 'GET /v1/projects HTTP/1.1\r\nHost: localhost.{port}\r\n{auth}\r\n', 421, 'misdirected_request'],
  ['user in Host', 'GET /v1/projects HTTP/1.1\r\nHost: a@localhost{port}\r\n{auth}\r\n', 421, 'misdirected_request'],
  ['421 comes before 401', 'GET /v1/projects HTTP/1.1\r\nHost: evil.example\r\n\r\n', 421, 'misdirected_request'],
  ['421 on a door', 'GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n', 421, 'misdirected_request'],
  ['421 on an unknown path', 'GET /nowhere HTTP/1.1\r\nHost: evil.example\r\n\r\n', 421, 'misdirected_request'],
  ['absolute-form', 'GET http://127.0.0.1{port}/v1/projects HTTP/1.1\r\n{host}{auth}\r\n', 400, 'bad_request'],
  ['absolute-form with another host', 'GET http://evil.example/v1/projects HTTP/1.1\r\n{host}{auth}\r\n', 400, 'bad_request'],
  ['HTTP/1.0', 'GET /v1/projects HTTP/1.0\r\n{host}{auth}\r\n', 400, 'bad_request'],
  ['HTTP/0.9', 'GET /v1/projects\r\n\r\n', 400, 'bad_request'],
  ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'bad_request'],
  ['HTTP/1.2', 'GET /v1/projects HTTP/1.2\r\n{host}{auth}\r\n', 400, 'bad_request'],
  ['no version', 'GET /v1/projects HTTP\r\n{host}{auth}\r\n', 400, 'bad_request'],
  ['unknown method', 'FETCH /v1/projects HTTP/1.1\r\n{host}{auth}\r\n', 400, 'bad_request'],
  ['lower-case method', 'get /v1/projects HTTP/1.1\r\n{host}{auth}\r\n', 400, 'bad_request'],
  ['CONNECT', 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n', 405, 'method_not_allowed'],
  ['TRACE', 'TRACE /v1/projects HTTP/1.1\r\n{host}{auth}\r\n', 405, 'method_not_allowed'],
  ['PROPFIND', 'PROPFIND /v1/projects HTTP/1.1\r\n{host}{auth}\r\n', 405, 'method_not_allowed'],
  ['PUT', 'PUT /v1/projects HTTP/1.1\r\n{host}{auth}\r\n', 405, 'method_not_allowed'],
  ['TLS bytes', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003 hello\r\n\r\n', 400, 'bad_request'],
  ['garbage', '\r\n\u0000\u0001\u0002\r\n\r\n', 400, 'bad_request'],
  ['NUL in a header', 'GET /v1/projects HTTP/1.1\r\n{host}X-A: a\u0000b\r\n\r\n', 400, 'bad_request'],
  ['CR in a header', 'GET /v1/projects HTTP/1.1\r\n{host}X-A: a\rb\r\n\r\n', 400, 'bad_request'],
  ['bare LF', 'GET /v1/projects HTTP/1.1\nHost: x\n\n', 400, 'bad_request'],
  ['obsolete fold', 'GET /v1/projects HTTP/1.1\r\n{host}X-A: a\r\n b\r\n\r\n', 400, 'bad_request'],
  ['space before the colon', 'GET /v1/projects HTTP/1.1\r\n{host}X-A : a\r\n\r\n', 400, 'bad_request'],
  ['header without a name', 'GET /v1/projects HTTP/1.1\r\n{host}: a\r\n\r\n', 400, 'bad_request'],
  ['header without a colon', 'GET /v1/projects HTTP/1.1\r\n{host}nonsense\r\n\r\n', 400, 'bad_request'],
  ['TE and CL', 'POST /v1/projects HTTP/1.1\r\n{host}{auth}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400, 'bad_request'],
  ['two CL', 'POST /v1/projects HTTP/1.1\r\n{host}{auth}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}', 400, 'bad_request'],
  ['CL list', 'POST /v1/projects HTTP/1.1\r\n{host}{auth}Content-Length: 2, 2\r\n\r\n{}', 400, 'bad_request'],
  ['negative CL', 'POST /v1/projects HTTP/1.1\r\n{host}{auth}Content-Length: -1\r\n\r\n{}', 400, 'bad_request'],
  ['CL with a sign', 'POST /v1/projects HTTP/1.1\r\n{host}{auth}Content-Length: +2\r\n\r\n{}', 400, 'bad_request'],
  ['hexadecimal CL', 'POST /v1/projects HTTP/1.1\r\n{host}{auth}Content-Length: 0x2\r\n\r\n{}', 400, 'bad_request'],
  ['enormous CL', 'POST /v1/projects HTTP/1.1\r\n{host}{auth}Content-Length: 99999999999999999999\r\n\r\n{}', 400, 'bad_request'],
  ['TE gzip', 'POST /v1/projects HTTP/1.1\r\n{host}{auth}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', 400, 'bad_request'],
  ['TE identity', 'POST /v1/projects HTTP/1.1\r\n{host}{auth}Transfer-Encoding: identity\r\n\r\n', 400, 'bad_request'],
  ['bad chunk size', 'POST /v1/projects HTTP/1.1\r\n{host}{auth}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n', 400, 'bad_request'],
  [
    'chunk longer than its size',
    'POST /v1/projects HTTP/1.1\r\n{host}{auth}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n',
    400,
    'bad_request',
  ],
  ['too many headers', `GET /v1/projects HTTP/1.1\r\n{host}{auth}${'X-A: a\r\n'.repeat(120)}\r\n`, 431, 'headers_too_large'],
  ['a header of 20 kB', `GET /v1/projects HTTP/1.1\r\n{host}X-A: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ['an address over 8 kB', `GET /v1/projects?cursor=${'a'.repeat(8200)} HTTP/1.1\r\n{host}{auth}\r\n`, 414, 'uri_too_long'],
  ['an address of 40 kB', `GET /${'a'.repeat(40_000)} HTTP/1.1\r\n{host}{auth}\r\n`, 414, 'uri_too_long'],
  ['unknown expectation', 'GET /v1/projects HTTP/1.1\r\n{host}{auth}Expect: 200-ok\r\n\r\n', 417, 'expectation_failed'],
  [
    'announced body over 1 MiB',
    'POST /v1/projects HTTP/1.1\r\n{host}{auth}Expect: 100-continue\r\nContent-Length: 2000000\r\n\r\n',
    413,
    'payload_too_large',
  ],
  ['no sign-in', 'GET /v1/projects HTTP/1.1\r\n{host}\r\n', 401, 'unauthorized'],
  ['two Authorization headers', 'GET /v1/projects HTTP/1.1\r\n{host}{auth}{auth}\r\n', 401, 'unauthorized'],
  ['backslash', 'GET /v1/projects\\abc HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['dot segments', 'GET /v1/../v1/projects HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['encoded dot segments', 'GET /v1/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['encoded slash', 'GET /v1%2fprojects HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['needless escape', 'GET /%761/projects HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['doubled slash', 'GET //v1/projects HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['trailing slash', 'GET /v1/projects/ HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['other case', 'GET /V1/projects HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['path parameters', 'GET /v1/projects;x=1 HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['slash in a slug', 'GET /v1/projects/a%2fb HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['backslash in a slug', 'GET /v1/projects/a%5Cb HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['NUL in a slug', 'GET /v1/projects/a%00b HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['broken escape in a slug', 'GET /v1/projects/a%zz HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['not UTF-8 in a slug', 'GET /v1/projects/%ff HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
  ['dots as a slug', 'GET /v1/projects/.. HTTP/1.1\r\n{host}{auth}\r\n', 404, 'route_not_found'],
]

describe('raw requests', () => {
  it.each(cases)('%s', async (_name, bytes, status, code) => {
    const written = bytes.replaceAll('{host}', host).replaceAll('{auth}', auth).replaceAll('{port}', `:${server.port}`)
    isEnvelope(await sendRaw(server.port, Buffer.from(written, 'latin1')), status, code)
  })

  it('answers the valid request that these are variations of', async () => {
    const response = await sendRaw(server.port, `GET /v1/projects/abc HTTP/1.1\r\n${host}${auth}\r\n`)
    expect(response.status).toBe(200)
  })

  it('closes a connection that ends within its body', async () => {
    const response = await sendRaw(server.port, `POST /v1/projects HTTP/1.1\r\n${host}${auth}Content-Length: 10\r\n\r\n{}`, { half_close: true })
    isEnvelope(response, 400, 'bad_request')
  })

  it('408 for headers that do not arrive', async () => {
    // Node measures header timeouts with the real clock.
    const hasty = await startApiServer({ overrides: () => ({ timeouts: { headers_ms: 150, request_ms: 60_000 } }) })
    isEnvelope(await sendRaw(hasty.port, `GET /v1/projects HTTP/1.1\r\nHost: 127.0.0.1:${hasty.port}\r\nX-A: `), 408, 'request_timeout')
    await hasty.close()
  })

  it.each([
    ['a body', 'POST /v1/projects HTTP/1.1\r\n{host}{auth}Content-Length: 10\r\n\r\n{}'],
    ['an archive', 'POST /v1/projects/abc/upload HTTP/1.1\r\n{host}{auth}Content-Type: application/gzip\r\nContent-Length: 10\r\n\r\n\u001f'],
  ])('408 for %s that does not arrive', async (_name, bytes) => {
    let response: RawAnswer | undefined
    void sendRaw(server.port, Buffer.from(bytes.replace('{host}', host).replace('{auth}', auth), 'latin1')).then((whole) => (response = whole))
    isEnvelope(await until(() => server.clock.advance(60_000).then(() => response), { what: 'an answer' }), 408, 'request_timeout')
  })

  it('answers invalid bytes with an error envelope or nothing, and the next request normally', async () => {
    const property = fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
      const response = await sendRaw(server.port, Buffer.concat([Buffer.from('GET '), bytes, Buffer.from('\r\n\r\n')]), { half_close: true })
      expect(response.status).not.toBe(500)
      if (response.status !== 0) expect(response.headers.get('x-request-id')).toMatch(/^req_/)
      expect((await server.fetch('/healthz')).status).toBe(200)
    })
    await fc.assert(property, { numRuns: 100, seed: 20_261_121 })
  })

  it('answers a complete request before it refuses the one after it', async () => {
    const response = await sendRaw(server.port, `GET /v1/projects/abc HTTP/1.1\r\n${host}${auth}\r\nnonsense\r\n\r\n`)
    expect(response.all.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
  })

  it('sends 100 Continue and then the response', async () => {
    const body = '{"name":"n","slug":"continued"}'
    const response = await sendRaw(server.port, [
      `POST /v1/projects HTTP/1.1\r\n${host}${auth}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
      body,
    ])
    expect(response.all).toMatch(/^HTTP\/1\.1 100 Continue/)
    expect(response.status).toBe(201)
  })

  it('counts a chunked body, refuses it past 1 MiB and closes', async () => {
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const response = await sendRaw(server.port, [
      `POST /v1/projects HTTP/1.1\r\n${host}${auth}Transfer-Encoding: chunked\r\n\r\n`,
      chunk.repeat(20),
      '0\r\n\r\n',
    ])
    isEnvelope(response, 413, 'payload_too_large')
    expect(response.headers.get('connection')).toBe('close')
  })

  it('stops reading an endless body', async () => {
    const response = await sendRaw(server.port, [
      `POST /v1/projects HTTP/1.1\r\n${host}${auth}Transfer-Encoding: chunked\r\n\r\n`,
      `10000\r\n${'x'.repeat(0x10000)}\r\n`.repeat(100),
    ])
    isEnvelope(response, 413, 'payload_too_large')
  })

  it('ignores the body of an operation without one, up to 1 MiB', async () => {
    const small = await sendRaw(
      server.port,
      `POST /v1/projects/abc/stop HTTP/1.1\r\n${host}${auth}Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello`,
    )
    expect(small.status).toBe(200)
    const large = await sendRaw(server.port, [
      `POST /v1/projects/abc/stop HTTP/1.1\r\n${host}${auth}Content-Length: 1100000\r\n\r\n`,
      'x'.repeat(1_100_000),
    ])
    isEnvelope(large, 413, 'payload_too_large')
  })

  it('survives clients that disconnect before their response', async () => {
    const before = server.log.length
    await Promise.all(
      Array.from(
        { length: 200 },
        (_, i) =>
          new Promise<void>((resolve) => {
            const socket = connect(server.port, '127.0.0.1')
            socket.on('error', () => {})
            socket.on('close', () => resolve())
            const body = i % 2 ? 'Content-Length: 100\r\n\r\n{' : '\r\n'
            socket.write(`${i % 2 ? 'POST /v1/projects' : 'GET /v1/projects/abc'} HTTP/1.1\r\n${host}${auth}${body}`, () =>
              i % 3 ? socket.destroy() : socket.resetAndDestroy(),
            )
          }),
      ),
    )
    expect((await server.fetch('/healthz')).status).toBe(200)
    expect(server.log.slice(before)).toEqual([])
  })
})
