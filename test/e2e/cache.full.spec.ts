import type { Page } from '@playwright/test'
import type { TestPlatform } from '../support/platform.ts'
import { expect, newsstand, test } from './fixtures.ts'

const inspector = (desk: Page) => desk.getByRole('region', { name: 'What does the cache do with this address?' })
const log = (desk: Page) => desk.getByRole('region', { name: 'Log', exact: true }).getByRole('listitem')

async function open(desk: Page, home: TestPlatform, slug: string, url: string) {
  await home.createProject({ slug, name: slug, repo_url: url })
  const { status } = await home.ended(slug, (await home.deploy(slug)).id)
  expect(status).toBe('ready')
  for (const path of ['/news', '/news', '/weather', '/tides']) await home.edge(`${slug}.localhost`, path)
  await desk.goto(`${home.platform.dashboard_url}projects/${slug}/cache`)
}

async function look(desk: Page, url: string) {
  await inspector(desk).getByLabel('Path or address').fill(url)
  await inspector(desk).getByRole('button', { name: 'Look', exact: true }).click()
}

test('an address elsewhere, a header that is none and too many tags are said; off keeps nothing', async ({ desk, home, repository }) => {
  await open(desk, home, 'stand', repository(newsstand()).url)
  await expect(desk.getByText('Stored now: 3 answers')).toBeVisible()
  const verdict = inspector(desk).getByRole('status')
  await look(desk, '/cart')
  await expect(verdict).toContainText(/Miss|Bypass/)
  await look(desk, 'https://elsewhere.example.com/')
  await expect(inspector(desk).getByRole('alert')).toBeVisible()
  await inspector(desk).getByText('With request headers').click()
  await inspector(desk).getByLabel('Request headers').fill('Accept-Language nb')
  await inspector(desk).getByRole('button', { name: 'Look', exact: true }).click()
  await expect(inspector(desk).getByText('“Accept-Language nb” is not a header.')).toBeVisible()

  const purge = desk.getByRole('region', { name: 'Purge', exact: true })
  await purge.getByLabel('Tags').fill(Array.from({ length: 51 }, (_, index) => `tag-${index}`).join(' '))
  await expect(purge.getByText('These are 51; at most 50 go at once.')).toBeVisible()
  await expect(purge.getByRole('button', { name: 'Purge 51 tags' })).toBeDisabled()

  // From anywhere, by the palette.
  await desk.keyboard.press('ControlOrMeta+k')
  await expect(desk.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox')).toBeFocused()
  await desk.keyboard.type('purge everything')
  await desk.keyboard.press('Enter')
  await desk.getByRole('dialog', { name: 'Purge everything of stand?' }).getByRole('button', { name: 'Purge everything' }).click()
  await expect(desk.getByText('Stored now: 0 answers')).toBeVisible()

  await desk.getByRole('switch', { name: 'Keep answers at the edge' }).click()
  await expect(desk.getByText('Every request goes to the app')).toBeVisible()
  await expect.poll(async () => (await home.project('stand')).caching_enabled).toBe(false)
  // It can be read as soon as it is written; the edge is told when that has reached the disk.
  await expect.poll(async () => (await home.edge('stand.localhost', '/news')).headers['x-cache']).toBe('BYPASS')
})

test('the token of the webhook is shown once, and its command purges', async ({ desk, home, repository }) => {
  await open(desk, home, 'courier', repository(newsstand()).url)
  await desk.getByRole('button', { name: 'Create token' }).click()
  await desk.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  const dialog = desk.getByRole('dialog', { name: 'The token of the webhook' })
  const token = await dialog.locator('.secret code').innerText()
  const command = await dialog.getByLabel('Command', { exact: true }).innerText()
  expect(command).toContain(`Authorization: Bearer ${token}`)
  const [, hook = ''] = /POST (\S+)/.exec(command) ?? []
  await desk.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await dialog.getByRole('button', { name: 'Copy the command' }).click()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(dialog).toBeHidden()
  expect(await desk.content()).not.toContain(token)
  await expect(log(desk).first()).toContainText('New token for the webhook')

  const call = (bearer: string) =>
    fetch(hook, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ tags: ['front'] }),
    })
  expect(await (await call(token)).json()).toEqual({ ok: true, purged: 2 })
  // The page looks again by itself.
  await expect(log(desk).first()).toContainText('by the webhook')

  await desk.getByRole('button', { name: 'Rotate the token…' }).click()
  await desk.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await expect(dialog.locator('.secret code')).not.toHaveText(token)
  expect((await call(token)).status).toBe(401)
})
