import { fork, type ChildProcess, type SendHandle } from 'node:child_process'
import type { Socket } from 'node:net'
import type { ConnectionOrigin } from '../listeners.ts'
import { edgeNodeFlags } from '../../lib/edge-node-flags.ts'
import type { AcceptCommand, AcceptEvent, WorkerCall, WorkerCommand, WorkerEvent } from './protocol.ts'

export interface WorkerProgram {
  /** The binary of Node. */
  node_path: string
  /** The program of a worker. */
  script: string
  /** The environment of the worker. It receives secrets as messages. */
  env: NodeJS.ProcessEnv
}

/** A command without the number that belongs to a result. */
export type PlainCommand = Exclude<WorkerCommand, { id: number }> | Extract<WorkerCommand, { type: 'credentials' | 'no_credentials' }>

export interface WorkerProcess {
  readonly pid: number | undefined
  send(command: PlainCommand): void
  /** Undefined if the worker ends before it has answered. Rejects if the command fails. */
  call(command: WorkerCall): Promise<unknown>
  /** Passes a connection on. It is this process's again if the worker ends before it has accepted it. */
  handOver(socket: Socket, origin: ConnectionOrigin): void
  /** Lets the worker accept connections from a listening socket itself. */
  acceptFrom(handle: ListeningHandle, origin: ConnectionOrigin): void
  kill(): void
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>
}

/** What Node's `net.Server` has in `_handle`: a socket that listens, also while this process does not accept from it. */
export interface ListeningHandle {
  close(): void
}

/** Starts a worker. `onEnd` receives the connections that it had not accepted. */
export function startWorkerProcess(options: {
  program: WorkerProgram
  onEvent(event: WorkerEvent): void
  /** The worker accepts from a listening socket. `handle` keeps it open when the worker ends. */
  onAccepting(listener: number, handle: ListeningHandle | undefined): void
  onEnd(unaccepted: { socket: Socket; origin: ConnectionOrigin }[], reason: string): void
}): WorkerProcess {
  const { node_path, script, env } = options.program
  const child: ChildProcess = fork(script, [], {
    execPath: node_path,
    execArgv: edgeNodeFlags,
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const calls = new Map<number, PromiseWithResolvers<unknown>>()
  const unaccepted = new Map<number, { socket: Socket; origin: ConnectionOrigin }>()
  let commandCount = 0
  const ended = Promise.withResolvers<void>()
  let hasEnded = false

  const send = (command: WorkerCommand | AcceptCommand, handle?: SendHandle): void => {
    // A worker that ended meanwhile is reported by its exit.
    if (child.connected) child.send(command, handle, { keepOpen: true }, () => {})
  }

  const end = (reason: string): void => {
    if (hasEnded) return
    hasEnded = true
    for (const pending of calls.values()) pending.resolve(undefined)
    calls.clear()
    options.onEnd([...unaccepted.values()], reason)
    unaccepted.clear()
    ended.resolve()
  }
  child.on('error', (error) => end(error.message))
  child.on('exit', (code, signal) => end(signal ?? `exit code ${code}`))
  child.on('message', (message, passed: unknown) => {
    const event = message as WorkerEvent | AcceptEvent
    if (event.type === 'accepted') {
      // The worker has the connection; this ends only the copy of this process.
      unaccepted.get(event.id)?.socket.destroy()
      unaccepted.delete(event.id)
    } else if (event.type === 'accepts_from') {
      options.onAccepting(event.listener, passed as ListeningHandle | undefined)
    } else if (event.type === 'result') {
      calls.get(event.id)?.resolve(event.result)
      calls.delete(event.id)
    } else if (event.type === 'failed') {
      calls.get(event.id)?.reject(new Error(event.message))
      calls.delete(event.id)
    } else if (!hasEnded) options.onEvent(event)
  })

  return {
    pid: child.pid,
    send,
    call(command) {
      if (hasEnded) return Promise.resolve(undefined)
      const id = ++commandCount
      const pending = Promise.withResolvers<unknown>()
      calls.set(id, pending)
      send({ ...command, id })
      return pending.promise
    },
    handOver(socket, origin) {
      const id = ++commandCount
      unaccepted.set(id, { socket, origin })
      send({ type: 'connection', id, origin }, socket)
    },
    // Node passes such a handle, which its types do not say.
    acceptFrom: (handle, origin) => send({ type: 'accept_from', origin }, handle as SendHandle),
    kill: () => void child.kill('SIGKILL'),
    ended: ended.promise,
  }
}
