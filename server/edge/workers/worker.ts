import type { Socket } from 'node:net'
import type { WorkerCommand } from './protocol.ts'
import { createWorkerEdge } from './worker-edge.ts'

/**
 * An edge worker: a process that serves the connections which the platform passes to it. It has the whole routing table and a cache of its own, opens
 * no listener and no database, and ends with the platform.
 */
const { handle } = createWorkerEdge({
  send: (event) => void (process.connected && process.send?.(event)),
  onClosed: () => process.disconnect(),
})

process.on('message', (command, socket) => handle(command as WorkerCommand, socket as Socket | undefined))
// The platform ended, in whatever way.
process.on('disconnect', () => process.exit())
// A terminal signals its whole process group. The platform ends this process once its requests are done.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
