import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { checkRepository, commitToBranch, createGit, waitForPreview, waitForFirstCheck } from '../support/git-branches.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'
import { getHttps } from '../support/tls.ts'
import { until } from '../support/until.ts'

/* Hostnames of previews and services are local names like any other: in the hosts file, and with a certificate. */

const repository = makeRepository({ 'index.html': 'main' })
let platform: TestPlatform
beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process' })
  writeFileSync(join(platform.data_dir, 'hosts'), '')
  await platform.createProject({ slug: 'shop', repo_url: repository.url })
  await waitForFirstCheck(platform, 'shop')
})
afterAll(async () => {
  await platform.remove()
  repository.remove()
})

test('are in the hosts file while they are open, and answer over HTTPS', async () => {
  const file = join(platform.data_dir, 'hosts')
  const lists = (name: string) => existsSync(file) && readFileSync(file, 'utf8').includes(`127.0.0.1 ${name}\n`)
  await platform.api('PATCH', '/instance/settings', { hosts_file: true })
  const preview = await waitForPreview(platform, 'shop', 'a/b', commitToBranch(repository.folder, 'a/b', { 'index.html': 'here' }))
  await until(() => (lists(preview.host) ? true : undefined), { what: 'the name in the hosts file' })

  const port = Number(new URL(platform.handle.instance.edge_https_url ?? '').port)
  await platform.api('POST', '/instance/https/trust')
  const ca = readFileSync(join(platform.data_dir, 'authority.crt'), 'utf8')
  expect((await getHttps(port, '/', { ca, servername: preview.host, host: `${preview.host}:${port}` })).text).toContain('here')

  createGit(repository.folder)('branch', '-D', 'a/b')
  await checkRepository(platform, 'shop')
  await until(() => (lists(preview.host) ? undefined : true), { what: 'the end of the name' })
})

fullTest('so are additional public services, while their version is live', async () => {
  const file = join(platform.data_dir, 'hosts')
  const lists = (name: string) => readFileSync(file, 'utf8').includes(`127.0.0.1 ${name}\n`)
  const app = makeRepository({
    ...tinyServer('web'),
    'homeport.yaml': `services:
  web: { build: ., command: node server.js, port: 3000 }
  api: { build: ., command: node server.js, port: 4000, public: true }
`,
  })
  await platform.createProject({ slug: 'store', repo_url: app.url })
  await platform.waitForEnd('store', (await platform.deploy('store')).id)
  await until(() => lists('api--store.localhost') || undefined, { what: 'the name in the hosts file' })
  await platform.api('DELETE', '/v1/projects/store')
  await until(() => !lists('api--store.localhost') || undefined, { what: 'the end of the name' })
  app.remove()
})
