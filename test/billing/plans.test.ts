import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { billingStatus } from '../../server/contract/billing.ts'
import { readOptions } from '../../server/options.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'
import { until } from '../support/until.ts'

/* What a plan allows, without a payment processor: the owner's settings emulate every value. */

const day_ms = 86_400_000
let platform: TestPlatform
beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process' })
})
afterAll(() => platform.remove())

const set = async (settings: object) => {
  const { status, body } = await platform.api<{ settings: Record<string, unknown> }>('PATCH', '/instance/settings', settings)
  expect(status).toBe(200)
  return body.settings
}
const make = (slug: string) => platform.api('POST', '/v1/projects', { name: slug, slug })
const patch = async (slug: string, body: object) => {
  const answer = await platform.api<{ project?: Record<string, unknown>; error?: string }>('PATCH', `/v1/projects/${slug}`, body)
  return { status: answer.status, ...answer.body }
}
const status = async () => billingStatus.parse((await platform.api('GET', '/v1/billing/status')).body)

describe('without a payment processor', () => {
  test('the status has a plan and no key', async () => {
    expect(await status()).toMatchObject({
      processor_enabled: false,
      publishable_key: null,
      plan: 'enterprise',
      card: null,
      subscription_status: null,
    })
  })

  test.each([
    ['/v1/billing/setup-intent', undefined],
    ['/v1/billing/confirm', {}],
    ['/v1/billing/confirm', { plan: 'pro', interval: 'yearly' }],
    ['/v1/billing/cancel', undefined],
    ['/hooks/stripe', {}],
  ])('503 for POST %s', async (path, body) => {
    const answer = await platform.api('POST', path, body)
    expect([answer.status, answer.body.error]).toEqual([503, 'billing_not_configured'])
  })

  test('validation errors come first', async () => {
    expect((await platform.api('POST', '/v1/billing/confirm', { plan: 'gold' })).status).toBe(400)
  })
})

test('each plan: memory, always-warm, number of projects, and whether a database needs a card', async () => {
  await make('one')
  const seen: Record<string, unknown> = {}
  for (const plan of ['starter', 'basic', 'pro', 'enterprise']) {
    await set({ plan, payment_method: false })
    const { project } = await patch('one', { memory_limit_mb: 1024 })
    const warm = await patch('one', { always_warm: true })
    seen[plan] = [project?.memory_limit_mb, warm.status, warm.error]
    await patch('one', { always_warm: false })
  }
  expect(seen).toEqual({
    starter: [256, 402, 'paid_plan_required'],
    basic: [512, 200, undefined],
    pro: [1024, 200, undefined],
    enterprise: [1024, 200, undefined],
  })

  await set({ plan: 'starter' })
  const database = await platform.api('POST', '/v1/projects/one/database')
  expect([database.status, database.body.error]).toEqual([402, 'payment_method_required'])
  await make('two')
  await make('three')
  const fourth = await make('four')
  expect([fourth.status, fourth.body.error]).toEqual([402, 'plan_limit_reached'])
  await set({ plan: 'enterprise', payment_method: true })
  expect((await make('four')).status).toBe(201)
})

test('a starter account on trial has the limits of pro exactly until the trial ends', async () => {
  await set({ plan: 'starter', trial_days: 14, payment_method: false })
  const running = await status()
  expect(running.plan).toBe('starter')
  expect(Date.parse(running.trial_ends_at ?? '') - (await platform.now())).toBeGreaterThan(13 * day_ms)
  expect((await patch('one', { memory_limit_mb: 1024, always_warm: true })).project).toMatchObject({ memory_limit_mb: 1024, always_warm: true })

  await platform.jump(13 * day_ms)
  expect((await platform.api<{ settings: unknown }>('GET', '/instance/settings')).body.settings).toMatchObject({ trial_days: 1 })
  await platform.jump(day_ms + 1000)
  expect((await platform.api<{ settings: unknown }>('GET', '/instance/settings')).body.settings).toMatchObject({ trial_days: 0 })
  expect((await patch('one', { always_warm: true })).error).toBe('paid_plan_required')
  const database = await platform.api('POST', '/v1/projects/one/database')
  expect(database.body.error).toBe('payment_method_required')
  await set({ plan: 'enterprise', trial_days: null, payment_method: true })
  expect(await status()).toMatchObject({ plan: 'enterprise', trial_ends_at: null })
})

test('a downgrade lets apps sleep again at once, and deletes nothing', async () => {
  await patch('one', { always_warm: true, memory_limit_mb: 1024 })
  await set({ plan: 'starter' })
  const { projects } = (await platform.api<{ projects: Record<string, unknown>[] }>('GET', '/v1/projects')).body
  expect(projects.map(({ slug }) => slug)).toEqual(['four', 'three', 'two', 'one'])
  // The requested value is kept for a larger plan; the next deployment gets that of the plan.
  expect(projects.at(-1)).toMatchObject({ always_warm: false, memory_limit_mb: 1024 })
  await set({ plan: 'enterprise' })
})

test('the next deployment gets the memory of the plan', async () => {
  const repository = makeRepository(tinyServer('small'))
  try {
    await platform.createProject({ slug: 'small', repo_url: repository.url })
    const gets = async (memory_mb: number) => {
      const { id } = await platform.deploy('small')
      expect((await platform.waitForEnd('small', id)).status).toBe('ready')
      // Resource usage is sampled at intervals: at first it is still that of the previous version.
      await until(
        async () => {
          const { body } = await platform.api<{ resources: { memory_limit_mb: number } | null }>('GET', '/v1/projects/small/metrics')
          return body.resources?.memory_limit_mb === memory_mb ? true : undefined
        },
        { what: `an app with ${memory_mb} MB` },
      )
    }
    await gets(512)
    await set({ plan: 'starter' })
    await gets(256)
    await set({ plan: 'enterprise' })
  } finally {
    repository.remove()
  }
})

test('keys are sent only over HTTPS or to this machine', () => {
  const base = (api_base: string) => readOptions({}, { HOMEPORT_STRIPE_SECRET_KEY: 'sk_test_1', HOMEPORT_STRIPE_API_BASE: api_base }).stripe?.api_base
  expect(readOptions({}, {}).stripe).toBeNull()
  expect(readOptions({}, { HOMEPORT_STRIPE_SECRET_KEY: 'sk_test_1' }).stripe).toEqual({
    secret_key: 'sk_test_1',
    publishable_key: null,
    webhook_secret: null,
    api_base: null,
  })
  expect(base('http://127.0.0.1:12111')).toBe('http://127.0.0.1:12111')
  expect(base('https://stripe.example')).toBe('https://stripe.example')
  for (const wrong of ['http://stripe.example', 'stripe', 'ftp://127.0.0.1']) expect(() => base(wrong)).toThrow('HOMEPORT_STRIPE_API_BASE')
})
