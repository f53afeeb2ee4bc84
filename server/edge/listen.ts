import type { Server } from 'node:net'
import { whyPortRefused } from '../lib/port-refused.ts'

/** The port that is asked for, else the next free one of the following twenty, else any. */
export async function listenFrom(server: Server, host: string, port: number): Promise<number> {
  for (let wanted = port; ; wanted = port === 0 || wanted - port >= 20 || wanted >= 65_535 ? 0 : wanted + 1) {
    const got = await tryListen(server, host, wanted)
    if (got !== undefined) return got
    if (wanted === 0) throw new Error(`The edge found no free port on ${host}.`)
  }
}

/** The port that it got; undefined when that is taken. */
export function tryListen(server: Server, host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => {
      server.off('listening', opened)
      if (whyPortRefused(error) !== undefined) resolve(undefined)
      else reject(error)
    }
    const opened = (): void => {
      server.off('error', failed)
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : port)
    }
    server.once('error', failed)
    server.once('listening', opened)
    server.listen({ host, port, backlog: 1024 })
  })
}
