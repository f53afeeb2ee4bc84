import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTestPlatform, until } from '../support/platform.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'

test('a crashed app that a restart of the platform starts again is live', async () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-data-'))
  const repository = makeRepository(
    tinyServer('x', `setImmediate(() => server.on('request', ({ url }) => url === '/fall' && setImmediate(() => process.exit(1))))`),
  )
  let platform = await startTestPlatform({ runtime: 'process', data_dir })
  const readStatus = async () => (await platform.getProject('fragile')).status
  await platform.createProject({ slug: 'fragile', repo_url: repository.url })
  expect((await platform.waitForEnd('fragile', (await platform.deploy('fragile')).id)).status).toBe('ready')
  await until(
    async () => {
      await platform.fetchEdge('fragile.localhost', '/fall').catch(() => undefined)
      await platform.jump(2_000)
      return (await readStatus()) === 'crashed' || undefined
    },
    { what: 'the crash' },
  )
  await platform.handle.stop()

  platform = await startTestPlatform({ runtime: 'process', data_dir })
  await until(async () => (await readStatus()) === 'live' || undefined, { what: 'the app to be live again' })
  expect(await platform.fetchEdge('fragile.localhost')).toMatchObject({ status: 200, body: 'x' })

  await platform.handle.stop()
  repository.remove()
  rmSync(data_dir, { recursive: true, force: true })
})
