import type { Page } from '@playwright/test'
import type { TestPlatform } from '../support/platform.ts'
import { expect, cacheableAppFiles, test } from './fixtures.ts'

const inspector = (dashboard: Page) => dashboard.getByRole('region', { name: 'Cache inspector' })
const log = (dashboard: Page) => dashboard.getByRole('region', { name: 'Purge log', exact: true }).getByRole('listitem')

async function open(dashboard: Page, platform: TestPlatform, slug: string, url: string) {
  await platform.createProject({ slug, name: slug, repo_url: url })
  const { status } = await platform.waitForEnd(slug, (await platform.deploy(slug)).id)
  expect(status).toBe('ready')
  for (const path of ['/news', '/news', '/weather', '/tides']) await platform.fetchEdge(`${slug}.localhost`, path)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/${slug}/cache`)
}

async function inspectUrl(dashboard: Page, url: string) {
  await inspector(dashboard).getByLabel('Path or URL').fill(url)
  await inspector(dashboard).getByRole('button', { name: 'Inspect', exact: true }).click()
}

test('reports a URL of another site, an invalid header and too many tags; turned off, it stores nothing', async ({
  dashboard,
  platform,
  createRepository,
}) => {
  await open(dashboard, platform, 'stand', createRepository(cacheableAppFiles()).url)
  await expect(dashboard.getByText('Stored now: 3 responses')).toBeVisible()
  const result = inspector(dashboard).getByRole('status')
  await inspectUrl(dashboard, '/cart')
  await expect(result).toContainText(/Miss|Bypass/)
  await inspectUrl(dashboard, 'https://elsewhere.example.com/')
  await expect(inspector(dashboard).getByRole('alert')).toBeVisible()
  await inspector(dashboard).getByText('Add request headers').click()
  await inspector(dashboard).getByLabel('Request headers').fill('Accept-Language nb')
  await inspector(dashboard).getByRole('button', { name: 'Inspect', exact: true }).click()
  await expect(inspector(dashboard).getByText('“Accept-Language nb” is not a header.')).toBeVisible()

  const purge = dashboard.getByRole('region', { name: 'Purge', exact: true })
  await purge.getByLabel('Tags').fill(Array.from({ length: 51 }, (_, index) => `tag-${index}`).join(' '))
  await expect(purge.getByText('51 entries; purge at most 50 at once.')).toBeVisible()
  await expect(purge.getByRole('button', { name: 'Purge 51 tags' })).toBeDisabled()

  // From anywhere, with the command palette.
  await dashboard.keyboard.press('ControlOrMeta+k')
  await expect(dashboard.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox')).toBeFocused()
  await dashboard.keyboard.type('purge everything')
  await dashboard.keyboard.press('Enter')
  await dashboard.getByRole('dialog', { name: 'Purge the whole cache of stand?' }).getByRole('button', { name: 'Purge everything' }).click()
  await expect(dashboard.getByText('Stored now: 0 responses')).toBeVisible()

  await dashboard.getByRole('switch', { name: 'Cache responses at the edge' }).click()
  await expect(dashboard.getByText('Every request goes to the app')).toBeVisible()
  await expect.poll(async () => (await platform.getProject('stand')).caching_enabled).toBe(false)
  // The setting is readable as soon as it is written; the edge gets it once it is on disk.
  await expect.poll(async () => (await platform.fetchEdge('stand.localhost', '/news')).headers['x-cache']).toBe('BYPASS')
})

test('the token of the webhook is shown once, and its command purges', async ({ dashboard, platform, createRepository }) => {
  await open(dashboard, platform, 'courier', createRepository(cacheableAppFiles()).url)
  await dashboard.getByRole('button', { name: 'Create token' }).click()
  await dashboard.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  const dialog = dashboard.getByRole('dialog', { name: 'Webhook token' })
  const token = await dialog.locator('.secret code').innerText()
  const command = await dialog.getByLabel('Command', { exact: true }).innerText()
  expect(command).toContain(`Authorization: Bearer ${token}`)
  const [, hook = ''] = /POST (\S+)/.exec(command) ?? []
  await dashboard.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await dialog.getByRole('button', { name: 'Copy command' }).click()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(dialog).toBeHidden()
  expect(await dashboard.content()).not.toContain(token)
  await expect(log(dashboard).first()).toContainText('New webhook token')

  const call = (bearer: string) =>
    fetch(hook, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ tags: ['front'] }),
    })
  expect(await (await call(token)).json()).toEqual({ ok: true, purged: 2 })
  // The page refreshes by itself.
  await expect(log(dashboard).first()).toContainText('by the webhook')

  await dashboard.getByRole('button', { name: 'Rotate token…' }).click()
  await dashboard.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await expect(dialog.locator('.secret code')).not.toHaveText(token)
  expect((await call(token)).status).toBe(401)
})
