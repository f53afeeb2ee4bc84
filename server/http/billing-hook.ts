import type { Door } from './doors.ts'
import { json } from './respond.ts'

/** What the payment processor's events do. The signature is of the bytes as they came. */
export type BillingHook = (sent: { body: Buffer; signature: string }) => Promise<void>

/** `POST /hooks/stripe`: what the payment processor calls when something changed there. */
export function billingHookDoor(hook: BillingHook): Door {
  return {
    method: 'POST',
    path: '/hooks/stripe',
    is_counted: 'by_address',
    async answer({ body, header }) {
      const signatures = header('stripe-signature')
      await hook({ body, signature: signatures.length === 1 ? (signatures[0] ?? '') : '' })
      return json(200, { received: true })
    },
  }
}
