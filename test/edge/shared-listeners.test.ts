import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server } from 'node:net'
import { expect, test } from 'vitest'
import type { ConnectionOrigin } from '../../server/edge/listeners.ts'
import { createSharedListeners } from '../../server/edge/workers/shared-listeners.ts'
import type { ListeningHandle } from '../../server/edge/workers/worker-process.ts'

/* With a worker: workers.test.ts. */

const origin: ConnectionOrigin = { listener: 7, is_secure: false, network: null }

/** A handle that a worker sends, which counts how often it is closed. */
const createHandle = () => {
  const handle = { closed: 0, close: () => void handle.closed++ }
  return handle
}

async function openServer(): Promise<Server> {
  const server = createServer((socket) => socket.end('platform'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

test('a worker gets each listener, from which this process accepts until the worker does', async () => {
  const listeners = createSharedListeners(true)
  const given: [ListeningHandle, ConnectionOrigin][] = []
  const worker = { acceptFrom: (...one: [ListeningHandle, ConnectionOrigin]) => void given.push(one) }
  const [first, second] = [await openServer(), await openServer()]
  listeners.add(first, origin)
  listeners.setWorker(worker)
  listeners.add(second, { ...origin, listener: 8 })
  expect(given.map(([, { listener }]) => listener)).toEqual([7, 8])
  const socket = connect((first.address() as AddressInfo).port, '127.0.0.1')
  expect(String((await once(socket, 'data'))[0])).toBe('platform')
  socket.destroy()

  const kept = createHandle()
  listeners.onAccepting(7, kept)
  expect([first.listening, second.listening]).toEqual([false, true])
  // The next worker, after the first one has ended before it accepted from the second listener.
  given.length = 0
  listeners.setWorker(worker)
  expect(given[0]![0]).toBe(kept)
  expect(given[1]![1].listener).toBe(8)
  const again = createHandle()
  listeners.onAccepting(7, again)
  expect([kept.closed, again.closed]).toEqual([0, 1])
  // A system that did not pass it.
  listeners.onAccepting(8, undefined)
  expect(second.listening).toBe(true)
  listeners.close()
  expect(kept.closed).toBe(1)
  second.close()
})

test('with several workers this process keeps its listeners', async () => {
  const listeners = createSharedListeners(false)
  const server = await openServer()
  listeners.add(server, origin)
  listeners.setWorker({ acceptFrom: () => expect.unreachable() })
  expect(server.listening).toBe(true)
  server.close()
})
