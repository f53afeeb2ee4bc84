import type { Server } from 'node:net'
import type { ConnectionOrigin } from '../listeners.ts'
import type { ListeningHandle, WorkerProcess } from './worker-process.ts'

/**
 * The listeners of an edge with one worker, which accepts from them itself: connections that are passed to it wait for a turn of its event loop each. This
 * process accepts until the first worker does, and keeps the sockets open, in whose queues connections wait while a worker is replaced.
 */
export interface SharedListeners {
  /** A listener was opened, from which this process accepts. */
  add(server: Server, origin: ConnectionOrigin): void
  /** Gives a worker that is ready all listeners. */
  setWorker(worker: Pick<WorkerProcess, 'acceptFrom'>): void
  /** The worker accepts from a listener. `handle` keeps its socket open; without it, this process goes on accepting too. */
  onAccepting(listener: number, handle: ListeningHandle | undefined): void
  close(): void
}

/** `isUsed`: if not, this process alone accepts. */
export function createSharedListeners(isUsed: boolean): SharedListeners {
  const listeners = new Map<number, { origin: ConnectionOrigin; server: Server; handle?: ListeningHandle }>()
  let worker: Pick<WorkerProcess, 'acceptFrom'> | undefined

  const give = ({ origin, server, handle = getHandle(server) }: { origin: ConnectionOrigin; server: Server; handle?: ListeningHandle }): void => {
    if (handle) worker?.acceptFrom(handle, origin)
  }
  return {
    add(server, origin) {
      if (!isUsed) return
      const added = { origin, server }
      listeners.set(origin.listener, added)
      give(added)
    },
    setWorker(next) {
      worker = next
      for (const listener of listeners.values()) give(listener)
    },
    onAccepting(id, handle) {
      const listener = listeners.get(id)
      if (!handle) return
      if (!listener || listener.handle) return handle.close()
      listener.handle = handle
      listener.server.close()
    },
    close() {
      for (const { handle } of listeners.values()) handle?.close()
      listeners.clear()
    },
  }
}

const getHandle = (server: Server): ListeningHandle | undefined => (server as Server & { _handle?: ListeningHandle | null })._handle ?? undefined
