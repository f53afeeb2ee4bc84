import type { Readable } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import {
  channels,
  type CommandClientMessage,
  type CommandEndReason,
  type CommandServerMessage,
  encodeData,
  maxFrame_bytes,
  type OutputChannel,
  transferWindow_bytes,
} from '../contract/command-frames.ts'
import { commandClientMessage } from '../contract/commands.ts'
import { Problem } from '../contract/errors.ts'
import type { ClaimedCommand } from '../features/command-tickets.ts'
import { systemClock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { StreamAccess, Streams } from './sse.ts'

interface ServeCommandOptions {
  access: StreamAccess
  streams: Streams
  log: Log
}

type RunningCommand = Awaited<ReturnType<ClaimedCommand['start']>>

/** A client that answers no ping within this time is gone. */
const heartbeat_ms = 15_000
/** How long a client may take to close after the last message. */
const closeGrace_ms = 500

const closeCodes = { done: 1000, going_away: 1001, protocol_error: 1002, policy_violation: 1008 } as const

/** Runs a command between the two ends of its WebSocket. Resolves when both are over. */
export async function serveCommand(socket: WebSocket, claimed: ClaimedCommand, { access, streams, log }: ServeCommandOptions): Promise<void> {
  const left = new AbortController()
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  void closed.then(() => left.abort())
  socket.on('error', () => {})
  const send = (message: CommandServerMessage) => socket.send(JSON.stringify(message), () => {})
  const close = (code: number) => {
    socket.close(code)
    const timer = systemClock.setTimeout(() => socket.terminate(), closeGrace_ms)
    void closed.then(() => timer.cancel())
  }
  const endFor = (reason: CommandEndReason) => {
    if (left.signal.aborted) return
    send({ type: 'ended', reason })
    left.abort()
    close(reason === 'access_lost' ? closeCodes.policy_violation : closeCodes.going_away)
  }
  const untrack = streams.track(access, { end: () => endFor('shutdown'), cut: () => endFor('access_lost') })
  const heartbeat = keepAlive(socket)
  let command: RunningCommand | undefined
  try {
    const output = createOutputWindow(left.signal)
    const input = createInput(send)
    socket.on('message', (data, isBinary) => {
      const isValid = left.signal.aborted || receive(command, data, isBinary, { input, output })
      if (!isValid) {
        left.abort()
        close(closeCodes.protocol_error)
      }
    })
    command = await claimed.start(left.signal)
    const running = command
    void running.ending.then(endFor)
    running.input.on('error', () => {})
    send({ type: 'started' })
    const pumps = [pump(socket, 'output', running.stdout, output)]
    if (running.stderr) pumps.push(pump(socket, 'errors', running.stderr, output))
    await Promise.race([Promise.all(pumps), whenAborted(left.signal)])
    if (left.signal.aborted) return
    const exit = await Promise.race([running.exited, whenAborted(left.signal)])
    if (!exit) return
    send({ type: 'exited', ...exit })
    close(closeCodes.done)
  } catch (error) {
    if (left.signal.aborted) return
    if (!(error instanceof Problem)) log.error('command_failed', { error })
    send(
      error instanceof Problem
        ? { type: 'failed', error: error.code, message: error.message }
        : { type: 'failed', error: 'internal_error', message: 'The command could not be started.' },
    )
    close(closeCodes.done)
  } finally {
    untrack()
    await command?.stop()
    await closed
    heartbeat.cancel()
  }
}

interface Transfers {
  input: ReturnType<typeof createInput>
  output: OutputWindow
}

/** Handles a message of the client; false when it breaks the protocol. */
function receive(command: RunningCommand | undefined, data: RawData, isBinary: boolean, { input, output }: Transfers): boolean {
  if (!command || !Buffer.isBuffer(data)) return false
  if (isBinary) return data[0] === channels.input && input.write(command.input, data.subarray(1))
  const message = parseMessage(data.toString('utf8'))
  switch (message?.type) {
    case 'resize':
      command.resize(message).catch(() => {})
      return true
    case 'end_input':
      command.input.end()
      return true
    case 'acknowledge':
      return output.acknowledge(message.bytes)
    case undefined:
      return false
  }
}

function parseMessage(text: string): CommandClientMessage | undefined {
  try {
    return commandClientMessage.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Passes input on, and acknowledges what the command has taken. More than a window of unacknowledged input breaks the protocol. */
function createInput(send: (message: CommandServerMessage) => void) {
  let pending = 0
  return {
    write(target: RunningCommand['input'], data: Buffer): boolean {
      pending += data.length
      if (pending > transferWindow_bytes) return false
      const acknowledge = () => {
        pending -= data.length
        send({ type: 'acknowledge', bytes: data.length })
      }
      // Input after the end of a command is dropped.
      if (target.writable) target.write(data, acknowledge)
      else acknowledge()
      return true
    },
  }
}

interface OutputWindow {
  /** Resolves when so many bytes may be sent; false when the client has left. */
  take(bytes: number): Promise<boolean>
  acknowledge(bytes: number): boolean
}

/** Limits output that was sent and not acknowledged, because a WebSocket in a browser buffers without a limit. */
function createOutputWindow(signal: AbortSignal): OutputWindow {
  let pending = 0
  let waiting: (() => void)[] = []
  const wake = () => {
    const ready = waiting
    waiting = []
    for (const resolve of ready) resolve()
  }
  signal.addEventListener('abort', wake, { once: true })
  return {
    async take(bytes) {
      while (pending > 0 && pending + bytes > transferWindow_bytes && !signal.aborted) await new Promise<void>((resolve) => waiting.push(resolve))
      pending += bytes
      return !signal.aborted
    },
    acknowledge(bytes) {
      if (bytes > pending) return false
      pending -= bytes
      wake()
      return true
    },
  }
}

/** Sends a stream to its end, at the pace of the client. */
async function pump(socket: WebSocket, channel: OutputChannel, stream: Readable, window: OutputWindow): Promise<void> {
  try {
    for await (const chunk of stream) {
      const data = chunk as Buffer
      for (let at = 0; at < data.length; at += maxFrame_bytes) {
        const piece = data.subarray(at, at + maxFrame_bytes)
        if (!(await window.take(piece.length))) return
        socket.send(encodeData(channel, piece), () => {})
      }
    }
  } catch (error) {
    // The command was stopped.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
}

/** By the system's clock, because it measures the network. */
function keepAlive(socket: WebSocket) {
  let isAlive = true
  socket.on('pong', () => (isAlive = true))
  return systemClock
    .setInterval(() => {
      if (!isAlive) return socket.terminate()
      isAlive = false
      socket.ping(() => {})
    }, heartbeat_ms)
    .unref()
}

const whenAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => (signal.aborted ? resolve(undefined) : signal.addEventListener('abort', () => resolve(undefined), { once: true })))
