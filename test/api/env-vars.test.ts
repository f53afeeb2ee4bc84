import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { EnvVar } from '../../server/contract/env-vars.ts'
import { makeRepository } from '../support/repository.ts'
import { startDeployment, expectError, createApiContext, type ApiContext } from './api-context.ts'

let context: ApiContext
const repository = makeRepository({
  'package.json': '{"name":"x","private":true,"scripts":{"start":"node server.js"}}',
  'server.js': `require('node:http').createServer((request, response) => response.end(JSON.stringify(process.env))).listen(process.env.PORT)`,
})
/** Projects that were never deployed, for tests without redeployments. */
const fresh = async (slug: string) => {
  await context.platform.createProject({ slug, repo_url: repository.url })
  return `/v1/projects/${slug}/env-vars`
}
const post = (path: string, body: unknown) => context.request('owner', 'POST', path, body)
const listed = async (path: string) => (await context.request('owner', 'GET', path)).body.env_vars as EnvVar[]
const deployments = async (slug: string) =>
  (await context.request('owner', 'GET', `/v1/projects/${slug}/deployments`)).body.deployments as Deployment[]
const environmentOf = async (slug: string) => JSON.parse((await context.platform.fetchEdge(`${slug}.localhost`)).body) as Record<string, string>

beforeAll(async () => {
  context = await createApiContext()
})
afterAll(async () => {
  await context.close()
  repository.remove()
})

describe('POST env-vars', () => {
  test('201 for one variable, with the defaults', async () => {
    const path = await fresh('one')
    const response = await post(path, { key: 'NAME', value: ' a value\nof two lines ' })
    expect(response.status).toBe(201)
    expect(response.body).toEqual({
      created: [{ id: expect.stringMatching(/^env_/), key: 'NAME', environment: null }],
      skipped: [],
      deployment_id: null,
    })
    expect(await listed(path)).toEqual([
      {
        id: (response.body.created as { id: string }[])[0]?.id,
        key: 'NAME',
        value: ' a value\nof two lines ',
        environment: null,
        is_sensitive: false,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ])
  })

  test('201 for many: existing and duplicate keys are skipped and reported, never overwritten', async () => {
    const path = await fresh('many')
    await post(path, { key: 'OLD', value: 'kept' })
    const response = await post(path, {
      vars: [
        { key: 'OLD', value: 'lost' },
        { key: 'OLD', value: 'other', environment: 'preview', is_sensitive: true },
        { key: 'NEW', value: 'first' },
        { key: 'NEW', value: 'second' },
      ],
    })
    expect(response.status).toBe(201)
    expect(response.body).toMatchObject({
      created: [
        { key: 'OLD', environment: 'preview' },
        { key: 'NEW', environment: null },
      ],
      skipped: [
        { key: 'OLD', environment: null, reason: 'exists' },
        { key: 'NEW', environment: null, reason: 'duplicate_in_request' },
      ],
    })
    expect((await listed(path)).map(({ key, value, environment, is_sensitive }) => [key, value, environment, is_sensitive])).toEqual([
      ['NEW', 'first', null, false],
      ['OLD', 'kept', null, false],
      ['OLD', 'other', 'preview', true],
    ])
  })

  test('409 with the same fields when all are skipped', async () => {
    const path = await fresh('again')
    await post(path, { key: 'A', value: '1' })
    const response = await post(path, { key: 'A', value: '2' })
    expectError(response, 409, 'env_vars_exist')
    expect(response.body).toMatchObject({ created: [], skipped: [{ key: 'A', environment: null, reason: 'exists' }] })
  })

  const bad: [string, unknown, string][] = [
    ['no key', { value: 'x' }, 'key'],
    ['no value', { key: 'A' }, 'value'],
    ['a leading digit', { key: '1A', value: '' }, 'key'],
    ['a hyphen', { key: 'A-B', value: '' }, 'key'],
    ['an empty key', { key: '', value: '' }, 'key'],
    ['a long key', { key: 'A'.repeat(201), value: '' }, 'key'],
    ['a long value', { key: 'A', value: 'x'.repeat(10_001) }, 'value'],
    ['NUL', { key: 'A', value: 'a\0b' }, 'value'],
    ['a name the platform reserves', { key: 'HOMEPORT_URL', value: '' }, 'key'],
    ['an unknown environment', { key: 'A', value: '', environment: 'staging' }, 'environment'],
    ['an unknown field', { key: 'A', value: '', project_id: 'x' }, 'project_id'],
    ['no variables', { vars: [] }, 'vars'],
    ['201 variables', { vars: Array.from({ length: 201 }, (_, i) => ({ key: `A${i}`, value: '' })) }, 'vars'],
    [
      'one invalid variable among several',
      {
        vars: [
          { key: 'A', value: '' },
          { key: '!', value: '' },
        ],
      },
      'vars.1.key',
    ],
    ['both forms', { key: 'A', value: '', vars: [{ key: 'A', value: '' }] }, 'vars'],
  ]
  test.each(bad)('400 for %s, naming the field', async (_what, body, path) => {
    const response = await post('/v1/projects/one/env-vars', body)
    expectError(response, 400, 'invalid_input')
    expect((response.body.issues as { path: string }[]).map((issue) => issue.path)).toContain(path)
  })

  test('accepts the longest allowed values, 200 in one request', async () => {
    const path = await fresh('longest')
    const vars = Array.from({ length: 200 }, (_, i) => ({ key: `K${i}`.padEnd(200, '_'), value: 'é'.repeat(100) }))
    expect((await post(path, { vars })).body.created).toHaveLength(200)
    expect((await post(path, { key: 'LONG', value: 'x'.repeat(10_000) })).status).toBe(201)
  })

  test('of fifty concurrent requests exactly one creates the variable', async () => {
    const path = await fresh('race')
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => post(path, { key: 'ONE', value: String(i) })))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array.from({ length: 49 }, () => 409)])
  })
})

describe('PATCH and DELETE env-vars', () => {
  test('the value can be changed, key and environment cannot', async () => {
    const path = await fresh('change')
    const { created } = (await post(path, { key: 'A', value: '1', environment: 'production' })).body as { created: { id: string }[] }
    const id = created[0]?.id ?? ''
    const response = await context.request('owner', 'PATCH', `${path}/${id}`, { value: '2', is_sensitive: true })
    expect([response.status, response.body]).toEqual([200, { id }])
    expect(await listed(path)).toMatchObject([{ id, key: 'A', value: '2', environment: 'production', is_sensitive: true }])
    for (const body of [{}, { value: '3', key: 'B' }, { value: '3', environment: null }, { value: 'x'.repeat(10_001) }])
      expectError(await context.request('owner', 'PATCH', `${path}/${id}`, body), 400, 'invalid_input')
    expect((await context.request('owner', 'DELETE', `${path}/${id}`)).status).toBe(204)
    expectError(await context.request('owner', 'DELETE', `${path}/${id}`), 404, 'env_var_not_found')
    expectError(await context.request('owner', 'PATCH', `${path}/${id}`, { value: '' }), 404, 'env_var_not_found')
  })
})

describe('a running app', () => {
  test('gets variables with its next deployment; a change for production redeploys it, once per request', async () => {
    await context.platform.createProject({ slug: 'shows', repo_url: repository.url })
    const first = await context.platform.waitForEnd('shows', (await context.platform.deploy('shows')).id)
    repository.commit({ 'unrelated.txt': 'a newer commit, which a change of variables does not ship' })
    const path = '/v1/projects/shows/env-vars'

    const added = await post(path, {
      vars: [
        { key: 'FOR_BOTH', value: 'both' },
        { key: 'SHADOWED', value: 'both' },
        { key: 'SHADOWED', value: 'production', environment: 'production' },
        { key: 'PREVIEW_ONLY', value: 'x', environment: 'preview' },
        { key: 'PORT', value: '1' },
        { key: 'NODE_ENV', value: 'development' },
      ],
    })
    const redeployment = await context.platform.waitForEnd('shows', added.body.deployment_id as string)
    expect(redeployment).toMatchObject({ trigger: 'env_change', status: 'ready', commit_sha: first.commit_sha })
    expect((await deployments('shows')).map(({ trigger }) => trigger)).toEqual(['env_change', 'manual'])
    const variables = await environmentOf('shows')
    expect(variables).toMatchObject({ FOR_BOTH: 'both', SHADOWED: 'production', NODE_ENV: 'development', HOMEPORT_ENVIRONMENT: 'production' })
    expect(variables).not.toHaveProperty('PREVIEW_ONLY')
    expect(variables.PORT).not.toBe('1')

    // Only previews would get this variable, and a changed value waits for the next deployment.
    expect((await post(path, { key: 'ALSO', value: 'x', environment: 'preview' })).body.deployment_id).toBeNull()
    const all = await listed(path)
    const both = all.find(({ key }) => key === 'FOR_BOTH')?.id ?? ''
    await context.request('owner', 'PATCH', `${path}/${both}`, { value: 'changed' })
    await context.request('owner', 'DELETE', `${path}/${all.find(({ key }) => key === 'PREVIEW_ONLY')?.id}`)
    expect(await deployments('shows')).toHaveLength(2)
    expect((await environmentOf('shows')).FOR_BOTH).toBe('both')

    expect((await context.request('owner', 'DELETE', `${path}/${all.find(({ value }) => value === 'production')?.id}`)).status).toBe(204)
    const [newest] = await deployments('shows')
    expect(newest?.trigger).toBe('env_change')
    await context.platform.waitForEnd('shows', newest?.id ?? '')
    expect(await environmentOf('shows')).toMatchObject({ SHADOWED: 'both', FOR_BOTH: 'changed' })
  })

  test('a project that its owner stopped stays stopped', async () => {
    await startDeployment(context, 'rests')
    await context.request('owner', 'POST', '/v1/projects/rests/stop')
    expect((await post('/v1/projects/rests/env-vars', { key: 'A', value: '1' })).body.deployment_id).toBeNull()
    expect((await context.platform.getProject('rests')).status).toBe('inactive')
  })
})
