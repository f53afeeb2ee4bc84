import { createServer } from 'node:net'

/** Listens on the port for a moment. undefined: the port is taken. Port 0 takes any free one. */
export function probePort(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined))
    })
  })
}

/** The first of the preferred loopback ports that is free, else any. */
export async function findFreePort(...preferred: number[]): Promise<number> {
  for (const candidate of [...preferred, 0]) {
    const port = await probePort('127.0.0.1', candidate)
    if (port !== undefined) return port
  }
  throw new Error('No free port is available on this machine.')
}
