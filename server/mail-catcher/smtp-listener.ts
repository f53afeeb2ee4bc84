import type { AddressInfo } from 'node:net'
import { callbackify } from 'node:util'
import type { SMTPServer, SMTPServerAuthentication, SMTPServerOptions } from 'smtp-server'
import { mailLimits } from '../contract/mail.ts'
import type { AppListener } from '../network/app-listeners.ts'

export interface SmtpHandlers {
  /** The project of a user; undefined for a wrong user or password. */
  authenticate(user: string, password: string): Promise<string | undefined>
  /** Rejects with a `ReceiveError` to tell the sender why the message was not stored. */
  receive(message: { project_id: string; recipients: string[]; content: AsyncIterable<Buffer> }): Promise<void>
}

/** An error with a reply code of RFC 5321. */
export class ReceiveError extends Error {
  readonly responseCode: number
  constructor(responseCode: number, message: string, cause?: unknown) {
    super(message, { cause })
    this.responseCode = responseCode
  }
}

export async function listenForMail(host: string, port: number, handlers: SmtpHandlers): Promise<AppListener> {
  // Loaded when the first project uses the catcher.
  const { SMTPServer: Server } = await import('smtp-server')
  const server = new Server(createServerOptions(handlers))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      // Errors of broken client connections.
      server.on('error', () => {})
      resolve()
    })
  })
  return { port: (server.server.address() as AddressInfo).port, close: () => closeServer(server) }
}

const closeServer = (server: SMTPServer): Promise<void> => new Promise((resolve) => server.close(() => resolve()))

const createServerOptions = ({ authenticate, receive }: SmtpHandlers): SMTPServerOptions => ({
  banner: 'Homeport mail catcher',
  authMethods: ['PLAIN', 'LOGIN'],
  // The connection never leaves this machine.
  allowInsecureAuth: true,
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  size: mailLimits.message_bytes,
  maxClients: 50,
  socketTimeout: 60_000,
  closeTimeout: 2_000,
  logger: false,
  onAuth: callbackify(async ({ username, password }: SMTPServerAuthentication, _session: unknown) => {
    const user = await authenticate(username ?? '', password ?? '').catch(() => Promise.reject(new ReceiveError(454, 'Temporary failure')))
    if (user === undefined) throw new ReceiveError(535, 'Wrong user or password')
    return { user }
  }),
  onData(content, { user, envelope }, done) {
    const recipients = envelope.rcptTo.map(({ address }) => address)
    callbackify(async () => {
      await receive({ project_id: String(user), recipients, content }).catch((error: unknown) => {
        // The sender waits for the end of its message before it reads a reply.
        content.resume()
        throw error instanceof ReceiveError ? error : new ReceiveError(451, 'The message could not be stored')
      })
      return 'Stored'
    })(done)
  },
})
