import type { NotificationTarget } from '../contract/notifications.ts'
import { limits } from '../contract/limits.ts'
import { version } from '../contract/index.ts'
import type { EmailSender } from '../email/email.ts'
import type { Clock } from '../lib/clock.ts'
import type { NotificationPayload } from './payload.ts'
import { explainPostError, postJson, type ResolveAll } from './post-json.ts'
import { signPayload } from './signature.ts'

/** One attempt to deliver a payload. */
export interface OutgoingNotification {
  type: NotificationTarget['type']
  address: string
  /** Of a webhook. */
  secret: string | null
  is_trusted: boolean
  payload: string
  signal: AbortSignal
}

interface DeliveryResult {
  /** The HTTP status; null for email, and without a response. */
  status: number | null
  /** Null if it was delivered. */
  error: string | null
}

export type SendNotification = (outgoing: OutgoingNotification) => Promise<DeliveryResult>

export function createNotificationSender({
  mail,
  clock,
  resolve,
}: {
  mail: Pick<EmailSender, 'is_enabled' | 'send'>
  clock: Clock
  resolve?: ResolveAll
}): SendNotification {
  return async ({ type, address, secret, is_trusted, payload, signal }) => {
    const message = JSON.parse(payload) as NotificationPayload
    if (type === 'email') {
      if (!mail.is_enabled) return { status: null, error: 'This instance has no mail server. Set HOMEPORT_SMTP_URL.' }
      const text = `${[message.text, message.url].filter(Boolean).join('\n\n')}\n`
      const isSent = await mail.send({ to: address, subject: toOneLine(message.title), text })
      return { status: null, error: isSent ? null : 'The mail server did not accept the message. The log of Homeport has its code.' }
    }
    const body = type === 'slack' ? JSON.stringify({ text: formatForSlack(message) }) : payload
    const headers = {
      'user-agent': `Homeport/${version}`,
      ...(type === 'webhook' ? { 'homeport-event': message.type, 'homeport-delivery': message.id } : {}),
      ...(secret === null ? {} : { 'homeport-signature': signPayload(secret, body, Math.floor(clock.now() / 1000)) }),
    }
    try {
      const status = await postJson(clock, { url: address, is_trusted, headers, body, timeout_ms: limits.notifications.timeout_ms, signal }, resolve)
      return { status, error: status >= 200 && status < 300 ? null : explainStatus(status) }
    } catch (error) {
      return { status: null, error: explainPostError(error) }
    }
  }
}

export const explainStatus = (status: number): string =>
  status >= 300 && status < 400 ? `The response is a redirect (${status}), which is not followed.` : `The response has the status ${status}.`

// oxlint-disable-next-line no-control-regex -- a line break in a subject could add a header
const toOneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f]+/g, ' ')

/** Slack's mrkdwn, which Mattermost, Rocket.Chat and Discord (at /slack) understand too. */
function formatForSlack({ title, text, url }: NotificationPayload): string {
  return [`*${escapeMrkdwn(title)}*`, escapeMrkdwn(text), `<${url}|Open in Homeport>`].filter(Boolean).join('\n')
}

/** Without control characters a name or a commit message cannot mention a channel or forge a link. */
const escapeMrkdwn = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
