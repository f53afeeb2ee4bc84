import type { Page } from '@playwright/test'
import { app, expect, expectForEverybody, test } from './fixtures.ts'

test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

const list = (desk: Page) => desk.getByRole('list', { name: 'API tokens' }).getByRole('listitem')

test('tokens without an end, of a long name, and more than a page; in both themes, wide and narrow', async ({ desk, home }) => {
  const names = ['A token whose name goes on and on, so that no row could ever hold all of it, and then some more of it', ...Array(60).keys()]
  for (const name of names) {
    const answer = await home.api('POST', '/v1/tokens', { name: `${name}`.slice(0, 100), ...(name === 7 ? { expires_in_days: 1 } : {}) })
    expect(answer.status).toBe(201)
  }
  await desk.goto(`${home.platform.dashboard_url}account`)
  await expect(list(desk)).toHaveCount(50)
  await expect(list(desk).first()).toContainText('No expiration')
  await desk.getByRole('button', { name: 'Show more' }).click()
  await expect(list(desk)).toHaveCount(names.length)
  await expect(desk.getByRole('button', { name: 'Show more' })).toBeHidden()
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) {
      await desk.emulateMedia({ colorScheme })
      await desk.setViewportSize({ width, height: 844 })
      await expectForEverybody(desk, `tokens, ${colorScheme}, ${width}`)
    }
  }
  await desk.goto(`${home.platform.dashboard_url}account?do=token`)
  await expectForEverybody(desk, 'making a token on a phone in the dark')
})

test('a token stands on one line, and is not lost without a question; notices survive a reload', async ({ desk, home, repository }) => {
  await desk.goto(`${home.platform.dashboard_url}account?do=token`)
  await desk.getByLabel('Name').fill('CI')
  await desk.getByRole('button', { name: 'Create' }).click()
  const made = desk.getByRole('dialog', { name: 'The token “CI”' })
  const secret = made.locator('.secret code')
  expect(await secret.evaluate((code) => code.getClientRects().length)).toBe(1)
  await desk.keyboard.press('Escape')
  await expect(made.getByRole('alert')).toContainText('Close without copying?')
  await expectForEverybody(desk, 'a token that would be lost')
  await made.getByRole('button', { name: 'Copy token' }).click()
  await made.getByRole('button', { name: 'Done' }).click()
  await expect(made).toBeHidden()

  await home.createProject({ slug: 'told', name: 'Told', repo_url: repository(app('told')).url })
  await home.ended('told', (await home.deploy('told')).id)
  const bell = desk.getByRole('button', { name: 'Notices: 1 new' }).first()
  await expect(bell).toBeVisible()
  await desk.reload()
  await bell.click()
  await expect(desk.getByRole('menuitem', { name: /Told is ready/ })).toBeVisible()
  await desk.keyboard.press('Escape')
  // The next person in this window may be another one.
  await desk.getByRole('button', { name: /owner@/ }).click()
  await desk.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(desk.getByText('Told is ready')).toHaveCount(0)
  await expect.poll(() => desk.evaluate(() => sessionStorage.getItem('homeport.notices'))).toBe('{}')
})
