import {
  type CommandClientMessage,
  type CommandEndReason,
  type CommandServerMessage,
  decodeOutput,
  encodeData,
  maxFrame_bytes,
  type OutputChannel,
  type TerminalSize,
  transferWindow_bytes,
} from '../contract/command-frames.ts'
import { limits } from '../contract/limits.ts'
import { ApiError } from './api-error.ts'

export type CommandExit = Omit<Extract<CommandServerMessage, { type: 'exited' }>, 'type'>

interface CommandSessionOptions {
  /** Sends a message over the WebSocket. */
  send(message: string | Uint8Array<ArrayBuffer>): void
  onStarted(): void
  /** Resolves when the output was processed. The instance sends at most one window ahead. */
  onOutput(channel: OutputChannel, data: Uint8Array): Promise<void>
}

/** The client side of a one-off command, over any WebSocket. */
export interface CommandSession {
  /** Handles a message of the WebSocket. */
  receive(message: string | Uint8Array): void
  /** The WebSocket has closed. */
  disconnect(error: Error): void
  /** Sends input at the pace of the command. Resolves with false if the command has ended before. */
  write(data: Uint8Array): Promise<boolean>
  endInput(): void
  /** A size outside the API's range becomes the nearest valid one. */
  resize(size: TerminalSize): void
  /** Rejects with an `ApiError` or a message if there is no exit code. */
  exited: Promise<CommandExit>
}

const endSentences: Record<CommandEndReason, string> = {
  access_lost: 'Your access to this project has ended, and the command with it.',
  project_stopped: 'The project was stopped, and the command with it.',
  shutdown: 'Homeport is shutting down, which ended the command.',
}

/** The nearest size that the API accepts. */
export const fitSize = ({ columns, rows }: TerminalSize): TerminalSize => {
  const fit = (size: number, { min, max }: { min: number; max: number }) => Math.min(max, Math.max(min, size))
  return { columns: fit(columns, limits.terminal.columns), rows: fit(rows, limits.terminal.rows) }
}

export function createCommandSession({ send, onStarted, onOutput }: CommandSessionOptions): CommandSession {
  const exited = Promise.withResolvers<CommandExit>()
  const window = createInputWindow()
  let isOver = false
  const sendMessage = (message: CommandClientMessage) => {
    if (!isOver) send(JSON.stringify(message))
  }
  const end = () => {
    isOver = true
    window.close()
  }
  const fail = (error: Error) => {
    end()
    exited.reject(error)
  }

  const receiveMessage = (message: CommandServerMessage) => {
    switch (message.type) {
      case 'started':
        return onStarted()
      case 'acknowledge':
        return window.acknowledge(message.bytes)
      case 'exited': {
        const { type: _, ...exit } = message
        end()
        return exited.resolve(exit)
      }
      case 'failed':
        return fail(new ApiError(message.error, message.message))
      case 'ended':
        return fail(new Error(endSentences[message.reason]))
    }
  }

  const writePieces = async (data: Uint8Array): Promise<boolean> => {
    for (let at = 0; at < data.length; at += maxFrame_bytes) {
      const piece = data.subarray(at, at + maxFrame_bytes)
      if (!(await window.take(piece.length))) return false
      send(encodeData('input', piece))
    }
    return !isOver
  }
  let lastWrite = Promise.resolve(true)

  return {
    exited: exited.promise,
    receive(message) {
      if (typeof message === 'string') return receiveMessage(JSON.parse(message) as CommandServerMessage)
      const output = decodeOutput(message)
      if (!output || output.data.length === 0) return
      const { channel, data } = output
      void onOutput(channel, data).then(() => sendMessage({ type: 'acknowledge', bytes: data.length }))
    },
    disconnect: fail,
    write: (data) => (lastWrite = lastWrite.then(() => writePieces(data))),
    endInput: () => sendMessage({ type: 'end_input' }),
    resize: (size) => sendMessage({ type: 'resize', ...fitSize(size) }),
  }
}

/** Limits input that was sent and not acknowledged. */
function createInputWindow() {
  let pending = 0
  let isClosed = false
  let wake: (() => void) | undefined
  return {
    /** Resolves when this number of bytes may be sent; false when the command is over. */
    async take(bytes: number): Promise<boolean> {
      while (pending > 0 && pending + bytes > transferWindow_bytes && !isClosed) await new Promise<void>((resolve) => (wake = resolve))
      pending += bytes
      return !isClosed
    },
    acknowledge(bytes: number) {
      pending -= bytes
      wake?.()
    },
    close() {
      isClosed = true
      wake?.()
    },
  }
}
