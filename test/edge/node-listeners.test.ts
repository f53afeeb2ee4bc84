import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { createNodeListeners } from '../../server/edge/nodes/node-listeners.ts'
import { findFreePort } from '../../server/lib/free-port.ts'
import { until } from '../support/until.ts'

const address = '127.0.0.1'

function start() {
  const problems: (string | null)[] = []
  const accepted: boolean[] = []
  const listeners = createNodeListeners({
    accept(socket, { is_secure }) {
      accepted.push(is_secure)
      socket.destroy()
    },
    onChange: (problem) => problems.push(problem),
  })
  return {
    listeners,
    accepted,
    waitForChange: () => until(() => (problems.length > 0 ? { problem: problems.splice(0).at(-1) } : undefined), { what: 'a change' }),
  }
}

/** The inode of the socket that listens at a port. */
function findListener(port: number): string | undefined {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n')
  return lines.map((line) => line.trim().split(/\s+/)).find(([, local = '', , state]) => local.endsWith(`:${hex}`) && state === '0A')?.[9]
}
const knock = async (port: number) => {
  const socket = connect(port, address)
  await once(socket, 'close')
}

test('a changed port leaves the listener of the other one as it is', async () => {
  const { listeners, accepted, waitForChange } = start()
  const [port, https_port, next] = [await findFreePort(), await findFreePort(), await findFreePort()]
  await listeners.set({ address, port, https_port })
  expect(await waitForChange()).toEqual({ problem: null })
  const before = findListener(port)
  expect(before).toBeDefined()
  await listeners.set({ address, port, https_port: next })
  expect(await waitForChange()).toEqual({ problem: null })
  expect(findListener(port)).toBe(before)
  expect(findListener(https_port)).toBeUndefined()
  await knock(port)
  await knock(next)
  expect(accepted).toEqual([false, true])
  await listeners.close()
  expect(findListener(port)).toBeUndefined()
})

test('a port in use is named, and tried again while the other one serves', async () => {
  const { listeners, waitForChange } = start()
  const other = createServer().listen(0, address)
  await once(other, 'listening')
  const taken = (other.address() as { port: number }).port
  const port = await findFreePort()
  await listeners.set({ address, port, https_port: taken })
  expect(await waitForChange()).toEqual({ problem: `Port ${taken} is in use.` })
  const before = findListener(port)
  other.close()
  expect(await waitForChange()).toEqual({ problem: null })
  expect(findListener(port)).toBe(before)
  await listeners.close()
})
