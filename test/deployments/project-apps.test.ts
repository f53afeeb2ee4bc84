import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Service } from '../../server/contract/services.ts'
import type { PlannedSource } from '../../server/contract/source-plans.ts'
import { fullTest } from '../support/full-test.ts'
import { runCommand } from '../support/command.ts'
import type { TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { sharedPlatform } from '../support/shared-platform.ts'

let platform: TestPlatform
let repository: Repository

const app = (name: string, text: string) => ({
  [`apps/${name}/package.json`]: JSON.stringify({ name, private: true, scripts: { start: 'node server.js' } }),
  [`apps/${name}/server.js`]: `require('node:http').createServer((_, response) => response.end('${text}')).listen(process.env.PORT, process.env.HOST)`,
})

beforeAll(async () => {
  platform = await sharedPlatform()
  repository = makeRepository({ ...app('api', 'the api'), ...app('web', 'the site'), 'README.md': 'Two apps' })
  await platform.createProject({ slug: 'mono', repo_url: repository.url })
})
afterAll(async () => {
  await platform.remove()
  repository.remove()
})

const deploy = async () => platform.waitForEnd('mono', (await platform.deploy('mono')).id)
const listServices = async () => (await platform.api<{ services: Service[] }>('GET', '/instance/projects/mono/services')).body.services
const plan = async () => (await platform.api<{ plan: PlannedSource }>('POST', '/instance/projects/mono/plan', {})).body.plan

test('apps listed in the settings are deployed as services, without a file in the repository', async () => {
  expect(await deploy()).toMatchObject({ status: 'failed' })
  const homeport = (...args: string[]) => runCommand({ api_url: platform.handle.api_url, token: platform.handle.instance.token }, '/', args)
  expect(await homeport('projects', 'set', 'mono', 'apps=apps/api,apps/web')).toMatchObject({ code: 0, out: 'apps is now apps/api,apps/web.\n' })
  expect((await homeport('projects', 'show', 'mono')).out).toMatch(/apps +apps\/api, apps\/web/)
  expect((await plan()).services.map(({ name, is_main }) => [name, is_main])).toEqual([
    ['api', false],
    ['web', true],
  ])
  const deployed = await deploy()
  expect(deployed).toMatchObject({ status: 'ready', error: null })
  expect(deployed.build_log).toContain('Apps of this source as services: api, web')
  expect((await platform.fetchEdge('mono.localhost')).body).toBe('the site')
  expect((await platform.fetchEdge('api--mono.localhost')).body).toBe('the api')
  expect((await listServices()).map(({ name }) => name).toSorted()).toEqual(['api', 'web'])
})

test('a missing folder is reported with the setting that names it, and the live version stays', async () => {
  await platform.api('PATCH', '/instance/projects/mono/settings', { apps: ['apps/web', 'apps/gone'] })
  expect(await deploy()).toMatchObject({
    status: 'failed',
    error: { message: 'The source has no folder “apps/gone”, which is one of the project’s apps.', hint: 'Change apps in the project settings.' },
  })
  expect((await platform.fetchEdge('mono.localhost')).body).toBe('the site')
  expect((await platform.api('PATCH', '/instance/projects/mono/settings', { apps: ['../outside'] })).status).toBe(400)
})

fullTest('a configuration file in the repository overrides the apps of the settings', async () => {
  await platform.api('PATCH', '/instance/projects/mono/settings', { apps: ['apps/web', 'apps/api'] })
  repository.commit({ 'homeport.yaml': 'services:\n  web:\n    build: apps/api\n' })
  expect(await plan()).toMatchObject({ file: 'homeport.yaml', services: [{ name: 'web' }] })
  expect(await deploy()).toMatchObject({ status: 'ready', error: null })
  expect((await platform.fetchEdge('mono.localhost')).body).toBe('the api')
})
