import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NotificationTarget } from '../../server/contract/notifications.ts'
import { type ApiContext, createApiContext, expectError } from './api-context.ts'

let context: ApiContext
const path = '/instance/projects/harbour/notifications'
beforeAll(async () => {
  context = await createApiContext()
  await context.platform.createProject({ slug: 'harbour' })
})
afterAll(() => context.close())

const created = (response: { body: Record<string, unknown> }) => response.body as { target: NotificationTarget; signing_secret: string | null }
const add = (body: object, who: Parameters<ApiContext['request']>[0] = 'owner', at = path) => context.request(who, 'POST', `${at}/targets`, body)

describe('targets', () => {
  test('are added with default rules, changed and deleted; the signing secret is shown once', async () => {
    const { target, signing_secret } = created(await add({ type: 'webhook', address: 'https://hooks.example.com/a?b=c' }))
    expect(signing_secret).toMatch(/^whsec_.{43}$/)
    expect(target).toMatchObject({
      type: 'webhook',
      name: 'hooks.example.com',
      address: 'https://hooks.example.com/a?b=c',
      rules: { deployment_failed: true, deployment_ready: false, app_crashed: true, error_rate: null },
      is_enabled: true,
      last_delivery: null,
    })
    const changed = await context.request('owner', 'PATCH', `${path}/targets/${target.id}`, {
      name: 'CI',
      rules: { error_rate: { percent: 5, minutes: 10 }, app_crashed: false },
    })
    expect(changed.body).toMatchObject({ target: { name: 'CI', rules: { deployment_failed: true, app_crashed: false, error_rate: { percent: 5 } } } })
    const list = await context.request('owner', 'GET', `${path}/targets`)
    expect(list.text).toContain(target.id)
    expect(list.text).not.toContain(signing_secret)
    expect((await context.request('owner', 'DELETE', `${path}/targets/${target.id}`)).body).toEqual({ ok: true })
    expectError(await context.request('owner', 'DELETE', `${path}/targets/${target.id}`), 404, 'notification_target_not_found')
  })

  test('the URL of a Slack webhook is never returned', async () => {
    const answer = await add({ type: 'slack', address: 'https://hooks.slack.com/services/T0/B0/the-credential' })
    expect(created(answer)).toMatchObject({ target: { address: 'https://hooks.slack.com/…' }, signing_secret: null })
    const list = await context.request('owner', 'GET', `${path}/targets`)
    expect(answer.text + list.text + context.platform.log.join('\n')).not.toContain('the-credential')
  })

  test.each([
    [{ type: 'webhook', address: 'not a url' }],
    [{ type: 'webhook', address: 'https://user:password@example.com/' }],
    [{ type: 'webhook', address: 'http://169.254.169.254/latest' }],
    [{ type: 'email', address: 'no-address' }],
    [{ type: 'email', address: 'a@example.com\nBcc: b@example.com' }],
    [{ type: 'pigeon', address: 'a@example.com' }],
    [{ type: 'email', address: 'a@example.com', rules: { error_rate: { percent: 0, minutes: 5 } } }],
    [{ type: 'email', address: 'a@example.com', rules: { disk: true } }],
    [{ type: 'email', address: 'a@example.com', rules: { unknown: true } }],
  ])('%j is refused', async (body) => {
    expectError(await add(body), 400, 'invalid_input')
  })
})

describe('of another account', () => {
  test('private addresses, http:// and people outside of the team are refused', async () => {
    await context.request('stranger', 'POST', '/v1/projects', { name: 'n', slug: 'strange', repo_url: 'https://git.invalid/a.git' })
    const at = '/instance/projects/strange/notifications'
    for (const address of ['https://127.0.0.1/', 'https://localhost/', 'https://10.0.0.1/', 'http://hooks.example.com/'])
      expectError(await add({ type: 'webhook', address }, 'stranger', at), 400, 'invalid_input')
    expectError(await add({ type: 'email', address: 'victim@example.org' }, 'stranger', at), 400, 'invalid_input')
    expect((await add({ type: 'email', address: 'Stranger@example.com' }, 'stranger', at)).status).toBe(201)
    expectError(
      await add({ type: 'email', address: 'stranger@example.com', rules: { disk: true } }, 'stranger', '/instance/notifications'),
      400,
      'invalid_input',
    )
  })

  test('targets and deliveries are unknown, by the path of the own project and of the account too', async () => {
    const { target } = created(await add({ type: 'email', address: 'team@example.com' }))
    const { delivery } = (await context.request('owner', 'POST', `${path}/targets/${target.id}/test`)).body as { delivery: { id: string } }
    for (const at of ['/instance/projects/strange/notifications', '/instance/notifications']) {
      expectError(await context.request('stranger', 'PATCH', `${at}/targets/${target.id}`, {}), 404, 'notification_target_not_found')
      expectError(await context.request('stranger', 'DELETE', `${at}/targets/${target.id}`), 404, 'notification_target_not_found')
      expectError(await context.request('stranger', 'POST', `${at}/targets/${target.id}/test`), 404, 'notification_target_not_found')
      expectError(await context.request('stranger', 'POST', `${at}/deliveries/${delivery.id}/redeliver`), 404, 'notification_delivery_not_found')
      expect((await context.request('stranger', 'GET', `${at}/deliveries`)).text).not.toContain(delivery.id)
    }
    expectError(await context.request('stranger', 'GET', `${path}/targets`), 404, 'project_not_found')
  })

  test('its projects cannot be chosen', async () => {
    const body = { type: 'email', address: 'stranger@example.com', projects: ['harbour'] }
    expectError(await add(body, 'stranger', '/instance/notifications'), 404, 'project_not_found')
  })
})

test('targets of the account are about all projects or chosen ones, and about the instance', async () => {
  const at = '/instance/notifications'
  const { target } = created(
    await add({ type: 'email', address: 'a@example.com', projects: ['harbour'], rules: { disk: true, certificate: true } }, 'owner', at),
  )
  expect(target).toMatchObject({ projects: ['harbour'], rules: { disk: true, certificate: true } })
  const all = await context.request('owner', 'PATCH', `${at}/targets/${target.id}`, { projects: null })
  expect(all.body).toMatchObject({ target: { projects: null } })
  expect((await context.request('owner', 'GET', `${path}/targets`)).text).not.toContain(target.id)
  await context.request('owner', 'DELETE', `${at}/targets/${target.id}`)
})

test('there can be twenty', async () => {
  await context.platform.createProject({ slug: 'many' })
  const at = '/instance/projects/many/notifications'
  for (let i = 0; i < 20; i++) expect((await add({ type: 'email', address: `a${i}@example.com` }, 'owner', at)).status).toBe(201)
  expectError(await add({ type: 'email', address: 'one-more@example.com' }, 'owner', at), 409, 'too_many_targets')
})
