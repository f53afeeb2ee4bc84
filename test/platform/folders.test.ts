import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDataFolder } from '../../server/store/private-file.ts'
import { makeRepository } from '../support/repository.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

let platform: SharedPlatform
beforeAll(async () => {
  platform = await sharedPlatform()
})
afterAll(() => platform.remove())

/** Folders of the data folder itself, which protect everything below them. */
const foldersIn = (folder: string) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : []))

test('folders that an earlier version left readable are made private, and foreign files stay unchanged', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-folders-'))
  for (const name of ['bundles', 'mine']) {
    mkdirSync(join(folder, name))
    chmodSync(join(folder, name), 0o755)
  }
  createDataFolder(folder)
  expect(['bundles', 'mine'].map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o700, 0o755])
  rmSync(folder, { recursive: true })
})

test('no other user can enter a folder of the data folder', async () => {
  const repository = makeRepository({
    'package.json': JSON.stringify({ name: 'open', private: true, scripts: { start: 'node server.js' } }),
    'server.js': "require('node:http').createServer((request, response) => response.end('here')).listen(process.env.PORT)",
  })
  await platform.createProject({ slug: 'open', repo_url: repository.url })
  expect((await platform.waitForEnd('open', (await platform.deploy('open')).id)).error).toBeNull()
  const { body } = await platform.api<{ deployment: { id: string } }>('POST', '/instance/deploy-folder', {
    path: repository.folder,
    slug: 'folder',
  })
  expect((await platform.waitForEnd('folder', body.deployment.id)).error).toBeNull()
  const open = foldersIn(platform.data_dir).filter((folder) => (statSync(folder).mode & 0o077) !== 0)
  expect(open.map((folder) => folder.slice(platform.data_dir.length))).toEqual([])
  expect(statSync(platform.data_dir).mode & 0o777).toBe(0o700)
  repository.remove()
})
