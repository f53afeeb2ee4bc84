import type { IncomingMessage } from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { ApiError, readError } from '../client/api-error.ts'
import { type CommandSession, createCommandSession } from '../client/command-session.ts'
import {
  commandProtocol,
  commandSocketPath,
  maxFrame_bytes,
  type OutputChannel,
  type TerminalSize,
  ticketProtocolPrefix,
  toExitCode,
} from '../contract/command-frames.ts'

/** The input and output of this process, byte by byte. */
export interface ProgramIo {
  input: Readable
  output: Writable
  errors: Writable
  /** Input and output are the same terminal. */
  terminal: RawTerminal | null
}

export interface RawTerminal {
  readSize(): TerminalSize
  /** Calls back after each change of the size. Returns a function that unsubscribes. */
  watchSize(onChange: (size: TerminalSize) => void): () => void
  /** In raw mode every key is input, Ctrl-C included. */
  setRaw(isRaw: boolean): void
}

interface AttachOptions {
  url: string
  ticket: string
  io: ProgramIo
  signal: AbortSignal
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
  const left = Promise.withResolvers<number>()
  const over = new AbortController()
  const targets: Record<OutputChannel, Writable> = { output: io.output, errors: io.errors }
  let stopWatching: (() => void) | undefined

  const session = createCommandSession({
    send: (message) => socket.send(message, () => {}),
    onOutput: (channel, data) => new Promise((resolve) => targets[channel].write(data, () => resolve())),
    onStarted() {
      // The user may have canceled while the command was starting.
      if (over.signal.aborted) return
      io.terminal?.setRaw(true)
      // The size may have changed while the command was starting.
      if (io.terminal) session.resize(io.terminal.readSize())
      stopWatching = io.terminal?.watchSize((size) => session.resize(size))
      void sendInput(io.input, over.signal, session)
    },
  })
  socket.on('message', (data, isBinary) => {
    if (Buffer.isBuffer(data)) session.receive(isBinary ? data : data.toString('utf8'))
  })
  socket.on('unexpected-response', (_request, response) => void readRefusal(response).then((refusal) => session.disconnect(refusal)))
  socket.on('error', (error) =>
    session.disconnect(new ApiError('unreachable', `The connection to Homeport failed (${error.message}).`, { cause: error })),
  )
  socket.on('close', () => {
    closed.resolve()
    session.disconnect(new Error('The connection to Homeport was lost, which ended the command.'))
  })
  const leave = () => left.resolve(130)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  const exitCode = session.exited.then((exit) => {
    if (exit.out_of_memory) io.errors.write('The command used more memory than the limit of its service.\n')
    return toExitCode(exit)
  })
  try {
    return await Promise.race([exitCode, left.promise])
  } finally {
    over.abort()
    stopWatching?.()
    io.terminal?.setRaw(false)
    io.input.destroy()
    socket.close()
    socket.terminate()
    await closed.promise
    await exitCode.catch(() => {})
    await Promise.all([io.output, io.errors].map(flush))
  }
}

const maxRefusal_bytes = 64 * 1024

/** Why the instance, or a proxy in front of it, refuses the WebSocket. */
async function readRefusal(response: IncomingMessage): Promise<ApiError> {
  const { statusCode: status = 0, headers } = response
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of response) {
      chunks.push(chunk as Buffer)
      if ((length += (chunk as Buffer).length) > maxRefusal_bytes) break
    }
  } catch {
    // The received part may be sufficient.
  }
  const requestId = headers['x-request-id']
  const kept: Record<string, string> = typeof requestId === 'string' ? { 'x-request-id': requestId } : {}
  // A `Response` cannot have these.
  return status < 200 || [204, 205, 304].includes(status)
    ? new ApiError('bad_answer', `Homeport answered the WebSocket with ${status}. Try again.`, { status })
    : readError(new Response(Buffer.concat(chunks), { status, headers: kept }))
}

const flush = (stream: Writable): Promise<void> => new Promise((resolve) => (stream.writable ? stream.write('', () => resolve()) : resolve()))

/** Sends input to its end, or to the end of the command. */
async function sendInput(input: Readable, signal: AbortSignal, session: CommandSession): Promise<void> {
  try {
    for await (const chunk of input) if (!(await session.write(chunk as Uint8Array))) return
  } catch {
    // The input was destroyed with the command, or cannot be read.
  }
  if (!signal.aborted) session.endInput()
}
