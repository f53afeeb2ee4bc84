import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { check, commitOn, gitIn, previewOf, watched } from '../support/branches.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { getSecure } from '../support/tls.ts'
import { until } from '../support/until.ts'

/* The names of previews are names of this machine like any other: in the hosts file, and with a certificate. */

const repository = makeRepository({ 'index.html': 'main' })
let house: TestPlatform
beforeAll(async () => {
  house = await startTestPlatform({ runtime: 'process' })
  writeFileSync(join(house.data_dir, 'hosts'), '')
  await house.createProject({ slug: 'shop', repo_url: repository.url })
  await watched(house, 'shop')
})
afterAll(async () => {
  await house.remove()
  repository.remove()
})

test('they stand in the hosts file while they are open, and answer over HTTPS', async () => {
  const file = join(house.data_dir, 'hosts')
  const lists = (name: string) => existsSync(file) && readFileSync(file, 'utf8').includes(`127.0.0.1 ${name}\n`)
  await house.api('PATCH', '/instance/settings', { hosts_file: true })
  const preview = await previewOf(house, 'shop', 'a/b', commitOn(repository.folder, 'a/b', { 'index.html': 'here' }))
  await until(() => (lists(preview.host) ? true : undefined), { what: 'the name in the hosts file' })

  const port = Number(new URL(house.platform.instance.edge_https_url ?? '').port)
  await house.api('POST', '/instance/https/trust')
  const ca = readFileSync(join(house.data_dir, 'authority.crt'), 'utf8')
  expect((await getSecure(port, '/', { ca, servername: preview.host, host: `${preview.host}:${port}` })).text).toContain('here')

  gitIn(repository.folder)('branch', '-D', 'a/b')
  await check(house, 'shop')
  await until(() => (lists(preview.host) ? undefined : true), { what: 'the end of the name' })
})
