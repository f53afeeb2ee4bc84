import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { processesIn } from '../support/folder-processes.ts'
import { startTestPlatform, until } from '../support/platform.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'

test('a platform that stops while it brings an app back leaves no process of the app', async () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-data-'))
  const repository = makeRepository({
    ...tinyServer('one'),
    'server.js': `setTimeout(() => require('node:http').createServer((request, response) => response.end('one')).listen(process.env.PORT), 500)`,
  })
  let home = await startTestPlatform({ runtime: 'process', data_dir })
  await home.createProject({ slug: 'slow', repo_url: repository.url })
  expect((await home.ended('slow', (await home.deploy('slow')).id)).status).toBe('ready')
  await home.platform.stop()

  home = await startTestPlatform({ runtime: 'process', data_dir })
  await until(() => processesIn(data_dir).length > 0 || undefined, { what: 'the start of the app' })
  await home.platform.stop()
  expect(processesIn(data_dir)).toEqual([])

  repository.remove()
  rmSync(data_dir, { recursive: true, force: true })
})
