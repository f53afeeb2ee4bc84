import type { Readable, Writable } from 'node:stream'
import { ApiError } from '../client/api-error.ts'
import {
  type CommandClientMessage,
  type CommandEndReason,
  commandProtocol,
  type CommandServerMessage,
  commandSocketPath,
  decodeOutput,
  encodeData,
  maxFrame_bytes,
  type OutputChannel,
  type TerminalSize,
  ticketProtocolPrefix,
  toExitCode,
  transferWindow_bytes,
} from '../contract/command-frames.ts'
import { limits } from '../contract/limits.ts'

/** The input and output of this process, byte by byte. */
export interface ProgramIo {
  input: Readable
  output: Writable
  errors: Writable
  /** Input and output are one terminal. */
  terminal: RawTerminal | null
}

export interface RawTerminal {
  readSize(): TerminalSize
  /** Calls back after each change of the size. Returns how to stop that. */
  watchSize(onChange: (size: TerminalSize) => void): () => void
  /** In raw mode every key, Ctrl-C too, is input. */
  setRaw(isRaw: boolean): void
}

interface AttachOptions {
  url: string
  ticket: string
  io: ProgramIo
  signal: AbortSignal
}

const endSentences: Record<CommandEndReason, string> = {
  access_lost: 'Your access to this project has ended, and the command with it.',
  project_stopped: 'The project was stopped, and the command with it.',
  shutdown: 'Homeport is shutting down, which ended the command.',
}

/** The nearest size that the API takes. */
export const fitSize = ({ columns, rows }: TerminalSize): TerminalSize => {
  const fit = (size: number, { min, max }: { min: number; max: number }) => Math.min(max, Math.max(min, size))
  return { columns: fit(columns, limits.terminal.columns), rows: fit(rows, limits.terminal.rows) }
}

/** Runs a prepared command with this input and output. Returns its exit code; the terminal is as before in any case. */
export async function attachCommand({ url, ticket, io, signal }: AttachOptions): Promise<number> {
  // Loaded here, because only these commands need it.
  const { WebSocket } = await import('ws')
  const socket = new WebSocket(url.replace(/^http/, 'ws') + commandSocketPath, [commandProtocol, `${ticketProtocolPrefix}${ticket}`], {
    perMessageDeflate: false,
    maxPayload: maxFrame_bytes + 1,
  })
  const closed = Promise.withResolvers<void>()
  const result = Promise.withResolvers<number>()
  const over = new AbortController()
  const send = (message: CommandClientMessage) => socket.send(JSON.stringify(message), () => {})
  const window = createInputWindow()
  let stopWatching: (() => void) | undefined

  const start = () => {
    // The user may have left while the command was starting.
    if (over.signal.aborted) return
    io.terminal?.setRaw(true)
    // The size may have changed while the command was starting.
    if (io.terminal) send({ type: 'resize', ...fitSize(io.terminal.readSize()) })
    stopWatching = io.terminal?.watchSize((size) => send({ type: 'resize', ...fitSize(size) }))
    void sendInput(io.input, over.signal, window, (data) => socket.send(encodeData('input', data), () => {})).then((isEnd) => {
      if (isEnd) send({ type: 'end_input' })
    })
  }

  const receiveMessage = (message: CommandServerMessage) => {
    switch (message.type) {
      case 'started':
        return start()
      case 'acknowledge':
        return window.acknowledge(message.bytes)
      case 'exited':
        if (message.out_of_memory) io.errors.write('The command used more memory than the limit of its service.\n')
        return result.resolve(toExitCode(message))
      case 'failed':
        return result.reject(new ApiError(message.error, message.message))
      case 'ended':
        return result.reject(new Error(endSentences[message.reason]))
    }
  }
  const targets: Record<OutputChannel, Writable> = { output: io.output, errors: io.errors }
  socket.on('message', (data, isBinary) => {
    if (!Buffer.isBuffer(data)) return
    if (!isBinary) return receiveMessage(JSON.parse(data.toString('utf8')) as CommandServerMessage)
    const output = decodeOutput(data)
    if (!output) return
    const { length } = output.data
    targets[output.channel].write(output.data, () => length > 0 && send({ type: 'acknowledge', bytes: length }))
  })
  socket.on('error', (error) => result.reject(new ApiError('unreachable', `The connection to Homeport failed (${error.message}).`, { cause: error })))
  socket.on('close', () => {
    closed.resolve()
    result.reject(new Error('The connection to Homeport was lost, which ended the command.'))
  })
  const leave = () => result.resolve(130)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    return await result.promise
  } finally {
    over.abort()
    stopWatching?.()
    io.terminal?.setRaw(false)
    io.input.destroy()
    socket.close()
    socket.terminate()
    await closed.promise
    await Promise.all([io.output, io.errors].map(flush))
  }
}

const flush = (stream: Writable): Promise<void> => new Promise((resolve) => (stream.writable ? stream.write('', () => resolve()) : resolve()))

/** Sends input to its end, at the pace of the command; false when the command ended before. */
async function sendInput(input: Readable, signal: AbortSignal, window: InputWindow, send: (data: Uint8Array) => void): Promise<boolean> {
  try {
    for await (const chunk of input) {
      const data = Buffer.from(chunk as Uint8Array)
      for (let at = 0; at < data.length; at += maxFrame_bytes) {
        const piece = data.subarray(at, at + maxFrame_bytes)
        await window.take(piece.length)
        if (signal.aborted) return false
        send(piece)
      }
    }
  } catch {
    // The input was destroyed with the command, or cannot be read.
  }
  return !signal.aborted
}

type InputWindow = ReturnType<typeof createInputWindow>

function createInputWindow() {
  let pending = 0
  let wake: (() => void) | undefined
  return {
    async take(bytes: number) {
      while (pending > 0 && pending + bytes > transferWindow_bytes) await new Promise<void>((resolve) => (wake = resolve))
      pending += bytes
    },
    acknowledge(bytes: number) {
      pending -= bytes
      wake?.()
    },
  }
}
