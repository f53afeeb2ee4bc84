import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { limits } from '../../server/contract/limits.ts'
import type { CapturedExchange } from '../../server/contract/request-captures.ts'
import type { RequestRecord } from '../../server/edge/request-log.ts'
import type { CaptureCriteria } from '../../server/edge/capture-rule.ts'
import { maskCapture } from '../../server/features/mask-capture.ts'
import { edgePaths, get, routeOwner, sendRaw, startApp, startEdge, type ListeningServer, type TestEdge } from '../support/edge.ts'
import { until } from '../support/until.ts'
import { longEdgeTest } from '../support/full-test.ts'

const { body_bytes } = limits.request_capture
const large = 'x'.repeat(body_bytes + 10_000)

describe.each(edgePaths)('captured requests, $name', ({ fast_path }) => {
  let edge: TestEdge
  let app: ListeningServer<Server>
  let sockets: WebSocketServer
  let folder: string

  const capture = (change: Partial<CaptureCriteria> = {}) =>
    edge.edge.requests.setCapture('prj_test', {
      until_ms: Infinity,
      path: null,
      method: null,
      status: null,
      masked_fields: ['x-own', 'own'],
      ...change,
    })

  beforeAll(async () => {
    edge = await startEdge({
      fast_path,
      isRequestLogEnabled: () => true,
      cache: { directory: null, memory_bytes: () => 1e7, disk_bytes: () => 0 },
    })
    app = await startApp((message, response) => {
      const path = message.url ?? '/'
      if (path === '/events') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: secret-of-a-stream\n\n')
        return void response.end()
      }
      if (path.startsWith('/cached')) response.setHeader('cache-control', 'max-age=600')
      if (path === '/gzip') return void response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(zipped)
      if (path === '/br') return void response.writeHead(200, { 'content-encoding': 'br' }).end(brotliCompressSync(large))
      if (path === '/zstd') return void response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'zstd' }).end('secret')
      if (path === '/large') return void response.writeHead(200, { 'content-length': String(large.length) }).end(large)
      if (path === '/chunks') {
        response.write('first, ')
        return void setImmediate(() => response.end('second'))
      }
      if (path === '/image') return void response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([137, 80, 0, 255]))
      if (path.startsWith('/status/')) return void response.writeHead(Number(path.slice(8))).end()
      const parts: Buffer[] = []
      message.on('data', (part: Buffer) => parts.push(part))
      message.on('end', () => {
        response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'session=s3cret; Path=/', 'x-own': 's3cret' })
        response.end(JSON.stringify({ token: 's3cret', own: ['s3cret'], length: Buffer.concat(parts).length }))
      })
    })
    sockets = new WebSocketServer({ server: app.server })
    await edge.routeToPort(app.port)
    folder = mkdtempSync(join(tmpdir(), 'homeport-capture-'))
    writeFileSync(join(folder, 'index.html'), '<p>hello</p>')
    await edge.edge.setRoute('site.localhost', { ...routeOwner, kind: 'static', directory: folder, spa_fallback: false })
  })
  afterAll(async () => {
    sockets.close()
    await edge.close()
    await app.close()
    rmSync(folder, { recursive: true })
  })
  beforeEach(() => capture())
  afterEach(async () => {
    edge.edge.requests.setCapture('prj_test', null)
    // A new second, of which no capture is used up.
    await edge.advance(1_000)
    await edge.edge.requests.take()
  })

  async function takeRecords(count: number): Promise<RequestRecord[]> {
    const records: RequestRecord[] = []
    await until(async () => records.push(...(await edge.edge.requests.take())) >= count || undefined, { what: `${count} records` })
    return records
  }
  async function takeCaptures(count = 1): Promise<(CapturedExchange | null)[]> {
    const records = await takeRecords(count)
    return Promise.all(
      records.map(async ({ capture: taken }) => {
        const exchange = taken && (await maskCapture(taken))
        taken?.release()
        return exchange
      }),
    )
  }
  const headersOf = (pairs: readonly (readonly [string, string])[] = []) =>
    Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]))
  const zipped = gzipSync('{"password":"s3cret","a":1}')

  test('headers and bodies, without secrets; the client receives what the app sent', async () => {
    const response = await get(edge.port, '/form', {
      method: 'POST',
      body: '{"password":"s3cret","own":1,"a":"b"}',
      headers: { authorization: 'Bearer s3cret', cookie: 'a=s3cret', 'X-OWN': 's3cret', 'content-type': 'application/json' },
    })
    expect(response.text).toBe('{"token":"s3cret","own":["s3cret"],"length":37}')
    const [exchange] = await takeCaptures()
    expect(exchange).toMatchObject({
      request: { body: '{"password":"***","own":"***","a":"b"}', encoding: 'text', is_truncated: false, omitted: null },
      response: { body: '{"token":"***","own":"***","length":37}' },
    })
    expect(headersOf(exchange?.request.headers)).toMatchObject({ authorization: '***', cookie: '***', 'x-own': '***', host: 'app.localhost' })
    expect(headersOf(exchange?.response.headers)).toMatchObject({ 'set-cookie': '***', 'x-own': '***', 'content-type': 'application/json' })
    expect(JSON.stringify(exchange)).not.toContain('s3cret')
  })

  test('the first 64 kB of a body; the client receives all of it', async () => {
    expect((await get(edge.port, '/large')).text).toBe(large)
    const sent = await get(edge.port, '/form', { method: 'PUT', body: large, headers: { 'content-type': 'text/plain' } })
    expect(JSON.parse(sent.text)).toMatchObject({ length: large.length })
    const [received, uploaded] = await takeCaptures(2)
    expect(received?.response).toMatchObject({ body: large.slice(0, body_bytes), is_truncated: true })
    expect(uploaded?.request).toMatchObject({ body: large.slice(0, body_bytes), is_truncated: true })
  })

  test('bodies in chunks, without their framing', async () => {
    expect((await get(edge.port, '/chunks')).text).toBe('first, second')
    await new Promise((resolve) => {
      const client = request({ host: '127.0.0.1', port: edge.port, path: '/form', method: 'POST', headers: { host: 'app.localhost' } }, (response) =>
        response.resume().on('end', resolve),
      )
      client.write('in ')
      client.end('chunks')
    })
    const [response, upload] = await takeCaptures(2)
    expect(response?.response.body).toBe('first, second')
    expect(upload?.request.body).toBe('in chunks')
  })

  test('compressed bodies as what they contain, up to 64 kB; none that cannot be read', async () => {
    expect((await get(edge.port, '/gzip')).body).toEqual(zipped)
    await get(edge.port, '/br')
    await get(edge.port, '/zstd')
    const [gzip, brotli, zstd] = await takeCaptures(3)
    expect(gzip?.response.body).toBe('{"password":"***","a":1}')
    expect(brotli?.response).toMatchObject({ body: large.slice(0, body_bytes), is_truncated: true })
    expect(zstd?.response).toMatchObject({ body: null, omitted: 'unreadable' })
  })

  test('a body that is no text as base64, and none for HEAD', async () => {
    await get(edge.port, '/image')
    await get(edge.port, '/form', { method: 'HEAD' })
    const [image, head] = await takeCaptures(2)
    expect(image?.response).toMatchObject({ body: Buffer.from([137, 80, 0, 255]).toString('base64'), encoding: 'base64' })
    expect(head?.response).toMatchObject({ body: null, omitted: null })
  })

  test('responses of the cache, and static files', async () => {
    for (let i = 0; i < 2; i++) await get(edge.port, '/cached')
    await get(edge.port, '/', { host: 'site.localhost' })
    const [miss, hit, file] = await takeCaptures(3)
    expect(hit?.response.body).toBe(miss?.response.body)
    expect(headersOf(hit?.response.headers)).toMatchObject({ 'content-type': 'application/json' })
    expect(file?.response.body).toBe('<p>hello</p>')
  })

  test('each of many requests on one connection', async () => {
    const one = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: app.localhost\r\nX-Path: ${path}\r\n${more}\r\n`
    await sendRaw(edge.port, one('/1') + one('/chunks') + one('/3', 'Connection: close\r\n'))
    const exchanges = await takeCaptures(3)
    expect(exchanges.map((exchange) => headersOf(exchange?.request.headers)['x-path'])).toEqual(['/1', '/chunks', '/3'])
    expect(exchanges[1]?.response.body).toBe('first, second')
  })

  test('no body of an event stream, and nothing of a WebSocket', async () => {
    await get(edge.port, '/events')
    const [events] = await takeCaptures()
    expect(events?.response).toMatchObject({ body: null, omitted: 'stream' })
    const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/socket`, { headers: { host: 'app.localhost' } })
    await new Promise((resolve) => socket.once('open', resolve))
    const [record] = await takeRecords(1)
    expect(record).toMatchObject({ status: 101, capture: null })
    socket.close()
    await new Promise((resolve) => socket.once('close', resolve))
  })

  test('only those that match, and none after its end', async () => {
    capture({ path: '/api/*/x', method: 'post' })
    for (const [method, path] of [
      ['POST', '/api/1/x?q=1'],
      ['POST', '/api/1/y'],
      ['GET', '/api/1/x'],
    ] as const)
      await get(edge.port, path, { method })
    expect((await takeCaptures(3)).map((exchange) => exchange !== null)).toEqual([true, false, false])
    capture({ status: '5xx' })
    await get(edge.port, '/status/404')
    await get(edge.port, '/status/503')
    expect((await takeCaptures(2)).map((exchange) => exchange !== null)).toEqual([false, true])
    capture({ until_ms: 1 })
    await get(edge.port, '/form')
    expect(await takeCaptures()).toEqual([null])
  })

  test(`at most ${limits.request_capture.per_second} in a second; the others are logged`, async () => {
    const { per_second } = limits.request_capture
    const one = 'GET /status/204 HTTP/1.1\r\nHost: app.localhost\r\n\r\n'
    await sendRaw(edge.port, one.repeat(per_second) + one.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    const exchanges = await takeCaptures(per_second + 1)
    expect(exchanges.filter((exchange) => exchange !== null)).toHaveLength(per_second)
    await edge.advance(1_000)
    await edge.edge.requests.take()
    await get(edge.port, '/form')
    expect(await takeCaptures()).not.toEqual([null])
  })

  longEdgeTest(fast_path)('a response that replaces another is captured alone', async () => {
    await edge.edge.setRoute('broken.localhost', { ...routeOwner, kind: 'upstream', host: '127.0.0.1', port: 1 })
    await get(edge.port, '/', { host: 'broken.localhost', headers: { accept: 'application/json' } })
    const [exchange] = await takeCaptures()
    expect(exchange?.response.body).toContain('{')
    expect(headersOf(exchange?.response.headers)['content-type']).toContain('json')
  })
})
