import { once } from 'node:events'
import { connect as connectPlain } from 'node:net'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { get, edgePaths } from '../support/edge.ts'
import { receivedHeaders, startSecureEdge, type SecureEdge } from '../support/secure-edge.ts'
import { createTestAuthority, getHttps, openTlsSocket } from '../support/tls.ts'

describe.each(edgePaths)('HTTPS at the edge, $name', ({ fast_path }) => {
  let secureEdge: SecureEdge
  let port = 0
  let ca = ''
  const sockets = new WebSocketServer({ noServer: true })

  beforeAll(async () => {
    secureEdge = await startSecureEdge({ fast_path, probe_secret: 'the platform itself' })
    ;({ port, ca } = secureEdge)
    secureEdge.app.server.on('upgrade', (req, socket, head) =>
      sockets.handleUpgrade(req, socket, head, (one) => one.on('message', (text) => one.send(`you said ${String(text)}`))),
    )
  })
  afterAll(async () => {
    sockets.close()
    await secureEdge.close()
  })

  describe('TLS', () => {
    test('a client that trusts the authority is served, by local hostnames and custom domains', async () => {
      for (const servername of ['app.localhost', 'www.example.com'])
        expect(await getHttps(port, '/', { ca, servername })).toMatchObject({ status: 200 })
    })

    test('the certificate names exactly the requested host', async () => {
      const socket = await openTlsSocket(port, { ca, servername: 'app.localhost' })
      expect(socket.getPeerX509Certificate()?.subjectAltName).toBe('DNS:app.localhost')
      expect(socket.getProtocol()).toBe('TLSv1.3')
      socket.destroy()
    })

    test('a client that does not trust it is not served', async () => {
      await expect(getHttps(port, '/', { ca: (await createTestAuthority().ensure()).certificate })).rejects.toThrow(/certificate|issuer/)
    })

    test.each(['nobody.localhost', 'example.org', 'app.localhost.example.org'])('no certificate is issued for %s', async (servername) => {
      await expect(openTlsSocket(port, { servername })).rejects.toThrow()
    })

    test('a hostname is recognized in any spelling', async () => {
      const socket = await openTlsSocket(port, { servername: 'APP.localhost' })
      expect(socket.getPeerX509Certificate()?.subjectAltName).toBe('DNS:app.localhost')
      socket.destroy()
    })

    test('without a server name the certificate is for the IP address', async () => {
      const socket = await openTlsSocket(port, { ca })
      expect(socket.getPeerX509Certificate()?.subjectAltName).toBe('IP Address:127.0.0.1')
      socket.destroy()
    })

    test('TLS 1.1 is refused', async () => {
      const failed = await new Promise((resolve) => {
        const socket = connect(
          { port, host: '127.0.0.1', minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', rejectUnauthorized: false, ciphers: 'DEFAULT@SECLEVEL=0' },
          () => resolve(undefined),
        )
        socket.on('error', resolve)
      })
      expect(failed).toBeInstanceOf(Error)
    })

    test('a connection for one host does not serve another: 421', async () => {
      const got = await getHttps(port, '/', { ca, servername: 'app.localhost', host: 'other.localhost' })
      expect(got.status).toBe(421)
      expect(got.text).toContain('Open a new connection')
    })

    test('a silent client is disconnected after a timeout', async () => {
      await secureEdge.edge.advanceUntilDone(once(connectPlain({ host: '127.0.0.1', port }), 'close'))
    })

    test('so is a client that does not finish the handshake', async () => {
      // Node's own TLS uses real timers, which the test clock does not advance.
      const hasty = await startSecureEdge({ fast_path, header_timeout_ms: 200 })
      onTestFinished(() => hasty.close())
      const socket = connectPlain({ host: '127.0.0.1', port: hasty.port })
      socket.write(Buffer.from([22, 3, 1, 0, 200, 1]))
      await new Promise((resolve) => socket.on('close', resolve).on('error', () => {}))
    })
  })

  describe('HTTP/1.1 over TLS', () => {
    test('the app learns that the request used HTTPS', async () => {
      const { text } = await getHttps(port, '/', { ca, headers: { 'x-forwarded-proto': 'gopher' } })
      expect(receivedHeaders(text)).toMatchObject({
        host: `app.localhost:${port}`,
        'x-forwarded-proto': 'https',
        'x-forwarded-port': String(port),
        'x-forwarded-host': `app.localhost:${port}`,
        forwarded: `for=127.0.0.1;host="app.localhost:${port}";proto=https`,
      })
      expect(receivedHeaders((await getHttps(port, '/', { ca, host: 'app.localhost' })).text)).toMatchObject({ 'x-forwarded-port': '443' })
    })

    test('bodies arrive in both directions', async () => {
      const body = 'x'.repeat(3_000_000)
      const sent = await getHttps(port, '/', { ca, method: 'POST', body, headers: { 'content-length': String(body.length) } })
      expect((JSON.parse(sent.text) as { body: string }).body.length).toBe(body.length)
      expect((await getHttps(port, '/size?n=5000000', { ca })).body.length).toBe(5_000_000)
    })

    test('a truncated response does not look complete', async () => {
      await expect(getHttps(port, '/cut', { ca })).rejects.toThrow()
    })

    test('Strict-Transport-Security is removed on local names, because it would apply to every port', async () => {
      expect((await getHttps(port, '/many', { ca })).headers).not.toHaveProperty('strict-transport-security')
      expect((await getHttps(port, '/many', { ca, servername: 'www.example.com' })).headers).toMatchObject({
        'strict-transport-security': 'max-age=1000',
      })
    })

    test('WebSockets connect', async () => {
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

  describe('plain HTTP', () => {
    test('sent to the HTTPS port is answered with where to go', async () => {
      const got = await get(port, '/a?b=1', { host: `app.localhost:${port}` })
      expect(got).toMatchObject({ status: 308, headers: { location: `https://app.localhost:${port}/a?b=1`, 'cache-control': 'no-store' } })
    })

    test('is served as usual until the setting redirects it', async () => {
      expect((await get(secureEdge.edge.port, '/')).status).toBe(200)
      secureEdge.https_only = true
      try {
        expect(await get(secureEdge.edge.port, '/a?b=1')).toMatchObject({ status: 308, headers: { location: `https://app.localhost:${port}/a?b=1` } })
        expect((await get(secureEdge.edge.port, '/', { method: 'POST', body: 'x', headers: { 'content-length': '1' } })).status).toBe(308)
        expect((await get(secureEdge.edge.port, '/', { headers: { te: 'trailers' } })).status).toBe(308)
        expect((await get(secureEdge.edge.port, '/.well-known/acme-challenge/token')).status).toBe(200)
        expect((await get(secureEdge.edge.port, '/', { headers: { 'x-homeport-probe': 'the platform itself' } })).status).toBe(200)
        expect((await get(secureEdge.edge.port, '/', { headers: { 'x-homeport-probe': 'somebody else' } })).status).toBe(308)
        expect((await get(secureEdge.edge.port, '/', { host: 'nobody.localhost' })).status).toBe(404)
        expect((await getHttps(port, '/', { ca })).status).toBe(200)
      } finally {
        secureEdge.https_only = false
      }
    })
  })
})
