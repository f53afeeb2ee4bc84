import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { get, owner, paths, startApp, startEdge, until, upstreamRoute, type Listening, type TestEdge } from '../support/edge.ts'
import { createTestAuthority, frames, getSecure, openHttp2, shake } from '../support/tls.ts'

const authority = createTestAuthority()
let ca = ''
let only = false

interface Seen {
  method: string
  url: string
  headers: string[]
  body: string
  whole: boolean
}

describe.each(paths)('HTTPS at the edge, $name', ({ fast_path }) => {
  let edge: TestEdge
  let app: Listening<Server>
  let port = 0
  const seen: Seen[] = []
  const sockets = new WebSocketServer({ noServer: true })

  beforeAll(async () => {
    ca = (await authority.ensure()).certificate
    edge = await startEdge({
      fast_path,
      head_timeout_ms: 1000,
      httpsOnly: () => only,
      identityOf: authority.identityFor,
      look_secret: 'the platform itself',
    })
    port = (await edge.edge.listenSecure({ host: '127.0.0.1', port: 0 })).port
    app = await startApp((asked, answer) => {
      const one: Seen = { method: asked.method ?? '', url: asked.url ?? '', headers: asked.rawHeaders, body: '', whole: false }
      seen.push(one)
      asked.on('data', (bytes: Buffer) => (one.body += bytes.toString('latin1')))
      asked.on('end', () => {
        one.whole = true
        const url = new URL(one.url, 'http://x')
        if (url.pathname === '/size') return void answer.end(Buffer.alloc(Number(url.searchParams.get('n')), 'k'))
        if (url.pathname === '/hold') return void answer.write('begun')
        if (url.pathname === '/cut') {
          answer.writeHead(200, { 'content-length': 1000 })
          answer.write('half')
          return void setTimeout(() => answer.destroy(), 50)
        }
        if (url.pathname === '/trailers') {
          answer.write('one,')
          answer.addTrailers({ 'X-Sum': '42' })
          return void answer.end('two')
        }
        if (url.pathname === '/many')
          return void answer
            .writeHead(200, [
              ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Connection', 'keep-alive, X-Hop', 'X-Hop', '1', 'Keep-Alive', 'timeout=5'],
              ...['Strict-Transport-Security', 'max-age=1000', 'X-Latin', 'caf\u00e9', 'ETag', '"1"', 'Etag', '"2"'],
            ])
            .end('many')
        if (url.pathname === '/status') return void answer.writeHead(Number(url.searchParams.get('n')), { etag: '"x"' }).end()
        if (url.pathname === '/early') return void answer.writeHead(413).end('no')
        answer.setHeader('content-type', 'application/json')
        answer.end(JSON.stringify({ headers: asked.rawHeaders, body: one.body, method: one.method, trailers: asked.rawTrailers }))
      })
    })
    app.server.on('upgrade', (asked, socket, head) =>
      sockets.handleUpgrade(asked, socket, head, (one) => one.on('message', (text) => one.send(`you said ${String(text)}`))),
    )
    await edge.toPort(app.port)
    await edge.toPort(app.port, 'other.localhost')
    await edge.toPort(app.port, 'www.example.com')
  })
  afterAll(async () => {
    sockets.close()
    await edge.close()
    await app.close()
  })

  const headersOf = (text: string): Record<string, string> => {
    const raw = (JSON.parse(text) as { headers: string[] }).headers
    return Object.fromEntries(raw.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), raw[i + 1] ?? '']] : [])))
  }

  describe('TLS', () => {
    test('a client that trusts the authority is served, by local and by other names', async () => {
      for (const servername of ['app.localhost', 'www.example.com'])
        expect(await getSecure(port, '/', { ca, servername })).toMatchObject({ status: 200 })
    })

    test('the certificate names exactly the host that was asked for', async () => {
      const socket = await shake(port, { ca, servername: 'app.localhost' })
      expect(socket.getPeerX509Certificate()?.subjectAltName).toBe('DNS:app.localhost')
      expect(socket.getProtocol()).toBe('TLSv1.3')
      socket.destroy()
    })

    test('one who does not trust it is not', async () => {
      await expect(getSecure(port, '/', { ca: (await createTestAuthority().ensure()).certificate })).rejects.toThrow(/certificate|issuer/)
    })

    test.each(['nobody.localhost', 'example.org', 'app.localhost.example.org'])('no certificate is made for %s', async (servername) => {
      await expect(shake(port, { servername })).rejects.toThrow()
    })

    test('a name is known however it is written', async () => {
      const socket = await shake(port, { servername: 'APP.localhost' })
      expect(socket.getPeerX509Certificate()?.subjectAltName).toBe('DNS:app.localhost')
      socket.destroy()
    })

    test('without a name the address has a certificate', async () => {
      const socket = await shake(port, { ca })
      expect(socket.getPeerX509Certificate()?.subjectAltName).toBe('IP Address:127.0.0.1')
      socket.destroy()
    })

    test('TLS 1.1 is not spoken', async () => {
      const { connect } = await import('node:tls')
      const failed = await new Promise((resolve) => {
        const socket = connect(
          { port, host: '127.0.0.1', minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', rejectUnauthorized: false, ciphers: 'DEFAULT@SECLEVEL=0' },
          () => resolve(undefined),
        )
        socket.on('error', resolve)
      })
      expect(failed).toBeInstanceOf(Error)
    })

    test('a connection for one name does not lead to another: 421', async () => {
      const got = await getSecure(port, '/', { ca, servername: 'app.localhost', host: 'other.localhost' })
      expect(got.status).toBe(421)
      expect(got.text).toContain('Connect anew')
    })

    test('who says nothing is cut off after a while', async () => {
      const { connect } = await import('node:net')
      const socket = connect({ host: '127.0.0.1', port })
      await new Promise((resolve) => socket.on('close', resolve).on('error', () => {}))
    })

    test('who begins a handshake and does not go on is cut off too', async () => {
      const { connect } = await import('node:net')
      const socket = connect({ host: '127.0.0.1', port })
      socket.write(Buffer.from([22, 3, 1, 0, 200, 1]))
      await new Promise((resolve) => socket.on('close', resolve).on('error', () => {}))
    })
  })

  describe('HTTP/1.1 over it', () => {
    test('the app learns how it was asked', async () => {
      const { text } = await getSecure(port, '/', { ca, headers: { 'x-forwarded-proto': 'gopher' } })
      expect(headersOf(text)).toMatchObject({
        host: `app.localhost:${port}`,
        'x-forwarded-proto': 'https',
        'x-forwarded-port': String(port),
        'x-forwarded-host': `app.localhost:${port}`,
        forwarded: `for=127.0.0.1;host="app.localhost:${port}";proto=https`,
      })
      expect(headersOf((await getSecure(port, '/', { ca, host: 'app.localhost' })).text)).toMatchObject({ 'x-forwarded-port': '443' })
    })

    test('bodies go both ways', async () => {
      const body = 'x'.repeat(3_000_000)
      const sent = await getSecure(port, '/', { ca, method: 'POST', body, headers: { 'content-length': String(body.length) } })
      expect((JSON.parse(sent.text) as { body: string }).body.length).toBe(body.length)
      expect((await getSecure(port, '/size?n=5000000', { ca })).body.length).toBe(5_000_000)
    })

    test('an answer that is cut does not look whole', async () => {
      await expect(getSecure(port, '/cut', { ca })).rejects.toThrow()
    })

    test('what would bind browsers to HTTPS on every port of a local name is not passed on', async () => {
      expect((await getSecure(port, '/many', { ca })).headers).not.toHaveProperty('strict-transport-security')
      expect((await getSecure(port, '/many', { ca, servername: 'www.example.com' })).headers).toMatchObject({
        'strict-transport-security': 'max-age=1000',
      })
    })

    test('WebSockets open', async () => {
      const socket = new WebSocket(`wss://app.localhost:${port}/ws`, {
        ca,
        lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
      })
      const said = new Promise((resolve, reject) => socket.on('message', (text) => resolve(String(text))).on('error', reject))
      socket.on('open', () => socket.send('hello'))
      expect(await said).toBe('you said hello')
      socket.close()
    })
  })

  describe('HTTP/2', () => {
    test('is chosen when the client offers it, else HTTP/1.1', async () => {
      const offers: [string[], string | false][] = [
        [['h2', 'http/1.1'], 'h2'],
        [['http/1.1'], 'http/1.1'],
      ]
      for (const [protocols, chosen] of offers) {
        const socket = await shake(port, { ca, servername: 'app.localhost', protocols })
        expect(socket.alpnProtocol).toBe(chosen)
        socket.destroy()
      }
    })

    test('the app sees a request of HTTP/1.1', async () => {
      const client = await openHttp2(port, { ca })
      const got = await client.get('/path?q=1', { headers: { cookie: ['a=1', 'b=2'], 'x-own': '1', te: 'trailers' } })
      expect(got.status).toBe(200)
      const headers = headersOf(got.text)
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

    test('a hundred at once on one connection', async () => {
      const client = await openHttp2(port, { ca })
      const all = await Promise.all(Array.from({ length: 100 }, (_, i) => client.get(`/size?n=${i * 1000}`)))
      expect(all.map((one) => one.body.length)).toEqual(Array.from({ length: 100 }, (_, i) => i * 1000))
      await client.close()
    })

    test('bodies of any size, with a length and without', async () => {
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

    test('headers of the app arrive, but for those of one hop', async () => {
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

    test('an answer that is cut resets its stream and no other', async () => {
      const client = await openHttp2(port, { ca })
      const other = client.get('/size?n=1000000')
      await expect(client.get('/cut')).rejects.toThrow()
      expect((await other).body.length).toBe(1_000_000)
      expect((await client.get('/')).status).toBe(200)
      await client.close()
    })

    test('an answer before the body was sent arrives', async () => {
      const client = await openHttp2(port, { ca })
      const got = await client.get('/early', { headers: { ':method': 'POST' }, body: Buffer.alloc(200_000) })
      expect(got).toMatchObject({ status: 413, text: 'no' })
      await client.close()
    })

    test('unknown names, wrong names and doubtful requests have their answers', async () => {
      const client = await openHttp2(port, { ca })
      // What is no HTTP/2 at all resets its stream, by Node's own reader.
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

    test('a body that was taken back halfway does not look whole to the app', async () => {
      for (const end of [frames.reset(1, 8), frames.reset(1, 0), undefined]) {
        const before = seen.length
        const socket = await shake(port, { ca, servername: 'app.localhost', protocols: ['h2'] })
        const request = frames.headers(
          1,
          [
            [':method', 'POST'],
            [':path', '/taken-back'],
            [':scheme', 'https'],
            [':authority', 'app.localhost'],
          ],
          { end: false },
        )
        socket.write(Buffer.concat([frames.preface, request, frames.data(1, 'half a body', false)]))
        await until(() => seen[before]?.body === 'half a body')
        const open = new Promise((resolve) => app.server.once('request', resolve))
        if (end) socket.write(end)
        else socket.destroy()
        // The next request to the app is another one, and by then it would have been told of an end.
        await getSecure(port, '/', { ca })
        await open
        expect(seen[before]?.whole).toBe(false)
        socket.destroy()
      }
    })

    test('headers of the connection, which HTTP/2 does not have, end the stream', async () => {
      const before = seen.length
      for (const header of ['transfer-encoding', 'connection', 'upgrade'] as const) {
        const socket = await shake(port, { ca, servername: 'app.localhost', protocols: ['h2'] })
        const ended = new Promise<Buffer>((resolve) => {
          let all = Buffer.alloc(0)
          socket.on('data', (bytes: Buffer) => {
            all = Buffer.concat([all, bytes])
            // RST_STREAM or GOAWAY with an error.
            for (let at = 0; at + 9 <= all.length; at += 9 + all.readUIntBE(at, 3)) if (all[at + 3] === 3 || all[at + 3] === 7) resolve(all)
          })
          socket.on('close', () => resolve(all))
        })
        const fields: [string, string][] = [
          [':method', 'GET'],
          [':path', '/smuggled'],
          [':scheme', 'https'],
          [':authority', 'app.localhost'],
          [header, 'chunked'],
        ]
        socket.write(Buffer.concat([frames.preface, frames.headers(1, fields)]))
        await ended
        socket.destroy()
      }
      expect(seen.slice(before).filter((one) => one.url === '/smuggled')).toEqual([])
    })

    test('who opens and resets streams without end is cut off', async () => {
      const socket = await shake(port, { ca, servername: 'app.localhost', protocols: ['h2'] })
      socket.on('error', () => {})
      socket.resume()
      socket.write(frames.preface)
      const closed = new Promise((resolve) => socket.on('close', resolve))
      const fields: [string, string][] = [
        [':method', 'GET'],
        [':path', '/size?n=10'],
        [':scheme', 'https'],
        [':authority', 'app.localhost'],
      ]
      for (let stream = 1; stream < 4000 && !socket.destroyed; stream += 2)
        socket.write(Buffer.concat([frames.headers(stream, fields), frames.reset(stream)]))
      await closed
      // Others go on.
      expect((await getSecure(port, '/', { ca })).status).toBe(200)
    })

    test('a client that goes away ends what the app is doing for it', async () => {
      const client = await openHttp2(port, { ca })
      const open = new Set<Socket>()
      app.server.on('connection', (socket) => open.add(socket.on('close', () => open.delete(socket))))
      const held = client.get('/hold').catch(() => 'gone')
      const before = seen.length
      await until(() => seen.slice(before - 1).some((one) => one.url === '/hold' && one.whole))
      client.session.destroy()
      expect(await held).toBeDefined()
      await until(() => [...open].every((socket) => socket.destroyed || socket.bytesRead === 0) || open.size === 0)
    })

    test('a deployment that replaces the app waits for its streams', async () => {
      const { host } = { host: 'swap.localhost' }
      await edge.edge.setRoute(host, upstreamRoute(app.port))
      const client = await openHttp2(port, { ca, servername: host })
      const long = client.get('/size?n=3000000')
      await edge.edge.setRoute(host, { ...owner, kind: 'page', page: 'stopped' }, { drain_ms: 5000 })
      expect((await long).status === 200 || (await long).status === 503).toBe(true)
      expect((await client.get('/')).status).toBe(503)
      await client.close()
    })
  })

  describe('plain HTTP', () => {
    test('to the port of HTTPS is told where to go', async () => {
      const got = await get(port, '/a?b=1', { host: `app.localhost:${port}` })
      expect(got).toMatchObject({ status: 308, headers: { location: `https://app.localhost:${port}/a?b=1`, 'cache-control': 'no-store' } })
    })

    test('is served as ever, until the setting sends it on', async () => {
      expect((await get(edge.port, '/')).status).toBe(200)
      only = true
      try {
        expect(await get(edge.port, '/a?b=1')).toMatchObject({ status: 308, headers: { location: `https://app.localhost:${port}/a?b=1` } })
        expect((await get(edge.port, '/', { method: 'POST', body: 'x', headers: { 'content-length': '1' } })).status).toBe(308)
        expect((await get(edge.port, '/', { headers: { te: 'trailers' } })).status).toBe(308)
        expect((await get(edge.port, '/.well-known/acme-challenge/token')).status).toBe(200)
        expect((await get(edge.port, '/', { headers: { 'x-homeport-look': 'the platform itself' } })).status).toBe(200)
        expect((await get(edge.port, '/', { headers: { 'x-homeport-look': 'somebody else' } })).status).toBe(308)
        expect((await get(edge.port, '/', { host: 'nobody.localhost' })).status).toBe(404)
        expect((await getSecure(port, '/', { ca })).status).toBe(200)
      } finally {
        only = false
      }
    })
  })
})
