import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { createSuccession } from '../../server/edge/nodes/succession.ts'
import { upstreamRoute } from '../support/edge.ts'
import { cleanUpNodes, follow, getAt, host, startNode, startPlatformEdge, startTestApp, waitForAnswer } from '../support/node-edge.ts'
import { until } from '../support/until.ts'

afterEach(cleanUpNodes)

/** How many programs listen at a port. */
function countListeners(port: number): number {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n')
  return lines.filter((line) => new RegExp(`^\\s*\\d+: \\w+:${hex} \\w+:\\w+ 0A`).test(line)).length
}

test('the old program of a node waits until the new one listens', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-succession-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [first, second] = [1, 2].map(() => createSuccession(join(folder, 'current')))
  let hasEnded = false
  // As if it had not been told.
  const before = first!.waitForNext(600_000).then(() => (hasEnded = true))
  await first!.announce()
  expect(hasEnded).toBe(false)
  await second!.announce()
  await before
  await first!.waitForNext(600_000)
  await second!.waitForNext(0)
})

test.runIf(process.platform === 'linux')(
  'the program of a node is replaced while a response is under way, and no connection is refused',
  async () => {
    const node = await startNode()
    const edge = await startPlatformEdge()
    const held: ServerResponse[] = []
    const app = await startTestApp((incoming, response) => {
      if (incoming.url !== '/held') return response.end('answer')
      response.write('first, ')
      return held.push(response)
    })
    await edge.setRoute(host, upstreamRoute(app.port))
    const led = await follow(edge, node)
    await waitForAnswer(node)
    const underWay = getAt(node, '/held')
    await until(() => held[0], { what: 'the request to arrive' })

    const old = node.startNext()
    const countAll = () => [node.endpoint.port, node.listeners.port, node.listeners.https_port].map(countListeners)
    await until(() => (String(countAll()) === '2,2,2' ? true : undefined), { what: 'both to listen' })
    const ended = once(old, 'exit')
    old.kill('SIGTERM')
    await until(() => (String(countAll()) === '1,1,1' ? true : undefined), { what: 'the old one to stop listening' })
    expect((await getAt(node)).text).toBe('answer')
    expect(old.exitCode).toBeNull()
    held[0]!.end('last')
    expect((await underWay).text).toBe('first, last')
    await ended
    await until(() => (led.getStatus().is_connected ? true : undefined), { what: 'the new one to follow' })
    const other = await startTestApp((_incoming, response) => response.end('another'))
    await edge.setRoute(host, upstreamRoute(other.port))
    expect((await getAt(node)).text).toBe('another')
  },
)

test('the program of a node waits for a port that an earlier version does not share', async () => {
  const node = await startNode()
  const edge = await startPlatformEdge()
  const led = await follow(edge, node)
  await waitForAnswer(node)
  await until(async () => ((await node.state.read())?.includes('"routes"') ? true : undefined), { what: 'its state on the disk' })
  const ended = once(node.process(), 'exit')
  node.process().kill('SIGKILL')
  await ended
  const other = createServer((socket) => void socket.destroy()).listen(node.endpoint.port, node.endpoint.host)
  await once(other, 'listening')
  await until(() => (led.getStatus().is_connected ? undefined : true), { what: 'the end of the connection' })
  await node.restart()
  // Its start has reached the port once it serves what it has kept.
  await until(() => (countListeners(node.listeners.port) === 1 ? true : undefined), { what: 'its other ports' })
  other.close()
  await until(() => (led.getStatus().is_connected ? true : undefined), { what: 'the node to follow' })
  expect(node.process().exitCode).toBeNull()
})
