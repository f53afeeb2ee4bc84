import { describe, expect, test } from 'vitest'
import { countingHandler, projectId, startCachedEdge } from '../support/cached-edge.ts'
import { edgePaths, sendRaw, upstreamRoute } from '../support/edge.ts'
import { until } from '../support/until.ts'

// What is stored and how it is used: RFC 9111, 5861, 9211, 9213 and server/SECURITY.md T9, on both request paths of the edge.
describe.each(edgePaths)('the cache, $name', ({ fast_path }) => {
  const start = () => startCachedEdge({ fast_path })

  test.each<[string, Record<string, string>, Record<string, string>?]>([
    ['max-age', { 'cache-control': 'max-age=60' }],
    ['s-maxage over max-age=0', { 'cache-control': 'max-age=0, s-maxage=60' }],
    ['Expires', { expires: new Date(Date.now() + 60_000).toUTCString() }],
    ['CDN-Cache-Control over no-store', { 'cache-control': 'no-store', 'cdn-cache-control': 'max-age=60' }],
    ['s-maxage, for a request with a cookie', { 'cache-control': 'public, s-maxage=60' }, { cookie: 'a=b' }],
    ['s-maxage, for a request with Authorization', { 'cache-control': 's-maxage=60' }, { authorization: 'Bearer x' }],
    ['an Age whose first member is fresh', { 'cache-control': 'max-age=60', age: '30, 90' }],
    ...['abc', '-90', '90.0', '0, 90'].map((age): [string, Record<string, string>] => [`Age: ${age}`, { 'cache-control': 'max-age=60', age }]),
    ['no-store with must-understand', { 'cache-control': 'max-age=60, no-store, must-understand' }],
    ['a length not known in advance', { 'cache-control': 'max-age=60', 'transfer-encoding': 'chunked' }],
  ])('stores %s', async (_name, headers, requestHeaders) => {
    const cached = await start()
    cached.app = countingHandler(headers)
    expect(await cached.getStatusAndBody('/', requestHeaders)).toBe('MISS 1')
    expect(await cached.getStatusAndBody('/')).toBe('HIT 1')
    expect(cached.requests).toHaveLength(1)
  })

  test.each<[string, Record<string, string | string[]>, Record<string, string>?, number?]>([
    ['a response without cache headers', {}],
    ['a response with only an ETag', { etag: '"a"' }],
    ['no-store', { 'cache-control': 'max-age=60, no-store' }],
    ['private', { 'cache-control': 'private, max-age=60' }],
    ['private for a field', { 'cache-control': 'private="x-user", max-age=60' }],
    ['Set-Cookie', { 'cache-control': 'public, max-age=60', 'set-cookie': 'a=b' }],
    ['Vary: *', { 'cache-control': 'public, max-age=60', vary: 'accept, *' }],
    ['Authorization without public', { 'cache-control': 'max-age=60' }, { authorization: 'Bearer x' }],
    [
      'Authorization with an s-maxage that is not a number',
      { 'cache-control': 'max-age=60, s-maxage=soon', etag: '"a"' },
      { authorization: 'Bearer x' },
    ],
    ['Cookie without Vary', { 'cache-control': 'max-age=60' }, { cookie: 'a=b' }],
    ['Cookie, even with public', { 'cache-control': 'public, max-age=60' }, { cookie: 'a=b' }],
    ['a server error', { 'cache-control': 'public, max-age=60' }, {}, 500],
    ['an invalid CDN-Cache-Control, which is ignored', { 'cache-control': 'no-store', 'cdn-cache-control': 'max-age=60, =' }],
    ['CDN-Cache-Control: no-store', { 'cache-control': 'public, max-age=60', 'cdn-cache-control': 'no-store' }],
    ['an Age past the freshness lifetime', { 'cache-control': 'max-age=60', age: '61' }],
    ['an Age whose first member is past the freshness lifetime', { 'cache-control': 'max-age=60', age: '61, 0' }],
    ['an extremely long Age', { 'cache-control': 'max-age=4000000000', age: '9'.repeat(400) }],
    ['no-store with must-understand of a status that is not understood', { 'cache-control': 'max-age=60, no-store, must-understand' }, {}, 299],
  ])('does not store %s', async (_name, headers, requestHeaders, status) => {
    const cached = await start()
    cached.app = countingHandler(headers, status)
    expect(await cached.getStatusAndBody('/account/x.css', requestHeaders)).toBe('MISS 1')
    expect(await cached.getStatusAndBody('/account/x.css', requestHeaders)).toBe('MISS 2')
    expect(await cached.getStatusAndBody('/account/x.css')).toBe('MISS 3')
    if (requestHeaders === undefined) expect(cached.edge.edge.cache.stats(projectId)).toEqual({ objects: 0, bytes: 0 })
  })

  test.each<Record<string, string>>([{}, { 'cache-control': 'max-stale' }])(
    'a response to Authorization that s-maxage allows to be stored is never served stale, requested with %j',
    async (requestHeaders) => {
      const cached = await start()
      cached.app = countingHandler({ 'cache-control': 's-maxage=10, stale-while-revalidate=60, stale-if-error=60' })
      expect(await cached.getStatusAndBody('/', { authorization: 'Bearer x' })).toBe('MISS 1')
      expect(await cached.getStatusAndBody('/')).toBe('HIT 1')
      cached.advanceSeconds(20)
      expect(await cached.getStatusAndBody('/', requestHeaders)).toBe('MISS 2')
    },
  )

  test.each(['GET', 'HEAD'])('a response to Authorization whose permission is withdrawn by a %s is no longer stored', async (method) => {
    const cached = await start()
    cached.app = countingHandler({ 'cache-control': 'public, max-age=10', etag: '"a"' })
    expect(await cached.getStatusAndBody('/', { authorization: 'Bearer x' })).toBe('MISS 1')
    cached.app = (request, response) =>
      response.writeHead(request.headers['if-none-match'] === undefined ? 200 : 304, { 'cache-control': 'max-age=600', etag: '"a"' }).end('2')
    cached.advanceSeconds(20)
    await cached.request('/', {}, method)
    cached.app = countingHandler({})
    expect(await cached.getStatusAndBody('/')).toBe('MISS 1')
  })

  test('sets Age, and leaves Date unchanged', async () => {
    const cached = await start()
    const date = new Date(Date.now() - 5000).toUTCString()
    cached.app = countingHandler({ 'cache-control': 'max-age=600', date, age: '20' })
    await cached.request('/')
    cached.advanceSeconds(100)
    const { headers } = await cached.request('/')
    expect(Number(headers.age)).toBeGreaterThanOrEqual(120)
    expect(Number(headers.age)).toBeLessThan(125)
    expect(headers.date).toBe(date)
    cached.advanceSeconds(500)
    expect(await cached.getStatusAndBody('/')).toBe('MISS 2')
  })

  test('responses are intact for every number of digits in Age', async () => {
    const cached = await start()
    cached.app = (_request, response) => response.writeHead(200, { 'cache-control': 'max-age=200000', 'x-a': 'b' }).end('x'.repeat(50_000))
    await cached.request('/')
    let age = 0
    for (const step of [1, 8, 1, 89, 1, 900, 9000, 90_000]) {
      cached.advanceSeconds(step)
      age += step
      const got = await cached.request('/')
      expect(got.headers).toMatchObject({ 'x-cache': 'HIT', 'x-a': 'b', 'content-length': '50000' })
      expect(Math.abs(Number(got.headers.age) - age)).toBeLessThan(3)
      expect(got.text).toBe('x'.repeat(50_000))
    }
    expect(cached.requests).toHaveLength(1)
  })

  test('each response has its own request id, and each header once', async () => {
    const cached = await start()
    cached.app = countingHandler({ 'cache-control': 'max-age=60', 'x-cache': 'HIT from the app', 'x-request-id': 'app' })
    const ids = new Set<unknown>()
    for (let i = 0; i < 3; i++) {
      const got = await cached.request('/')
      ids.add(got.headers['x-request-id'])
      const names = got.rawHeaders.filter((_value, at) => at % 2 === 0).map((name) => name.toLowerCase())
      expect(names.filter((name) => !['connection', 'keep-alive'].includes(name))).toEqual([
        ...new Set(names.filter((name) => !['connection', 'keep-alive'].includes(name))),
      ])
    }
    expect(ids.size).toBe(3)
  })

  test('cache tags are not sent to clients', async () => {
    const cached = await start()
    cached.app = countingHandler({ 'cache-control': 'max-age=60', 'surrogate-key': 'a b', 'cache-tag': 'c, d' })
    for (const word of ['MISS', 'HIT']) {
      const { headers } = await cached.request('/')
      expect(headers['x-cache']).toBe(word)
      expect(headers).not.toHaveProperty('surrogate-key')
      expect(headers).not.toHaveProperty('cache-tag')
    }
    const inspected = await cached.edge.edge.cache.inspect({ project_id: projectId, origin: 'http://app.localhost', target: '/', headers: {} })
    expect(inspected.stored?.tags).toEqual(['a', 'b', 'c', 'd'])
  })

  test('explains itself in Cache-Status', async () => {
    const cached = await start()
    cached.app = countingHandler({ 'cache-control': 'max-age=60', etag: '"a"' })
    expect((await cached.request('/')).headers['cache-status']).toBe('Homeport; fwd=uri-miss; fwd-status=200; stored')
    expect((await cached.request('/')).headers['cache-status']).toBe('Homeport; hit')
    expect((await cached.request('/', {}, 'POST')).headers).toMatchObject({
      'x-cache': 'BYPASS',
      'cache-status': 'Homeport; fwd=method; fwd-status=200',
    })
  })

  test('stores a variant for each value of the headers in Vary, normalized', async () => {
    const cached = await start()
    cached.app = (request, response) =>
      response.writeHead(200, { 'cache-control': 'max-age=60', vary: 'Accept-Language' }).end(String(request.headers['accept-language']))
    expect(await cached.getStatusAndBody('/', { 'accept-language': 'de, en;q=0.5' })).toBe('MISS de, en;q=0.5')
    expect(await cached.getStatusAndBody('/', { 'accept-language': 'fr' })).toBe('MISS fr')
    expect(await cached.getStatusAndBody('/', { 'accept-language': 'EN;q=0.5,de' })).toBe('HIT de, en;q=0.5')
    expect(await cached.getStatusAndBody('/', { 'accept-language': 'fr' })).toBe('HIT fr')
    expect(await cached.getStatusAndBody('/')).toBe('MISS undefined')
  })

  test('Vary: Cookie separates visitors', async () => {
    const cached = await start()
    cached.app = (request, response) => response.writeHead(200, { 'cache-control': 'max-age=60', vary: 'Cookie' }).end(String(request.headers.cookie))
    expect(await cached.getStatusAndBody('/', { cookie: 'a=1' })).toBe('MISS a=1')
    expect(await cached.getStatusAndBody('/', { cookie: 'a=2' })).toBe('MISS a=2')
    expect(await cached.getStatusAndBody('/', { cookie: 'a=1' })).toBe('HIT a=1')
    expect(await cached.getStatusAndBody('/')).toBe('MISS undefined')
  })

  test('nothing is shared between hostnames, queries, ports and projects', async () => {
    const cached = await start()
    cached.app = (request, response) =>
      response.writeHead(200, { 'cache-control': 'max-age=60' }).end(`${request.headers['x-forwarded-host']}${request.url}`)
    await cached.edge.routeToPort(cached.port, 'other.localhost')
    await cached.edge.edge.setRoute('third.localhost', { ...upstreamRoute(cached.port), project_id: 'prj_other' })
    for (const host of ['app.localhost', 'other.localhost', 'third.localhost', 'app.localhost:81', 'APP.localhost'])
      for (const path of ['/', '/?', '/?a', '//'])
        for (const word of ['MISS', 'HIT']) expect(await cached.getStatusAndBody(path, { host })).toBe(`${word} ${host}${path}`)
  })

  test('a forwarded host made up by a client is in no stored response', async () => {
    const cached = await start()
    cached.app = (request, response) => response.writeHead(200, { 'cache-control': 'max-age=60' }).end(String(request.headers['x-forwarded-host']))
    await cached.request('/', { 'x-forwarded-host': 'evil.example' })
    expect(await cached.getStatusAndBody('/')).toBe('HIT app.localhost')
  })

  test('HEAD is served from a stored GET', async () => {
    const cached = await start()
    cached.app = countingHandler({ 'cache-control': 'max-age=60', 'content-type': 'text/plain' })
    await cached.request('/')
    const got = await cached.request('/', {}, 'HEAD')
    expect(got.headers).toMatchObject({ 'x-cache': 'HIT', 'content-length': '1', 'content-type': 'text/plain' })
    expect(got.body).toHaveLength(0)
    expect(cached.requests).toEqual(['GET /'])
    expect((await cached.request('/new', {}, 'HEAD')).headers['x-cache']).toBe('MISS')
    expect(await cached.getStatusAndBody('/new')).toBe('MISS 3')
  })

  test('conditional requests are served from storage', async () => {
    const cached = await start()
    const modified = new Date(Date.now() - 100_000).toUTCString()
    cached.app = countingHandler({ 'cache-control': 'max-age=60', etag: 'W/"a"', 'last-modified': modified })
    await cached.request('/')
    const conditions: Record<string, string>[] = [
      { 'if-none-match': '"x", "a"' },
      { 'if-none-match': 'W/"a"' },
      { 'if-none-match': '*' },
      { 'if-modified-since': modified },
      { 'if-none-match': '"a"', 'if-modified-since': new Date(0).toUTCString() },
    ]
    for (const condition of conditions) {
      const got = await cached.request('/', condition)
      expect(got.status).toBe(304)
      expect(got.headers).toMatchObject({ 'x-cache': 'HIT', etag: 'W/"a"' })
      expect(got.headers).not.toHaveProperty('content-length')
    }
    const others: Record<string, string>[] = [{ 'if-none-match': '"b"' }, { 'if-modified-since': new Date(0).toUTCString() }]
    for (const condition of others) expect((await cached.request('/', condition)).status).toBe(200)
    expect(cached.requests).toHaveLength(1)
  })

  test('ranges are served from the stored response', async () => {
    const cached = await start()
    cached.app = (_request, response) => response.writeHead(200, { 'cache-control': 'max-age=60', etag: '"a"' }).end('0123456789')
    await cached.request('/')
    for (const [range, status, text, content_range] of [
      ['bytes=0-1', 206, '01', 'bytes 0-1/10'],
      ['bytes=8-', 206, '89', 'bytes 8-9/10'],
      ['bytes=-3', 206, '789', 'bytes 7-9/10'],
      ['bytes=5-99', 206, '56789', 'bytes 5-9/10'],
      ['bytes=10-', 416, '', 'bytes */10'],
      ['bytes=0-1,3-4', 200, '0123456789', undefined],
    ] as const) {
      const got = await cached.request('/', { range })
      expect([got.status, got.text, got.headers['content-range'], got.headers['x-cache']]).toEqual([status, text, content_range, 'HIT'])
    }
    expect((await cached.request('/', { range: 'bytes=0-1', 'if-range': '"a"' })).status).toBe(206)
    expect((await cached.request('/', { range: 'bytes=0-1', 'if-range': '"b"' })).status).toBe(200)
    expect(cached.requests).toHaveLength(1)
  })

  test('a partial response is never stored as the complete one', async () => {
    const cached = await start()
    cached.app = (request, response) =>
      request.headers.range === undefined
        ? response.writeHead(200, { 'cache-control': 'max-age=60' }).end('0123456789')
        : response.writeHead(206, { 'cache-control': 'max-age=60', 'content-range': 'bytes 2-4/10', 'content-length': '3' }).end('234')
    expect((await cached.request('/', { range: 'bytes=2-4' })).status).toBe(206)
    expect(await cached.getStatusAndBody('/')).toBe('MISS 0123456789')
  })

  test('a stored part up to the end serves the open and suffix ranges that it covers, and no others', async () => {
    const cached = await start()
    cached.app = (_request, response) =>
      response.writeHead(206, { 'cache-control': 'max-age=60', 'content-range': 'bytes 4-9/10', 'content-length': '6' }).end('456789')
    await cached.request('/', { range: 'bytes=4-' })
    for (const [range, text, content_range, word] of [
      ['bytes=6-', '6789', 'bytes 6-9/10', 'HIT'],
      ['bytes=-1', '9', 'bytes 9-9/10', 'HIT'],
      ['bytes=-7', '456789', 'bytes 4-9/10', 'MISS'],
    ]) {
      const got = await cached.request('/', { range: range! })
      expect([got.text, got.headers['content-range'], got.headers['x-cache']]).toEqual([text, content_range, word])
    }
  })

  test('a stale response is revalidated with the app, and refreshed', async () => {
    const cached = await start()
    let version = 'a'
    cached.app = (request, response) =>
      request.headers['if-none-match'] === `"${version}"`
        ? response.writeHead(304, { etag: `"${version}"`, 'cache-control': 'max-age=10', 'x-news': 'yes' }).end()
        : response.writeHead(200, { etag: `"${version}"`, 'cache-control': 'max-age=10', 'x-old': 'yes' }).end(version)
    await cached.request('/')
    cached.advanceSeconds(11)
    const got = await cached.request('/')
    expect(got.text).toBe('a')
    expect(got.headers).toMatchObject({ 'x-cache': 'HIT', 'x-news': 'yes', 'x-old': 'yes', 'cache-status': 'Homeport; fwd=stale; fwd-status=304' })
    expect(await cached.getStatusAndBody('/')).toBe('HIT a')
    version = 'b'
    cached.advanceSeconds(11)
    expect(await cached.getStatusAndBody('/', { 'if-none-match': '"a"' })).toBe('MISS b')
    expect(await cached.getStatusAndBody('/')).toBe('HIT b')
    expect(cached.headers.map((headers) => headers['if-none-match'])).toEqual([undefined, '"a"', '"a"'])
  })

  test('no-cache is stored, and revalidated each time', async () => {
    const cached = await start()
    cached.app = (request, response) =>
      request.headers['if-none-match']
        ? response.writeHead(304).end()
        : response.writeHead(200, { etag: '"a"', 'cache-control': 'no-cache' }).end('a')
    await cached.request('/')
    expect(await cached.getStatusAndBody('/')).toBe('HIT a')
    expect(await cached.getStatusAndBody('/')).toBe('HIT a')
    expect(cached.requests).toHaveLength(3)
  })

  test('stale-while-revalidate serves at once and revalidates in the background', async () => {
    const cached = await start()
    cached.app = countingHandler({ 'cache-control': 's-maxage=10, stale-while-revalidate=60' })
    await cached.request('/')
    cached.advanceSeconds(20)
    expect(await cached.getStatusAndBody('/')).toBe('STALE 1')
    await until(async () => (await cached.getStatusAndBody('/')) === 'HIT 2' || undefined, { what: 'the new answer in the cache' })
    expect(cached.requests).toHaveLength(2)
    cached.advanceSeconds(71)
    expect(await cached.getStatusAndBody('/')).toBe('MISS 3')
  })

  test('stale-if-error covers a failing app, must-revalidate forbids it', async () => {
    const cached = await start()
    cached.app = (request, response) =>
      response
        .writeHead(200, { 'cache-control': request.url === '/strict' ? 'max-age=10, must-revalidate' : 'max-age=10, stale-if-error=60' })
        .end('good')
    await cached.request('/')
    await cached.request('/strict')
    cached.advanceSeconds(20)
    cached.app = (_request, response) => response.writeHead(503).end('bad')
    expect(await cached.getStatusAndBody('/')).toBe('STALE good')
    expect((await cached.request('/strict')).status).toBe(503)
    cached.app = (_request, response) => void response.socket?.destroy()
    expect(await cached.getStatusAndBody('/')).toBe('STALE good')
    expect((await cached.request('/strict')).status).toBe(502)
    cached.advanceSeconds(60)
    expect((await cached.request('/')).status).toBe(502)
  })

  test('an unsafe request invalidates what it changes', async () => {
    const cached = await start()
    const page = countingHandler({ 'cache-control': 'max-age=60' })
    cached.app = (request, response) => {
      if (request.method === 'GET') page(request, response)
      else if (request.url === '/fails') response.writeHead(500).end()
      else response.writeHead(201, { location: '/list', 'content-location': 'http://elsewhere.example/kept' }).end()
    }
    for (const path of ['/item', '/list', '/kept', '/fails']) await cached.request(path)
    await cached.request('/item', {}, 'PUT')
    await cached.request('/fails', {}, 'POST')
    expect(await cached.getStatusAndBody('/item')).toBe('MISS 5')
    expect(await cached.getStatusAndBody('/list')).toBe('MISS 6')
    expect(await cached.getStatusAndBody('/kept')).toBe('HIT 3')
    expect(await cached.getStatusAndBody('/fails')).toBe('HIT 4')
  })

  test('a reload revalidates', async () => {
    const cached = await start()
    cached.app = countingHandler({ 'cache-control': 'max-age=60' })
    await cached.request('/')
    expect(await cached.getStatusAndBody('/', { 'cache-control': 'no-cache' })).toBe('MISS 2')
    expect(await cached.getStatusAndBody('/', { pragma: 'no-cache' })).toBe('MISS 3')
    expect(await cached.getStatusAndBody('/', { 'cache-control': 'max-age=0' })).toBe('MISS 4')
    expect(await cached.getStatusAndBody('/', { 'cache-control': 'no-store' })).toBe('MISS 5')
    expect(await cached.getStatusAndBody('/', { 'cache-control': 'only-if-cached' })).toBe('HIT 4')
    expect((await cached.request('/none', { 'cache-control': 'only-if-cached' })).status).toBe(504)
  })

  test('pipelined requests each get their response', async () => {
    const cached = await start()
    cached.app = countingHandler({ 'cache-control': 'max-age=60' })
    await cached.request('/')
    const one = 'GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n'
    const { text } = await sendRaw(cached.edge.port, one.repeat(50) + one.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    expect(text.match(/X-Cache: HIT/g)).toHaveLength(51)
  })

  test('turned off it stores nothing and drops what was stored', async () => {
    const cached = await start()
    cached.app = countingHandler({ 'cache-control': 'max-age=60' })
    await cached.request('/')
    cached.edge.edge.cache.setEnabled(projectId, false)
    expect(await cached.getStatusAndBody('/')).toBe('BYPASS 2')
    expect(await cached.getStatusAndBody('/')).toBe('BYPASS 3')
    cached.edge.edge.cache.setEnabled(projectId, true)
    expect(await cached.getStatusAndBody('/')).toBe('MISS 4')
    expect(await cached.getStatusAndBody('/')).toBe('HIT 4')
  })

  test('inspection has no side effects', async () => {
    const cached = await start()
    cached.app = countingHandler({ 'cache-control': 'max-age=60', vary: 'accept' })
    const look = (headers: Record<string, string> = {}) =>
      cached.edge.edge.cache.inspect({ project_id: projectId, origin: 'http://app.localhost', target: '/', headers })
    expect(await look()).toMatchObject({ cache_status: 'MISS', stored: null })
    await cached.request('/', { accept: 'text/html' })
    expect(await look()).toMatchObject({ cache_status: 'MISS', why: '1 response is cached for this URL, but for other values of accept.' })
    expect(await look({ accept: 'text/html' })).toMatchObject({
      cache_status: 'HIT',
      stored: { status: 200, bytes: 1, tier: 'memory', vary: ['accept'] },
    })
    expect(cached.requests).toHaveLength(1)
  })
})
