import type { Server } from 'node:http'
import { createServer, type Socket } from 'node:net'
import type { Clock } from '../lib/clock.ts'
import { answerUnderWay } from './server.ts'
import { markFromNetwork } from './transport.ts'

/** How long an answer that is being made may still take when its listener closes. The request that closes it may be among them: it is not waited for. */
const lastAnswer_ms = 1_000

/** Of one address; a person's devices need a few dozen. */
const maxConnections = 512

/** A further listener of the gate. Closing it cuts its connections, but for an answer that is just being made. */
export async function openOnNetwork(gate: Server, clock: Clock, at: { address: string; port: number }): Promise<{ close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    markFromNetwork(socket)
    gate.emit('connection', socket)
  })
  server.maxConnections = maxConnections
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    // Without `ipv6Only` an address of IPv6 might take in IPv4 too.
    server.listen({ host: at.address, port: at.port, ipv6Only: true, exclusive: true }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  server.on('error', () => {})

  return {
    async close() {
      const cut = clock.setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, lastAnswer_ms)
      server.close(() => cut.cancel())
      for (const socket of sockets) {
        const answer = answerUnderWay(socket)
        if (answer === undefined || answer.headersSent) socket.destroy()
        else answer.once('close', () => socket.destroySoon())
      }
    },
  }
}
