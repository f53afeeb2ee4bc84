import type { Transporter } from 'nodemailer'
import type { Log } from '../lib/log.ts'
import { type EmailSender, disabledEmailSender } from './email.ts'

/** How long each step of the way to the mail server may take. */
const stepTimeout_ms = 10_000

/**
 * Mail over a server of its own: `smtp://user:password@host:587` or `smtps://…:465`. Null: no mail. `from` is whom it comes from;
 * without one the user of that address, when it is an address itself.
 */
export function createEmailSender({ url, from, log }: { url: string | null; from: string | null; log: Log }): EmailSender {
  if (url === null) return disabledEmailSender
  const serverUrl = new URL(url)
  const user = decodeURIComponent(serverUrl.username)
  const settings = {
    host: serverUrl.hostname.replace(/^\[|\]$/g, ''),
    port: Number(serverUrl.port) || (serverUrl.protocol === 'smtps:' ? 465 : 587),
    secure: serverUrl.protocol === 'smtps:',
    // A password crosses no network in the clear.
    requireTLS: user !== '' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(serverUrl.hostname),
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(serverUrl.password) } }),
    connectionTimeout: stepTimeout_ms,
    greetingTimeout: stepTimeout_ms,
    socketTimeout: stepTimeout_ms,
    // A letter is text of ours and nothing else: no file, no address that would be fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  // Loaded with the first letter: most instances send none.
  let loading: Promise<Transporter> | undefined
  const getTransport = () => (loading ??= import('nodemailer').then(({ createTransport }) => createTransport(settings)))
  const sender = from ?? (user.includes('@') ? user : `homeport@${serverUrl.hostname}`)
  return {
    is_enabled: true,
    async send(message) {
      try {
        // As an object an address is one address, whatever signs are in it.
        const transport = await getTransport()
        await transport.sendMail({ ...message, to: { name: '', address: message.to }, from: { name: 'Homeport', address: sender } })
        return true
      } catch (error) {
        // What a server answers may hold the letter or the sign-in.
        const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
        log.warn('mail_not_sent', { code, hint: 'Look at HOMEPORT_SMTP_URL and at the log of the mail server.' })
        return false
      }
    },
    close: () => void loading?.then((transport) => transport.close()),
  }
}
