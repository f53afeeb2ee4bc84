import type { Transporter } from 'nodemailer'
import type { Log } from '../lib/log.ts'
import { type EmailSender, disabledEmailSender } from './email.ts'

/** The timeout of each step of an SMTP session. */
const stepTimeout_ms = 10_000

/**
 * Sends mail over SMTP: `smtp://user:password@host:587` or `smtps://…:465`; null sends none. `from` is the sender address. Its default
 * is the user in `url` if that is an email address, else `homeport@` and the host.
 */
export function createEmailSender({ url, from, log }: { url: string | null; from: string | null; log: Log }): EmailSender {
  if (url === null) return disabledEmailSender
  const serverUrl = new URL(url)
  const user = decodeURIComponent(serverUrl.username)
  const settings = {
    host: serverUrl.hostname.replace(/^\[|\]$/g, ''),
    port: Number(serverUrl.port) || (serverUrl.protocol === 'smtps:' ? 465 : 587),
    secure: serverUrl.protocol === 'smtps:',
    // The password is never sent over a network without TLS.
    requireTLS: user !== '' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(serverUrl.hostname),
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(serverUrl.password) } }),
    connectionTimeout: stepTimeout_ms,
    greetingTimeout: stepTimeout_ms,
    socketTimeout: stepTimeout_ms,
    // Messages are plain text, so nodemailer must not read files or fetch URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  // Loaded with the first message, because most instances send none.
  let loading: Promise<Transporter> | undefined
  const getTransport = () => (loading ??= import('nodemailer').then(({ createTransport }) => createTransport(settings)))
  const sender = from ?? (user.includes('@') ? user : `homeport@${serverUrl.hostname}`)
  return {
    is_enabled: true,
    async send(message) {
      try {
        // An address object is always one address; a string could be parsed as several.
        const transport = await getTransport()
        await transport.sendMail({ ...message, to: { name: '', address: message.to }, from: { name: 'Homeport', address: sender } })
        return true
      } catch (error) {
        // Only the code is logged, because the server's reply may contain the message or the credentials.
        const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
        log.warn('email_send_failed', { code, hint: 'Check HOMEPORT_SMTP_URL and the log of the mail server.' })
        return false
      }
    },
    close: () => void loading?.then((transport) => transport.close()),
  }
}
