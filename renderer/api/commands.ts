import { ApiError } from '../../server/client/api-error.ts'
import { type CommandExit, type CommandSession, createCommandSession, fitSize } from '../../server/client/command-session.ts'
import { commandProtocol, commandSocketPath, type TerminalSize, ticketProtocolPrefix } from '../../server/contract/command-frames.ts'
import type { ApiClient } from './api-client.ts'

/** The service in whose environment a command runs. */
export interface CommandTarget {
  slug: string
  /** null: production. */
  branch: string | null
  /** null: the main one. */
  service: string | null
}

export interface ShellHandlers {
  onStarted(session: CommandSession): void
  /** Resolves when the output was processed. */
  onOutput(data: Uint8Array): Promise<void>
}

/**
 * Runs a shell in a terminal, until it ends or `signal` aborts. Throws an `ApiError` or a message if there is no exit code. The WebSocket connects to
 * the instance that served this page, which knows the ticket.
 */
export async function runShell(
  client: ApiClient,
  { slug, branch, service }: CommandTarget,
  readSize: () => TerminalSize,
  handlers: ShellHandlers,
  signal: AbortSignal,
): Promise<CommandExit> {
  for (let attempt = 1; ; attempt++) {
    const { command } = await client.call('createCommand', {
      params: { slug },
      body: { command: null, terminal: fitSize(readSize()), ...(service !== null && { service }), ...(branch !== null && { branch }) },
      signal,
    })
    try {
      return await attach(command.ticket, handlers, signal)
    } catch (error) {
      // Chromium ends requests in progress when a network of Docker changes, and a ticket is valid once.
      if (!(error instanceof NotOpened) || signal.aborted || attempt === maxAttempts) throw error
    }
  }
}

const maxAttempts = 2

/** A browser does not report why a WebSocket was refused. */
class NotOpened extends ApiError {
  constructor() {
    super('unreachable', 'The WebSocket to Homeport could not be opened. If a proxy is in between, it must support WebSockets.')
  }
}

async function attach(ticket: string, { onStarted, onOutput }: ShellHandlers, signal: AbortSignal): Promise<CommandExit> {
  const url = new URL(commandSocketPath, location.href)
  url.protocol = url.protocol.replace('http', 'ws')
  const socket = new WebSocket(url, [commandProtocol, `${ticketProtocolPrefix}${ticket}`])
  socket.binaryType = 'arraybuffer'
  const session = createCommandSession({
    send: (message) => socket.readyState === WebSocket.OPEN && socket.send(message),
    onStarted: () => onStarted(session),
    onOutput: (_, data) => onOutput(data),
  })
  let wasOpen = false
  socket.addEventListener('open', () => (wasOpen = true))
  socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) =>
    session.receive(typeof data === 'string' ? data : new Uint8Array(data)),
  )
  socket.addEventListener('close', () =>
    session.disconnect(wasOpen ? new ApiError('unreachable', 'The connection to Homeport was lost, which ended the shell.') : new NotOpened()),
  )
  const leave = () => socket.close()
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    return await session.exited
  } finally {
    signal.removeEventListener('abort', leave)
    socket.close()
  }
}
