import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Backup } from '../../server/contract/upkeep.ts'
import { startTestPlatform } from '../support/platform.ts'
import { app, expect, expectForEverybody, test } from './fixtures.ts'
import { signIn } from './stage.ts'

test.use({ platform_name: 'upkeep' })
test.describe.configure({ mode: 'default' })

test('the disk is told by kind, and a clean-up frees what it said', async ({ desk, home, repository }) => {
  const made = repository(app('first'))
  await home.createProject({ slug: 'pier', name: 'Pier', repo_url: made.url })
  await home.api('PATCH', '/instance/settings', { keep_deployments: 1 })
  for (const version of ['first', 'second', 'third']) {
    made.commit(app(version), version)
    expect((await home.ended('pier', (await home.deploy('pier')).id)).status).toBe('ready')
  }
  // What npm keeps of what it downloaded, as a build with dependencies leaves it.
  const kept = join(home.data_dir, 'cache/npm')
  mkdirSync(kept, { recursive: true })
  writeFileSync(join(kept, 'downloaded'), randomBytes(3_000_000))
  await desk.goto(home.platform.dashboard_url)
  await expect(desk.getByRole('heading', { name: 'Projects', exact: true })).toBeVisible()
  await desk.keyboard.press('ControlOrMeta+k')
  await expect(desk.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox')).toBeFocused()
  await desk.keyboard.type('disk what takes')
  await expect(desk.getByRole('option', { selected: true })).toHaveText('Disk: what takes which room')
  await desk.keyboard.press('Enter')
  await expect(desk).toHaveURL(/\/instance\/disk$/)
  await expect(desk.getByText('taken by Homeport')).toBeVisible()
  await expect(desk.getByText(home.data_dir, { exact: true })).toBeVisible()
  await expect(desk.getByRole('img', { name: /^By kind: / })).toBeVisible()
  await expect(desk.getByRole('listitem').filter({ hasText: 'Bundles and archives' }).first()).toBeVisible()
  await expectForEverybody(desk, 'the disk')

  // All that is safe: what serves goes on.
  await desk.getByRole('button', { name: 'Clean up…', exact: true }).click()
  const asking = desk.getByRole('dialog', { name: 'Clean up all that is safe?' })
  await expect(asking).toContainText('Your data is never touched.')
  await expect(asking).not.toContainText('Edge cache')
  await expectForEverybody(desk, 'a clean-up')
  await expect(asking.getByRole('listitem').filter({ hasText: 'Build cache' })).toContainText('3.0 MB')
  await asking.getByRole('button', { name: /^Free about/ }).click()
  const done = desk.getByRole('dialog', { name: /(freed|There was nothing to free)$/ })
  await expect(done).toHaveAccessibleName(/^\d.* MB freed$/)
  expect(existsSync(kept)).toBe(false)
  await expectForEverybody(desk, 'what a clean-up freed')
  await done.getByRole('button', { name: 'Done' }).click()
  await expect(done).toBeHidden()
  expect((await home.edge('pier.localhost')).body).toContain('third')

  // One kind, by its row: what it says is what the platform freed.
  const row = desk.getByRole('listitem').filter({ hasText: 'Edge cache' })
  await row.getByRole('button', { name: /^Free .* of edge cache$/ }).click()
  const one = desk.getByRole('dialog', { name: 'Clean up edge cache?' })
  await expect(one).toContainText('Every answer is asked of the apps again')
  const [answer] = await Promise.all([
    desk.waitForResponse((response) => response.url().endsWith('/instance/disk/clean')),
    one.getByRole('button', { name: /^Free about/ }).click(),
  ])
  expect(answer.request().postDataJSON()).toEqual({ kinds: ['edge_cache'] })
  const { freed_bytes } = (await answer.json()) as { freed_bytes: number }
  await expect(done).toHaveAccessibleName(freed_bytes > 0 ? /^\d.* freed$/ : 'There was nothing to free')
})

test('a backup is made while the app serves, downloaded, and deleted', async ({ desk, home, repository }) => {
  await home.createProject({ slug: 'buoy', name: 'Buoy', repo_url: repository(app('buoy')).url })
  expect((await home.ended('buoy', (await home.deploy('buoy')).id)).status).toBe('ready')
  await desk.goto(`${home.platform.dashboard_url}instance`)
  await desk.getByRole('navigation', { name: 'Instance' }).getByRole('link', { name: 'Backups' }).click()
  await expect(desk.getByText('None yet. Make one, and keep it on another machine.')).toBeVisible()
  await desk.getByRole('button', { name: 'Make a backup' }).click()
  const rows = desk.getByRole('list', { name: 'Backups', exact: true }).getByRole('listitem')
  await expect(rows).toHaveCount(1)
  const key = desk.getByRole('region', { name: 'What is not in it' })
  await expect(key).toContainText(join(home.data_dir, 'master.key'))
  await expect(desk.getByRole('region', { name: 'To bring one back' })).toContainText(/npx homeport restore \S+\.tar\.gz --data NEW-FOLDER --key \S+/)
  await expectForEverybody(desk, 'backups')

  const [download] = await Promise.all([desk.waitForEvent('download'), rows.getByRole('button', { name: /^Download/ }).click()])
  expect(download.suggestedFilename()).toMatch(/^homeport-.*\.tar\.gz$/)
  const bytes = gunzipSync(await readFile(await download.path()))
  expect(bytes.includes('SQLite format 3')).toBe(true)
  const masterKey = await readFile(join(home.data_dir, 'master.key'))
  expect(bytes.includes(masterKey.toString().trim())).toBe(false)

  await rows.getByRole('button', { name: /^Delete homeport-/ }).click()
  const dialog = desk.getByRole('dialog', { name: 'Delete this backup?' })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(rows).toHaveCount(1)
  await rows.getByRole('button', { name: /^Delete homeport-/ }).click()
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await expect(rows).toHaveCount(0)
})

test('a ledger that was damaged and put right is told on the first page', async ({ page }) => {
  const before = await startTestPlatform({ runtime: 'process' })
  const { data_dir } = before
  await before.createProject({ slug: 'reef', name: 'Reef' })
  // The first copy is made soon after the start, perhaps before there was a project.
  const copies = async () => (await before.api<{ backups: Backup[] }>('GET', '/instance/backups')).body.backups
  await expect.poll(async () => (await copies()).length).toBeGreaterThan(0)
  await before.platform.stop()
  const ledger = join(data_dir, 'homeport.db')
  writeFileSync(ledger, Buffer.concat([Buffer.alloc(4096, 0xaa), (await readFile(ledger)).subarray(4096)]))

  const after = await startTestPlatform({ runtime: 'process', data_dir })
  try {
    if ((await after.project('reef')) === undefined) await after.createProject({ slug: 'reef', name: 'Reef' })
    await signIn(page, await after.platform.signInUrl())
    const banner = page.getByRole('alert').filter({ hasText: 'damaged' })
    await expect(banner).toBeVisible()
    await expectForEverybody(page, 'a ledger that was put right')
    await page.goto(`${after.platform.dashboard_url}instance/backups`)
    await expect(banner).toBeVisible()
  } finally {
    await after.remove()
  }
})
