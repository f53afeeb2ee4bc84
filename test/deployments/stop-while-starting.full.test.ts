import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findProcessesIn } from '../support/folder-processes.ts'
import { startTestPlatform, until } from '../support/platform.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'

test('stopping the platform while it restores an app leaves no process of the app', async () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-data-'))
  const repository = makeRepository({
    ...tinyServer('one'),
    'server.js': `setTimeout(() => require('node:http').createServer((request, response) => response.end('one')).listen(process.env.PORT), 500)`,
  })
  let platform = await startTestPlatform({ runtime: 'process', data_dir })
  await platform.createProject({ slug: 'slow', repo_url: repository.url })
  expect((await platform.waitForEnd('slow', (await platform.deploy('slow')).id)).status).toBe('ready')
  await platform.handle.stop()

  platform = await startTestPlatform({ runtime: 'process', data_dir })
  await until(() => findProcessesIn(data_dir).length > 0 || undefined, { what: 'the start of the app' })
  await platform.handle.stop()
  expect(findProcessesIn(data_dir)).toEqual([])

  repository.remove()
  rmSync(data_dir, { recursive: true, force: true })
})
