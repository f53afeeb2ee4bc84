import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Backup, DiskUsage } from '../../server/contract/maintenance.ts'
import { startTestPlatform, until } from '../support/platform.ts'
import { greetingAppFiles, expect, expectAccessible, test } from './fixtures.ts'
import { signIn } from './screen-navigation.ts'

test.use({ platform_name: 'upkeep' })
test.describe.configure({ mode: 'default' })

test('disk usage is shown by kind, and a clean-up frees the announced amount', async ({ dashboard, platform, createRepository }) => {
  const repository = createRepository(greetingAppFiles('first'))
  await platform.createProject({ slug: 'pier', name: 'Pier', repo_url: repository.url })
  await platform.api('PATCH', '/instance/settings', { keep_deployments: 1 })
  for (const version of ['first', 'second', 'third']) {
    repository.commit(greetingAppFiles(version), version)
    expect((await platform.waitForEnd('pier', (await platform.deploy('pier')).id)).status).toBe('ready')
  }
  // npm's download cache, as a build with dependencies leaves it.
  const kept = join(platform.data_dir, 'cache/npm')
  mkdirSync(kept, { recursive: true })
  writeFileSync(join(kept, 'downloaded'), randomBytes(3_000_000))
  // A response in the cache of the edge.
  const server = `require('node:http').createServer((_, response) => response.setHeader('cache-control', 'max-age=3600').end('x'.repeat(8192))).listen(process.env.PORT, process.env.HOST)`
  await platform.createProject({ slug: 'quay', name: 'Quay', repo_url: createRepository({ ...greetingAppFiles('cached'), 'server.js': server }).url })
  expect((await platform.waitForEnd('quay', (await platform.deploy('quay')).id)).status).toBe('ready')
  await until(
    async () => {
      await platform.fetchEdge('quay.localhost')
      const { body } = await platform.api<{ kinds: DiskUsage[] }>('GET', '/instance/disk')
      return body.kinds.find(({ kind, bytes }) => kind === 'edge_cache' && bytes > 8192)
    },
    { what: 'the response on disk' },
  )
  await dashboard.goto(platform.handle.dashboard_url)
  await expect(dashboard.getByRole('heading', { name: 'Projects', exact: true })).toBeVisible()
  await dashboard.keyboard.press('ControlOrMeta+k')
  await expect(dashboard.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox')).toBeFocused()
  await dashboard.keyboard.type('disk usage')
  await expect(dashboard.getByRole('option', { selected: true })).toHaveText('Disk: usage')
  await dashboard.keyboard.press('Enter')
  await expect(dashboard).toHaveURL(/\/instance\/disk$/)
  await expect(dashboard.getByText('used by Homeport')).toBeVisible()
  await expect(dashboard.getByText(platform.data_dir, { exact: true })).toBeVisible()
  await expect(dashboard.getByRole('img', { name: /^By kind: / })).toBeVisible()
  await expect(dashboard.getByRole('listitem').filter({ hasText: 'Bundles and archives' }).first()).toBeVisible()
  await expectAccessible(dashboard, 'the disk')

  // Everything that is safe: what serves continues.
  await dashboard.getByRole('button', { name: 'Clean up…', exact: true }).click()
  const asking = dashboard.getByRole('dialog', { name: 'Clean up everything that is safe to remove?' })
  await expect(asking).toContainText('Your data is never touched.')
  await expect(asking).not.toContainText('Edge cache')
  await expectAccessible(dashboard, 'a clean-up')
  await expect(asking.getByRole('listitem').filter({ hasText: 'Build cache' })).toContainText('3.0 MB')
  await asking.getByRole('button', { name: /^Free about/ }).click()
  const done = dashboard.getByRole('dialog', { name: /(freed|Nothing to free)$/ })
  await expect(done).toHaveAccessibleName(/^\d.* MB freed$/)
  expect(existsSync(kept)).toBe(false)
  await expectAccessible(dashboard, 'what a clean-up freed')
  await done.getByRole('button', { name: 'Done' }).click()
  await expect(done).toBeHidden()
  expect((await platform.fetchEdge('pier.localhost')).body).toContain('third')

  // One kind, from its row: the shown amount is what the platform freed.
  const row = dashboard.getByRole('listitem').filter({ hasText: 'Edge cache' })
  await row.getByRole('button', { name: /^Free .* of edge cache$/ }).click()
  const one = dashboard.getByRole('dialog', { name: 'Clean up edge cache?' })
  await expect(one).toContainText('Responses are slower until the cache fills again')
  const [answer] = await Promise.all([
    dashboard.waitForResponse((response) => response.url().endsWith('/instance/disk/clean')),
    one.getByRole('button', { name: /^Free about/ }).click(),
  ])
  expect(answer.request().postDataJSON()).toEqual({ kinds: ['edge_cache'] })
  const { freed_bytes } = (await answer.json()) as { freed_bytes: number }
  expect(freed_bytes).toBeGreaterThanOrEqual(8192)
  await expect(done).toHaveAccessibleName(/^\d.* freed$/)
})

test('a backup is created while the app serves, downloaded, and deleted', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'buoy', name: 'Buoy', repo_url: createRepository(greetingAppFiles('buoy')).url })
  expect((await platform.waitForEnd('buoy', (await platform.deploy('buoy')).id)).status).toBe('ready')
  await dashboard.goto(`${platform.handle.dashboard_url}instance`)
  await dashboard.getByRole('navigation', { name: 'Instance' }).getByRole('link', { name: 'Backups' }).click()
  await expect(dashboard.getByText('No backups yet. Create one and keep it on another machine.')).toBeVisible()
  await dashboard.getByRole('button', { name: 'Create backup' }).click()
  const rows = dashboard.getByRole('list', { name: 'Backups', exact: true }).getByRole('listitem')
  await expect(rows).toHaveCount(1)
  const key = dashboard.getByRole('region', { name: 'Not included' })
  await expect(key).toContainText(join(platform.data_dir, 'master.key'))
  await expect(dashboard.getByRole('region', { name: 'Restore a backup' })).toContainText(
    /npx homeport restore \S+\.tar\.gz --data NEW-FOLDER --key \S+/,
  )
  await expectAccessible(dashboard, 'backups')

  const [download] = await Promise.all([dashboard.waitForEvent('download'), rows.getByRole('button', { name: /^Download/ }).click()])
  expect(download.suggestedFilename()).toMatch(/^homeport-.*\.tar\.gz$/)
  const bytes = gunzipSync(await readFile(await download.path()))
  expect(bytes.includes('SQLite format 3')).toBe(true)
  const masterKey = await readFile(join(platform.data_dir, 'master.key'))
  expect(bytes.includes(masterKey.toString().trim())).toBe(false)

  await rows.getByRole('button', { name: /^Delete homeport-/ }).click()
  const dialog = dashboard.getByRole('dialog', { name: 'Delete this backup?' })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(rows).toHaveCount(1)
  await rows.getByRole('button', { name: /^Delete homeport-/ }).click()
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await expect(rows).toHaveCount(0)
})

test('a database restored after damage is reported on the first page', async ({ page }) => {
  const before = await startTestPlatform({ runtime: 'process' })
  const { data_dir } = before
  await before.createProject({ slug: 'reef', name: 'Reef' })
  // The first copy is created soon after the start, perhaps before the project existed.
  const copies = async () => (await before.api<{ backups: Backup[] }>('GET', '/instance/backups')).body.backups
  await expect.poll(async () => (await copies()).length).toBeGreaterThan(0)
  await before.handle.stop()
  const database = join(data_dir, 'homeport.db')
  writeFileSync(database, Buffer.concat([Buffer.alloc(4096, 0xaa), (await readFile(database)).subarray(4096)]))

  const after = await startTestPlatform({ runtime: 'process', data_dir })
  try {
    if ((await after.getProject('reef')) === undefined) await after.createProject({ slug: 'reef', name: 'Reef' })
    await signIn(page, await after.handle.signInUrl())
    const banner = page.getByRole('alert').filter({ hasText: 'damaged' })
    await expect(banner).toBeVisible()
    await expectAccessible(page, 'a database that was put right')
    await page.goto(`${after.handle.dashboard_url}instance/backups`)
    await expect(banner).toBeVisible()
  } finally {
    await after.remove()
  }
})
