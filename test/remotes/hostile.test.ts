import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Remote } from '../../server/contract/remotes.ts'
import { type HostileRemote, sampleProject, jsonResponder, startHostileRemote } from '../support/hostile-remote.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { addRemote, sendRequest, expectSandboxed, expectUnreachable, hostileToken as token, dashboardHeaders, signIn } from './proxy-requests.ts'

/* T11: everything from another instance is data, and the token is sent nowhere else. */

let platform: TestPlatform
let evil: HostileRemote
let remote: HostileRemote
let known: Remote & { base: string }

beforeAll(async () => {
  ;[platform, remote, evil] = await Promise.all([startTestPlatform({ runtime: 'process' }), startHostileRemote(), startHostileRemote()])
  known = await addRemote(platform, remote.url, token)
})
afterEach(() => {
  remote.respondWith()
  expect(evil.connections()).toBe(0)
})
afterAll(() => Promise.all([platform?.remove(), remote?.close(), evil?.close()]))

const get = (path: string) => sendRequest(platform, 'GET', known.base + path)

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])('%i is not followed, whatever the method', async (status) => {
    remote.respondWith((res) => res.writeHead(status, { location: `${evil.url}/v1/projects?stolen=1` }).end())
    expectUnreachable(await get('/v1/projects'), new RegExp(`redirects to “${evil.url}”`))
    expectUnreachable(
      await sendRequest(platform, 'POST', `${known.base}/v1/projects`, { body: '{"name":"n","slug":"abc"}' }),
      /The redirect was not followed/,
    )
    expectUnreachable(await sendRequest(platform, 'DELETE', `${known.base}/v1/projects/abc`), /The redirect was not followed/)
  })

  test('is not followed when an instance is added', async () => {
    const other = await startHostileRemote()
    other.respondWith((res) => res.writeHead(302, { location: evil.url }).end())
    const { status, body } = await platform.api('POST', '/instance/remotes', { url: other.url, token })
    expect([status, body.error]).toEqual([502, 'remote_unreachable'])
    expect(body.message).toContain(evil.url)
    await other.close()
  })

  test.each(['javascript:alert(1)', 'data:text/html,x', '//evil.example/', '\\\\evil.example', 'http://[::1', ''])(
    'to %s is not followed',
    async (location) => {
      remote.respondWith((res) => res.writeHead(302, { location }).end())
      const response = await get('/v1/projects')
      expectUnreachable(response, /redirects/)
      expect(response.text).not.toMatch(/javascript:|data:text/)
    },
  )

  test('headers that redirect a browser are removed', async () => {
    remote.respondWith(
      jsonResponder({ projects: [], next_cursor: null }, 200, {
        refresh: `0; url=${evil.url}`,
        link: `<${evil.url}>; rel=preload; as=script`,
        location: evil.url,
        'content-location': evil.url,
        'set-cookie': 'homeport_session=stolen; Path=/',
        'set-login': 'logged-out',
        'clear-site-data': '"*"',
        'access-control-allow-origin': '*',
        'content-security-policy': '*',
        'service-worker-allowed': '/',
        sourcemap: evil.url,
        'x-request-id': 'a'.repeat(500),
        'retry-after': 'soon',
        'x-ratelimit-limit': '7',
        'x-content-type-options': 'sniff',
        'content-disposition': 'inline',
        'cache-control': 'public, max-age=99999',
        nel: '{}',
        'strict-transport-security': 'max-age=99999',
        'report-to': '{}',
      }),
    )
    const { headers, status } = await get('/v1/projects')
    expect(status).toBe(200)
    expectSandboxed(headers)
    expect(Object.keys(headers).toSorted()).toEqual(
      [
        'connection',
        'content-length',
        'content-security-policy',
        'content-type',
        'cache-control',
        'cross-origin-resource-policy',
        'date',
        'referrer-policy',
        'x-content-type-options',
        'x-ratelimit-limit',
        'x-ratelimit-remaining',
        'x-ratelimit-reset',
        'x-request-id',
      ].toSorted(),
    )
    expect([headers['x-ratelimit-limit'], headers['cache-control']]).toEqual(['7', 'no-store'])
    expect(headers['x-request-id']).toMatch(/^req_/)
  })
})

describe('a request to the remote', () => {
  test('has its token, and only what the operation needs', async () => {
    const cookie = await signIn(platform)
    const page = dashboardHeaders(platform, cookie)
    await sendRequest(platform, 'PATCH', `/instance/remotes/${known.id}`, { token: null, headers: page, body: JSON.stringify({ token }) })
    remote.requests.length = 0
    await sendRequest(platform, 'GET', `${known.base}/v1/projects?limit=5&token=secret&cursor=a%26b`, {
      token: null,
      headers: {
        ...page,
        referer: `${platform.handle.api_url}/app/`,
        'user-agent': 'a browser',
        'accept-language': 'de',
        'x-forwarded-for': '10.0.0.1',
        'x-anything': '1',
        'accept-encoding': 'gzip',
      },
    })
    const { port } = new URL(remote.url)
    expect(remote.requests[0]).toMatchObject({ method: 'GET', url: '/v1/projects?limit=5&cursor=a%26b' })
    expect(remote.requests[0]?.headers).toEqual({
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'accept-encoding': 'identity',
      host: `127.0.0.1:${port}`,
      connection: 'keep-alive',
    })
    await sendRequest(platform, 'POST', `${known.base}/v1/projects`, {
      token: null,
      headers: { ...page, 'idempotency-key': 'k' },
      body: '{"name":"n","slug":"abc"}',
    })
    expect(remote.requests[1]?.headers).toEqual({
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'content-length': '25',
      'idempotency-key': 'k',
      host: `127.0.0.1:${port}`,
      connection: 'keep-alive',
    })
  })

  test('has only the path of the operation', async () => {
    remote.requests.length = 0
    await get('/v1/projects/%41%3f%23%20')
    await get('/v1/projects/a;x=1')
    expect(remote.requests.map((one) => one.url)).toEqual(['/v1/projects/A%3F%23%20', '/v1/projects/a%3Bx%3D1'])
  })
})

describe('a response', () => {
  test('that is an HTML page is refused', async () => {
    remote.respondWith((res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<script>fetch("/v1/tokens")</script>'))
    const response = await get('/v1/projects')
    expectUnreachable(response, /a web page/)
    expect(response.text).not.toContain('<script')
    remote.respondWith((res) => res.writeHead(500, { 'content-type': 'text/html' }).end('<script>1</script>'))
    expectUnreachable(await get('/v1/projects'), /status 500/)
    remote.respondWith((res) => res.writeHead(404, { 'content-type': 'text/html' }).end('<script>1</script>'))
    const missing = await get('/v1/projects')
    expect([missing.status, missing.body.error]).toEqual([404, 'route_not_found'])
    remote.respondWith((res) => res.writeHead(204).end())
    expectUnreachable(await get('/v1/projects'), /without the expected content/)
    remote.respondWith((res) => res.writeHead(200).end('{}'))
    expectUnreachable(await get('/v1/projects'), /no content type/)
  })

  test.each([
    ['no JSON', '{"projects":[', /invalid JSON/],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), /invalid JSON/],
    ['a list', '[]', /does not match the API/],
    ['null', 'null', /does not match the API/],
    ['the wrong type', '{"projects":"none","next_cursor":null}', /“projects”/],
    ['a missing field', '{"projects":[]}', /“next_cursor”/],
    ['a project of another shape', '{"projects":[{"id":1}],"next_cursor":null}', /“projects\.0\.id”/],
    ['very deep nesting', `{"projects":${'['.repeat(100_000)}${']'.repeat(100_000)},"next_cursor":null}`, /does not match|invalid JSON/],
  ])('with %s is refused', async (_what, body, says) => {
    remote.respondWith((res) => res.writeHead(200, { 'content-type': 'application/json' }).end(body))
    expectUnreachable(await get('/v1/projects'), says)
  })

  test('of a newer instance loses only unknown fields', async () => {
    const project = sampleProject('newer')
    remote.respondWith(
      jsonResponder({ projects: [{ ...project, from_the_future: { a: 1 } }], next_cursor: null, more: true, ['__proto__']: { is_admin: true } }),
    )
    const response = await get('/v1/projects')
    expect([response.status, response.body]).toEqual([200, { projects: [project], next_cursor: null }])
  })

  test('that is compressed is refused, however small', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 2 ** 20))
    remote.respondWith((res) => res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb))
    expectUnreachable(await get('/v1/projects'), /the encoding/)
    remote.respondWith((res) => res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'br' }).end(bomb))
    expectUnreachable(await get('/v1/projects'), /the encoding/)
  })

  test('without end is aborted', async () => {
    let sent = 0
    const left = Promise.withResolvers<void>()
    remote.respondWith(async (res) => {
      res.writeHead(200, { 'content-type': 'application/json' })
      res.setMaxListeners(0).on('close', left.resolve)
      const piece = Buffer.alloc(2 ** 18, 0x20)
      while (!res.destroyed) {
        sent += piece.length
        if (!res.write(piece)) await Promise.race([once(res, 'drain'), once(res, 'close')])
      }
    })
    expectUnreachable(await get('/v1/projects'), /more than 16 MiB/)
    await left.promise
    expect(sent).toBeLessThan(40 * 2 ** 20)
    remote.respondWith((res) => res.writeHead(200, { 'content-type': 'application/json', 'content-length': String(2 ** 40) }).flushHeaders())
    expectUnreachable(await get('/v1/projects'), /more than 16 MiB/)
  })

  test.each([
    ['shorter than its Content-Length', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{}'],
    ['truncated in a chunk', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{}'],
    ['that is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['that is empty', ''],
    [
      'framed twice',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    ],
    ['with a broken header', 'HTTP/1.1 200 OK\r\nContent Type: application/json\r\n\r\n{}'],
    ['with very long headers', `HTTP/1.1 200 OK\r\nX-Large: ${'a'.repeat(40_000)}\r\n\r\n`],
    ['that changes the protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'],
    ['with an unknown status', 'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'],
  ])('%s is refused', async (_what, bytes) => {
    remote.respondWithBytes(bytes)
    expectUnreachable(await get('/v1/projects'), /\w+ .*\./)
  })

  test('can follow any number of 1xx responses, which are ignored', async () => {
    const body = '{"projects":[],"next_cursor":null}'
    const early = `HTTP/1.1 103 Early Hints\r\nLink: <${evil.url}>; rel=preload\r\n\r\n`
    remote.respondWithBytes(`${early.repeat(20)}HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    const response = await get('/v1/projects')
    expect([response.status, response.headers.link]).toEqual([200, undefined])
  })

  test('followed by another one counts once', async () => {
    const body = '{"projects":[],"next_cursor":null}'
    const whole = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    remote.respondWithBytes(`${whole}HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`)
    for (let round = 0; round < 3; round++) expect([200, 502]).toContain((await get('/v1/projects')).status)
    remote.respondWith()
    const next = await get('/v1/projects')
    expect([next.status, next.text]).toEqual([200, body])
  })
})

describe('the content of a response', () => {
  test('is text, and links only to the web', async () => {
    const name = '<img src=x onerror=alert(1)>'
    const bad = [
      'javascript:alert(1)',
      ' java\nscript:alert(1)',
      '\u0001javascript:x',
      'JaVaScRiPt:x',
      'data:text/html,x',
      'vbscript:x',
      'blob:x',
      'file:///etc/passwd',
    ]
    for (const url of bad) {
      remote.respondWith(jsonResponder({ projects: [{ ...sampleProject('abc'), name, repo_url: url }], next_cursor: null }))
      const [project] = (await get('/v1/projects')).body.projects as { name: string; repo_url: string }[]
      expect(project).toMatchObject({ name, repo_url: url.startsWith('file:') ? url : '' })
      remote.respondWith(jsonResponder({ token: 'hpp_x', webhook_url: url }, 201))
      expect((await sendRequest(platform, 'POST', `${known.base}/v1/projects/abc/cache/token`)).body).toEqual({ token: 'hpp_x', webhook_url: '' })
    }
    for (const url of ['https://git.example/a.git', 'http://x.localhost:1/', 'git@git.example:a/b.git', 'ssh://git@git.example/a']) {
      remote.respondWith(jsonResponder({ projects: [{ ...sampleProject('abc'), repo_url: url }], next_cursor: null }))
      expect(((await get('/v1/projects')).body.projects as { repo_url: string }[])[0]?.repo_url).toBe(url)
    }
  })

  test('never includes the token', async () => {
    remote.respondWith(
      jsonResponder(
        { error: 'bad_request', message: `You sent Bearer ${token}!`, request_id: token, issues: [{ path: token, message: token }] },
        400,
      ),
    )
    const refused = await get('/v1/projects')
    expect([refused.status, refused.body.message]).toEqual([400, 'You sent Bearer •••!'])
    expect(refused.text).not.toContain(token)
    const escaped = JSON.stringify({ projects: [{ ...sampleProject('abc'), name: 'TOKEN' }], next_cursor: 'TOKEN' }).replaceAll(
      'TOKEN',
      Array.from(token, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    )
    remote.respondWith((res) => res.writeHead(200, { 'content-type': 'application/json' }).end(escaped))
    const response = await get('/v1/projects')
    expect([response.status, response.body.next_cursor]).toEqual([200, '•••'])
    expect(response.text).not.toContain(token)
    remote.respondWith((res) => res.writeHead(200, { 'content-type': `text/${token}` }).end())
    expectUnreachable(await get('/v1/projects'), /./)
    remote.respondWith((res) => res.writeHead(302, { location: `https://${token}.example/` }).end())
    expectUnreachable(await get('/v1/projects'), /./)
    remote.respondWith(jsonResponder({ projects: { [token]: token }, next_cursor: null }))
    expectUnreachable(await get('/v1/projects'), /./)
    expect(platform.log.join('\n')).not.toContain(token)
  })
})

describe('an error of the remote', () => {
  test('for its token does not end the session here', async () => {
    remote.respondWith(
      jsonResponder({ error: 'unauthorized', message: 'Sign in.', request_id: 'req_x' }, 401, { 'www-authenticate': 'Basic realm="evil"' }),
    )
    const response = await get('/v1/projects')
    expect([response.status, response.body.error, response.headers['www-authenticate']]).toEqual([409, 'remote_token_refused', undefined])
    remote.respondWith((res) => res.writeHead(407, { 'proxy-authenticate': 'Basic' }).end())
    expectUnreachable(await get('/v1/projects'), /status 407/)
  })

  test('keeps its status, code and Retry-After', async () => {
    remote.respondWith(
      jsonResponder({ error: 'rate_limited', message: 'Wait.', request_id: 'req_there' }, 429, { 'retry-after': '7', 'x-request-id': 'req_there' }),
    )
    const response = await get('/v1/projects')
    expect([response.status, response.headers['retry-after'], response.headers['x-request-id'], response.body.error]).toEqual([
      429,
      '7',
      'req_there',
      'rate_limited',
    ])
    expectSandboxed(response.headers)
  })

  test.each([
    ['an invalid code', { error: '<script>', message: 'm' }],
    ['a very long code', { error: 'a'.repeat(1000), message: 'm' }],
    ['a code that is a number', { error: 1, message: 'm' }],
    ['no message', { error: 'bad_request' }],
    ['a list', []],
  ])('with %s is refused', async (_what, body) => {
    remote.respondWith(jsonResponder(body, 400))
    expectUnreachable(await get('/v1/projects'), /status 400/)
  })

  test('is truncated if too long, and has only fields of the contract', async () => {
    remote.respondWith(jsonResponder({ error: 'bad_request', message: 'm'.repeat(5000), html: '<b>', issues: 'none', request_id: 3 }, 400))
    const response = await get('/v1/projects')
    expect([response.status, response.body]).toEqual([400, { error: 'bad_request', message: 'm'.repeat(2000) }])
    remote.respondWith(jsonResponder({ error: 'bad_request', message: 'm'.repeat(100_000) }, 400))
    expectUnreachable(await get('/v1/projects'), /status 400/)
  })
})

test('a hosted service with only the customer’s operations is shown without the rest', async () => {
  remote.respondWith((res, req) => {
    const isThere = req.url?.startsWith('/v1/') === true
    jsonResponder(
      isThere ? { projects: [], next_cursor: null } : { error: 'route_not_found', message: 'Nothing here.', request_id: 'req_1' },
      isThere ? 200 : 404,
    )(res)
  })
  expect((await get('/v1/projects')).status).toBe(200)
  for (const path of ['/instance/session', '/instance/events', '/instance/settings', '/instance/disk']) {
    const response = await get(path)
    expect([path, response.status, response.body.error]).toEqual([path, 404, 'route_not_found'])
  }
})
