import { setImmediate } from 'node:timers/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tryListen } from '../listen.ts'
import type { NodeListeners } from './protocol.ts'

const retry_ms = 2_000
const gap_ms = 500
const quietTurns = 3
const quietTurn_ms = 0.1

/** The listeners for visitors on another node. A port that is in use is tried again until it is free. */
export function createNodeListeners(options: {
  accept(socket: Socket, origin: { listener: number; is_secure: boolean; network: null }): void
  /** Why something is not listening; null once all is. */
  onChange(problem: string | null): void
}) {
  let current: NodeListeners | undefined
  /** By address, port and protocol. */
  const servers = new Map<string, Server>()
  let accepted = 0
  let applying: Promise<void> = Promise.resolve()
  let retry: NodeJS.Timeout | undefined

  /** Why it does not listen; null if it does. */
  const listen = async (key: string, address: string, port: number, is_secure: boolean): Promise<string | null> => {
    if (servers.has(key)) return null
    const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 }, (socket) => {
      accepted++
      options.accept(socket, { listener: 0, is_secure, network: null })
    })
    // With the program that it replaces (succession.ts).
    const found = await tryListen(server, address, port, { isShared: true }).catch((error: Error) => error)
    if (typeof found !== 'number') return found?.message ?? `Port ${port} is in use.`
    server.on('error', () => {})
    servers.set(key, server)
    return null
  }
  /** Until nothing happens for a few turns of the event loop: connections that Linux has not handed over when a listener closes are reset. */
  const waitForGap = async (): Promise<void> => {
    const end = performance.now() + gap_ms
    let quiet = 0
    while (quiet < quietTurns && performance.now() < end) {
      const [before, began] = [accepted, performance.now()]
      await setImmediate()
      quiet = accepted === before && performance.now() - began < quietTurn_ms ? quiet + 1 : 0
    }
  }
  /** Closes what is not wanted any more and opens what is missing. The rest is left as it is, with the connections that wait there. */
  const apply = async (): Promise<void> => {
    clearTimeout(retry)
    const wanted = current && listPorts(current)
    const closing = [...servers].filter(([key]) => !wanted?.some((one) => one.key === key))
    if (closing.length > 0) await waitForGap()
    for (const [key] of closing) servers.delete(key)
    for (const [, server] of closing) server.close()
    if (!wanted) return
    const problems: (string | null)[] = []
    for (const { key, address, port, is_secure } of wanted) problems.push(await listen(key, address, port, is_secure))
    const problem = problems.find((one) => one !== null) ?? null
    options.onChange(problem)
    if (problem !== null) retry = setTimeout(schedule, retry_ms)
  }
  const schedule = (): Promise<void> => (applying = applying.then(apply))

  return {
    get: (): NodeListeners | undefined => current,
    /** Resolves once it listens, or has a problem. */
    async set(wanted: NodeListeners): Promise<void> {
      if (JSON.stringify(wanted) === JSON.stringify(current)) return
      current = wanted
      await schedule()
    },
    /** Resolves once it accepts no connections. */
    close(): Promise<void> {
      current = undefined
      return schedule()
    },
  }
}

const listPorts = ({ address, port, https_port }: NodeListeners) =>
  [
    { address, port, is_secure: false },
    { address, port: https_port, is_secure: true },
  ].map((one) => ({ ...one, key: JSON.stringify(one) }))
