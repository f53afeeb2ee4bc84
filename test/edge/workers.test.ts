import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { WebSocket, WebSocketServer } from 'ws'
import { createPlatformEdge } from '../../server/bootstrap/create-edge.ts'
import type { RequestRecord } from '../../server/edge/request-log.ts'
import { createEdgeWorkers, type EdgeWorkers } from '../../server/edge/workers/edge-workers.ts'
import { removeUnusedCaches } from '../../server/edge/workers/shared-cache.ts'
import { createLog, type LogEntry } from '../../server/lib/log.ts'
import { get, routeOwner, startApp, upstreamRoute } from '../support/edge.ts'
import { findChildren } from '../support/processes.ts'
import { buildProgram } from '../support/programs.ts'
import { createTestClock } from '../support/test-clock.ts'
import { createTestAuthority, getHttps, openTlsSocket } from '../support/tls.ts'
import { waitEventLoopTurns } from '../support/seeded-random.ts'
import { until } from '../support/until.ts'

type Options = Parameters<typeof createEdgeWorkers>[0]

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const host = 'app.localhost'

/** An edge of real processes. */
async function start(options: Partial<Options> = {}): Promise<{ edge: EdgeWorkers; port: number; entries: LogEntry[] }> {
  const entries: LogEntry[] = []
  const log = createLog((_, entry) => entries.push(entry))
  const program = { node_path: process.execPath, script: await buildProgram('edge-worker'), env: {} }
  const edge = createEdgeWorkers({ log, program, workers: 2, ...options })
  cleanups.push(() => edge.close())
  const { port } = await edge.listen({ host: '127.0.0.1', port: 0 })
  return { edge, port, entries }
}

function createCache(): { directory: string; memory_bytes(): number; disk_bytes(): number } {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-workers-'))
  cleanups.push(() => rmSync(folder, { recursive: true }))
  return { directory: join(folder, 'edge'), memory_bytes: () => 2 ** 24, disk_bytes: () => 2 ** 24 }
}

/** An app that counts its requests. */
async function startCounter(headers: Record<string, string> = {}): Promise<{ port: number; count(): number }> {
  let count = 0
  const app = await startApp((incoming, response) => {
    count++
    incoming.resume()
    response.writeHead(200, headers)
    response.end(`${incoming.method} ${count}`)
  })
  cleanups.push(() => app.close())
  return { port: app.port, count: () => count }
}

const listWorkers = (): number[] => findChildren(process.pid, 'edge-worker.js')

/** Requests on as many connections, of which each worker gets some. */
const getAll = (port: number, path = '/', count = 8) => Promise.all(Array.from({ length: count }, () => get(port, path, { host })))

test('two workers share a listener, the routes and the counts', async () => {
  const { edge, port } = await start({ isMetricsEnabled: () => true, isRequestLogEnabled: () => true })
  const app = await startCounter()
  await edge.setRoute(host, upstreamRoute(app.port))
  edge.setAliases(host, ['www.example.com'])
  expect(edge.listHosts()).toEqual([host])
  expect((await getAll(port, '/', 20)).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  expect((await get(port, '/', { host: 'www.example.com' })).status).toBe(200)
  expect((await get(port, '/', { host: 'other.localhost' })).status).toBe(404)

  const records: RequestRecord[] = []
  await until(async () => records.push(...(await edge.requests.take())) >= 21 || undefined, { what: 'the records' })
  expect(new Set(records.map((record) => `${record.host} ${record.status} ${record.target}`))).toEqual(
    new Set(['app.localhost 200 /', 'www.example.com 200 /']),
  )
  let requests = 0
  await until(
    () => {
      for (const bucket of edge.metrics.take()) requests += bucket.requests
      return requests >= 21 || undefined
    },
    { what: 'the counts' },
  )
  expect(requests).toBe(21)
  expect([...edge.takeLastRequests().keys()]).toEqual([routeOwner.project_id])

  await edge.removeRoute(host)
  expect((await getAll(port)).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 404))
})

test('a challenge is set once every worker answers it', async () => {
  const { edge, port } = await start()
  await edge.setRoute(host, upstreamRoute((await startCounter()).port))
  const [first = 0] = listWorkers()
  process.kill(first, 'SIGSTOP')
  const path = '/.well-known/acme-challenge/token'
  try {
    let isSet = false
    const setting = edge.setChallenges(host, { token: 'token.thumbprint' }).then(() => (isSet = true))
    await waitEventLoopTurns(100)
    expect(isSet).toBe(false)
    process.kill(first, 'SIGCONT')
    await setting
    expect(new Set((await getAll(port, path)).map(({ text }) => text))).toEqual(new Set(['token.thumbprint']))
  } finally {
    process.kill(first, 'SIGCONT')
  }
})

test('a killed worker is replaced, and no connection is refused', async () => {
  const cache = createCache()
  const { edge, port, entries } = await start({ workers: 1, cache })
  const app = await startCounter({ 'cache-control': 'max-age=600' })
  await edge.setRoute(host, upstreamRoute(app.port))
  await get(port, '/', { host })
  await until(() => readdirSync(cache.directory).length > 0 || undefined, { what: 'the response on disk' })
  const [first = 0] = listWorkers()
  process.kill(first, 'SIGKILL')
  // It must not be served by the next worker, which has not seen this purge.
  const purged = edge.cache.purge(routeOwner.project_id, { all: true })
  const responses = await getAll(port)
  expect(responses.map(({ status, text }) => [status, text])).not.toContainEqual([200, 'GET 1'])
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
  await purged
  expect(entries).toMatchObject([{ level: 'warn', event: 'edge.worker_ended', fields: { reason: 'SIGKILL', pid: first } }])
  expect(listWorkers()).not.toContain(first)
})

test('a worker that accepts connections itself is told at once what has changed of the settings', async () => {
  let isEnabled = false
  const { edge, port } = await start({ workers: 1, isRequestLogEnabled: () => isEnabled })
  const app = await startCounter()
  await edge.setRoute(host, upstreamRoute(app.port))
  await get(port, '/before', { host })
  isEnabled = true
  edge.applySettings()
  await get(port, '/after', { host })
  expect((await edge.requests.take()).map(({ target }) => target)).toEqual(['/after'])
})

test('a response that one worker stored is a hit on the other, until it is purged or invalidated on both', async () => {
  const { edge, port } = await start({ cache: createCache() })
  const app = await startCounter({ 'cache-control': 'max-age=600', 'cache-tag': 'page' })
  await edge.setRoute(host, upstreamRoute(app.port))
  const hits = async () => (await getAll(port)).filter(({ headers }) => headers['x-cache'] === 'HIT').length
  const waitForHits = () => until(async () => ((await hits()) === 8 ? true : undefined), { what: 'hits on both workers' })
  expect((await get(port, '/', { host })).headers['x-cache']).toBe('MISS')
  await waitForHits()
  expect(app.count()).toBe(1)
  await until(() => (edge.cache.stats(routeOwner.project_id).objects === 1 ? true : undefined), { what: 'the statistics' })
  const inspect = () => edge.cache.inspect({ project_id: routeOwner.project_id, origin: `http://${host}`, target: '/', headers: {} })
  expect(await inspect()).toMatchObject({ cache_status: 'HIT', stored: { tags: ['page'] } })

  expect(await edge.cache.purge(routeOwner.project_id, { tags: ['page'] })).toBe(1)
  expect(await inspect()).toMatchObject({ cache_status: 'MISS', stored: null })
  expect((await get(port, '/', { host })).text).toBe('GET 2')
  await waitForHits()

  // An unsafe request invalidates the URL (RFC 9111 §4.4).
  await get(port, '/', { host, method: 'POST' })
  await until(async () => ((await inspect()).stored === null ? true : undefined), { what: 'the invalidation of both' })
  expect((await get(port, '/', { host })).text).toBe('GET 4')

  edge.cache.setEnabled(routeOwner.project_id, false)
  expect((await getAll(port)).map(({ headers }) => headers['x-cache'])).toEqual(Array.from({ length: 8 }, () => 'BYPASS'))
})

test('a changed route drains on every worker, and the last request of each is waited for', async () => {
  const { edge, port } = await start()
  const answers: (() => void)[] = []
  const slow = await startApp((_request, response) => {
    response.write('begun ')
    answers.push(() => response.end('slow'))
  })
  cleanups.push(() => slow.close())
  const next = await startCounter()
  await edge.setRoute(host, upstreamRoute(slow.port))
  const held = [get(port, '/', { host }), get(port, '/', { host })]
  await until(() => (answers.length === 2 ? true : undefined), { what: 'both requests' })
  await until(() => (edge.idleSince(host) === undefined ? true : undefined), { what: 'the host to be busy' })
  expect(edge.listReplicaLoad(host)).toMatchObject([{ port: slow.port, is_ejected: false }])
  let isDrained = false
  const drained = edge.setRoute(host, upstreamRoute(next.port)).then(() => (isDrained = true))
  expect((await getAll(port)).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
  expect(next.count()).toBe(8)
  answers[0]?.()
  await Promise.race(held)
  expect(isDrained).toBe(false)
  answers[1]?.()
  expect((await Promise.all(held)).map(({ text }) => text)).toEqual(['begun slow', 'begun slow'])
  await drained
  await until(() => (edge.idleSince(host) === undefined ? undefined : true), { what: 'the host to be idle' })
})

test('a host that a worker served was used until the worker ended', async () => {
  const { edge, port, entries } = await start({ workers: 1 })
  const app = await startApp(() => {})
  cleanups.push(() => app.close())
  await edge.setRoute(host, upstreamRoute(app.port))
  const cut = get(port, '/', { host }).catch(() => 'cut')
  await until(() => (edge.idleSince(host) === undefined ? true : undefined), { what: 'the host to be busy' })
  const used = performance.now()
  for (const pid of listWorkers()) process.kill(pid, 'SIGKILL')
  await until(() => (entries.some(({ event }) => event === 'edge.worker_ended') ? true : undefined), { what: 'the end of the worker' })
  expect(edge.idleSince(host)).toBeGreaterThan(used)
  expect(await cut).toBe('cut')
})

test('a sleeping app is woken once by each worker, and its requests wait', async () => {
  const woken: (string | null)[] = []
  const { edge, port } = await start({ wake: (route) => woken.push(route.deployment_id) })
  const app = await startCounter()
  await edge.setRoute(host, { ...routeOwner, kind: 'asleep' })
  const responses = getAll(port)
  await until(() => (woken.length === 2 ? true : undefined), { what: 'both workers to wake it' })
  await edge.setRoute(host, upstreamRoute(app.port))
  expect((await responses).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
  expect(woken).toEqual([routeOwner.deployment_id, routeOwner.deployment_id])
})

fullTest('the status page of a name without a route comes from the platform each time', async () => {
  let page: 'building' | 'failed' | undefined = 'building'
  const { port } = await start({ resolveUnknownHost: (name) => (name === host && page ? { ...routeOwner, kind: 'page', page } : undefined) })
  const read = async () => (await get(port, '/', { host, headers: { accept: 'text/html' } })).text
  expect(await read()).toContain('<h1>Building</h1>')
  page = 'failed'
  await until(async () => ((await read()).includes('failed</h1>') ? true : undefined), { what: 'the next page' })
  page = undefined
  await until(async () => ((await get(port, '/', { host })).status === 404 ? true : undefined), { what: 'no page' })
})

test('asking the platform for a status page is no wait for an app', async () => {
  const { edge, port } = await start({
    isRequestLogEnabled: () => true,
    resolveUnknownHost: (name) => (name === host ? { ...routeOwner, kind: 'page', page: 'building' } : undefined),
  })
  await get(port, '/', { host })
  const records: RequestRecord[] = []
  await until(async () => records.push(...(await edge.requests.take())) > 0 || undefined, { what: 'the record' })
  expect(records).toMatchObject([{ status: 503, wake_ms: 0 }])
})

fullTest('WebSockets and half-closed connections work as in one process', async () => {
  const { edge, port } = await start()
  const app = await startApp((request, response) => void request.on('end', () => response.end('ok')).resume())
  cleanups.push(() => app.close())
  const sockets = new WebSocketServer({ server: app.server })
  sockets.on('connection', (socket) => socket.on('message', (text) => socket.send(`${String(text)}!`)))
  await edge.setRoute(host, upstreamRoute(app.port))
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host } })
  await once(socket, 'open')
  socket.send('hello')
  expect(String((await once(socket, 'message'))[0])).toBe('hello!')
  socket.close()
  await once(socket, 'close')

  const half = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  half.end(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  let received = ''
  for await (const bytes of half) received += String(bytes)
  expect(received).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  expect(received).toMatch(/ok$/)
})

test('closing a listener on the network cuts its connections', async () => {
  const { edge, port } = await start()
  const app = await startCounter()
  await edge.setRoute(host, upstreamRoute(app.port))
  const listener = await edge.listenOnNetwork({ address: '127.0.0.1', port: 0, as: host })
  const open = connect({ port: listener.port, host: '127.0.0.1' })
  open.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  expect(String((await once(open, 'data'))[0])).toContain('200 OK')
  const cut = once(open, 'close')
  await listener.close()
  await cut
  const refusing = await edge.listenOnNetwork({ address: '127.0.0.1', port: 0, accepts: () => false })
  const refused = connect({ port: refusing.port, host: '127.0.0.1' })
  await new Promise((resolve) => refused.on('error', () => {}).once('close', resolve))
  await refusing.close()
  expect((await get(port, '/', { host })).status).toBe(200)
})

test('names with a project get a certificate, and no others', async () => {
  const authority = createTestAuthority()
  const asked = new Set<string>()
  const { edge, entries } = await start({
    async getTlsCredentials(name) {
      asked.add(name)
      return authority.identityFor(name)
    },
  })
  const app = await startCounter()
  await edge.setRoute(host, upstreamRoute(app.port))
  const { port } = await edge.listenSecure({ host: '127.0.0.1', port: 0 })
  const { certificate: ca } = await authority.ensure()
  expect(await getHttps(port, '/', { ca })).toMatchObject({ status: 200, text: 'GET 1' })
  // Clients can send any name, which is no reason to log it.
  for (const servername of ['unknown.localhost', '203.0.113.9']) await expect(openTlsSocket(port, { servername })).rejects.toThrow()
  expect(asked).toEqual(new Set(['127.0.0.1', host]))
  expect(entries).toEqual([])
})

test('if no worker can start, the platform serves the apps itself', async () => {
  const entries: LogEntry[] = []
  const log = createLog((_, entry) => entries.push(entry))
  const program = { node_path: process.execPath, edge_worker_path: join(tmpdir(), 'no-such-worker.js'), environment: {} }
  const clock = createTestClock()
  const cache = createCache()
  mkdirSync(cache.directory)
  const { edge } = await createPlatformEdge({ ...program, edge_workers: 1 }, { log, clock, cache })
  cleanups.push(() => edge.close())
  const app = await startCounter()
  await edge.setRoute(host, upstreamRoute(app.port))
  const { port } = await edge.listen({ host: '127.0.0.1', port: 0 })
  expect((await get(port, '/', { host })).text).toBe('GET 1')
  expect(entries.map(({ event }) => event)).toEqual(['edge.worker_ended', 'edge.workers_unavailable'])
  // No worker takes the place of the first, whose cache is in use.
  await clock.advance(60_000)
  expect(readdirSync(join(cache.directory, '..'))).toEqual(['edge'])
})

test('the caches of workers that a start does not have are removed', async () => {
  const { directory } = createCache()
  for (const name of ['', '-2', '-3', '-backup']) mkdirSync(`${directory}${name}`)
  await removeUnusedCaches(directory, 2)
  expect(readdirSync(join(directory, '..')).toSorted()).toEqual(['edge', 'edge-2', 'edge-backup'])
})
