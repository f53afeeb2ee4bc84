/** Accounts other than the instance owner's: what they may not deploy where apps are processes of this machine. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allOperations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'

import { createTarGz } from '../support/archives.ts'
import { readEventStream } from '../support/event-stream.ts'
import { findProcessesIn } from '../support/folder-processes.ts'
import { createClient, startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'

let platform: TestPlatform
/** Of the other account. */
let token: string
/** Of a project that the owner has deployed, and that now belongs to another account, like one from before this rule. */
let deployment: string
let variable: string
const data_dir = mkdtempSync(join(tmpdir(), 'homeport-data-'))
const repository = makeRepository(tinyServer('one'))

beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process', data_dir })
  await platform.createProject({ slug: 'theirs', repo_url: repository.url, pushes: true })
  const { body } = await platform.api<{ created: { id: string }[] }>('POST', '/v1/projects/theirs/env-vars', { key: 'A', value: 'b' })
  variable = body.created[0]?.id ?? ''
  deployment = (await platform.waitForEnd('theirs', (await platform.deploy('theirs')).id)).id
  const added = await platform.api<{ token: string; account: { id: string } }>('POST', '/instance/users', { email: 'other@example.com', card: true })
  token = added.body.token
  const { user } = (await platform.api<{ user: { email: string } }>('GET', '/instance/session')).body
  await platform.api('POST', '/instance/team', { owner_email: 'other@example.com', member_email: user.email })
  await platform.handle.stop()
  const db = new Database(join(data_dir, 'homeport.db'))
  db.prepare('UPDATE projects SET account_id = ?').run(added.body.account.id)
  db.close()
  platform = await startTestPlatform({ runtime: 'process', data_dir })
})
afterAll(async () => {
  await platform.remove()
  repository.remove()
})

const archive = new Uint8Array(createTarGz([{ name: 'index.html', data: 'x' }]))
/** Operations on something that only a deployment creates, which such a project does not have. */
const withoutObject = ['deploySkippedPush', 'revertDatabaseUpgrade', 'upgradeDatabase']
const operations = (Object.entries(allOperations) as [string, OperationSpec][]).filter(
  ([id, spec]) => spec.errors.includes('runtime_not_isolated') && !withoutObject.includes(id),
)
const bodies: Record<string, () => object> = {
  addManagedService: () => ({ name: 'redis' }),
  addVolume: () => ({ path: 'uploads' }),
  changeProjectEnvVars: () => ({ create: [{ key: 'B', value: 'c' }] }),
  createCommand: () => ({ command: ['true'], terminal: null }),
  createDeployment: () => ({ no_cache: true }),
  createEnvVars: () => ({ key: 'B', value: 'c' }),
  createProjectEnvVars: () => ({ key: 'B', value: 'c', is_write_only: true }),
  deployFolder: () => ({ path: repository.folder, slug: 'theirs' }),
  updateMail: () => ({ is_enabled: true }),
  updateWatching: () => ({ pull_requests: true }),
}

test('the list covers every operation that deploys', () => {
  expect(operations.map(([id]) => id).toSorted()).toEqual([
    'addManagedService',
    'addVolume',
    'changeProjectEnvVars',
    'createCommand',
    'createDatabase',
    'createDeployment',
    'createEnvVars',
    'createProjectEnvVars',
    'deleteDatabase',
    'deleteEnvVar',
    'deployFolder',
    'deployProject',
    'detachVolume',
    'removeManagedService',
    'retryDeployment',
    'rollbackDeployment',
    'updateMail',
    'updateWatching',
    'uploadCommit',
    'uploadProject',
  ])
})

test.each(operations)('%s is 403 runtime_not_isolated, and changes nothing', async (id, spec) => {
  const { api_url } = platform.handle
  const path = spec.path
    .replace('{slug}', 'theirs')
    .replace('{name}', 'redis')
    .replace('{id}', id === 'deleteEnvVar' ? variable : deployment)
  const body = bodies[id]?.()
  const response = await fetch(api_url + path, {
    method: spec.method,
    headers: {
      // Only the instance owner deploys a local folder: here into a project of an account whose team includes that owner.
      authorization: `Bearer ${spec.access === 'owner' ? platform.handle.instance.token : token}`,
      'content-type': spec.upload ? 'application/gzip' : 'application/json',
    },
    body: spec.upload ? archive : body ? JSON.stringify(body) : null,
  })
  expect(await response.json()).toMatchObject({ error: 'runtime_not_isolated' })
  expect(response.status).toBe(403)
  const { env_vars } = (await platform.api<{ env_vars: unknown[] }>('GET', '/v1/projects/theirs/env-vars', undefined, token)).body
  const { deployments } = (await platform.api<{ deployments: { id: string }[] }>('GET', '/v1/projects/theirs/deployments', undefined, token)).body
  expect([env_vars.length, deployments.map((one) => one.id)]).toEqual([1, [deployment]])
})

test('a push is not deployed, and the reason is shown next to the repository', async () => {
  const theirs = createClient({ ...platform.handle.instance, token })
  const check = () => theirs.api<{ watching: { state: string; message: string | null } }>('POST', '/instance/projects/theirs/watching/check')
  await check()
  repository.commit(tinyServer('two'))
  const { watching } = (await check()).body
  expect(watching).toMatchObject({ state: 'failing', message: expect.stringMatching(/^Only the instance owner can deploy/) })
})

test('an app from before this rule is not restarted, and its log says why', async () => {
  const url = `${platform.handle.api_url}/v1/projects/theirs/runtime-logs`
  for await (const { data } of readEventStream(url, { token })) if (data.startsWith('Not started: This instance runs apps as processes')) break
  expect(findProcessesIn(data_dir)).toEqual([])
})

test('a member of the instance owner’s account can deploy', async () => {
  const { user } = (await platform.api<{ user: { email: string } }>('GET', '/instance/session')).body
  await platform.api('POST', '/instance/team', { owner_email: user.email, member_email: 'other@example.com' })
  await platform.createProject({ slug: 'ours', repo_url: repository.url })
  expect((await platform.api('POST', '/v1/projects/ours/deploy', undefined, token)).status).toBe(201)
})
