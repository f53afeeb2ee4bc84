import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PlannedSource } from '../../server/contract/source-plans.ts'
import { runCommand } from '../support/command.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { sharedPlatform, type SharedPlatform } from '../support/shared-platform.ts'

let platform: SharedPlatform
let repository: Repository
const folder = createTempFolder('plan')
const site = join(folder.path, 'site')
const run = (...args: string[]) => runCommand({ api_url: platform.handle.api_url, token: platform.owner.token }, folder.path, ['plan', ...args])

beforeAll(async () => {
  platform = await sharedPlatform()
  repository = makeRepository({ 'index.html': 'hi', 'homeport.yaml': 'managed:\n  - postgres\n  - mail\n' })
  await platform.createProject({ slug: 'planned', repo_url: repository.url })
  mkdirSync(site)
  writeFileSync(join(site, 'index.html'), 'hi')
})
afterAll(async () => {
  await platform.remove()
  repository.remove()
  folder.remove()
})

test('of a repository that no project has: what is read, where each fact comes from, and what a deployment adds', async () => {
  const { code, out, err } = await run(repository.url)
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^Read from homeport\.yaml, commit [0-9a-f]{7} of main\.\n/)
  expect(out).toMatch(/\npostgres +Managed service +PostgreSQL, sets DATABASE_URL +homeport\.yaml line 2\n/)
  expect(out).toMatch(/\nmail +Managed service +Mail catcher, sets SMTP_URL and others +homeport\.yaml line 3\n/)
  expect(out).toContain('A production deployment adds PostgreSQL, Mail catcher.')
  const { plan } = JSON.parse((await run(repository.url, '--json')).out) as { plan: PlannedSource }
  expect(plan.managed.map(({ name }) => name)).toEqual(['postgres', 'mail'])
  expect(await run(repository.url, '--branch', 'gone')).toMatchObject({ code: 1, err: expect.stringContaining('source_not_fetched') })
})

test('of a folder of this machine, and as a file', async () => {
  expect((await run('site')).out).toMatch(/^Detected from the files\.\n/)
  expect((await run('site', '--yaml')).out).toContain('services:\n')
  writeFileSync(join(site, 'homeport.yaml'), 'managed: [mysql]\n')
  expect(await run('site')).toMatchObject({ code: 1, out: '', err: 'homeport.yaml:1: managed.0 is not valid. Write mariadb.\n' })
})

test('of a project with what it has', async () => {
  await platform.api('PATCH', '/instance/projects/planned/mail', { is_enabled: true })
  const { out } = await run('--project', 'planned')
  expect(out).toContain('A production deployment adds PostgreSQL.')
  expect((await run('--project', 'unknown')).err).toMatch(/^project_not_found/)
})

test('refuses what says two things', async () => {
  expect(await run('site', '--project', 'planned')).toMatchObject({ code: 2, err: expect.stringContaining('only one of them') })
  expect(await run('site', '--branch', 'main')).toMatchObject({ code: 2, err: expect.stringContaining('--branch needs the URL') })
})
