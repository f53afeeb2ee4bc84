import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import { fullTest } from '../support/full-test.ts'
import { commandLine, type CommandLine } from '../support/command.ts'
import { tinyServer } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { createApiContext, expectError, issuePaths, startDeployment, type ApiContext } from './api-context.ts'

let context: ApiContext
let run: CommandLine
let first: Deployment
const note = 'Building without cache.'
const path = '/instance/projects/cached'

beforeAll(async () => {
  context = await createApiContext()
  run = commandLine({ ...context.platform.handle.instance, token: context.platform.owner.token }, context.repository.folder)
  first = await startDeployment(context, 'cached')
  await context.platform.waitForEnd('cached', first.id)
  await startDeployment(context, 'elsewhere')
})
afterAll(() => context.close())

const create = (body: object, slug = 'cached') => context.request('owner', 'POST', `/instance/projects/${slug}/deployments`, body)
const finish = async (id: unknown) => {
  const deployment = await context.platform.waitForEnd('cached', String(id))
  const { body } = await context.request('owner', 'GET', `/v1/projects/cached/deployments/${deployment.id}`)
  return { ...deployment, log: (body.deployment as { build_log: string }).build_log }
}

fullTest('builds without the cache on request, for a git deployment and for a retry', async () => {
  const [fresh, again, plain] = [
    await finish((await create({ no_cache: true })).body.deployment_id),
    await finish((await create({ no_cache: true, deployment_id: first.id })).body.deployment_id),
    await finish((await create({})).body.deployment_id),
  ]
  expect(fresh).toMatchObject({ status: 'ready', trigger: 'manual', log: expect.stringContaining(note) })
  expect(again).toMatchObject({ status: 'ready', trigger: 'retry', parent_id: first.id, log: expect.stringContaining(note) })
  expect(plain.log).not.toContain(note)
})

fullTest('the option applies to one deployment; a retry of it uses the cache again', async () => {
  const { body } = await create({ no_cache: true })
  await finish(body.deployment_id)
  const retry = await context.request('owner', 'POST', `/v1/projects/cached/deployments/${String(body.deployment_id)}/retry`)
  expect((await finish(retry.body.deployment_id)).log).not.toContain(note)
})

test('400 when there is nothing to build', async () => {
  await context.platform.createProject({ slug: 'bare' })
  expectError(await create({ no_cache: true }, 'bare'), 400, 'project_not_connected')
  expectError(await create({ deployment_id: first.id }, 'elsewhere'), 404, 'deployment_not_found')
  expect(issuePaths(await create({ no_cache: 'yes' }))).toEqual(['no_cache'])
})

fullTest('the command line builds without cache from a repository, a folder and an upload', async () => {
  for (const words of [
    ['deploy', '--git'],
    ['deploy', '.'],
  ]) {
    const { deployment } = await run.json<{ deployment: Deployment }>(...words, '--project', 'cached', '--replace', '--no-cache')
    expect((await finish(deployment.id)).log).toContain(note)
  }
  expect((await run('deployments', 'retry', 'cached', first.id, '--no-cache')).out).toContain(note)
  expect(await run('deployments', 'rollback', 'cached', first.id, '--no-cache')).toMatchObject({ code: 2 })
})

test('the cache of a project is cleared, but not while a build runs', async () => {
  expect((await context.request('member', 'DELETE', `${path}/build-cache`)).status).toBe(204)
  expect((await run('build-cache', 'clear', 'cached')).out).toContain('Cleared the build cache of cached.')
  context.repository.commit({
    'package.json': JSON.stringify({
      name: 'x',
      private: true,
      scripts: { build: 'node -e "setInterval(() => {}, 1000)"', start: 'node server.js' },
    }),
  })
  const { body } = await create({})
  const log = async () => (await context.request('owner', 'GET', `/v1/projects/cached/deployments/${String(body.deployment_id)}`)).text
  await until(async () => (await log()).includes('setInterval'), { what: 'the build to run' })
  expectError(await context.request('owner', 'DELETE', `${path}/build-cache`), 409, 'build_in_progress')
  await context.request('owner', 'POST', `/v1/projects/cached/deployments/${String(body.deployment_id)}/cancel`)
  context.repository.commit(tinyServer('one'))
})
