import { createServer, type Server, type Socket } from 'node:net'
import { backlog } from '../listen.ts'
import type { ConnectionOrigin } from '../listeners.ts'
import type { AcceptCommand, AcceptEvent, WorkerCommand, WorkerEvent } from './protocol.ts'
import { createWorkerEdge } from './worker-edge.ts'

/**
 * An edge worker: a process that serves the connections which the platform passes to it, or accepts them itself from sockets which the platform has opened.
 * It has the whole routing table and a cache of its own, opens no listener and no database, and ends with the platform.
 */
const send = (event: WorkerEvent | AcceptEvent, handle?: Server): void => void (process.connected && process.send?.(event, handle))
const { handle, accept } = createWorkerEdge({ send: (event) => send(event), onClosed: () => process.disconnect() })
const servers: Server[] = []

function acceptFrom(listening: object, origin: ConnectionOrigin): void {
  const server = createServer((socket) => accept(socket, origin))
  // The platform goes on accepting from it.
  server.on('error', () => {})
  servers.push(server)
  server.listen(listening, backlog, () =>
    // The handle without its server, which would accept connections there too. Node passes it, which its types do not say.
    send({ type: 'accepts_from', listener: origin.listener }, (server as Server & { _handle: Server })._handle),
  )
}

process.on('message', (message, passed) => {
  const command = message as WorkerCommand | AcceptCommand
  // Without a socket it would listen at a port of its own.
  if (command.type === 'accept_from') return passed && acceptFrom(passed, command.origin)
  if (command.type === 'close') for (const server of servers) server.close()
  handle(command, passed as Socket | undefined)
})
// The platform ended, in whatever way.
process.on('disconnect', () => process.exit())
// A terminal signals its whole process group. The platform ends this process once its requests are done.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
