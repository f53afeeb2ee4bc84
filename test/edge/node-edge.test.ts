import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { request, type RequestOptions } from 'node:https'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { readEdgeProgram } from '../../server/bootstrap/read-edge-program.ts'
import { buildChanged, root } from '../../server/cli/prepare.mjs'
import type { RequestRecord } from '../../server/edge/request-log.ts'
import { findFreePort } from '../../server/lib/free-port.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createAuthorityCertificate, createLeafCertificate } from '../../server/tls/certificate.ts'
import { get, routeOwner, upstreamRoute } from '../support/edge.ts'
import { fullTest } from '../support/full-test.ts'
import {
  authority,
  authorityOfSites,
  cleanUpNodes,
  createFolder,
  createSite,
  follow,
  getAt,
  host,
  startCounter,
  startNode,
  startPlatformEdge,
  startTestApp,
  waitForAnswer,
} from '../support/node-edge.ts'
import { getHttps } from '../support/tls.ts'
import { until } from '../support/until.ts'

/* The edge of another node of a cluster: a process of its own that follows the platform over TLS, and goes on without it. */

afterEach(cleanUpNodes)

test('a host that a node served was used until the connection to the node ended', async () => {
  const node = await startNode()
  const edge = await startPlatformEdge()
  await edge.setRoute(host, upstreamRoute((await startTestApp(() => {})).port))
  const led = await follow(edge, node)
  await waitForAnswer(node, 'other.localhost')
  void getAt(node).catch(() => {})
  await until(() => (edge.idleSince(host) === undefined ? true : undefined), { what: 'the host to be busy' })
  const used = performance.now()
  node.process().kill('SIGKILL')
  await until(() => (led.getStatus().is_connected ? undefined : true), { what: 'the end of the connection' })
  expect(edge.idleSince(host)).toBeGreaterThan(used)
})

test('serves apps, static sites and certificates as the platform does, and reports its requests', async () => {
  const node = await startNode()
  const edge = await startPlatformEdge({ isMetricsEnabled: () => true, isRequestLogEnabled: () => true, resolveUnknownHost: () => undefined })
  const app = await startCounter()
  await edge.setRoute(host, upstreamRoute(app.port))
  edge.setAliases(host, ['www.example.com'])
  const first = createSite({ 'index.html': 'first', 'a b/ü.txt': 'file' })
  await edge.setRoute('site.localhost', { ...routeOwner, kind: 'static', directory: first, spa_fallback: false })
  await follow(edge, node)

  expect(await waitForAnswer(node)).toMatchObject({ status: 200, text: 'answer 1' })
  expect(await getAt(node, '/', 'www.example.com')).toMatchObject({ status: 200, text: 'answer 2' })
  expect(await getAt(node, '/', 'site.localhost')).toMatchObject({ status: 200, text: 'first' })
  expect(await getAt(node, '/a%20b/%C3%BC.txt', 'site.localhost')).toMatchObject({ status: 200, text: 'file' })
  expect(await getAt(node, '/', 'other.localhost')).toMatchObject({ status: 404 })
  const encrypted = await getHttps(node.listeners.https_port, '/', { ca: await authorityOfSites() })
  expect(encrypted).toMatchObject({ status: 200, text: 'answer 3' })

  // Changes arrive before the platform goes on.
  await edge.setRoute('site.localhost', {
    ...routeOwner,
    deployment_id: 'dpl_next',
    kind: 'static',
    directory: createSite({ 'index.html': 'second' }),
    spa_fallback: false,
  })
  expect(await getAt(node, '/', 'site.localhost')).toMatchObject({ status: 200, text: 'second' })
  await edge.removeRoute(host)
  expect(await getAt(node)).toMatchObject({ status: 404 })

  const records: RequestRecord[] = []
  await until(async () => records.push(...(await edge.requests.take())) >= 6 || undefined, { what: 'the records' })
  expect(records.map(({ host: name, status }) => `${name} ${status}`)).toContain('www.example.com 200')
})

test('shares cached responses, and a purge is complete when it has done it too', async () => {
  const node = await startNode()
  const edge = await startPlatformEdge()
  const { port } = await edge.listen({ host: '127.0.0.1', port: 0 })
  const app = await startCounter({ 'cache-control': 'max-age=600' })
  await edge.setRoute(host, upstreamRoute(app.port))
  await follow(edge, node)
  await waitForAnswer(node)
  // It has its lease, and what one edge stored is a hit at the other.
  await until(async () => ((await getAt(node)).headers['x-cache'] === 'HIT' ? true : undefined), { what: 'a hit at the node' })
  await until(async () => ((await get(port, '/', { host })).headers['x-cache'] === 'HIT' ? true : undefined), { what: 'a hit at the platform' })
  const before = (await getAt(node)).text
  await edge.cache.purge(routeOwner.project_id, { all: true })
  const after = await getAt(node)
  expect(after.headers['x-cache']).toBe('MISS')
  expect(after.text).not.toBe(before)
  // An unsafe request invalidates the URL everywhere (RFC 9111 §4.4).
  await get(port, '/', { host, method: 'POST' })
  await until(async () => ((await getAt(node)).text !== after.text ? true : undefined), { what: 'the invalidation' })
})

test('tries addresses for the platform', async () => {
  const node = await startNode()
  const led = await follow(await startPlatformEdge(), node)
  const [open, closed] = [node.endpoint.port, await findFreePort()].map((port) => ({ host: '127.0.0.1', port }))
  expect(await led.findClosed([open!, closed!])).toEqual([closed])
  node.process().kill('SIGKILL')
  await until(() => (led.getStatus().is_connected ? undefined : true), { what: 'the end of the connection' })
  expect(await led.findClosed([open!])).toBeUndefined()
})

test('goes on without the platform, also after a restart, and catches up', async () => {
  const node = await startNode()
  let wakes = 0
  const first = await startPlatformEdge({ wake: () => void wakes++ })
  const app = await startCounter()
  await first.setRoute(host, upstreamRoute(app.port))
  await first.setRoute('site.localhost', { ...routeOwner, kind: 'static', directory: createSite({ 'index.html': 'site' }), spa_fallback: false })
  await first.setRoute('asleep.localhost', { ...routeOwner, project_id: 'prj_asleep', kind: 'asleep' })
  await follow(first, node)
  await waitForAnswer(node)
  await getHttps(node.listeners.https_port, '/', { ca: await authorityOfSites() })
  // What is acknowledged is on its disk.
  await first.setRoute('last.localhost', upstreamRoute(app.port))
  const woken = getAt(node, '/', 'asleep.localhost')
  await until(() => wakes > 0 || undefined, { what: 'the request to wake the app' })
  await first.close()
  // It had asked the platform.
  expect((await woken).status).toBe(503)
  const checkAlone = async () => {
    expect(await waitForAnswer(node, 'last.localhost')).toMatchObject({ status: 200 })
    expect(await getAt(node)).toMatchObject({ status: 200 })
    expect(await getAt(node, '/', 'site.localhost')).toMatchObject({ status: 200, text: 'site' })
    expect(await getAt(node, '/', 'asleep.localhost')).toMatchObject({
      status: 503,
      text: expect.stringContaining('Homeport is not responding') as unknown,
    })
    expect(await getAt(node, '/', 'unknown.localhost')).toMatchObject({ status: 503 })
    expect(await getHttps(node.listeners.https_port, '/', { ca: await authorityOfSites() })).toMatchObject({ status: 200 })
  }
  await checkAlone()
  await node.restart()
  await checkAlone()

  const second = await startPlatformEdge()
  await second.setRoute('asleep.localhost', upstreamRoute(app.port))
  await follow(second, node)
  await until(async () => ((await getAt(node, '/', 'asleep.localhost')).status === 200 ? true : undefined), {
    what: 'the route of the next platform',
  })
  expect(await getAt(node)).toMatchObject({ status: 404 })
  expect(await getAt(node, '/', 'site.localhost')).toMatchObject({ status: 404 })
})

test('another apps domain restarts it, and a request in progress ends before it stops', async () => {
  const node = await startNode()
  const first = await startPlatformEdge()
  const held: ServerResponse[] = []
  const app = await startTestApp((incoming, response) => void (incoming.url === '/held' ? held.push(response) : response.end('now')))
  await first.setRoute(host, upstreamRoute(app.port))
  await follow(first, node)
  await waitForAnswer(node)
  await first.close()

  const second = await startPlatformEdge({ apps_domain: 'apps.example.com' })
  await second.setRoute(host, upstreamRoute(app.port))
  const ended = once(node.process(), 'exit')
  second.addNode(node.endpoint, node.listeners)
  await ended
  await node.restart()
  expect(await waitForAnswer(node, 'app.apps.example.com')).toMatchObject({ status: 200, text: 'now' })

  const stopped = once(node.process(), 'exit')
  const answer = getAt(node, '/held')
  await until(() => held[0], { what: 'the request' })
  node.process().kill('SIGTERM')
  // It accepts nothing more.
  await until(
    () =>
      getAt(node).then(
        () => undefined,
        () => true,
      ),
    { what: 'the end of the listener' },
  )
  held[0]?.end('late')
  expect(await answer).toMatchObject({ status: 200, text: 'late' })
  expect(await stopped).toEqual([0, null])
})

test('follows the platform that leads, and no earlier one, also after a restart', async () => {
  const node = await startNode()
  const refusals: string[] = []
  const log = { ...silentLog, warn: (_event: string, fields?: Record<string, unknown>) => void refusals.push(String(fields?.error)) }
  const waitForRefusal = (count: number) =>
    until(() => refusals.filter((error) => error.includes('another instance that leads')).length === count || undefined, { what: 'a refusal' })
  const app = await startCounter()
  const later = await startPlatformEdge()
  await later.setRoute(host, upstreamRoute(app.port))
  const earlier = await startPlatformEdge({ log })
  const first = await follow(earlier, node)
  const second = await follow(later, { ...node, endpoint: { ...node.endpoint, epoch: 2 } })
  await waitForRefusal(1)
  second.release()
  first.release()
  await node.restart()
  expect((await waitForAnswer(node)).status).toBe(200)
  const third = earlier.addNode(node.endpoint, node.listeners)
  await waitForRefusal(2)
  expect(third.getStatus().is_connected).toBe(false)
})

test('starts without what another version of it has kept', async () => {
  const node = await startNode()
  const edge = await startPlatformEdge()
  const led = await follow(edge, node)
  led.release()
  await until(async () => (await node.state.read()) ?? undefined, { what: 'a kept state' })
  await node.state.write(JSON.stringify({ state: {} }))
  await node.restart()
  await follow(edge, node)
  expect(await waitForAnswer(node)).toMatchObject({ status: 404 })
})

test('the program of the package starts from its own files', async () => {
  await buildChanged()
  const program = await readEdgeProgram(join(root, 'out/main/edge-worker.js'))
  const folder = createFolder()
  for (const [name, text] of Object.entries({ 'package.json': '{"type":"module"}', ...program?.files })) writeFileSync(join(folder, name), text)
  // Docker takes configs of 500 kB, and nothing of the API belongs here.
  expect(gzipSync(JSON.stringify(program?.files)).length).toBeLessThan(150_000)
  const node = await startNode(join(folder, program?.entry ?? ''))
  await follow(await startPlatformEdge(), node)
  expect(await waitForAnswer(node)).toMatchObject({ status: 404 })
})

test('obeys the platform alone, and writes only into the folders of sites', async () => {
  const node = await startNode()
  const edge = await startPlatformEdge()
  const led = await follow(edge, node)
  const { host: address, port, tls } = node.endpoint
  const send = (options: RequestOptions) =>
    new Promise<number | string>((resolve) => {
      const outgoing = request({ host: address, port, ...tls, agent: false, ...options }, (incoming) => {
        incoming.resume()
        resolve(incoming.statusCode ?? 0)
      })
      outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      outgoing.end('content')
    })
  const other = createAuthorityCertificate({ machine: 'other', now: Date.now() })
  const stranger = createLeafCertificate(other, { host: 'homeport', now: Date.now(), usage: 'client' })
  const server = createLeafCertificate(authority, { host: 'homeport-edge', now: Date.now() })
  const site = 'a'.repeat(32)
  const put = { method: 'PUT', path: `/sites/${site}/index.html` }
  expect(await send(put)).toBe(204)
  // Without a certificate, with one of another authority, and with that of another edge.
  expect(await send({ ...put, cert: undefined, key: undefined })).not.toBe(204)
  expect(await send({ ...put, cert: stranger.certificate, key: stranger.key })).not.toBe(204)
  expect(await send({ ...put, cert: server.certificate, key: server.key })).not.toBe(204)
  for (const path of ['..%2F..%2Fstate', '..%2F..%2F..%2Fx', '%2Fetc%2Fx', '..%2F' + site])
    expect(await send({ method: 'PUT', path: `/sites/${site}/${path}` })).toBe(400)
  expect(await send({ method: 'PUT', path: '/sites/../state' })).toBe(404)
  expect(await send({ method: 'GET', path: '/' })).toBe(404)
  expect(led.getStatus()).toEqual({ node: 'two', is_connected: true, problem: null })
})

fullTest('an edge that was frozen serves nothing of before the purge that waited for it', async () => {
  const node = await startNode()
  const edge = await startPlatformEdge()
  const app = await startCounter({ 'cache-control': 'max-age=600' })
  await edge.setRoute(host, upstreamRoute(app.port))
  await follow(edge, node)
  await waitForAnswer(node)
  await until(async () => ((await getAt(node)).headers['x-cache'] === 'HIT' ? true : undefined), { what: 'a hit at the node' })
  const { text: before } = await getAt(node)
  node.process().kill('SIGSTOP')
  // Sent now and read when it goes on.
  const asked = [getAt(node), getAt(node)]
  const began = performance.now()
  await edge.cache.purge(routeOwner.project_id, { all: true })
  expect(performance.now() - began).toBeGreaterThan(3_000)
  node.process().kill('SIGCONT')
  for (const answer of await Promise.all(asked)) {
    expect(answer.status).toBe(200)
    expect(answer.text).not.toBe(before)
  }
})
