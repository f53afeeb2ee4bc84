import type { Server } from 'node:net'
import { describeListenError } from '../lib/listen-error.ts'

/** Connections that wait until a process accepts them. */
export const backlog = 1024

/** Listens on the given port, else on the next free one of the following twenty, else on any port. */
export async function listenOnFreePort(server: Server, host: string, port: number): Promise<number> {
  for (let candidate = port; ; candidate = port === 0 || candidate - port >= 20 || candidate >= 65_535 ? 0 : candidate + 1) {
    const boundPort = await tryListen(server, host, candidate)
    if (boundPort !== undefined) return boundPort
    if (candidate === 0) throw new Error(`There is no free port for the edge on ${host}.`)
  }
}

/** Resolves with the port; undefined if it is taken. `isShared`: all programs that say so can have it at the same time, on Linux. */
export function tryListen(server: Server, host: string, port: number, { isShared = false } = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => {
      server.off('listening', onListening)
      if (describeListenError(error) !== undefined) resolve(undefined)
      else reject(error)
    }
    const onListening = (): void => {
      server.off('error', onError)
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : port)
    }
    server.once('error', onError)
    server.once('listening', onListening)
    server.listen({ host, port, backlog, reusePort: isShared && process.platform === 'linux' })
  })
}
