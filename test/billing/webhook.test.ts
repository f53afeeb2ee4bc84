import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createStripeProcessor } from '../../server/billing/stripe.ts'
import { fullTest } from '../support/full-test.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { type FakeStripe, startFakeStripe } from '../support/fake-stripe.ts'

/* POST /hooks/stripe: only events that the processor signed recently are processed (threats T16). */

let stripe: FakeStripe
let platform: TestPlatform
let token: string
beforeAll(async () => {
  stripe = await startFakeStripe()
  platform = await startTestPlatform({ runtime: 'process', stripe: stripe.options })
  token = (await platform.api<{ token: string }>('POST', '/instance/users', { email: 'ann@example.com' })).body.token
  const { body } = await platform.api<{ client_secret: string }>('POST', '/v1/billing/setup-intent', undefined, token)
  stripe.saveCard(body.client_secret, { brand: 'visa', last4: '4242' })
  await platform.api('POST', '/v1/billing/confirm', { plan: 'pro' }, token)
  await platform.api('POST', '/v1/billing/cancel', undefined, token)
  stripe.endPeriod([...stripe.subscriptions.keys()][0] ?? '')
})
afterAll(async () => {
  await platform.remove()
  await stripe.close()
})

const plan = async () => (await platform.api('GET', '/v1/billing/status', undefined, token)).body.plan
const last = () => stripe.events.at(-1)!
async function send(body: string, headers: [string, string][], to = platform) {
  const answer = await fetch(`${to.handle.api_url}/hooks/stripe`, {
    method: 'POST',
    headers: [['content-type', 'application/json'], ...headers],
    body,
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}
const signature = (value: string): [string, string][] => [['stripe-signature', value]]

test.each<[string, () => [string, [string, string][]]]>([
  ['no header', () => [last().body, []]],
  ['an empty header', () => [last().body, signature('')]],
  ['nonsense', () => [last().body, signature('t=now,v1=yes')]],
  ['another secret', () => [last().body, signature(stripe.sign(last().body, { secret: 'whsec_other' }))]],
  ['301 seconds old', () => [last().body, signature(stripe.sign(last().body, { age_s: 301 }))]],
  // By more than the time of delivery, because our own clock continues meanwhile.
  ['330 seconds ahead', () => [last().body, signature(stripe.sign(last().body, { age_s: -330 }))]],
  ['one byte changed', () => [last().body.replace('deleted', 'delefed'), signature(stripe.sign(last().body))]],
  ['the time changed', () => [last().body, signature(stripe.sign(last().body).replace(/t=\d+/, (t) => `t=${Number(t.slice(2)) + 1}`))]],
  ['an older scheme', () => [last().body, signature(stripe.sign(last().body).replace('v1=', 'v0='))]],
  ['an empty body', () => ['', signature(stripe.sign(''))]],
  ['no JSON', () => ['deleted', signature(stripe.sign('deleted'))]],
])('400 for %s, and nothing changes', async (_name, made) => {
  const calls = stripe.calls.length
  const answer = await send(...made())
  expect([answer.status, answer.body.error]).toEqual([400, 'bad_request'])
  expect(await plan()).toBe('pro')
  expect(stripe.calls.length).toBe(calls)
})

test('GET is 405, and an unknown customer is ignored', async () => {
  expect((await fetch(`${platform.handle.api_url}/hooks/stripe`)).status).toBe(405)
  const body = last().body.replaceAll(/cus_\w+/g, 'cus_somebody')
  expect(await send(body, signature(stripe.sign(body)))).toEqual({ status: 200, body: { received: true } })
  expect(await plan()).toBe('pro')
})

test('an event that cannot be processed now is 500, so that it is sent again', async () => {
  stripe.failNext('GET /v1/subscriptions', { status: 500 })
  expect((await send(last().body, signature(stripe.sign(last().body)))).body.error).toBe('billing_error')
  expect(await plan()).toBe('pro')
})

test('the same event delivered twenty times takes effect once; one valid signature of several is enough', async () => {
  const calls = stripe.calls.length
  const signed = `${stripe.sign(last().body)},v1=${'0'.repeat(64)}`
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(last().body, signature(signed))))
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  expect(await plan()).toBe('starter')
  expect(stripe.calls.slice(calls).filter((call) => call.startsWith('GET /v1/customers/'))).toHaveLength(1)
  expect(platform.log.filter((line) => line.includes('"plan_changed"') && line.includes(last().id))).toHaveLength(1)
})

fullTest('503 without a webhook secret', async () => {
  const other = await startTestPlatform({ runtime: 'process', stripe: { ...stripe.options, webhook_secret: null } })
  try {
    const answer = await send(last().body, signature(stripe.sign(last().body)), other)
    expect([answer.status, answer.body.error]).toEqual([503, 'billing_not_configured'])
  } finally {
    await other.remove()
  }
})

test('an interrupted call is retried once, with the same idempotency key', async () => {
  const before = stripe.customers.size
  const calls = stripe.calls.length
  stripe.failNext('POST /v1/customers', 'cut')
  const customer = await createStripeProcessor(stripe.options).createCustomer({ account_id: 'acc_cut', email: 'cut@example.com' })
  expect(customer).toMatch(/^cus_/)
  expect(stripe.customers.size).toBe(before + 1)
  expect(stripe.calls.slice(calls)).toEqual(['POST /v1/customers', 'POST /v1/customers'])
})

test('an unresponsive processor times out', async () => {
  const silent = createServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const api_base = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const processor = createStripeProcessor({ ...stripe.options, api_base, timeout_ms: 100 })
  await expect(processor.createSetupIntent('cus_any')).rejects.toThrow('did not respond')
  silent.close()
})
