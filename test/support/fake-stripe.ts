/**
 * A fake of Stripe's API over real HTTP: it stores customers, setup intents, payment methods, prices and subscriptions with their published fields,
 * returns Stripe's errors, and signs its events. Its methods simulate external actions: a card entered in the form, a period that ends, an API that
 * fails.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StripeOptions } from '../../server/options.ts'
import {
  type Customer,
  type Json,
  formList,
  formObject,
  listPage,
  type PaymentMethod,
  StripeApiError,
  createStripeError,
  type SetupIntent,
  type Subscription,
} from './stripe-objects.ts'

export interface StripeEvent {
  id: string
  type: string
  /** The exact bytes that are sent. */
  body: string
}

export interface FakeStripe {
  url: string
  /** The options of an instance that uses this fake. */
  options: StripeOptions
  /** Received calls, such as `POST /v1/subscriptions`. */
  calls: string[]
  /** All events, in order. */
  events: StripeEvent[]
  subscriptions: Map<string, Subscription>
  customers: Map<string, Customer>
  /** What the card form does in the browser. A card that ends in 0002 is declined when it is charged. */
  saveCard(client_secret: string, card: { brand: string; last4: string }): string
  /** Removes the card of a payment method. */
  detach(paymentMethodId: string): void
  /** Ends the period of a subscription, and the subscription itself if it was canceled. */
  endPeriod(subscriptionId: string): void
  /** Changes the status after an invoice failed or was paid. */
  setStatus(subscriptionId: string, status: string): void
  removePrice(lookupKey: string): void
  /** Makes the next call with this prefix return an error or close the connection. `done`: the call is carried out anyway. */
  failNext(call: string, how: { status: number; type?: string; code?: string; message?: string; done?: boolean } | 'cut'): void
  /** The signature header of a body, signed now or `age_s` seconds ago. */
  sign(body: string, more?: { age_s?: number; secret?: string }): string
  /** Sends an event as Stripe does. */
  send(url: string, event: StripeEvent): Promise<number>
  /** Removes every customer and event. */
  reset(): void
  close(): Promise<void>
}

const plans = ['basic', 'pro', 'enterprise'] as const
const intervals = { monthly: 30 * 86_400, yearly: 365 * 86_400 }
const newId = (prefix: string) => `${prefix}_${randomBytes(12).toString('hex')}`
const now = () => Math.floor(Date.now() / 1000)

export async function startFakeStripe(port = 0): Promise<FakeStripe> {
  const secret_key = `sk_test_${randomBytes(12).toString('hex')}`
  const webhook_secret = `whsec_${randomBytes(24).toString('base64url')}`
  const customers = new Map<string, Customer>()
  const methods = new Map<string, PaymentMethod>()
  const intents = new Map<string, SetupIntent>()
  const subscriptions = new Map<string, Subscription>()
  const everyPrice = plans.flatMap((plan) =>
    Object.keys(intervals).map((interval) => [`price_${plan}_${interval}`, `homeport_${plan}_${interval}`] as [string, string]),
  )
  const prices = new Map(everyPrice)
  const idempotentResponses = new Map<string, { form: string; status: number; body: Json }>()
  const calls: string[] = []
  const events: StripeEvent[] = []
  let failure: { call: string; how: Parameters<FakeStripe['failNext']>[1] } | undefined

  const emit = (type: string, object: Json) => {
    const id = newId('evt')
    events.push({ id, type, body: JSON.stringify({ id, object: 'event', created: now(), livemode: false, type, data: { object } }) })
  }

  const showMethod = (one: PaymentMethod): Json => ({
    id: one.id,
    object: 'payment_method',
    type: 'card',
    customer: one.customer,
    created: one.created,
    card: { brand: one.brand, display_brand: one.brand, last4: one.last4, exp_month: 12, exp_year: 2040, country: 'DE', funding: 'credit' },
  })
  const showCustomer = (one: Customer, expand: string[]): Json => {
    const method = one.default_payment_method === null ? undefined : methods.get(one.default_payment_method)
    return {
      id: one.id,
      object: 'customer',
      email: one.email,
      metadata: one.metadata,
      livemode: false,
      invoice_settings: {
        default_payment_method: method && expand.includes('invoice_settings.default_payment_method') ? showMethod(method) : (method?.id ?? null),
      },
    }
  }
  const showIntent = (one: SetupIntent, expand: string[]): Json => {
    const method = one.payment_method === null ? undefined : methods.get(one.payment_method)
    return {
      object: 'setup_intent',
      ...one,
      livemode: false,
      payment_method: method && expand.includes('data.payment_method') ? showMethod(method) : one.payment_method,
    }
  }
  const showSubscription = (one: Subscription): Json => ({
    id: one.id,
    object: 'subscription',
    customer: one.customer,
    status: one.status,
    created: one.created,
    cancel_at_period_end: one.cancel_at_period_end,
    cancel_at: one.cancel_at_period_end ? one.period_end : null,
    ended_at: one.status === 'canceled' ? now() : null,
    items: {
      object: 'list',
      data: [
        {
          id: one.item,
          object: 'subscription_item',
          quantity: 1,
          current_period_end: one.period_end,
          price: { id: one.price, object: 'price', active: true, lookup_key: prices.get(one.price) ?? null },
        },
      ],
    },
  })

  /** Whether the bank declines the customer's card. */
  const charge = (customer: string) => {
    const id = customers.get(customer)?.default_payment_method
    const method = id ? methods.get(id) : undefined
    if (!method) throw createStripeError(400, 'invalid_request_error', 'This customer has no attached payment source or default payment method.')
    if (method.last4 === '0002') throw createStripeError(402, 'card_error', 'Your card was declined.', 'card_declined')
  }
  const findOrThrow = <T>(map: Map<string, T>, id: string | undefined): T => {
    const one = map.get(id ?? '')
    if (one === undefined) throw createStripeError(404, 'invalid_request_error', `No such object: ${id}`, 'resource_missing')
    return one
  }
  const priceIn = (form: URLSearchParams) => {
    const price = form.get('items[0][price]') ?? ''
    findOrThrow(prices, price)
    return price
  }
  const periodEndOf = (price: string) => now() + (price.endsWith('yearly') ? intervals.yearly : intervals.monthly)

  const routes: Record<string, (form: URLSearchParams, id: string) => Json> = {
    'POST /v1/customers': (form) => {
      const one: Customer = { id: newId('cus'), email: form.get('email'), metadata: formObject(form, 'metadata'), default_payment_method: null }
      customers.set(one.id, one)
      emit('customer.created', showCustomer(one, []))
      return showCustomer(one, [])
    },
    'GET /v1/customers/:id': (form, id) => showCustomer(findOrThrow(customers, id), formList(form, 'expand')),
    'POST /v1/customers/:id': (form, id) => {
      const one = findOrThrow(customers, id)
      const wanted = form.get('invoice_settings[default_payment_method]')
      if (wanted !== null) {
        if (wanted !== '' && findOrThrow(methods, wanted).customer !== id)
          throw createStripeError(400, 'invalid_request_error', 'The payment method must be attached to the customer.')
        one.default_payment_method = wanted === '' ? null : wanted
      }
      emit('customer.updated', showCustomer(one, []))
      return showCustomer(one, [])
    },
    'POST /v1/setup_intents': (form) => {
      const customer = findOrThrow(customers, form.get('customer') ?? '').id
      const id = newId('seti')
      const one: SetupIntent = {
        id,
        customer,
        client_secret: `${id}_secret_${randomBytes(12).toString('hex')}`,
        status: 'requires_payment_method',
        payment_method: null,
        usage: form.get('usage') ?? 'off_session',
        created: now(),
      }
      intents.set(id, one)
      return showIntent(one, [])
    },
    'GET /v1/setup_intents': (form) =>
      // Newest first, as in Stripe; several may have the same second.
      listPage(
        [...intents.values()].toReversed().filter((one) => one.customer === form.get('customer')),
        (one) => showIntent(one, formList(form, 'expand')),
      ),
    'POST /v1/setup_intents/:id/confirm': (form, id) => {
      const one = findOrThrow(intents, id)
      if (form.get('client_secret') !== one.client_secret)
        throw createStripeError(400, 'invalid_request_error', 'The client_secret is not of this intent.')
      const number = form.get('payment_method_data[card][number]') ?? '4242424242424242'
      saveCard(one.client_secret, { brand: number.startsWith('5') ? 'mastercard' : 'visa', last4: number.slice(-4) })
      return showIntent(one, [])
    },
    'GET /v1/prices': (form) => {
      const keys = formList(form, 'lookup_keys')
      return listPage(
        [...prices].filter(([, key]) => keys.includes(key)),
        ([id, lookup_key]) => ({ id, object: 'price', active: true, lookup_key, currency: 'eur', unit_amount: 900 }),
      )
    },
    'GET /v1/subscriptions': (form) =>
      listPage(
        [...subscriptions.values()].toReversed().filter((one) => one.customer === form.get('customer')),
        showSubscription,
      ),
    'POST /v1/subscriptions': (form) => {
      const customer = findOrThrow(customers, form.get('customer') ?? '').id
      const price = priceIn(form)
      charge(customer)
      const one: Subscription = {
        id: newId('sub'),
        customer,
        status: 'active',
        item: newId('si'),
        price,
        created: now(),
        period_end: periodEndOf(price),
        cancel_at_period_end: false,
      }
      subscriptions.set(one.id, one)
      emit('customer.subscription.created', showSubscription(one))
      return showSubscription(one)
    },
    'GET /v1/subscriptions/:id': (_form, id) => showSubscription(findOrThrow(subscriptions, id)),
    'POST /v1/subscriptions/:id': (form, id) => {
      const one = findOrThrow(subscriptions, id)
      if (one.status === 'canceled') throw createStripeError(400, 'invalid_request_error', 'A canceled subscription can only update its metadata.')
      if (form.get('items[0][price]') !== null) {
        if (form.get('items[0][id]') !== one.item) throw createStripeError(400, 'invalid_request_error', 'This would add a second item.')
        const price = priceIn(form)
        if (form.get('proration_behavior') === 'always_invoice') charge(one.customer)
        Object.assign(one, { price, period_end: periodEndOf(price) })
      }
      if (form.get('cancel_at_period_end') !== null) one.cancel_at_period_end = form.get('cancel_at_period_end') === 'true'
      emit('customer.subscription.updated', showSubscription(one))
      return showSubscription(one)
    },
  }

  function saveCard(client_secret: string, card: { brand: string; last4: string }): string {
    const intent = [...intents.values()].find((one) => one.client_secret === client_secret)
    if (!intent) throw new Error('there is no such setup intent')
    const method: PaymentMethod = { id: newId('pm'), customer: intent.customer, ...card, created: now() }
    methods.set(method.id, method)
    Object.assign(intent, { status: 'succeeded', payment_method: method.id })
    emit('payment_method.attached', showMethod(method))
    emit('setup_intent.succeeded', showIntent(intent, []))
    return method.id
  }

  const server = createServer((req, res) => void serve(req, res).catch(() => res.destroy()))

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', 'http://stripe')
    let text = ''
    for await (const piece of req.setEncoding('utf8')) text += String(piece)
    const call = `${req.method} ${url.pathname}`
    calls.push(call)
    const form = req.method === 'GET' ? url.searchParams : new URLSearchParams(text)
    const failing = failure && call.startsWith(failure.call) ? failure.how : undefined
    if (failing) failure = undefined
    // The request was read completely and is destroyed, so only its socket can still be closed.
    if (failing === 'cut') return void req.socket.destroy()
    const key = req.headers['idempotency-key']
    const before = typeof key === 'string' ? idempotentResponses.get(key) : undefined
    const forcedError =
      failing && failing.done !== true
        ? createStripeError(failing.status, failing.type ?? 'api_error', failing.message ?? 'Down.', failing.code)
        : undefined
    const result = forcedError ?? before ?? handleCall(req, call, form)
    if (typeof key === 'string' && !forcedError && result.status < 500)
      idempotentResponses.set(key, { form: text, status: result.status, body: result.body })
    const response = failing?.done === true ? createStripeError(failing.status, failing.type ?? 'api_error', failing.message ?? 'Down.') : result
    res.writeHead(response.status, {
      'content-type': 'application/json',
      'request-id': newId('req'),
      // Disables retries, so that tests need not wait for them.
      ...(failing ? { 'stripe-should-retry': 'false' } : {}),
    })
    res.end(JSON.stringify(response.body))
  }

  function handleCall(req: IncomingMessage, call: string, form: URLSearchParams): { status: number; body: Json } {
    try {
      const isForm = call.endsWith('/confirm')
      if (!isForm && req.headers.authorization !== `Bearer ${secret_key}`)
        throw createStripeError(401, 'invalid_request_error', 'Invalid API Key provided.')
      const [, , , id = ''] = call.split('/')
      const handler = routes[call] ?? routes[id === '' ? call : call.replace(`/${id}`, '/:id')]
      if (!handler) throw createStripeError(404, 'invalid_request_error', `Unrecognized request URL (${call}).`)
      return { status: 200, body: handler(form, id) }
    } catch (error) {
      if (error instanceof StripeApiError) return error
      throw error
    }
  }

  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sign: FakeStripe['sign'] = (body, { age_s = 0, secret = webhook_secret } = {}) => {
    const t = now() - age_s
    return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
  }

  return {
    url,
    options: { secret_key, publishable_key: 'pk_test_stand_in', webhook_secret, api_base: url },
    calls,
    events,
    subscriptions,
    customers,
    saveCard,
    sign,
    detach(id) {
      const method = findOrThrow(methods, id)
      const customer = customers.get(method.customer ?? '')
      if (customer?.default_payment_method === id) customer.default_payment_method = null
      const was = method.customer
      method.customer = null
      // The object no longer names its customer, so the event contains it separately. The customer is updated too.
      emit('payment_method.detached', showMethod(method))
      if (customer && was) emit('customer.updated', showCustomer(customer, []))
    },
    endPeriod(id) {
      const one = findOrThrow(subscriptions, id)
      if (!one.cancel_at_period_end) {
        one.period_end = periodEndOf(one.price)
        return emit('customer.subscription.updated', showSubscription(one))
      }
      one.status = 'canceled'
      emit('customer.subscription.deleted', showSubscription(one))
    },
    setStatus(id, status) {
      const one = findOrThrow(subscriptions, id)
      one.status = status
      emit('customer.subscription.updated', showSubscription(one))
    },
    removePrice(lookupKey) {
      for (const [id, key] of prices) if (key === lookupKey) prices.delete(id)
    },
    failNext: (call, how) => void (failure = { call, how }),
    async send(to, { body }) {
      const response = await fetch(`${to}/hooks/stripe`, {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': sign(body) },
        body,
      })
      await response.arrayBuffer()
      return response.status
    },
    reset() {
      for (const all of [customers, methods, intents, subscriptions, idempotentResponses]) all.clear()
      for (const [id, key] of everyPrice) prices.set(id, key)
      calls.length = events.length = 0
      failure = undefined
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
