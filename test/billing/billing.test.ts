import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BillingStatus, billingStatus } from '../../server/contract/billing.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { type FakeStripe, startFakeStripe, type StripeEvent } from '../support/fake-stripe.ts'

/* A user's plan and card against a stateful fake of Stripe; nothing of Homeport is faked. */

let stripe: FakeStripe
let platform: TestPlatform
let token: string
let people = 0
beforeAll(async () => {
  stripe = await startFakeStripe()
  platform = await startTestPlatform({ runtime: 'process', stripe: stripe.options })
})
/** Each test starts with a new account and an empty Stripe. */
beforeEach(async () => {
  stripe.reset()
  token = await join(`ann-${++people}@example.com`)
})
afterAll(async () => {
  await platform.remove()
  await stripe.close()
})

async function join(email: string): Promise<string> {
  const { body } = await platform.api<{ token: string }>('POST', '/instance/users', { email })
  return body.token
}
const ask = (method: string, path: string, body?: unknown, as = token) => platform.api(method, path, body, as)
const status = async (as = token) => billingStatus.parse((await ask('GET', '/v1/billing/status', undefined, as)).body) satisfies BillingStatus
const confirm = (body: object = {}) => ask('POST', '/v1/billing/confirm', body)
const deliver = (event: StripeEvent) => stripe.send(platform.handle.api_url, event)

async function saveCard(card = { brand: 'visa', last4: '4242' }): Promise<void> {
  const { body } = await platform.api<{ client_secret: string }>('POST', '/v1/billing/setup-intent', undefined, token)
  stripe.saveCard(body.client_secret, card)
}
const theOne = <T>(all: Map<string, T>): T => {
  expect(all.size).toBe(1)
  return [...all.values()][0]!
}
/** The account without its timestamps. */
const settled = async () => {
  const { plan, billing_interval, subscription_status, has_payment_method, card, cancel_at } = await status()
  return { plan, billing_interval, subscription_status, has_payment_method, card, cancel_at }
}
const asStarter = {
  plan: 'starter',
  billing_interval: 'yearly',
  subscription_status: 'canceled',
  has_payment_method: true,
  card: { last4: '4242', brand: 'visa' },
  cancel_at: null,
}

/** Card, basic monthly, pro yearly, canceled, the period over. None of it is delivered yet. */
async function live(): Promise<void> {
  await saveCard()
  await confirm()
  await confirm({ plan: 'pro', interval: 'yearly' })
  await ask('POST', '/v1/billing/cancel')
  stripe.endPeriod(theOne(stripe.subscriptions).id)
}

describe('the subscription lifecycle', () => {
  test('card, basic monthly, pro yearly, canceled, starter', async () => {
    expect(await status()).toEqual({
      processor_enabled: true,
      publishable_key: 'pk_test_stand_in',
      has_payment_method: false,
      card: null,
      subscription_status: null,
      plan: 'starter',
      trial_ends_at: null,
      billing_interval: 'monthly',
      free_domain_credits: 0,
      cancel_at: null,
    })
    const early = await confirm()
    expect([early.status, early.body.error]).toEqual([402, 'payment_method_required'])

    const intent = await ask('POST', '/v1/billing/setup-intent')
    expect([intent.status, intent.body]).toEqual([
      200,
      { client_secret: expect.stringMatching(/^seti_\w+_secret_\w+$/), customer_id: expect.stringMatching(/^cus_/) },
    ])
    expect((await confirm()).body.error).toBe('payment_method_required')
    stripe.saveCard(String(intent.body.client_secret), { brand: 'visa', last4: '4242' })

    expect(await confirm()).toMatchObject({ status: 200, body: { ok: true, plan: 'basic', interval: 'monthly' } })
    expect(await settled()).toEqual({
      plan: 'basic',
      billing_interval: 'monthly',
      subscription_status: 'active',
      has_payment_method: true,
      card: { last4: '4242', brand: 'visa' },
      cancel_at: null,
    })
    expect(await confirm({ plan: 'pro', interval: 'yearly' })).toMatchObject({ status: 200, body: { ok: true, plan: 'pro', interval: 'yearly' } })
    expect(await settled()).toMatchObject({ plan: 'pro', billing_interval: 'yearly' })
    const { id, price } = theOne(stripe.subscriptions)
    expect(price).toBe('price_pro_yearly')

    expect(await ask('POST', '/v1/billing/cancel')).toMatchObject({ status: 200, body: { ok: true } })
    expect(await ask('POST', '/v1/billing/cancel')).toMatchObject({ status: 200 })
    const canceled = await status()
    expect([canceled.plan, canceled.subscription_status]).toEqual(['pro', 'active'])
    expect(Date.parse(canceled.cancel_at ?? '')).toBe(theOne(stripe.subscriptions).period_end * 1000)

    stripe.endPeriod(id)
    expect((await status()).plan).toBe('pro')
    expect(await deliver(stripe.events.at(-1)!)).toBe(200)
    expect(await settled()).toEqual(asStarter)
  })

  test.each([1, 2, 3])('shuffled and duplicated events lead to the same state (%i)', async (seed) => {
    const seededRandom = createSeededRandom(seed)
    await live()
    const twice = [...stripe.events, ...stripe.events].map((event) => ({ event, at: seededRandom.between(0, 1e9) })).toSorted((a, b) => a.at - b.at)
    for (const { event } of twice) expect(await deliver(event)).toBe(200)
    expect(await settled()).toEqual(asStarter)
  })

  test('deleted before updated: starter', async () => {
    await live()
    for (const event of stripe.events.toReversed()) expect(await deliver(event)).toBe(200)
    expect(await settled()).toEqual(asStarter)
  })

  test('confirming resumes a canceled subscription, and a new one can start after its end', async () => {
    await live()
    await deliver(stripe.events.at(-1)!)
    expect((await confirm()).status).toBe(200)
    await ask('POST', '/v1/billing/cancel')
    expect((await status()).cancel_at).not.toBeNull()
    await confirm()
    expect((await status()).cancel_at).toBeNull()
    // A late event of the first one changes nothing.
    for (const event of stripe.events.filter(({ type }) => type.startsWith('customer.subscription'))) await deliver(event)
    expect(await settled()).toMatchObject({ plan: 'basic', subscription_status: 'active', cancel_at: null })
    expect([...stripe.subscriptions.values()].map((one) => one.status)).toEqual(['canceled', 'active'])
  })
})

describe('the customer', () => {
  test('is created once per account, also for ten concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask('POST', '/v1/billing/setup-intent')))
    expect(new Set(answers.map(({ body }) => body.customer_id))).toEqual(new Set([theOne(stripe.customers).id]))
    const other = await ask('POST', '/v1/billing/setup-intent', undefined, await join('bob@example.com'))
    expect(other.body.customer_id).not.toBe(answers[0]?.body.customer_id)
  })

  test('pays with the most recently saved card', async () => {
    await saveCard()
    await confirm()
    await saveCard({ brand: 'mastercard', last4: '4444' })
    await confirm()
    expect((await status()).card).toEqual({ last4: '4444', brand: 'mastercard' })
    expect(stripe.subscriptions.size).toBe(1)
  })

  test('has no card after the last one is removed', async () => {
    await saveCard()
    await confirm()
    stripe.detach(theOne(stripe.customers).default_payment_method ?? '')
    for (const event of stripe.events) await deliver(event)
    expect(await settled()).toMatchObject({ has_payment_method: false, card: null, plan: 'basic' })
  })

  test('keeps the plan while a payment is overdue, and loses it when the payment fails for good', async () => {
    await saveCard()
    await confirm({ plan: 'pro' })
    const { id } = theOne(stripe.subscriptions)
    const plans: unknown[] = []
    for (const state of ['past_due', 'unpaid', 'active', 'canceled']) {
      stripe.setStatus(id, state)
      await deliver(stripe.events.at(-1)!)
      const { plan, subscription_status } = await status()
      plans.push([plan, subscription_status])
    }
    expect(plans).toEqual([
      ['pro', 'past_due'],
      ['starter', 'unpaid'],
      ['pro', 'active'],
      ['starter', 'canceled'],
    ])
  })
})

describe('failures of the payment processor', () => {
  const refused = async (message: RegExp, from = confirm()) => {
    const { status: code, body } = await from
    expect([code, body.error]).toEqual([500, 'billing_error'])
    expect(body.message).toMatch(message)
  }

  test('a declined card: the reason, and no partial state', async () => {
    await saveCard({ brand: 'visa', last4: '0002' })
    await refused(/declined/)
    expect(await settled()).toMatchObject({ plan: 'starter', has_payment_method: false, subscription_status: null })
    expect(theOne(stripe.customers).default_payment_method).toBeNull()

    await saveCard()
    await confirm()
    await saveCard({ brand: 'visa', last4: '0002' })
    await refused(/declined/, confirm({ plan: 'pro' }))
    // The existing subscription continues with the previous card.
    expect(await settled()).toMatchObject({ plan: 'basic', card: { last4: '4242' } })
    for (const event of stripe.events) await deliver(event)
    expect(await settled()).toMatchObject({ plan: 'basic', card: { last4: '4242' } })
  })

  test.each([
    ['POST /v1/customers', () => ask('POST', '/v1/billing/setup-intent')],
    ['POST /v1/setup_intents', () => ask('POST', '/v1/billing/setup-intent')],
    ['GET /v1/customers/', () => confirm()],
    ['GET /v1/subscriptions', () => confirm()],
    ['GET /v1/setup_intents', () => confirm()],
    ['GET /v1/prices', () => confirm()],
    ['POST /v1/customers/', () => confirm()],
    ['POST /v1/subscriptions', () => confirm()],
  ])('%s fails: 500 with a message, nothing changed, and the next attempt succeeds', async (call, act) => {
    if (call !== 'POST /v1/customers') await saveCard()
    const before = await status()
    stripe.failNext(call, { status: 500 })
    await refused(/Nothing was changed\. Try again/, act())
    expect(await status()).toEqual(before)
    expect(stripe.subscriptions.size).toBe(0)
    expect((await act()).status).toBe(200)
  })

  test('a lost response: the processor’s result is found, and not repeated', async () => {
    await saveCard()
    stripe.failNext('POST /v1/subscriptions', { status: 500, done: true })
    expect(await confirm()).toMatchObject({ status: 200 })
    expect(await confirm()).toMatchObject({ status: 200 })
    expect(stripe.subscriptions.size).toBe(1)
    expect(await settled()).toMatchObject({ plan: 'basic', card: { last4: '4242' } })
  })

  test('a price that is not set up is named', async () => {
    await saveCard()
    stripe.removePrice('homeport_pro_yearly')
    await refused(/homeport_pro_yearly/, confirm({ plan: 'pro', interval: 'yearly' }))
    expect(await settled()).toMatchObject({ plan: 'starter', has_payment_method: false })
  })

  test('the secret key is in no response and no log line', async () => {
    stripe.failNext('POST /v1/customers', { status: 401, type: 'invalid_request_error', message: `Invalid: ${stripe.options.secret_key}` })
    const { body } = await ask('POST', '/v1/billing/setup-intent')
    expect(body.error).toBe('billing_error')
    for (const text of [JSON.stringify(body), ...platform.log])
      for (const secret of [stripe.options.secret_key, stripe.options.webhook_secret ?? '']) expect(text).not.toContain(secret)
  })
})

test('accepts only paid plans and known fields', async () => {
  for (const body of [{ plan: 'starter' }, { interval: 'weekly' }, { plan: 'pro', extra: 1 }]) expect((await confirm(body)).status).toBe(400)
  await saveCard()
  expect(await ask('POST', '/v1/billing/confirm')).toMatchObject({ status: 200, body: { plan: 'basic', interval: 'monthly' } })
})

test('with a processor a card cannot be set manually', async () => {
  const answer = await platform.api('POST', '/instance/users', { email: 'carl@example.com', card: true })
  expect([answer.status, answer.body.error]).toEqual([400, 'invalid_input'])
})

test('with a processor nothing is emulated, and earlier emulation ends', async () => {
  const owner = platform.handle.instance.token
  expect(await status(owner)).toMatchObject({ plan: 'enterprise', has_payment_method: false })
  for (const change of [{ plan: 'pro' }, { payment_method: true }, { trial_days: 3 }]) {
    const { status: code, body } = await ask('PATCH', '/instance/settings', change, owner)
    expect([code, body.issues]).toEqual([400, [{ path: Object.keys(change)[0], message: expect.stringContaining('payment processor') }]])
  }
  expect((await ask('PATCH', '/instance/settings', { plan: 'enterprise', email_verified: false }, owner)).status).toBe(200)
})
