import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { get, routeOwner, upstreamRoute } from '../support/edge.ts'
import { receivedHeaders, startSecureEdge, type SecureEdge } from '../support/secure-edge.ts'
import { frames, getHttps, openHttp2, openTlsSocket } from '../support/tls.ts'
import { until } from '../support/until.ts'

const fieldsOf = (path: string, method = 'GET'): [string, string][] => [
  [':method', method],
  [':path', path],
  [':scheme', 'https'],
  [':authority', 'app.localhost'],
]

describe('HTTP/2 at the edge', () => {
  let secureEdge: SecureEdge
  let port = 0
  let ca = ''

  beforeAll(async () => {
    secureEdge = await startSecureEdge()
    ;({ port, ca } = secureEdge)
  })
  afterAll(() => secureEdge.close())

  test('is negotiated when the client offers it, otherwise HTTP/1.1', async () => {
    const offers: [string[], string | false][] = [
      [['h2', 'http/1.1'], 'h2'],
      [['http/1.1'], 'http/1.1'],
    ]
    for (const [protocols, chosen] of offers) {
      const socket = await openTlsSocket(port, { ca, servername: 'app.localhost', protocols })
      expect(socket.alpnProtocol).toBe(chosen)
      socket.destroy()
    }
  })

  test('the app sees an HTTP/1.1 request', async () => {
    const client = await openHttp2(port, { ca })
    const got = await client.get('/path?q=1', { headers: { cookie: ['a=1', 'b=2'], 'x-own': '1', te: 'trailers' } })
    expect(got.status).toBe(200)
    const headers = receivedHeaders(got.text)
    expect(headers).toMatchObject({
      host: `app.localhost:${port}`,
      cookie: 'a=1; b=2',
      'x-own': '1',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '127.0.0.1',
    })
    expect(headers).not.toHaveProperty('te')
    expect(headers).not.toHaveProperty('transfer-encoding')
    expect(Object.keys(headers).filter((name) => name.startsWith(':'))).toEqual([])
    expect(got.headers['x-request-id']).toMatch(/^req_/)
    await client.close()
  })

  test('a hundred concurrent requests on one connection', async () => {
    const client = await openHttp2(port, { ca })
    const all = await Promise.all(Array.from({ length: 100 }, (_, i) => client.get(`/size?n=${i * 1000}`)))
    expect(all.map((one) => one.body.length)).toEqual(Array.from({ length: 100 }, (_, i) => i * 1000))
    await client.close()
  })

  test('bodies of any size, with and without a length', async () => {
    const client = await openHttp2(port, { ca })
    const body = Buffer.alloc(3_000_000, 'b')
    for (const headers of [{}, { 'content-length': String(body.length) }]) {
      const got = await client.get('/', { headers: { ':method': 'POST', ...headers }, body })
      expect((JSON.parse(got.text) as { body: string }).body.length).toBe(body.length)
    }
    expect((await client.get('/size?n=20000000')).body.length).toBe(20_000_000)
    await client.close()
  })

  test('HEAD, 204 and 304 have no body', async () => {
    const client = await openHttp2(port, { ca })
    expect(await client.get('/size?n=1000', { headers: { ':method': 'HEAD' } })).toMatchObject({ status: 200, text: '' })
    expect(await client.get('/status?n=204')).toMatchObject({ status: 204, text: '' })
    expect(await client.get('/status?n=304')).toMatchObject({ status: 304, text: '', headers: { etag: '"x"' } })
    await client.close()
  })

  test('headers of the app arrive, except hop-by-hop ones', async () => {
    const client = await openHttp2(port, { ca })
    const { headers } = await client.get('/many')
    expect(headers['set-cookie']).toEqual(['a=1', 'b=2'])
    expect(headers['x-latin']).toBe('caf\u00e9')
    for (const name of ['connection', 'keep-alive', 'x-hop', 'transfer-encoding', 'strict-transport-security'])
      expect(headers).not.toHaveProperty(name)
    await client.close()
  })

  test('trailers arrive', async () => {
    const client = await openHttp2(port, { ca })
    expect(await client.get('/trailers')).toMatchObject({ text: 'one,two', trailers: { 'x-sum': '42' } })
    await client.close()
  })

  test('100-continue', async () => {
    const client = await openHttp2(port, { ca })
    const got = await client.get('/', { headers: { ':method': 'POST', expect: '100-continue' }, body: 'body' })
    expect(got).toMatchObject({ status: 200, interim: [100] })
    expect(await client.get('/', { headers: { ':method': 'POST', expect: 'miracles' }, body: 'body' })).toMatchObject({ status: 417 })
    await client.close()
  })

  test('a truncated response resets only its stream', async () => {
    const client = await openHttp2(port, { ca })
    const other = client.get('/size?n=1000000')
    await expect(client.get('/cut')).rejects.toThrow()
    expect((await other).body.length).toBe(1_000_000)
    expect((await client.get('/')).status).toBe(200)
    await client.close()
  })

  test('a response sent before the request body arrives', async () => {
    const client = await openHttp2(port, { ca })
    const got = await client.get('/early', { headers: { ':method': 'POST' }, body: Buffer.alloc(200_000) })
    expect(got).toMatchObject({ status: 413, text: 'no' })
    await client.close()
  })

  test('unknown hosts, wrong hosts and ambiguous requests get their error responses', async () => {
    const client = await openHttp2(port, { ca })
    // Node's parser resets the stream of invalid HTTP/2.
    const answers = (headers: Record<string, string>) =>
      client.get('/', { headers }).then(
        (got) => got.status,
        () => 'reset',
      )
    expect(await answers({ ':authority': 'other.localhost' })).toBe(421)
    expect(await answers({ host: 'other.localhost' })).toBe(421)
    expect(await answers({ ':authority': `app.localhost:${port}`, host: 'other.localhost' })).toBe(400)
    expect(await answers({ ':authority': 'user@app.localhost' })).toBe('reset')
    expect(await answers({ ':authority': 'app..localhost' })).toBe(400)
    expect(await answers({ ':path': '/a b' })).toBe('reset')
    expect(await answers({ ':path': '*', ':method': 'OPTIONS' })).toBe(400)
    expect(await answers({ ':method': 'TRACE' })).toBe(405)
    expect(await answers(Object.fromEntries(Array.from({ length: 110 }, (_, i) => [`x-${i}`, '1'])))).toBe(431)
    await client.close()
  })

  test('the cache serves both versions, and never sends an HTTPS response over HTTP', async () => {
    const client = await openHttp2(port, { ca })
    const kinds = []
    for (let i = 0; i < 2; i++) kinds.push(await client.get('/kept'))
    kinds.push(await getHttps(port, '/kept', { ca }))
    expect(kinds.map((one) => one.headers['x-cache'])).toEqual(['MISS', 'HIT', 'HIT'])
    for (const one of kinds) {
      expect(one.text).toBe('kept')
      expect(one.headers).not.toHaveProperty('strict-transport-security')
    }
    expect((await get(secureEdge.edge.port, '/kept', { host: `app.localhost:${port}` })).headers['x-cache']).toBe('MISS')
    await client.close()
  })

  test('headers over the total limit get an error response, and reach no app', async () => {
    const before = secureEdge.requests.length
    const socket = await openTlsSocket(port, { ca, servername: 'app.localhost', protocols: ['h2'] })
    const fields: [string, string][] = [
      ...fieldsOf('/large'),
      ...Array.from({ length: 70 }, (_, i): [string, string] => [`x-${i}-${'n'.repeat(110)}`, 'v'.repeat(120)]),
    ]
    // HEADERS with END_STREAM on stream 1: a response without a body.
    const answered = new Promise<number>((resolve) => {
      let all = Buffer.alloc(0)
      socket.on('data', (bytes: Buffer) => {
        all = Buffer.concat([all, bytes])
        for (let at = 0; at + 9 <= all.length; at += 9 + all.readUIntBE(at, 3)) if (all.readUInt32BE(at + 5) === 1) resolve(all.readUInt16BE(at + 3))
      })
    })
    const [first, rest] = [fields.slice(0, 40), fields.slice(40)]
    socket.write(Buffer.concat([frames.preface, frames.headers(1, first, { end_headers: false }), frames.continuation(1, rest)]))
    expect((await answered).toString(16)).toBe('105')
    expect(secureEdge.requests.slice(before)).toEqual([])
    socket.destroy()
  })

  test('a request body that is reset midway does not look complete to the app', async () => {
    for (const end of [frames.reset(1, 8), frames.reset(1, 0), undefined]) {
      const before = secureEdge.requests.length
      const socket = await openTlsSocket(port, { ca, servername: 'app.localhost', protocols: ['h2'] })
      const request = frames.headers(1, fieldsOf('/taken-back', 'POST'), { end: false })
      socket.write(Buffer.concat([frames.preface, request, frames.data(1, 'half a body', false)]))
      await until(() => secureEdge.requests[before]?.body === 'half a body' || undefined, { what: 'half a body at the app' })
      const open = new Promise((resolve) => secureEdge.app.server.once('request', resolve))
      if (end) socket.write(end)
      else socket.destroy()
      // The next request to the app is a different one, by which time the app would have received the end.
      await getHttps(port, '/', { ca })
      await open
      expect(secureEdge.requests[before]?.whole).toBe(false)
      socket.destroy()
    }
  })

  test('connection-specific headers, which HTTP/2 forbids, end the stream', async () => {
    const before = secureEdge.requests.length
    for (const header of ['transfer-encoding', 'connection', 'upgrade'] as const) {
      const socket = await openTlsSocket(port, { ca, servername: 'app.localhost', protocols: ['h2'] })
      const ended = new Promise<Buffer>((resolve) => {
        let all = Buffer.alloc(0)
        socket.on('data', (bytes: Buffer) => {
          all = Buffer.concat([all, bytes])
          // RST_STREAM or GOAWAY with an error.
          for (let at = 0; at + 9 <= all.length; at += 9 + all.readUIntBE(at, 3)) if (all[at + 3] === 3 || all[at + 3] === 7) resolve(all)
        })
        socket.on('close', () => resolve(all))
      })
      const fields: [string, string][] = [...fieldsOf('/smuggled'), [header, 'chunked']]
      socket.write(Buffer.concat([frames.preface, frames.headers(1, fields)]))
      await ended
      socket.destroy()
    }
    expect(secureEdge.requests.slice(before).filter((one) => one.url === '/smuggled')).toEqual([])
  })

  test('a client that opens and resets streams endlessly is disconnected', async () => {
    const socket = await openTlsSocket(port, { ca, servername: 'app.localhost', protocols: ['h2'] })
    socket.on('error', () => {})
    socket.resume()
    socket.write(frames.preface)
    const closed = new Promise((resolve) => socket.on('close', resolve))
    const fields = fieldsOf('/size?n=10')
    for (let stream = 1; stream < 4000 && !socket.destroyed; stream += 2)
      socket.write(Buffer.concat([frames.headers(stream, fields), frames.reset(stream)]))
    await closed
    // Other connections continue.
    expect((await getHttps(port, '/', { ca })).status).toBe(200)
  })

  test('invalid input of any kind affects no other connection', async () => {
    let seed = 1
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
    const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => random(256)))
    const fields = fieldsOf('/')
    const good = await openHttp2(port, { ca })
    for (let round = 0; round < 60; round++) {
      const socket = await openTlsSocket(port, { ca, servername: 'app.localhost', protocols: ['h2'] })
      const closed = new Promise((resolve) => socket.on('close', resolve).on('error', () => {}))
      socket.resume()
      const request = frames.headers(1, fields, { end: round % 2 === 0 })
      const whole = Buffer.concat([frames.preface, request, frames.data(1, 'body', false), frames.reset(3)])
      // A valid conversation with changed bytes, or random bytes from the start.
      for (let i = 0; i < 4; i++) whole[random(whole.length)] = random(256)
      socket.end(round % 3 === 0 ? bytes(200) : Buffer.concat([whole, bytes(random(50))]))
      await closed
    }
    expect((await good.get('/')).status).toBe(200)
    await good.close()
  })

  test('a client that disconnects aborts its requests to the app', async () => {
    const client = await openHttp2(port, { ca })
    const held = client.get('/hold').catch(() => 'gone')
    const before = secureEdge.requests.length
    await until(() => secureEdge.requests.slice(before - 1).some((one) => one.url === '/hold' && one.whole) || undefined, {
      what: 'the request at the app',
    })
    client.session.destroy()
    expect(await held).toBeDefined()
    await until(() => secureEdge.requests.at(-1)?.socket.destroyed || undefined, { what: 'the end of the app’s connection' })
  })

  test('a deployment that replaces the app waits for its streams', async () => {
    const { host } = { host: 'swap.localhost' }
    await secureEdge.edge.edge.setRoute(host, upstreamRoute(secureEdge.app.port))
    const client = await openHttp2(port, { ca, servername: host })
    const long = client.get('/size?n=3000000')
    await secureEdge.edge.edge.setRoute(host, { ...routeOwner, kind: 'page', page: 'stopped' }, { drain_ms: 60_000 })
    expect((await long).status === 200 || (await long).status === 503).toBe(true)
    expect((await client.get('/')).status).toBe(503)
    await client.close()
  })
})
