import type Stripe from 'stripe'
import { billingInterval } from '../contract/billing.ts'
import { planName } from '../contract/instance.ts'
import type { StripeOptions } from '../options.ts'
import {
  WebhookSignatureError,
  MissingWebhookSecretError,
  type PaymentProcessor,
  PaymentProcessorError,
  type Subscription,
} from './payment-processor.ts'

/** Maximum difference between the signature's timestamp and now, in both directions. */
const signatureTolerance_s = 300

const formatLookupKey = (selection: { plan: string; interval: string }) => `homeport_${selection.plan}_${selection.interval}`

/** Stripe, or a fake at `api_base`. The library is loaded at first use. */
export function createStripeProcessor(options: StripeOptions & { timeout_ms?: number }): PaymentProcessor {
  let loading: Promise<Stripe> | undefined
  const getStripe = () => (loading ??= createStripeClient(options))

  /** Runs a request. Errors of Stripe become a `PaymentProcessorError` with a message for the client. */
  async function callStripe<T>(request: (stripe: Stripe) => Promise<T>): Promise<T> {
    const stripe = await getStripe()
    try {
      return await request(stripe)
    } catch (error) {
      if (!readErrorFields(error).type.startsWith('Stripe')) throw error
      throw new PaymentProcessorError(formatStripeError(error), { cause: createLoggableCause(error) })
    }
  }

  return {
    publishable_key: options.publishable_key,

    createCustomer: ({ account_id, email }) =>
      callStripe(async (stripe) => {
        const customer = await stripe.customers.create(
          { email, metadata: { homeport_account: account_id } },
          { idempotencyKey: `homeport-customer-${account_id}` },
        )
        return customer.id
      }),

    createSetupIntent: (customer) =>
      callStripe(async (stripe) => {
        const { client_secret } = await stripe.setupIntents.create({ customer, usage: 'off_session', allowed_payment_method_types: ['card'] })
        if (client_secret === null) throw new PaymentProcessorError('The payment processor returned no secret for the card form. Try again.')
        return { client_secret }
      }),

    fetchCustomer: (customerId) =>
      callStripe(async (stripe) => {
        const customer = await stripe.customers.retrieve(customerId, { expand: ['invoice_settings.default_payment_method'] })
        if (customer.deleted) return { payment_method: null, subscriptions: [] }
        const { data } = await stripe.subscriptions.list({ customer: customerId, status: 'all', limit: 100 })
        const method = customer.invoice_settings.default_payment_method
        const card = typeof method === 'object' ? method?.card : null
        return {
          payment_method: method === null ? null : { id: idOf(method), card: card ? { last4: card.last4, brand: card.brand } : null },
          subscriptions: data.toSorted((a, b) => b.created - a.created).map(toSubscription),
        }
      }),

    findNewestPaymentMethod: (customer) =>
      callStripe(async (stripe) => {
        const { data } = await stripe.setupIntents.list({ customer, limit: 100, expand: ['data.payment_method'] })
        const newest = data.toSorted((a, b) => b.created - a.created).find((intent) => intent.status === 'succeeded')?.payment_method
        // A payment method that was removed has no customer.
        return typeof newest === 'object' && newest !== null && newest.customer !== null ? newest.id : undefined
      }),

    setDefaultPaymentMethod: (customer, paymentMethodId) =>
      callStripe(async (stripe) => {
        await stripe.customers.update(customer, { invoice_settings: { default_payment_method: paymentMethodId ?? '' } })
      }),

    findPrice: (selection) =>
      callStripe(async (stripe) => {
        const key = formatLookupKey(selection)
        const { data } = await stripe.prices.list({ lookup_keys: [key], active: true, limit: 1 })
        const price = data[0]
        if (!price) throw new PaymentProcessorError(`The payment processor has no price with the lookup key ${key}. Add one there, then try again.`)
        return price.id
      }),

    subscribe: (customer, price) =>
      callStripe(async (stripe) => {
        await stripe.subscriptions.create({ customer, items: [{ price }], payment_behavior: 'error_if_incomplete', off_session: true })
      }),

    switchPrice: (id, price) =>
      callStripe(async (stripe) => {
        const { items } = await stripe.subscriptions.retrieve(id)
        const item = items.data[0]
        await stripe.subscriptions.update(id, {
          items: [item ? { id: item.id, price } : { price }],
          cancel_at_period_end: false,
          proration_behavior: 'always_invoice',
          payment_behavior: 'error_if_incomplete',
          off_session: true,
        })
      }),

    cancelAtPeriodEnd: (id) =>
      callStripe(async (stripe) => {
        await stripe.subscriptions.update(id, { cancel_at_period_end: true })
      }),

    async verifyEvent({ body, signature, now }) {
      if (options.webhook_secret === null) throw new MissingWebhookSecretError()
      const stripe = await getStripe()
      // The library rejects old timestamps but accepts future ones.
      const signedAt = Number(/(?:^|,)\s*t=(\d+)/.exec(signature)?.[1] ?? Number.NaN)
      if (!(signedAt - Math.floor(now / 1000) <= signatureTolerance_s)) throw new WebhookSignatureError()
      try {
        const event = await stripe.webhooks.constructEventAsync(body, signature, options.webhook_secret, signatureTolerance_s, undefined, now)
        return { id: event.id, type: event.type, customer_id: findCustomerId(event.data.object) }
      } catch (cause) {
        throw new WebhookSignatureError(undefined, { cause })
      }
    },
  }
}

async function createStripeClient({ secret_key, api_base, timeout_ms = 10_000 }: StripeOptions & { timeout_ms?: number }): Promise<Stripe> {
  const { default: Client } = await import('stripe')
  const base = api_base === null ? undefined : new URL(api_base)
  const protocol = base?.protocol === 'http:' ? ('http' as const) : ('https' as const)
  return new Client(secret_key, {
    timeout: timeout_ms,
    maxNetworkRetries: 1,
    telemetry: false,
    ...(base ? { host: base.hostname.replace(/^\[|\]$/g, ''), port: base.port || (protocol === 'http' ? '80' : '443'), protocol } : {}),
  })
}

function toSubscription(stripeSubscription: Stripe.Subscription): Subscription {
  const [, plan, interval] = /^homeport_([a-z]+)_([a-z]+)$/.exec(stripeSubscription.items.data[0]?.price.lookup_key ?? '') ?? []
  const parsedPlan = planName.exclude(['starter']).safeParse(plan)
  const parsedInterval = billingInterval.safeParse(interval)
  return {
    id: stripeSubscription.id,
    status: stripeSubscription.status,
    selection: parsedPlan.success && parsedInterval.success ? { plan: parsedPlan.data, interval: parsedInterval.data } : undefined,
    cancel_at: stripeSubscription.cancel_at === null ? null : stripeSubscription.cancel_at * 1000,
  }
}

/** The customer of an event. Objects of every type name their customer in the same way. */
function findCustomerId(object: object): string | null {
  if ('object' in object && object.object === 'customer' && 'id' in object && typeof object.id === 'string') return object.id
  const customer = 'customer' in object ? object.customer : null
  if (typeof customer === 'string') return customer
  return typeof customer === 'object' && customer !== null && 'id' in customer && typeof customer.id === 'string' ? customer.id : null
}

const idOf = (one: string | { id: string }): string => (typeof one === 'string' ? one : one.id)

/** The message of a declined card is for the user; details of other errors are not. */
function formatStripeError(error: unknown): string {
  const { type, message } = readErrorFields(error)
  if (type === 'StripeCardError') return `The card was declined: ${message} Try another card.`
  if (type === 'StripeConnectionError') return 'The payment processor did not respond. Nothing was changed. Try again in a minute.'
  if (type === 'StripeAuthenticationError' || type === 'StripePermissionError')
    return 'The payment processor rejected the key of this instance. The owner of the instance must check HOMEPORT_STRIPE_SECRET_KEY.'
  return 'The payment processor reported an error. Nothing was changed. Try again in a minute.'
}

/** An error for the log. The library's own error contains headers and bodies, which must not be logged. */
function createLoggableCause(error: unknown): Error {
  const { type, code, request } = readErrorFields(error)
  return new Error([type, code, request].filter(Boolean).join(' '))
}

function readErrorFields(error: unknown) {
  const text = (key: string) => {
    const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, key) : undefined
    return typeof value === 'string' ? value : ''
  }
  return { type: text('type'), code: text('code'), request: text('requestId'), message: text('message') }
}
