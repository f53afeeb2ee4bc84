import type { Transporter } from 'nodemailer'
import type { Log } from '../lib/log.ts'
import { type Mail, noMail } from './mail.ts'

/** How long each step of the way to the mail server may take. */
const patience_ms = 10_000

/**
 * Mail over a server of its own: `smtp://user:password@host:587` or `smtps://…:465`. Null: no mail. `from` is whom it comes from;
 * without one the user of that address, when it is an address itself.
 */
export function createMail({ url, from, log }: { url: string | null; from: string | null; log: Log }): Mail {
  if (url === null) return noMail
  const at = new URL(url)
  const user = decodeURIComponent(at.username)
  const settings = {
    host: at.hostname.replace(/^\[|\]$/g, ''),
    port: Number(at.port) || (at.protocol === 'smtps:' ? 465 : 587),
    secure: at.protocol === 'smtps:',
    // A password crosses no network in the clear.
    requireTLS: user !== '' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(at.hostname),
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(at.password) } }),
    connectionTimeout: patience_ms,
    greetingTimeout: patience_ms,
    socketTimeout: patience_ms,
    // A letter is text of ours and nothing else: no file, no address that would be fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  // Loaded with the first letter: most instances send none.
  let opening: Promise<Transporter> | undefined
  const open = () => (opening ??= import('nodemailer').then(({ createTransport }) => createTransport(settings)))
  const sender = from ?? (user.includes('@') ? user : `homeport@${at.hostname}`)
  return {
    is_on: true,
    async send(letter) {
      try {
        // As an object an address is one address, whatever signs are in it.
        const transport = await open()
        await transport.sendMail({ ...letter, to: { name: '', address: letter.to }, from: { name: 'Homeport', address: sender } })
        return true
      } catch (error) {
        // What a server answers may hold the letter or the sign-in.
        const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
        log.warn('mail_not_sent', { code, hint: 'Look at HOMEPORT_SMTP_URL and at the log of the mail server.' })
        return false
      }
    },
    close: () => void opening?.then((transport) => transport.close()),
  }
}
