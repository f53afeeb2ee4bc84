import { createServer, type Server, type Socket } from 'node:net'
import { tryListen } from '../listen.ts'
import type { NodeListeners } from './protocol.ts'

const retry_ms = 2_000

/** The listeners for visitors on another node. A port that is in use is tried again until it is free. */
export function createNodeListeners(options: {
  accept(socket: Socket, origin: { listener: number; is_secure: boolean; network: null }): void
  /** Why something is not listening; null once all is. */
  onChange(problem: string | null): void
}) {
  let current: NodeListeners | undefined
  let servers: Server[] = []
  let retry: NodeJS.Timeout | undefined

  const listen = async (address: string, port: number, is_secure: boolean): Promise<string | null> => {
    const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 }, (socket) =>
      options.accept(socket, { listener: 0, is_secure, network: null }),
    )
    const found = await tryListen(server, address, port).catch((error: Error) => error)
    if (typeof found !== 'number') return found?.message ?? `Port ${port} is in use.`
    server.on('error', () => {})
    servers.push(server)
    return null
  }
  const closeAll = async (): Promise<void> => {
    clearTimeout(retry)
    const closing = servers
    servers = []
    await Promise.all(closing.map((server) => new Promise((resolve) => server.close(resolve))))
  }
  const open = async (wanted: NodeListeners): Promise<void> => {
    for (const server of servers) server.close()
    servers = []
    const problems = [await listen(wanted.address, wanted.port, false), await listen(wanted.address, wanted.https_port, true)]
    const problem = problems.find((one) => one !== null) ?? null
    options.onChange(problem)
    if (problem !== null && current === wanted) retry = setTimeout(() => void open(wanted), retry_ms)
  }

  return {
    get: (): NodeListeners | undefined => current,
    set(wanted: NodeListeners): void {
      if (JSON.stringify(wanted) === JSON.stringify(current)) return
      current = wanted
      clearTimeout(retry)
      void open(wanted)
    },
    close(): Promise<void> {
      current = undefined
      return closeAll()
    },
  }
}
