import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import type { Database } from '../../server/contract/databases.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import { startDeployment, expectError, createApiContext, type ApiContext } from './api-context.ts'

let context: ApiContext
const path = (slug: string) => `/v1/projects/${slug}/database`
const fresh = async (slug: string) => {
  await context.platform.createProject({ slug, repo_url: context.repository.url })
  return path(slug)
}

beforeAll(async () => {
  context = await createApiContext()
})
afterAll(() => context.close())

describe('POST database', () => {
  test('201 with every field of the contract; does not deploy a project that has no deployment', async () => {
    const response = await context.request('owner', 'POST', await fresh('first'))
    expect(response.status).toBe(201)
    expect(response.body).toEqual({
      database: {
        db_name: expect.stringMatching(/^p_/),
        db_user: expect.stringMatching(/^p_/),
        password: expect.any(String),
        host: '127.0.0.1',
        port: expect.any(Number),
        connection_string: expect.stringMatching(/^postgresql:\/\/p_\w+:[\w-]+@127\.0\.0\.1:\d+\/p_\w+$/),
        engine: 'postgresql',
        engine_version: expect.any(String),
        size_bytes: expect.any(Number),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/),
      },
      deployment_id: null,
    })
  })

  test('201 redeploys a deployed project once', async () => {
    const first = await startDeployment(context, 'served')
    await context.platform.waitForEnd('served', first.id)
    const { body } = await context.request('owner', 'POST', path('served'))
    expect((await context.platform.waitForEnd('served', String(body.deployment_id))).status).toBe('ready')
    const { deployments } = (await context.request('owner', 'GET', '/v1/projects/served/deployments')).body as { deployments: Deployment[] }
    expect(deployments.map(({ trigger, id }) => [trigger, id])).toEqual([
      ['env_change', body.deployment_id],
      ['manual', first.id],
    ])
  })

  test('409 database_exists', async () => {
    const at = await fresh('twice')
    await context.request('owner', 'POST', at)
    expectError(await context.request('owner', 'POST', at), 409, 'database_exists')
  })

  test('402 payment_method_required on starter without a card, before 409; a card or a larger plan allows it', async () => {
    const poor = await context.addPerson('poor@example.com', { plan: 'starter' })
    await context.request(poor, 'POST', '/v1/projects', { name: 'n', slug: 'poor' })
    expectError(await context.request(poor, 'POST', path('poor')), 402, 'payment_method_required')
    expectError(await context.request(poor, 'GET', path('poor')), 404, 'database_not_found')
    const carded = await context.addPerson('carded@example.com', { plan: 'starter', card: true })
    await context.request(carded, 'POST', '/v1/projects', { name: 'n', slug: 'carded' })
    expect((await context.request(carded, 'POST', path('carded'))).status).toBe(201)

    // On the instance owner's account, whose plan is emulated by settings: an existing database stays and is reported as before.
    await context.platform.createProject({ slug: 'emulated' })
    expect((await context.request('instance_owner', 'POST', path('emulated'))).status).toBe(201)
    await context.request('instance_owner', 'PATCH', '/instance/settings', { plan: 'starter', payment_method: false })
    expectError(await context.request('instance_owner', 'POST', path('emulated')), 402, 'payment_method_required')
    expect((await context.request('instance_owner', 'GET', path('emulated'))).status).toBe(200)
    await context.request('instance_owner', 'PATCH', '/instance/settings', { plan: 'enterprise', payment_method: true })
  })
})

describe('GET and DELETE database', () => {
  test('404 database_not_found without a database', async () => {
    const at = await fresh('bare')
    expectError(await context.request('owner', 'GET', at), 404, 'database_not_found')
    expectError(await context.request('owner', 'DELETE', at), 404, 'database_not_found')
  })

  test('200 for team members, password included', async () => {
    const made = (await context.request('owner', 'GET', path('twice'))).body.database as Database
    const { status, body } = await context.request('member', 'GET', path('twice'))
    expect([status, body]).toEqual([200, { database: { ...made, size_bytes: expect.any(Number) } }])
  })

  fullTest('204, and a new database gets another name', async () => {
    const at = await fresh('again')
    const first = (await context.request('owner', 'POST', at)).body.database as Database
    const response = await context.request('owner', 'DELETE', at)
    expect([response.status, response.text]).toEqual([204, ''])
    expectError(await context.request('owner', 'DELETE', at), 404, 'database_not_found')
    const second = (await context.request('owner', 'POST', at)).body.database as Database
    expect(second.db_name).not.toBe(first.db_name)
    expect(second.password).not.toBe(first.password)
  })

  fullTest('concurrent POST and DELETE end with one database or none, never a partial one', async () => {
    const at = await fresh('storm')
    const answers = await Promise.all(Array.from({ length: 24 }, (_, i) => context.request('owner', i % 3 === 1 ? 'DELETE' : 'POST', at)))
    expect(answers.filter(({ status }) => status >= 500).map(({ text }) => text)).toEqual([])
    const left = await context.request('owner', 'GET', at)
    const count = (status: number) => answers.filter((response) => response.status === status).length
    expect(count(201) - count(204)).toBe(left.status === 200 ? 1 : 0)
  })
})
test('the dashboard reads whether a database exists without an error response', async () => {
  const at = await fresh('looked-at')
  const look = async () => (await context.request('owner', 'GET', at.replace('/v1', '/instance'))).body
  expect(await look()).toEqual({ database: null, unavailable: null })
  const { database } = (await context.request('owner', 'POST', at)).body
  expect(await look()).toEqual({ database, unavailable: null })
})
