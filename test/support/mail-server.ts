import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { until } from './until.ts'

export interface ReceivedEmail {
  from: string
  to: string[]
  headers: string
  text: string
}

export interface MailServer {
  /** Contains the user and password. */
  url: string
  emails: ReceivedEmail[]
  /** Resolves with the email to an address after the first `after` ones, once it arrives. */
  waitForEmail(address: string, after?: number): Promise<ReceivedEmail>
  port: number
  /** The number of sign-ins, and how many of them sent the password unencrypted. */
  sign_ins: { all: number; in_the_clear: number }
  /** Rejects every email from now on. */
  rejects_mail: boolean
  close(): Promise<void>
}

const sign_in = { user: 'post@example.com', password: 'mail secret/1' }

/** The part of an SMTP server (RFC 5321) that one sender needs: it accepts and stores emails after a sign-in. */
export async function startMailServer(
  /** `tls`: from the first byte, or with STARTTLS. */
  { tls, identity }: { tls?: 'at_once' | 'when_asked'; identity?: { certificate: string; key: string } } = {},
): Promise<MailServer> {
  const secureContext = createSecureContext(identity ? { cert: identity.certificate, key: identity.key } : {})
  const sign_ins = { all: 0, in_the_clear: 0 }
  const sockets = new Set<Socket>()
  const emails: ReceivedEmail[] = []
  const state = { refuse: false }
  const server = createServer((plain) => {
    sockets.add(plain)
    plain.on('close', () => sockets.delete(plain)).on('error', () => {})
    if (tls === 'at_once') handleConnection(secureSocket(plain), true)
    else handleConnection(plain, false)
  })
  const secureSocket = (plain: Socket) => new TLSSocket(plain, { isServer: true, secureContext }).on('error', () => {})

  function handleConnection(socket: Socket, isSecure: boolean, isGreeted = false): void {
    const reply = (line: string) => socket.write(`${line}\r\n`)
    let isSignedIn = false
    let envelope = { from: '', to: [] as string[] }
    let data: string[] | undefined
    let rest = ''

    const handleLine = (line: string): unknown => {
      if (data) {
        if (line !== '.') return data.push(line.replace(/^\./, ''))
        const [headers = '', ...body] = data.join('\r\n').split('\r\n\r\n')
        data = undefined
        if (state.refuse) return reply('554 5.7.1 not from you')
        emails.push({ ...envelope, headers, text: decodeBody(headers, body.join('\r\n\r\n')) })
        return reply('250 2.0.0 kept')
      }
      const verb = line.split(/[ :]/)[0]?.toUpperCase()
      if (verb === 'EHLO')
        return reply(`250-stand-in\r\n${tls === 'when_asked' && !isSecure ? '250-STARTTLS\r\n' : ''}250-AUTH PLAIN\r\n250 8BITMIME`)
      if (verb === 'STARTTLS' && tls === 'when_asked' && !isSecure) {
        socket.removeAllListeners('data')
        reply('220 2.0.0 go on in secret')
        return handleConnection(secureSocket(socket), true, true)
      }
      if (verb === 'AUTH') {
        sign_ins.all++
        if (!isSecure) sign_ins.in_the_clear++
        const [, user, password] = Buffer.from(line.split(' ')[2] ?? '', 'base64')
          .toString()
          .split('\0')
        isSignedIn = user === sign_in.user && password === sign_in.password
        return reply(isSignedIn ? '235 2.7.0 welcome' : '535 5.7.8 wrong')
      }
      if (verb === 'QUIT') return socket.end('221 2.0.0 bye\r\n')
      if (!isSignedIn) return reply('530 5.7.0 sign in first')
      const address = /<([^>]*)>/.exec(line)?.[1] ?? ''
      if (verb === 'MAIL') envelope = { from: address, to: [] }
      else if (verb === 'RCPT') envelope.to.push(address)
      else if (verb === 'DATA') {
        data = []
        return reply('354 go on')
      } else if (verb !== 'RSET' && verb !== 'NOOP') return reply('502 5.5.1 no such thing')
      return reply('250 2.1.0 ok')
    }
    socket.on('data', (bytes) => {
      const lines = (rest + bytes.toString('utf8')).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) handleLine(line)
    })
    if (!isGreeted) reply('220 stand-in ESMTP')
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `smtp://${encodeURIComponent(sign_in.user)}:${encodeURIComponent(sign_in.password)}@127.0.0.1:${port}`,
    port,
    sign_ins,
    emails,
    waitForEmail: (address, after = 0) =>
      until(async () => emails.filter(({ to }) => to.includes(address))[after], { what: `a letter to ${address}` }),
    get rejects_mail() {
      return state.refuse
    },
    set rejects_mail(is) {
      state.refuse = is
    },
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

function decodeBody(headers: string, body: string): string {
  if (!/quoted-printable/i.test(headers)) return body
  const bytes = body.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
