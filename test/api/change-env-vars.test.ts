import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ProjectEnvVar } from '../../server/contract/env-vars.ts'
import { makeRepository } from '../support/repository.ts'
import { createApiContext, expectError, type ApiContext } from './api-context.ts'

let context: ApiContext
const path = '/instance/projects/harbour/env-vars'
const repository = makeRepository({ 'index.html': 'harbour' })

beforeAll(async () => {
  context = await createApiContext()
  await context.platform.createProject({ slug: 'harbour', repo_url: repository.url })
  await context.platform.waitForEnd('harbour', (await context.platform.deploy('harbour')).id)
})
afterAll(async () => {
  await context.close()
  repository.remove()
})

const list = async () =>
  ((await context.request('owner', 'GET', path)).body.env_vars as ProjectEnvVar[]).map(({ key, value, environment }) => [key, value, environment])
const idOf = async (key: string) =>
  ((await context.request('owner', 'GET', path)).body.env_vars as ProjectEnvVar[]).find((one) => one.key === key)?.id
const change = (body: object) => context.request('owner', 'PATCH', path, body)
const countDeployments = async () =>
  ((await context.request('owner', 'GET', '/v1/projects/harbour/deployments')).body.deployments as unknown[]).length

test('several changes are one write and one deployment', async () => {
  const vars = ['ONE', 'TWO', 'THREE'].map((key) => ({ key, value: key.toLowerCase() }))
  expect((await change({ create: vars, redeploy: false })).body).toMatchObject({ deployment_id: null, created: [{}, {}, {}] })
  expect(await countDeployments()).toBe(1)

  const response = await change({
    create: [{ key: 'ONE', value: 'again' }],
    update: [{ id: await idOf('TWO'), value: 'changed' }],
    delete: [await idOf('ONE'), await idOf('THREE')],
  })
  expect([response.status, typeof response.body.deployment_id]).toEqual([200, 'string'])
  expect(await list()).toEqual([
    ['ONE', 'again', null],
    ['TWO', 'changed', null],
  ])
  expect(await countDeployments()).toBe(2)
  await context.platform.waitForEnd('harbour', response.body.deployment_id as string)

  expect((await change({ create: [{ key: 'ONLY', value: 'previews', environment: 'preview' }] })).body.deployment_id).toBeNull()
})

test('one change that is refused leaves everything as it was', async () => {
  const before = [await list(), await countDeployments()]
  const two = await idOf('TWO')
  expectError(await change({ delete: [two], create: [{ key: 'ONE', value: 'x' }] }), 409, 'env_vars_exist')
  expectError(await change({ update: [{ id: two, value: 'x' }], delete: ['env_unknown'] }), 404, 'env_var_not_found')
  expectError(await change({ create: [{ key: '1ST', value: 'x' }] }), 400, 'invalid_input')
  expect([await list(), await countDeployments()]).toEqual(before)
})
