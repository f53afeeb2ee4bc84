import type { PublicRoute } from './public-route.ts'
import { jsonResponse } from '../response.ts'

/** What the payment processor's events do. The signature is of the bytes as they came. */
export type BillingWebhook = (sent: { body: Buffer; signature: string }) => Promise<void>

/** `POST /hooks/stripe`: what the payment processor calls when something changed there. */
export function billingWebhookRoute(webhook: BillingWebhook): PublicRoute {
  return {
    method: 'POST',
    path: '/hooks/stripe',
    rate_limit: 'by_address',
    async handle({ body, headerValues: header }) {
      const signatures = header('stripe-signature')
      await webhook({ body, signature: signatures.length === 1 ? (signatures[0] ?? '') : '' })
      return jsonResponse(200, { received: true })
    },
  }
}
