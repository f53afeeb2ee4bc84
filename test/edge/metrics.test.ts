import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createMetricsCollector, type MetricsCollector, type MetricsBucket } from '../../server/edge/metrics.ts'
import { createHistogram } from '../../server/lib/histogram.ts'
import {
  get,
  routeOwner,
  edgePaths,
  sendRaw,
  startApp,
  startEdge,
  startRawApp,
  upstreamRoute,
  type ListeningServer,
  type TestEdge,
} from '../support/edge.ts'
import { fixedClock } from '../support/test-clock.ts'
import { createTestAuthority, getHttps, openHttp2 } from '../support/tls.ts'
import { until } from '../support/until.ts'
import { longEdgeTest } from '../support/full-test.ts'

const secret = 'look-secret'
const big = 'b'.repeat(300_000)

/** Everything counted since the last call, in total. */
function taken(meter: MetricsCollector) {
  const sum = { requests: 0, classes: [0, 0, 0, 0], bytes: 0, hits: 0, misses: 0, bypass: 0, timed: 0 }
  for (const one of meter.take()) {
    sum.requests += one.requests
    for (const [i, count] of [one.status_2xx, one.status_3xx, one.status_4xx, one.status_5xx].entries()) sum.classes[i]! += count
    sum.bytes += one.bytes_out
    sum.hits += one.cache_hits
    sum.misses += one.cache_misses
    sum.bypass += one.cache_bypass
    sum.timed += one.latencies.count
  }
  return sum
}

describe.each(edgePaths)('the edge counts, $name', ({ fast_path }) => {
  let edge: TestEdge
  let app: ListeningServer<Server>
  let sockets: WebSocketServer
  let folder: string
  let on = true
  /** Responses of `/slow`, which the test ends. */
  const slowly: ServerResponse[] = []
  const meter = () => edge.edge.metrics

  beforeAll(async () => {
    edge = await startEdge({ fast_path, probe_secret: secret, isMetricsEnabled: () => on })
    app = await startApp((req, response) => {
      const path = req.url ?? '/'
      if (path.startsWith('/status/')) return void response.writeHead(Number(path.slice(8))).end()
      if (path === '/length') return void response.setHeader('content-length', big.length).end(big)
      if (path === '/chunks') {
        for (let i = 0; i < 30; i++) response.write(big.slice(0, 10_000))
        return void response.end()
      }
      if (path === '/slow') return slowly.push(response)
      if (path === '/never') return
      req.resume().on('end', () => response.end('hello'))
    })
    sockets = new WebSocketServer({ server: app.server })
    sockets.on('connection', (socket) => socket.on('message', (text) => socket.send(text)))
    await edge.routeToPort(app.port)
    folder = mkdtempSync(join(tmpdir(), 'homeport-meter-'))
    writeFileSync(join(folder, 'index.html'), '<p>hello</p>')
    writeFileSync(join(folder, 'film.bin'), Buffer.alloc(3_000_000))
    await edge.edge.setRoute('site.localhost', { ...routeOwner, kind: 'static', directory: folder, spa_fallback: false })
    await edge.edge.setRoute('page.localhost', { ...routeOwner, kind: 'page', page: 'building' })
  })
  afterAll(async () => {
    sockets.close()
    await edge.close()
    await app.close()
    rmSync(folder, { recursive: true })
  })
  afterEach(() => {
    on = true
    meter().take()
  })

  test('every request once, by its status class', async () => {
    const statuses = [200, 201, 204, 301, 304, 400, 404, 404, 500, 503]
    await Promise.all(statuses.map((status) => get(edge.port, `/status/${status}`)))
    expect(taken(meter())).toEqual({ requests: 10, classes: [3, 2, 3, 2], bytes: 0, hits: 0, misses: 0, bypass: 10, timed: 10 })
    expect(taken(meter()).requests).toBe(0)
  })

  test('each of many requests on one connection, pipelined or not', async () => {
    const one = 'GET /x HTTP/1.1\r\nHost: app.localhost\r\n\r\n'
    await sendRaw(edge.port, one.repeat(9) + one.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    expect(taken(meter())).toMatchObject({ requests: 10, classes: [10, 0, 0, 0], bytes: 50 })
  })

  test('bytes of bodies only', async () => {
    expect((await get(edge.port, '/length')).body.length).toBe(300_000)
    expect(taken(meter()).bytes).toBe(300_000)
    expect((await get(edge.port, '/chunks')).body.length).toBe(300_000)
    expect(taken(meter()).bytes).toBe(300_000)
    await get(edge.port, '/length', { method: 'HEAD' })
    expect(taken(meter())).toMatchObject({ requests: 1, bytes: 0 })
    const post = await get(edge.port, '/', { method: 'POST', body: 'question' })
    expect(taken(meter()).bytes).toBe(post.body.length)
  })

  test('static files as hits, with the bytes sent', async () => {
    const whole = await get(edge.port, '/film.bin', { host: 'site.localhost' })
    const part = await get(edge.port, '/film.bin', { host: 'site.localhost', headers: { range: 'bytes=5-14' } })
    const missing = await get(edge.port, '/none', { host: 'site.localhost' })
    const same = await get(edge.port, '/', { host: 'site.localhost', headers: { 'if-none-match': '*' } })
    expect([whole.status, part.status, missing.status, same.status]).toEqual([200, 206, 404, 304])
    expect(taken(meter())).toMatchObject({ requests: 4, classes: [2, 1, 1, 0], hits: 4, bypass: 0, bytes: 3_000_010 + missing.body.length })
  })

  test('the platform’s own pages, without a cache result', async () => {
    const page = await get(edge.port, '/', { host: 'page.localhost' })
    expect(taken(meter())).toMatchObject({ requests: 1, classes: [0, 0, 0, 1], bytes: page.body.length, hits: 0, misses: 0, bypass: 0 })
  })

  test('failures of the app with the status that the visitor received', async () => {
    const broken = await startRawApp((socket) => socket.end('no HTTP at all\r\n\r\n'))
    await edge.edge.setRoute('broken.localhost', upstreamRoute(broken.port))
    expect((await get(edge.port, '/', { host: 'broken.localhost' })).status).toBe(502)
    expect(taken(meter())).toMatchObject({ requests: 1, classes: [0, 0, 0, 1] })
    await broken.close()
  })

  longEdgeTest(fast_path)('a visitor who left before the response, as 499', async () => {
    const req = request({ host: '127.0.0.1', port: edge.port, path: '/never', headers: { host: 'app.localhost' } })
    req.on('error', () => {})
    req.end()
    const reached = new Promise((resolve) => app.server.once('request', resolve))
    await reached
    req.destroy()
    const sum = { requests: 0, fours: 0 }
    await until(
      () => {
        const now = taken(meter())
        sum.requests += now.requests
        sum.fours += now.classes[2]!
        return sum.requests > 0 || undefined
      },
      { what: 'the visit to be counted' },
    )
    expect(sum).toEqual({ requests: 1, fours: 1 })
  })

  test('a WebSocket once, when it opens', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/`, { headers: { host: 'app.localhost' } })
    const echoed = new Promise((resolve) => socket.once('message', resolve))
    await new Promise((resolve) => socket.once('open', resolve))
    socket.send('hello')
    await echoed
    expect(taken(meter())).toMatchObject({ requests: 1, classes: [0, 0, 0, 0], bypass: 1, bytes: 0 })
    socket.close()
    await new Promise((resolve) => socket.once('close', resolve))
    expect(taken(meter()).requests).toBe(0)
  })

  test('no requests for unknown hosts, no invalid requests, and none of the platform’s own probes', async () => {
    await get(edge.port, '/', { host: 'nobody.localhost' })
    await get(edge.port, '/', { headers: { 'x-homeport-probe': secret } })
    await sendRaw(edge.port, 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n')
    await sendRaw(edge.port, 'nonsense\r\n\r\n')
    expect(taken(meter()).requests).toBe(0)
    // A forged probe counts as a visit.
    await get(edge.port, '/', { headers: { 'x-homeport-probe': 'guess' } })
    expect(taken(meter()).requests).toBe(1)
  })

  test('the cache result of each request as in X-Cache, and bytes from every source', async () => {
    const cached = await startEdge({
      fast_path,
      isMetricsEnabled: () => true,
      cache: { directory: null, memory_bytes: () => 1e7, disk_bytes: () => 0 },
    })
    const rules = ['max-age=600', 'max-age=600', 'no-store', 'max-age=0, stale-while-revalidate=600', 'private']
    const source = await startApp((req, response) => {
      const path = req.url ?? '/'
      const body = 'y'.repeat(500 + path.length * 1000)
      response.setHeader('cache-control', rules[path.charCodeAt(1) % rules.length]!)
      response.setHeader('etag', '"one"')
      if (path.charCodeAt(2) % 2 === 0) response.setHeader('content-length', body.length)
      req.resume().on('end', () => response.end(body))
    })
    await cached.routeToPort(source.port)
    const seen: Record<string, number> = {}
    let bytes = 0
    const one = async (i: number): Promise<void> => {
      const path = `/${String.fromCharCode(97 + ((i * 7) % 5))}${String.fromCharCode(97 + ((i * 3) % 4))}`
      const kinds: Parameters<typeof get>[2][] = [
        {},
        {},
        {},
        { method: 'HEAD' },
        { method: 'POST', body: 'new' },
        { headers: { range: 'bytes=0-9' } },
        { headers: { 'if-none-match': '"one"' } },
      ]
      const got = await get(cached.port, path, kinds[i % kinds.length])
      const word = String(got.headers['x-cache'])
      seen[word] = (seen[word] ?? 0) + 1
      bytes += got.body.length
    }
    for (let i = 0; i < 300; i += 3) await Promise.all([one(i), one(i + 1), one(i + 2)])
    const { requests, hits, misses, bypass, ...counted } = taken(cached.edge.metrics)
    expect({ requests, hits, misses, bypass, bytes: counted.bytes }).toEqual({
      requests: 300,
      hits: (seen.HIT ?? 0) + (seen.STALE ?? 0),
      misses: seen.MISS ?? 0,
      bypass: seen.BYPASS ?? 0,
      bytes,
    })
    expect(Math.min(hits, misses, bypass)).toBeGreaterThan(10)
    await cached.close()
    await source.close()
  })

  test('requests over HTTPS and HTTP/2 like any other', async () => {
    const authority = createTestAuthority()
    const { certificate: ca } = await authority.ensure()
    const secure = await startEdge({ fast_path, isMetricsEnabled: () => true, getTlsCredentials: authority.identityFor })
    const { port } = await secure.edge.listenSecure({ host: '127.0.0.1', port: 0 })
    await secure.routeToPort(app.port)
    for (const path of ['/length', '/chunks', '/status/404']) await getHttps(port, path, { ca })
    const http2 = await openHttp2(port, { ca })
    await Promise.all(Array.from({ length: 20 }, (_, i) => http2.get(i % 2 ? '/' : '/length')))
    await http2.get('/', { headers: { ':method': 'POST' }, body: 'question' })
    await http2.close()
    expect(taken(secure.edge.metrics)).toMatchObject({ requests: 24, classes: [23, 0, 1, 0], bypass: 24, bytes: 12 * 300_000 + 11 * 5 })
    await secure.close()
  })

  test('time to first byte', async () => {
    const response = get(edge.port, '/slow')
    await until(() => slowly.length > 0 || undefined, { what: 'the request at the app' })
    await edge.advance(1_000)
    slowly.pop()?.end('slow')
    await response
    const [reading] = meter().take()
    expect(reading?.latencies.quantile(1)).toBeGreaterThan(990)
  })

  test('nothing while turned off, and everything again afterwards', async () => {
    await get(edge.port, '/')
    on = false
    await get(edge.port, '/')
    meter().recordColdStart('prj_test', 5)
    on = true
    await get(edge.port, '/')
    expect(taken(meter())).toMatchObject({ requests: 2, bytes: 10, timed: 2 })
  })
})

describe('the meter', () => {
  const start = Date.UTC(2026, 0, 31, 12, 14, 59)
  let clock = fixedClock(start)
  beforeEach(() => void (clock = fixedClock(start)))
  const create = (): MetricsCollector => createMetricsCollector({ clock, isEnabled: () => true })
  const brief = (readings: MetricsBucket[]) => readings.map((one) => [one.project_id, one.ts, one.requests])

  test('separates ten seconds from the next, to the second', async () => {
    const meter = create()
    const project = meter.forProject('a')
    project.recordResponse(200, clock.monotonic(), 1, 'hit')
    await clock.advance(1000)
    project.recordResponse(200, clock.monotonic(), 1, 'hit')
    project.recordResponse(200, clock.monotonic(), 1, 'hit')
    expect(brief(meter.take())).toEqual([
      ['a', Date.UTC(2026, 0, 31, 12, 14, 50) / 1000, 1],
      ['a', Date.UTC(2026, 0, 31, 12, 15) / 1000, 2],
    ])
  })

  test('sums all routes of a project, and returns one project alone', () => {
    const meter = create()
    const [production, preview, other] = [meter.forProject('a'), meter.forProject('a'), meter.forProject('b')]
    for (const one of [production, preview, other]) one.recordResponse(200, 0, 1, null)
    expect(meter.listActiveProjects()).toEqual(['a', 'b'])
    expect(meter.take('a').map((one) => one.requests)).toEqual([2])
    for (const one of [production, preview]) one.recordResponse(200, 0, 1, null)
    expect(Object.fromEntries(meter.take().map((one) => [one.project_id, one.requests]))).toEqual({ a: 2, b: 1 })
    expect(meter.take()).toEqual([])
  })

  test('takes back readings that could not be stored, in bounded memory', () => {
    const meter = create()
    const project = meter.forProject('a')
    const expected = createHistogram()
    for (let round = 0; round < 50; round++) {
      project.recordResponse(500, 0, round, 'miss')
      project.recordBytes(3)
      expected.add(round)
      meter.recordColdStart('a', 100)
      meter.restore(meter.take())
    }
    const readings = meter.take()
    expect(readings).toHaveLength(1)
    expect(readings[0]).toMatchObject({ requests: 50, status_5xx: 50, bytes_out: 150, cache_misses: 50, cold_starts: 50, last_cold_start_at: start })
    expect(readings[0]?.latencies.encode()).toEqual(expected.encode())
    expect(readings[0]?.cold_latencies?.count).toBe(50)
  })

  test('merges readings that cannot be stored for long into quarters of an hour', async () => {
    const meter = create()
    const project = meter.forProject('a')
    for (let round = 0; round < 200; round++) {
      project.recordResponse(200, clock.monotonic(), round, 'hit')
      meter.restore(meter.take())
      await clock.advance(10_000)
    }
    const readings = meter.take()
    expect(readings.length).toBeLessThan(40)
    expect(readings.reduce((sum, one) => sum + one.requests, 0)).toBe(200)
    expect(readings.reduce((sum, one) => sum + one.latencies.count, 0)).toBe(200)
  })

  test('forgets a deleted project', () => {
    const meter = create()
    const open = meter.forProject('a')
    open.recordResponse(200, 0, 1, null)
    meter.forProject('b').recordResponse(200, 0, 1, null)
    meter.forgetProject('a')
    // A stream that continues after its end.
    open.recordBytes(1000)
    meter.forProject('a').recordResponse(200, 0, 1, null)
    meter.recordColdStart('a', 1)
    expect(meter.listActiveProjects()).toEqual(['b'])
    expect(meter.take().map((one) => one.project_id)).toEqual(['b'])
  })
})
