/** Secrets at rest, seen from outside: the mode of the key file, and the error for a value that cannot be decrypted. */
import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeRepository, tinyServer } from '../support/repository.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
const repository = makeRepository(tinyServer('one'))
beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process' })
})
afterAll(async () => {
  await platform.remove()
  repository.remove()
})

test('a variable that cannot be decrypted fails the deployment with the reason and what to do', async () => {
  await platform.createProject({ slug: 'locked', repo_url: repository.url })
  expect((await platform.api('POST', '/v1/projects/locked/env-vars', { key: 'CARGO', value: 'tea' })).status).toBe(201)
  const db = new Database(join(platform.data_dir, 'homeport.db'))
  const { id, value } = db.prepare<[], { id: string; value: Buffer }>('SELECT id, sealed_value AS value FROM env_vars').get() ?? {
    id: '',
    value: Buffer.alloc(0),
  }
  value.writeUInt8(value.readUInt8(value.length - 1) ^ 1, value.length - 1)
  db.prepare('UPDATE env_vars SET sealed_value = ? WHERE id = ?').run(value, id)
  db.close()

  const { error } = await platform.waitForEnd('locked', (await platform.deploy('locked')).id)
  expect(error?.message).toBe('A stored secret cannot be decrypted with this master key. Restore the key it was stored with, or set the value again.')
  expect(error?.hint).toContain('Set the project’s variables again')
})

test('a key copied into the folder as world-readable is private after a start', async () => {
  const { data_dir } = platform
  const file = join(data_dir, 'master.key')
  await platform.handle.stop()
  chmodSync(file, 0o644)
  platform = await startTestPlatform({ runtime: 'process', data_dir })
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
})
