import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { readMessages, writeMessage } from '../../server/edge/nodes/messages.ts'
import { createNodeLink } from '../../server/edge/nodes/node-link.ts'
import { lease_ms, type NodeCommand } from '../../server/edge/nodes/protocol.ts'
import type { Route } from '../../server/edge/edge.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createAuthorityCertificate, createLeafCertificate } from '../../server/tls/certificate.ts'
import { routeOwner } from '../support/edge.ts'
import { createTestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

/* The platform's side of the edge of another node, which is a double here. With its program: node-edge.test.ts. */

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const now = Date.now()
const authority = createAuthorityCertificate({ machine: 'test', now })
const server = createLeafCertificate(authority, { host: 'homeport-edge', now })
const client = createLeafCertificate(authority, { host: 'homeport', now, usage: 'client' })

/** A node, and the link of a platform to it, with one static site. `answers`: what it answers to files; null is nothing. */
async function create() {
  const directory = mkdtempSync(join(tmpdir(), 'homeport-site-'))
  cleanups.push(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'index.html'), 'site')
  const node = { file_status: 204 as number | null, uploads: 0, sessions: [] as Duplex[], commands: [] as NodeCommand[] }
  const listener = createServer({ cert: server.certificate, key: server.key, ca: authority.certificate, requestCert: true }, (request, response) => {
    if (request.method === 'PUT') node.uploads++
    request.resume()
    if (request.method === 'HEAD') response.writeHead(404).end()
    else if (node.file_status !== null) response.writeHead(node.file_status).end()
  })
  listener.on('upgrade', (_request, socket: Duplex) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: homeport-edge\r\n\r\n')
    readMessages(socket, (message) => node.commands.push(message as NodeCommand))
    node.sessions.push(socket)
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  cleanups.push(() => {
    listener.closeAllConnections()
    for (const session of node.sessions) session.destroy()
    listener.close()
  })

  const clock = createTestClock({ frozen_at: 0 })
  const route: Route = { ...routeOwner, kind: 'static', directory, spa_fallback: false }
  const tls = { ca: authority.certificate, cert: client.certificate, key: client.key, servername: 'homeport-edge' }
  const link = createNodeLink({
    endpoint: { node: 'two', epoch: 1, host: '127.0.0.1', port: (listener.address() as AddressInfo).port, tls },
    listeners: { address: '127.0.0.1', port: 80, https_port: 443 },
    log: silentLog,
    clock,
    getState: () => ({ routes: [['site.localhost', route]] }) as never,
    onEvent() {},
    onDisconnected() {},
  })
  cleanups.push(() => link.close())
  const findRoute = (type: NodeCommand['type']) => {
    for (const command of node.commands)
      if (command.type === 'start' && type === 'start') return command.state.routes[0]?.[1].kind
      else if (command.type === 'set_route' && type === 'set_route') return command.route.kind
    return undefined
  }
  return { node, clock, link, findRoute }
}

test('a connection that is lost while files are sent ends the upload, and the next one sends them', async () => {
  const { node, clock, link, findRoute } = await create()
  node.file_status = null
  await until(() => (node.uploads === 1 ? true : undefined), { what: 'an upload' })
  node.file_status = 204
  // The network is cut: nothing arrives, and nothing is closed.
  await until(async () => (await clock.advance(lease_ms), node.sessions.length > 1 ? true : undefined), { what: 'a new connection' })
  await until(() => (link.getStatus().is_connected ? true : undefined), { what: 'the node to follow' })
  expect(await until(() => findRoute('start'), { what: 'everything' })).toBe('static')
})

test('a site whose files a node could not store is sent again', async () => {
  const { node, clock, link, findRoute } = await create()
  node.file_status = 507
  let id = 0
  /** The connection lives as long as the node says so. */
  const pass = async () => {
    writeMessage(node.sessions[0]!, { type: 'renew_lease', id: ++id })
    await until(() => node.commands.some((one) => one.type === 'lease_renewed' && one.id === id) || undefined, { what: 'the lease' })
    await clock.advance(lease_ms - 1_000)
  }
  await until(() => (link.getStatus().is_connected ? true : undefined), { what: 'the node to follow' })
  expect(await until(() => findRoute('start'), { what: 'everything' })).toBe('page')
  node.file_status = 204
  expect(await until(async () => (await pass(), findRoute('set_route')), { what: 'the route' })).toBe('static')
  expect(node.sessions).toHaveLength(1)
})

test('a node of an earlier version does not answer what it can connect to, which delays the doctor by five seconds at most', async () => {
  const { node, link, clock } = await create()
  node.file_status = 204
  await until(() => (link.getStatus().is_connected ? true : undefined), { what: 'the node to follow' })
  const asking = link.findClosed([{ host: '127.0.0.1', port: 1 }])
  await until(() => node.commands.find(({ type }) => type === 'try_addresses'), { what: 'the question' })
  await clock.advance(5_000)
  expect(await asking).toBeUndefined()

  const refused = link.findClosed([{ host: '127.0.0.1', port: 1 }])
  const asked = await until(() => node.commands.filter(({ type }) => type === 'try_addresses')[1], { what: 'the second question' })
  writeMessage(node.sessions[0]!, { type: 'failed', id: (asked as { id: number }).id, message: 'unknown' })
  expect(await refused).toBeUndefined()
})
