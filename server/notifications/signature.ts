import { createHmac } from 'node:crypto'

/** The header `Homeport-Signature`, in the scheme of Stripe: HMAC-SHA256 of the time, a dot and the body, so that an old request cannot be repeated. */
export function signPayload(secret: string, body: string, now_s: number): string {
  const digest = createHmac('sha256', secret).update(`${now_s}.${body}`).digest('hex')
  return `t=${now_s},v1=${digest}`
}
