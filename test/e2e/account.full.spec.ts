import type { Page } from '@playwright/test'
import { greetingAppFiles, expect, expectAccessible, test } from './fixtures.ts'

test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

const list = (dashboard: Page) => dashboard.getByRole('list', { name: 'API tokens' }).getByRole('listitem')

test('shows tokens without expiry, with a long name, and more than a page of them; in both themes, wide and narrow', async ({
  dashboard,
  platform,
}) => {
  const names = ['A token whose name goes on and on, so that no row could ever hold all of it, and then some more of it', ...Array(60).keys()]
  for (const name of names) {
    const response = await platform.api('POST', '/v1/tokens', { name: `${name}`.slice(0, 100), ...(name === 7 ? { expires_in_days: 1 } : {}) })
    expect(response.status).toBe(201)
  }
  await dashboard.goto(`${platform.handle.dashboard_url}account`)
  await expect(list(dashboard)).toHaveCount(50)
  await expect(list(dashboard).first()).toContainText('No expiration')
  await dashboard.getByRole('button', { name: 'Show more' }).click()
  await expect(list(dashboard)).toHaveCount(names.length)
  await expect(dashboard.getByRole('button', { name: 'Show more' })).toBeHidden()
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) {
      await dashboard.emulateMedia({ colorScheme })
      await dashboard.setViewportSize({ width, height: 844 })
      await expectAccessible(dashboard, `tokens, ${colorScheme}, ${width}`)
    }
  }
  await dashboard.goto(`${platform.handle.dashboard_url}account?do=token`)
  await expectAccessible(dashboard, 'making a token on a phone in the dark')
})

test('a new token fits on one line, and closing asks first; notifications survive a reload', async ({ dashboard, platform, createRepository }) => {
  await dashboard.goto(`${platform.handle.dashboard_url}account?do=token`)
  await dashboard.getByLabel('Name').fill('CI')
  await dashboard.getByRole('button', { name: 'Create' }).click()
  const made = dashboard.getByRole('dialog', { name: 'Token “CI”' })
  const secret = made.locator('.secret code')
  expect(await secret.evaluate((code) => code.getClientRects().length)).toBe(1)
  await dashboard.keyboard.press('Escape')
  await expect(made.getByRole('alert')).toContainText('Close without copying?')
  await expectAccessible(dashboard, 'a token that would be lost')
  await made.getByRole('button', { name: 'Copy token' }).last().click()
  await made.getByRole('button', { name: 'Done' }).click()
  await expect(made).toBeHidden()

  await platform.createProject({ slug: 'told', name: 'Told', repo_url: createRepository(greetingAppFiles('told')).url })
  await platform.waitForEnd('told', (await platform.deploy('told')).id)
  const bell = dashboard.getByRole('button', { name: /^Notifications: \d+\+? new/ }).first()
  await expect(bell).toBeVisible()
  await dashboard.reload()
  await bell.click()
  await expect(dashboard.getByRole('menuitem', { name: /Told is ready/ })).toBeVisible()
  await dashboard.keyboard.press('Escape')
  // The next user of this window may be someone else.
  await dashboard.getByRole('button', { name: /owner@/ }).click()
  await dashboard.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(dashboard.getByText('Told is ready')).toHaveCount(0)
  await expect.poll(() => dashboard.evaluate(() => sessionStorage.getItem('homeport.notifications'))).toBe('{}')
})
