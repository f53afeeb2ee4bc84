import type { Page } from '@playwright/test'
import { expect, expectForEverybody, test } from './fixtures.ts'

const list = (desk: Page) => desk.getByRole('list', { name: 'API tokens' }).getByRole('listitem')

test('tokens without an end, of a long name, and more than a page; in both themes, wide and narrow', async ({ desk, home }) => {
  const names = ['A token whose name goes on and on, so that no row could ever hold all of it, and then some more of it', ...Array(60).keys()]
  for (const name of names) {
    const answer = await home.api('POST', '/v1/tokens', { name: `${name}`.slice(0, 100), ...(name === 7 ? { expires_in_days: 1 } : {}) })
    expect(answer.status).toBe(201)
  }
  await desk.goto(`${home.platform.dashboard_url}account`)
  await expect(list(desk)).toHaveCount(50)
  await expect(list(desk).first()).toContainText('No end')
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
