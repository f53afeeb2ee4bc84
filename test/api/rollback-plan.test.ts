import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeRepository } from '../support/repository.ts'
import { createApiContext, expectError, type ApiContext } from './api-context.ts'

let context: ApiContext
const repository = makeRepository({ 'index.html': 'first' })
let [first, failing] = ['', '']

beforeAll(async () => {
  context = await createApiContext()
  const { platform } = context
  await platform.createProject({ slug: 'harbour', repo_url: repository.url })
  first = (await platform.deploy('harbour')).id
  await platform.waitForEnd('harbour', first)
  repository.commit({ 'index.html': 'second' }, 'Second')
  await platform.waitForEnd('harbour', (await platform.deploy('harbour')).id)
  const { build_command } = await platform.getProject('harbour')
  await platform.api('PATCH', '/v1/projects/harbour', { build_command: 'exit 1' })
  failing = (await platform.deploy('harbour')).id
  await platform.waitForEnd('harbour', failing)
  await platform.api('PATCH', '/v1/projects/harbour', { build_command })
})
afterAll(async () => {
  await context.close()
  repository.remove()
})

const plan = (id: string) => context.request('owner', 'GET', `/instance/projects/harbour/deployments/${id}/rollback`)

test('a rollback is instant until variables or build settings change, and says which variables', async () => {
  expect((await plan(first)).body).toEqual({ plan: { is_instant: true, rebuild_reason: null, changed_variables: [] } })

  await context.platform.api('PATCH', '/v1/projects/harbour', { node_version: '22' })
  expect((await plan(first)).body).toEqual({ plan: { is_instant: false, rebuild_reason: 'settings', changed_variables: [] } })
  await context.platform.api('PATCH', '/v1/projects/harbour', { node_version: 'auto' })

  const vars = [
    { key: 'B', value: 'HPSENT_value' },
    { key: 'A', value: 'x', environment: 'production' },
    { key: 'C', value: 'x', environment: 'preview' },
  ]
  await context.platform.api('PATCH', '/instance/projects/harbour/env-vars', { create: vars, redeploy: false })
  const changed = await plan(first)
  expect(changed.body).toEqual({ plan: { is_instant: false, rebuild_reason: 'variables', changed_variables: ['B', 'A'] } })
  expect(changed.text).not.toContain('HPSENT')
})

test('only a production deployment that was ready has a plan', async () => {
  expectError(await plan(failing), 409, 'rollback_not_allowed')
  expectError(await plan('dpl_unknown'), 404, 'deployment_not_found')
})
