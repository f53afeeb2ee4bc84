import type { Server } from 'node:http'
import { createServer, type Socket } from 'node:net'
import type { Clock } from '../lib/clock.ts'
import { findPendingResponse } from './http-server.ts'
import { markFromNetwork } from './http-request.ts'

/** Time for responses in progress when the listener closes. `close` does not wait, because its own request may be one of them. */
const finalResponse_ms = 1_000

/** Per listener; a few devices need a few dozen. */
const maxConnections = 512

/** Opens an additional listener of the API server. Closing it closes its connections, except for responses in progress. */
export async function openApiNetworkListener(
  apiServer: Server,
  clock: Clock,
  at: { address: string; port: number },
): Promise<{ close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    markFromNetwork(socket)
    apiServer.emit('connection', socket)
  })
  server.maxConnections = maxConnections
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    // Without `ipv6Only` an IPv6 listener may also accept IPv4.
    server.listen({ host: at.address, port: at.port, ipv6Only: true, exclusive: true }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  server.on('error', () => {})

  return {
    async close() {
      const cutTimer = clock.setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, finalResponse_ms)
      server.close(() => cutTimer.cancel())
      for (const socket of sockets) {
        const response = findPendingResponse(socket)
        if (response === undefined || response.headersSent) socket.destroy()
        else response.once('close', () => socket.destroySoon())
      }
    },
  }
}
