import type { PublicRoute } from './public-route.ts'
import { jsonResponse } from '../response.ts'

/** Handles an event of the payment processor. The signature covers the raw bytes of the body. */
export type BillingWebhook = (sent: { body: Buffer; signature: string }) => Promise<void>

/** `POST /hooks/stripe`: called by the payment processor. */
export function billingWebhookRoute(webhook: BillingWebhook): PublicRoute {
  return {
    method: 'POST',
    path: '/hooks/stripe',
    rate_limit: 'by_address',
    async handle({ body, headerValues }) {
      const signatures = headerValues('stripe-signature')
      await webhook({ body, signature: signatures.length === 1 ? (signatures[0] ?? '') : '' })
      return jsonResponse(200, { received: true })
    },
  }
}
