import { once } from 'node:events'
import { request, type Server, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collectResponse, get, edgePaths, sendRaw, startApp, startEdge, startRawApp, type ListeningServer, type TestEdge } from '../support/edge.ts'
import { until } from '../support/until.ts'

describe.each(edgePaths)('requests to an app, $name', ({ fast_path }) => {
  let edge: TestEdge
  let app: ListeningServer<Server>
  const seen: { method?: string; url?: string; raw: string[] }[] = []
  let connections = 0

  beforeAll(async () => {
    edge = await startEdge({ fast_path })
    app = await startApp((req, response) => {
      seen.push({ method: req.method, url: req.url, raw: req.rawHeaders })
      const url = new URL(req.url ?? '/', 'http://x')
      if (url.pathname === '/echo') {
        response.writeHead(200, { 'content-type': req.headers['content-type'] ?? 'text/plain' })
        req.pipe(response)
        return
      }
      if (url.pathname === '/size') {
        const size = Number(url.searchParams.get('n'))
        response.setHeader('content-length', size)
        response.end(Buffer.alloc(size, 'k'))
        return
      }
      if (url.pathname === '/chunks') {
        response.write('one,')
        response.write('two,')
        response.addTrailers({ 'X-Sum': '42' })
        response.end('three')
        return
      }
      if (url.pathname === '/status') {
        response.writeHead(Number(url.searchParams.get('n')), { etag: '"x"' })
        response.end()
        return
      }
      if (url.pathname === '/hops') {
        response.writeHead(200, {
          connection: 'keep-alive, X-Private',
          'x-private': '1',
          'keep-alive': 'timeout=5',
          'proxy-connection': 'x',
          'x-request-id': 'forged',
          'x-kept': '1',
        })
        response.end('ok')
        return
      }
      if (url.pathname === '/early') {
        response.writeHead(413).end('no')
        return
      }
      req.resume()
      req.on('end', () => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ headers: req.rawHeaders, trailers: req.rawTrailers }))
      })
    })
    app.server.on('connection', () => connections++)
    await edge.routeToPort(app.port)
  })
  afterAll(async () => {
    await edge.close()
    await app.close()
  })

  const sentHeaders = (text: string): Map<string, string[]> => {
    const list = (JSON.parse(text) as { headers: string[] }).headers
    const map = new Map<string, string[]>()
    for (let i = 0; i < list.length; i += 2)
      map.set(list[i]?.toLowerCase() ?? '', [...(map.get(list[i]?.toLowerCase() ?? '') ?? []), list[i + 1] ?? ''])
    return map
  }

  test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s arrives unchanged', async (method) => {
    const response = await get(edge.port, '/a%20b/?q=1&r=%2F', { method, ...(method.startsWith('P') ? { body: 'abc' } : {}) })
    expect(response.status).toBe(200)
    expect(seen.at(-1)).toMatchObject({ method, url: '/a%20b/?q=1&r=%2F' })
    expect(response.text === '').toBe(method === 'HEAD')
  })

  test('the app learns the client’s address, the requested host and the request id', async () => {
    const response = await get(edge.port, '/', { host: 'app.localhost:4680' })
    const headers = sentHeaders(response.text)
    expect(headers.get('host')).toEqual(['app.localhost:4680'])
    expect(headers.get('x-forwarded-for')).toEqual(['127.0.0.1'])
    expect(headers.get('x-forwarded-proto')).toEqual(['http'])
    expect(headers.get('x-forwarded-host')).toEqual(['app.localhost:4680'])
    expect(headers.get('x-forwarded-port')).toEqual(['4680'])
    expect(headers.get('forwarded')).toEqual(['for=127.0.0.1;host="app.localhost:4680";proto=http'])
    expect(headers.get('x-request-id')).toEqual([response.headers['x-request-id']])
    expect(response.headers['x-request-id']).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/)
  })

  test('forwarding headers of a client are replaced', async () => {
    const forged = [
      'X-Forwarded-For',
      'X-Forwarded-Host',
      'x-forwarded-proto',
      'X-FORWARDED-PORT',
      'X-Forwarded-Prefix',
      'X_Forwarded_For',
      'X.Forwarded.For',
      'Forwarded',
      'X-Real-IP',
      'X-Request-Id',
      'Proxy-Authorization',
      'Transfer_Encoding',
      'X-Original-URL',
    ]
    const lines = forged.map((name) => `${name}: evil\r\n`).join('')
    const { text } = await sendRaw(edge.port, `GET / HTTP/1.1\r\nHost: app.localhost\r\n${lines}X-Fine: yes\r\nConnection: close\r\n\r\n`)
    expect(text).toContain('X-Fine')
    expect(text).not.toContain('evil')
  })

  test.each([
    'Proxy',
    'X-Host',
    'X-Original-Host',
    'X-HTTP-Host-Override',
    'X_Http_Host_Override',
    'Client-IP',
    'Fastly-Client-IP',
    'Front-End-Https',
    'X-Middleware-Subrequest',
    'x-now-route-matches',
    'X-Invoke-Path',
    'X-HTTP-Method-Override',
  ])('%s of a client is removed', async (name) => {
    const { text } = await sendRaw(edge.port, `GET / HTTP/1.1\r\nHost: app.localhost\r\n${name}: evil\r\nX-Fine: yes\r\nConnection: close\r\n\r\n`)
    expect(text).toContain('X-Fine')
    expect(text).not.toContain('evil')
  })

  test('X-HTTP-Method-Override is forwarded', async () => {
    const { text } = await sendRaw(
      edge.port,
      'POST / HTTP/1.1\r\nHost: app.localhost\r\nX-HTTP-Method-Override: PATCH\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    )
    expect(sentHeaders(text.slice(text.indexOf('{'))).get('x-http-method-override')).toEqual(['PATCH'])
  })

  test('headers named by Connection are removed, our own stay', async () => {
    const { text } = await sendRaw(
      edge.port,
      'GET / HTTP/1.1\r\nHost: app.localhost\r\nX-Hop: 1\r\nConnection: close, X-Hop, X-Forwarded-For, Host\r\nTE: trailers\r\n\r\n',
    )
    const headers = sentHeaders(text.slice(text.indexOf('{')))
    expect(headers.has('x-hop')).toBe(false)
    expect(headers.has('te')).toBe(false)
    expect(headers.get('host')).toEqual(['app.localhost'])
    expect(headers.get('x-forwarded-for')).toEqual(['127.0.0.1'])
  })

  test('hop-by-hop headers of the response are removed', async () => {
    const { headers } = await get(edge.port, '/hops')
    expect(headers['x-private']).toBeUndefined()
    expect(headers['proxy-connection']).toBeUndefined()
    expect(headers['x-request-id']).toMatch(/^req_/)
    expect(headers['x-kept']).toBe('1')
  })

  test.each([0, 1, 1000, 16_384, 100_000, 3_000_000])('a response body of %i bytes arrives complete', async (size) => {
    const { body, headers } = await get(edge.port, `/size?n=${size}`)
    expect(headers['content-length']).toBe(String(size))
    expect(body.equals(Buffer.alloc(size, 'k'))).toBe(true)
  })

  test.each([1, 5000, 300_000])('a request body of %i bytes arrives complete, with a length and chunked', async (size) => {
    const body = Buffer.alloc(size, 'abcdefghijk')
    expect((await get(edge.port, '/echo', { method: 'POST', body, headers: { 'content-length': String(size) } })).body.equals(body)).toBe(true)
    expect((await get(edge.port, '/echo', { method: 'POST', body, headers: { 'transfer-encoding': 'chunked' } })).body.equals(body)).toBe(true)
  })

  test('a chunked response keeps its trailers', async () => {
    const response = await get(edge.port, '/chunks')
    expect(response.text).toBe('one,two,three')
    expect(response.trailers['x-sum']).toBe('42')
  })

  test('trailers of a request arrive', async () => {
    const { text } = await sendRaw(
      edge.port,
      'POST /t HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 7\r\nX-Forwarded-For: 9\r\n\r\n',
    )
    expect(text).toContain('"trailers":["X-Sum","7"]')
  })

  test.each([204, 304])('%i has no body and the connection stays usable', async (status) => {
    const { text } = await sendRaw(
      edge.port,
      `GET /status?n=${status} HTTP/1.1\r\nHost: app.localhost\r\n\r\nGET /size?n=2 HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n`,
    )
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(text).toMatch(/\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nkk$/)
  })

  test('HEAD has the length and no body', async () => {
    const { text } = await sendRaw(
      edge.port,
      'HEAD /size?n=9 HTTP/1.1\r\nHost: app.localhost\r\n\r\nHEAD /size?n=8 HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n',
    )
    expect(text).toMatch(/content-length: 9[^]*\r\n\r\nHTTP\/1\.1 200[^]*content-length: 8[^]*\r\n\r\n$/i)
  })

  test('pipelined requests are answered in order', async () => {
    const count = 50
    let bytes = ''
    for (let i = 1; i <= count; i++) bytes += `GET /size?n=${i} HTTP/1.1\r\nHost: app.localhost\r\n${i === count ? 'Connection: close\r\n' : ''}\r\n`
    const { text } = await sendRaw(edge.port, bytes)
    expect([...text.matchAll(/content-length: (\d+)/gi)].map((match) => Number(match[1]))).toEqual(Array.from({ length: count }, (_, i) => i + 1))
  })

  test('pipelined requests that change something reach the app one after the other', async () => {
    const seen: string[] = []
    const held: ServerResponse[] = []
    const own = await startApp((incoming, response) => {
      incoming.resume()
      seen.push(`${incoming.method} ${incoming.url}`)
      if (incoming.method === 'PUT') held.push(response)
      else response.end('done')
    })
    await edge.routeToPort(own.port, 'own.localhost')
    const head = (method: string, path: string, more = '') => `${method} ${path} HTTP/1.1\r\nHost: own.localhost\r\n${more}\r\n`
    const answer = sendRaw(
      edge.port,
      `${head('PUT', '/a', 'Content-Length: 3\r\nExpect: 100-continue\r\n')}abc${head('GET', '/b')}${head('DELETE', '/c', 'Connection: close\r\n')}`,
    )
    await until(() => held[0], { what: 'the first request' })
    // A whole round trip later.
    await get(edge.port, '/d', { host: 'own.localhost' })
    expect(seen).toEqual(['PUT /a', 'GET /d'])
    held[0]?.end('stored')
    expect((await answer).text.match(/HTTP\/1\.1 200/g)).toHaveLength(3)
    expect(seen).toEqual(['PUT /a', 'GET /d', 'GET /b', 'DELETE /c'])
    await own.close()
  })

  test('a request sent byte by byte is understood', async () => {
    const socket = connect({ host: '127.0.0.1', port: edge.port, noDelay: true })
    let text = ''
    socket.on('data', (part) => (text += part.toString()))
    for (const byte of 'POST /echo HTTP/1.1\r\nHost: app.localhost\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello') {
      socket.write(byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await once(socket, 'close')
    expect(text).toMatch(/^HTTP\/1\.1 200/)
    expect(text.replaceAll(/\r\n\d+\r\n/g, '')).toContain('hello')
  })

  test('connections to the app are reused', async () => {
    const before = connections
    for (let i = 0; i < 20; i++) await get(edge.port, '/size?n=10')
    expect(connections - before).toBeLessThanOrEqual(1)
  })

  test('Expect: 100-continue waits for the app', async () => {
    const req = request({
      host: '127.0.0.1',
      port: edge.port,
      path: '/echo',
      method: 'POST',
      agent: false,
      headers: { host: 'app.localhost', expect: '100-continue', 'content-length': '4' },
    })
    let continued = 0
    req.on('continue', () => {
      continued++
      req.end('late')
    })
    req.flushHeaders()
    const response = await new Promise<Awaited<ReturnType<typeof get>>>((resolve, reject) =>
      req.on('response', (got) => void collectResponse(got).then(resolve, reject)).on('error', reject),
    )
    expect(continued).toBe(1)
    expect(response.text).toBe('late')
  })

  test('a response sent before the body is read arrives', async () => {
    const response = await get(edge.port, '/early', { method: 'POST', body: Buffer.alloc(5_000_000) }).catch((error: NodeJS.ErrnoException) => error)
    // The client's write may fail once the edge closes, but the response is never wrong.
    expect(response instanceof Error ? response.code : response.status).toSatisfy(
      (got: unknown) => got === 413 || got === 'EPIPE' || got === 'ECONNRESET',
    )
    expect((await get(edge.port, '/size?n=3')).text).toBe('kkk')
  })

  test('a half-closed client still gets its response', async () => {
    const socket = connect({ host: '127.0.0.1', port: edge.port, allowHalfOpen: true })
    let text = ''
    socket.on('data', (part) => (text += part.toString()))
    socket.end('GET /size?n=7 HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
    await once(socket, 'end')
    expect(text).toMatch(/\r\n\r\nkkkkkkk$/)
  })

  test('HTTP/1.0 gets a response and is closed', async () => {
    const { text, closed } = await sendRaw(edge.port, 'GET /size?n=4 HTTP/1.0\r\nHost: app.localhost\r\n\r\n')
    expect(closed).toBe(true)
    expect(text).toMatch(/^HTTP\/1\.1 200[^]*\r\n\r\nkkkk$/)
  })

  test.each(['APP.localhost', 'app.localhost.', 'app.localhost:81', 'App.Localhost.:4680'])('Host %s is the same host', async (host) => {
    expect((await get(edge.port, '/size?n=1', { host })).status).toBe(200)
  })

  test('1xx responses are forwarded, within limits, and not stored', async () => {
    const hinting = await startEdge({ fast_path, cache: { directory: null, memory_bytes: () => 2 ** 20, disk_bytes: () => 0 } })
    const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload; as=style\r\nX-A: b\r\n\r\n'
    // None of these is forwarded: an unknown code, and one that claims to have a body.
    const odd = 'HTTP/1.1 142 Odd\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Length: 2\r\n\r\n'
    const hinter = await startRawApp((socket) => {
      const whole = 'HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok'
      socket.on('data', () => void socket.write(`HTTP/1.1 102 Processing\r\n\r\n${odd}${hint.repeat(20)}${whole}`))
    })
    await hinting.routeToPort(hinter.port)
    const ask = async (version: string) =>
      (await sendRaw(hinting.port, `GET /${version} HTTP/${version}\r\nHost: app.localhost\r\n\r\n`, { until: /\r\n\r\nok/ })).text
    const text = await ask('1.1')
    const [first, ...more] = text.match(/^HTTP.*\r\n/gm) ?? []
    expect([first, more.length, more.at(-1)]).toEqual(['HTTP/1.1 102 Processing\r\n', 16, 'HTTP/1.1 200 OK\r\n'])
    expect(text.match(/Early Hints\r\nlink: <\/a.css>; rel=preload; as=style\r\nx-a: b\r\n\r\n/gi)).toHaveLength(15)
    expect(await ask('1.1')).toMatch(/^HTTP\/1.1 200 OK\r\n(?!.*x-a:)[^]*X-Cache: HIT/i)
    expect(await ask('1.0')).toMatch(/^HTTP\/1.1 200/)
    await hinting.close()
    await hinter.close()
  })
})
