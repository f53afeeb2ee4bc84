import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../support/command.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { type FakeStripe, startFakeStripe } from '../support/fake-stripe.ts'

let stripe: FakeStripe
let platform: TestPlatform

beforeAll(async () => {
  stripe = await startFakeStripe()
  platform = await startTestPlatform({ runtime: 'process', stripe: stripe.options })
})
afterAll(async () => {
  await platform.remove()
  await stripe.close()
})

const run = (...args: string[]) => runCommand(platform.handle.instance, '.', ['billing', ...args])

test('plan, card and subscription, from none to a cancellation', async () => {
  expect((await run()).out.split('\n')).toEqual([
    'plan          enterprise',
    'card          none',
    'subscription  none',
    'credits       0 for domains',
    'payments      on',
    '',
  ])
  expect((await run('cancel')).out).toBe('There is no subscription to cancel.\n')

  const intent = (await platform.api<{ client_secret: string }>('POST', '/v1/billing/setup-intent')).body
  stripe.saveCard(intent.client_secret, { brand: 'visa', last4: '4242' })
  expect((await platform.api('POST', '/v1/billing/confirm')).status).toBe(200)
  expect((await run('status')).out).toMatch(/^plan +basic, monthly\ncard +visa ending in 4242\nsubscription +active\n/)
  expect(JSON.parse((await run('--json')).out)).toMatchObject({ plan: 'basic', card: { last4: '4242' }, subscription_status: 'active' })

  const canceled = await run('cancel')
  const [subscription] = [...stripe.subscriptions.values()]
  const day = new Date((subscription?.period_end ?? 0) * 1000).toISOString().slice(0, 10)
  expect(canceled.out).toBe(`The subscription ends on ${day}. Until then nothing changes.\n`)
  expect((await run()).out).toMatch(/subscription +active, ends on /)

  // The events arrive through the real webhook too.
  stripe.endPeriod(subscription?.id ?? '')
  for (const event of stripe.events) expect(await stripe.send(platform.handle.api_url, event)).toBe(200)
  expect((await run()).out).toMatch(/^plan +starter, monthly\ncard +visa ending in 4242\nsubscription +canceled\n/)
})

test('usage', async () => {
  expect(await run('pay')).toMatchObject({ code: 2, err: expect.stringContaining('neither status nor cancel') })
})
