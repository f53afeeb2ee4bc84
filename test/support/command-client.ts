import { WebSocket } from 'ws'
import {
  type CommandClientMessage,
  commandProtocol,
  type CommandServerMessage,
  commandSocketPath,
  decodeOutput,
  encodeData,
  type TerminalSize,
  ticketProtocolPrefix,
} from '../../server/contract/command-frames.ts'
import { type TestPlatform, until } from './platform.ts'

export interface CommandInput {
  slug: string
  /** null: a shell. */
  command: string[] | null
  service?: string
  branch?: string
  terminal?: TerminalSize | null
  token?: string
}

/** A one-off command as a client of the API sees it. */
export interface AttachedCommand {
  socket: WebSocket
  readonly output: string
  readonly errors: string
  messages: CommandServerMessage[]
  type(text: string): void
  send(message: CommandClientMessage): void
  /** The last message, once the connection is closed. */
  ended: Promise<CommandServerMessage | undefined>
}

export async function prepareCommand(platform: TestPlatform, { slug, command, service, branch, terminal = null, token }: CommandInput) {
  return platform.api<{ command: { ticket: string; id: string; service: string | null }; error?: string; message?: string }>(
    'POST',
    `/instance/projects/${slug}/commands`,
    { command, terminal, ...(service !== undefined && { service }), ...(branch !== undefined && { branch }) },
    token,
  )
}

export const commandSocketUrl = (platform: TestPlatform): string => platform.handle.api_url.replace('http', 'ws') + commandSocketPath

export function openCommandSocket(platform: TestPlatform, ticket: string, headers: Record<string, string> = {}): WebSocket {
  return new WebSocket(commandSocketUrl(platform), [commandProtocol, ticketProtocolPrefix + ticket], { headers })
}

/** The status with which the server refuses a WebSocket; 101 when it accepts it. */
export function tryCommandSocket(socket: WebSocket): Promise<number> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(101)).once('error', reject)
    socket.once('unexpected-response', (_request, response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
  })
}

/** Starts a command and resolves once it runs or has failed. `reads: false` acknowledges no output. */
export async function attachToCommand(platform: TestPlatform, input: CommandInput, { reads = true } = {}): Promise<AttachedCommand> {
  const { body, status } = await prepareCommand(platform, input)
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  const socket = openCommandSocket(platform, body.command.ticket)
  const texts = { output: '', errors: '' }
  const messages: CommandServerMessage[] = []
  const send = (message: CommandClientMessage) => socket.send(JSON.stringify(message), () => {})
  socket.on('message', (data: Buffer, isBinary) => {
    if (!isBinary) return void messages.push(JSON.parse(data.toString()) as CommandServerMessage)
    const output = decodeOutput(data)
    if (!output) return
    texts[output.channel] += Buffer.from(output.data).toString('latin1')
    if (reads) send({ type: 'acknowledge', bytes: output.data.length })
  })
  const ended = new Promise<CommandServerMessage | undefined>((resolve) => {
    socket.once('close', () => resolve(messages.findLast(({ type }) => type !== 'acknowledge')))
  })
  socket.on('error', () => {})
  await until(() => messages.find(({ type }) => type === 'started' || type === 'failed'), { what: 'the start of the command' })
  return {
    socket,
    get output() {
      return texts.output
    },
    get errors() {
      return texts.errors
    },
    messages,
    type: (text) => socket.send(encodeData('input', Buffer.from(text))),
    send,
    ended,
  }
}
