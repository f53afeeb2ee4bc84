import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/platform.ts'
import { tinyServer } from '../support/repository.ts'
import { useDiskPlatform } from './disk-platform.ts'

const { platform, names, connect, live, rollBack, keep, clean } = useDiskPlatform()

test('a rollback keeps the build that it shares with its parent after the parent’s end, and frees it with its own', async () => {
  const repository = await connect('shares', tinyServer('one'))
  await keep(2)
  const one = await live('shares')
  repository.commit(tinyServer('two'))
  const two = await live('shares')
  const back = await rollBack('shares', one)
  const mine = () => names('bundles').filter((name) => [one, two, back, ...later].includes(name))
  const later: string[] = []
  expect((await platform().fetchEdge('shares.localhost')).body).toBe('one')
  repository.commit(tinyServer('three'))
  later.push(await live('shares'))
  // One has been removed by now; its build is still used for a rollback.
  await until(() => !names('bundles').includes(two) || undefined, { what: 'two to go' })
  expect(mine()).toContain(one)
  await clean()
  const again = await rollBack('shares', back)
  later.push(again)
  expect((await platform().fetchEdge('shares.localhost')).body).toBe('one')
  expect(mine()).toContain(one)

  for (const version of ['four', 'five', 'six']) {
    repository.commit(tinyServer(version))
    later.push(await live('shares'))
  }
  await until(() => !names('bundles').includes(one) || undefined, { what: 'one to go with the last that used it' })
  expect((await platform().fetchEdge('shares.localhost')).body).toBe('six')
})

test('copies of deployed folders are removed like builds, also those of failed deployments', async () => {
  await keep(2)
  const folder = mkdtempSync(join(tmpdir(), 'homeport-folder-'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { build: 'exit 1', start: 'node x' } }))
  const ids: string[] = []
  for (let i = 0; i < 5; i++) {
    const { body } = await platform().api<{ deployment: { id: string } }>('POST', '/instance/deploy-folder', { path: folder, slug: 'folder' })
    ids.push(body.deployment.id)
    expect((await platform().waitForEnd('folder', body.deployment.id)).status).toBe('failed')
  }
  await keep(3)
  await until(
    () =>
      names('sources')
        .filter((name) => ids.includes(name))
        .join() === ids.slice(-3).toSorted().join() || undefined,
    {
      what: 'the older copies to go',
    },
  )
  // The source of the oldest kept one is still available for a retry.
  const { body } = await platform().api<{ deployment: { id: string } }>('POST', `/v1/projects/folder/deployments/${ids[2]}/retry`)
  expect((await platform().waitForEnd('folder', body.deployment.id)).error?.code).toBe('build_failed')
  rmSync(folder, { recursive: true })
})
