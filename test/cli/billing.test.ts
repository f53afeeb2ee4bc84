import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../support/command.ts'
import { newFolder, type RunningInstance, serve } from '../support/instance-process.ts'
import { type StandIn, startStripe } from '../support/stripe-stand-in.ts'

const folder = newFolder('billing')
let stripe: StandIn
let instance: RunningInstance

beforeAll(async () => {
  stripe = await startStripe()
  const { secret_key, publishable_key, webhook_secret, api_base } = stripe.options
  instance = await serve({
    data: join(folder.path, 'data'),
    env: {
      HOMEPORT_STRIPE_SECRET_KEY: secret_key,
      HOMEPORT_STRIPE_PUBLISHABLE_KEY: publishable_key ?? '',
      HOMEPORT_STRIPE_WEBHOOK_SECRET: webhook_secret ?? '',
      HOMEPORT_STRIPE_API_BASE: api_base ?? '',
    },
  })
})
afterAll(async () => {
  await instance?.end('SIGTERM')
  await stripe?.close()
  folder.remove()
})

const run = (...args: string[]) => runCommand(instance, folder.path, ['billing', ...args])

test('plan, card and subscription, from none to one that ends', async () => {
  expect((await run()).out.split('\n')).toEqual([
    'plan          enterprise',
    'card          none',
    'subscription  none',
    'credits       0 for domains',
    'payments      on',
    '',
  ])
  expect((await run('cancel')).out).toBe('There is no subscription to end.\n')

  const intent = (await (await instance.ask('/v1/billing/setup-intent', { method: 'POST' })).json()) as { client_secret: string }
  stripe.saveCard(intent.client_secret, { brand: 'visa', last4: '4242' })
  expect((await instance.ask('/v1/billing/confirm', { method: 'POST' })).status).toBe(200)
  expect((await run('status')).out).toMatch(/^plan +basic, monthly\ncard +visa ending in 4242\nsubscription +active\n/)
  expect(JSON.parse((await run('--json')).out)).toMatchObject({ plan: 'basic', card: { last4: '4242' }, subscription_status: 'active' })

  const canceled = await run('cancel')
  const [subscription] = [...stripe.subscriptions.values()]
  const day = new Date((subscription?.period_end ?? 0) * 1000).toISOString().slice(0, 10)
  expect(canceled.out).toBe(`The subscription ends on ${day}. Until then everything stays.\n`)
  expect((await run()).out).toMatch(/subscription +active, ends on /)

  // The events find their way by the real door, too.
  stripe.endPeriod(subscription?.id ?? '')
  for (const event of stripe.events) expect(await stripe.send(instance.instance.api_url, event)).toBe(200)
  expect((await run()).out).toMatch(/^plan +starter, monthly\ncard +visa ending in 4242\nsubscription +canceled\n/)
})

test('usage', async () => {
  expect(await run('pay')).toMatchObject({ code: 2, err: expect.stringContaining('neither status nor cancel') })
})
