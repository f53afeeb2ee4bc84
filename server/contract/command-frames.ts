import type { ErrorCode } from './errors.ts'

/**
 * The messages on the WebSocket of a one-off command. Binary messages are data: a byte for the channel, then the bytes. Text messages are one JSON
 * object. Plain data without dependencies, because the dashboard includes it.
 */
export const commandProtocol = 'homeport.command.v1'

/** The path to which a WebSocket connects. */
export const commandSocketPath = '/instance/commands/attach'

/** The subprotocol that carries the ticket, so that it is in no URL. */
export const ticketProtocolPrefix = 'homeport.ticket.'

export const channels = { input: 0, output: 1, errors: 2 } as const
export type OutputChannel = 'output' | 'errors'

export interface TerminalSize {
  columns: number
  rows: number
}

/** Before `started` a client sends nothing. `acknowledge`: the receiver has processed this number of further bytes. */
export type CommandClientMessage = ({ type: 'resize' } & TerminalSize) | { type: 'end_input' } | { type: 'acknowledge'; bytes: number }

export type CommandServerMessage =
  | { type: 'started' }
  | { type: 'acknowledge'; bytes: number }
  /** The last message. An exit by a signal is 128 plus its number, as in a shell; null is unknown. */
  | { type: 'exited'; code: number | null; signal: string | null; out_of_memory: boolean }
  | { type: 'failed'; error: ErrorCode; message: string }
  /** The reason why the platform ended the command. */
  | { type: 'ended'; reason: CommandEndReason }

export type CommandEndReason = 'access_lost' | 'project_stopped' | 'shutdown'

/** The maximum of unacknowledged data in one direction; the sender waits when it is reached. */
export const transferWindow_bytes = 256 * 1024

/** The most data in one message. */
export const maxFrame_bytes = 32 * 1024

export function encodeData(channel: keyof typeof channels, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(data.length + 1)
  message[0] = channels[channel]
  message.set(data, 1)
  return message
}

/** The data of an output message; undefined for one of another channel. */
export function decodeOutput(message: Uint8Array): { channel: OutputChannel; data: Uint8Array } | undefined {
  const channel = message[0] === channels.output ? 'output' : message[0] === channels.errors ? 'errors' : undefined
  return channel && { channel, data: message.subarray(1) }
}

/** A command with an unknown exit has failed. */
export const toExitCode = ({ code }: { code: number | null }): number => code ?? 1
