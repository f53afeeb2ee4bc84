import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { waitForListener } from '../../server/cli/wait-for-listener.ts'

test('a port that is only probed on the wildcard address, as Vite does before it listens, does not count', async () => {
  const port = await findUnusedPort()
  const probe = createServer().listen({ port, host: '::', ipv6Only: true })
  await once(probe, 'listening')
  const server = createServer((socket) => socket.destroy())
  // Only ::1 reaches this listener at the time of the first attempt, and nothing reaches it afterwards.
  probe.once('connection', (socket) => {
    socket.destroy()
    probe.close(() => server.listen(port, '127.0.0.1'))
  })
  const found = await waitForListener(port, new AbortController().signal)
  server.close()
  expect(found).toBe('127.0.0.1')
})

test('a server that listens on ::1 alone is found there', async () => {
  const port = await findUnusedPort()
  const server = createServer((socket) => socket.destroy()).listen(port, '::1')
  await once(server, 'listening')
  expect(await waitForListener(port, new AbortController().signal)).toBe('::1')
  server.close()
})

test('an aborted wait ends without an address', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  const abort = new AbortController()
  const waiting = waitForListener(port, abort.signal)
  abort.abort()
  expect(await waiting).toBeUndefined()
})

/**
 * A port at which nothing listens on any address. It is below those that the system hands out: one of them that is free at `::1` can be in use at
 * `127.0.0.1`, by a test that runs beside this one.
 */
async function findUnusedPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000)
    const server = createServer().listen(port, '::')
    const free = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!free) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
