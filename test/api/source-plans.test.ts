import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { PlannedSource } from '../../server/contract/source-plans.ts'
import { createApiContext, expectError, type ApiContext } from './api-context.ts'

let context: ApiContext
let folder: string
beforeAll(async () => {
  context = await createApiContext()
  await context.platform.createProject({ slug: 'planned', repo_url: context.repository.url })
})
afterAll(() => context.close())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-plan-'))
  return () => rmSync(folder, { recursive: true, force: true })
})

const planOf = ({ body }: { body: Record<string, unknown> }) => body.plan as PlannedSource

test('plans the repository of a project at the head of its branch, without deploying or leaving files', async () => {
  const sha = context.repository.commit({ 'compose.yaml': null })
  const response = await context.request('member', 'POST', '/instance/projects/planned/plan', {})
  expect(response.status).toBe(200)
  expect(planOf(response)).toMatchObject({ services: [{ name: 'web' }], problems: [], commit: { branch: 'main', sha } })
  expect(planOf(response).builds[0]?.facts).toContainEqual({ name: 'start_command', value: 'node server.js', origin: 'package.json scripts.start' })
  expect((await context.request('owner', 'GET', '/v1/projects/planned/deployments')).body.deployments).toEqual([])
  const work = join(context.platform.data_dir, 'work')
  expect(existsSync(work) ? readdirSync(work).filter((name) => name.startsWith('plan-')) : []).toEqual([])
  expectError(await context.request('stranger', 'POST', '/instance/projects/planned/plan', {}), 404, 'project_not_found')
})

test('plans a repository without a project, and says why one cannot be fetched', async () => {
  const path = '/instance/plans/repository'
  const response = await context.request('owner', 'POST', path, { repo_url: context.repository.url })
  expect(planOf(response)).toMatchObject({ services: [{ name: 'web' }], commit: { branch: 'main' } })
  const gone = await context.request('owner', 'POST', path, { repo_url: context.repository.url, repo_branch: 'gone' })
  expectError(gone, 502, 'source_not_fetched')
  expect(gone.body.message).toMatch(/no branch “gone”/)
  // Another account must not make this machine read local folders or its network.
  expectError(await context.request('stranger', 'POST', path, { repo_url: context.repository.url }), 400, 'invalid_input')
  expectError(await context.request('stranger', 'POST', path, { repo_url: 'http://127.0.0.1:9/x.git' }), 502, 'source_not_fetched')
})

test('plans a folder for the instance owner, and saves its plan once', async () => {
  writeFileSync(join(folder, 'index.html'), 'hi')
  const body = { path: folder }
  expect(planOf(await context.request('instance_owner', 'POST', '/instance/plans/folder', body))).toMatchObject({
    builds: [{ framework: 'html' }],
    commit: null,
  })
  expectError(await context.request('stranger', 'POST', '/instance/plans/folder', body), 403, 'forbidden')
  expectError(await context.request('instance_owner', 'POST', '/instance/plans/folder', { path: join(folder, 'missing') }), 400, 'invalid_input')
  expect(await context.request('instance_owner', 'POST', '/instance/plans/folder/save', body)).toMatchObject({
    status: 201,
    body: { file: 'homeport.yaml' },
  })
  expect(readFileSync(join(folder, 'homeport.yaml'), 'utf8')).toMatch(/ {2}web:\n {4}build: \./)
  expectError(await context.request('instance_owner', 'POST', '/instance/plans/folder/save', body), 409, 'file_exists')
})

test('400 for a relative path, which would be a folder of the platform, and for a folder without an app', async () => {
  for (const path of ['.', 'test', '/nowhere'])
    expectError(await context.request('instance_owner', 'POST', '/instance/plans/folder/save', { path }), 400, 'invalid_input')
  const response = await context.request('instance_owner', 'POST', '/instance/plans/folder/save', { path: folder })
  expect(response).toMatchObject({ status: 400, body: { error: 'invalid_input', issues: [{ path: 'path' }] } })
})

test('a saved plan does not follow a symlink', async () => {
  writeFileSync(join(folder, 'index.html'), 'hi')
  const outside = join(folder, 'outside.txt')
  symlinkSync(outside, join(folder, 'homeport.yaml'))
  const response = await context.request('instance_owner', 'POST', '/instance/plans/folder/save', { path: folder })
  expectError(response, 409, 'file_exists')
  expect(existsSync(outside)).toBe(false)
})
