import type { Page } from '@playwright/test'
import { expect, expectForEverybody, test } from './fixtures.ts'

test.use({ harbour: 'account' })

const list = (desk: Page) => desk.getByRole('list', { name: 'API tokens' }).getByRole('listitem')

test('a token is made, shown this once, used, and revoked', async ({ desk, home }) => {
  await desk.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const addresses: string[] = []
  desk.on('request', (request) => addresses.push(request.url()))
  await desk.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Account' }).click()
  await expect(desk.getByRole('heading', { name: 'Account', exact: true })).toBeVisible()
  await expect(desk.getByRole('heading', { name: 'No tokens yet' })).toBeVisible()
  await expectForEverybody(desk, 'no tokens')

  // By keys alone.
  await desk.keyboard.press('ControlOrMeta+k')
  await expect(desk.getByRole('dialog', { name: 'Find or do' }).getByRole('combobox')).toBeFocused()
  await desk.keyboard.type('make an api token')
  await desk.keyboard.press('Enter')
  const making = desk.getByRole('dialog', { name: 'Make a token' })
  await expect(making.getByLabel('Name')).toBeFocused()
  await expect(making.getByRole('button', { name: 'Make it' })).toBeDisabled()
  await desk.keyboard.type('Deploys from CI')
  await making.getByLabel('Holds for').selectOption('30 days')
  await expectForEverybody(desk, 'making a token')
  await making.getByRole('button', { name: 'Make it' }).click()

  const made = desk.getByRole('dialog', { name: 'The token “Deploys from CI”' })
  await expect(made).toContainText('shown this once')
  await expectForEverybody(desk, 'a token that was made')
  await made.getByRole('button', { name: 'Copy the token' }).click()
  await expect.poll(() => desk.evaluate(() => navigator.clipboard.readText())).toMatch(/^svc_[0-9A-Za-z]{49}$/)
  const token = await desk.evaluate(() => navigator.clipboard.readText())
  await expect(made.locator('code').first()).toHaveText(token)
  await made.getByRole('button', { name: 'Done' }).click()
  await expect(made).toBeHidden()
  await expect(desk).toHaveURL(/\/account$/)
  await expect(list(desk)).toHaveCount(1)
  await expect(list(desk)).toContainText(`svc_…${token.slice(-4)}`)
  await expect(list(desk)).toContainText('Never used')
  await expect(list(desk)).toContainText('Until ')
  expect(await desk.content()).not.toContain(token)
  expect(addresses.filter((address) => address.includes(token))).toEqual([])

  // It signs a program in, and that is told.
  expect((await home.api('GET', '/v1/projects', undefined, token)).status).toBe(200)
  await desk.reload()
  await expect(list(desk)).toContainText('Used just now')
  expect(await desk.content()).not.toContain(token)
  await expectForEverybody(desk, 'tokens')

  await list(desk).getByRole('button', { name: 'Revoke Deploys from CI…' }).click()
  const revoking = desk.getByRole('dialog', { name: 'Revoke “Deploys from CI”?' })
  await expectForEverybody(desk, 'a token about to be revoked')
  await revoking.getByRole('button', { name: 'Keep it' }).click()
  await expect(list(desk)).toHaveCount(1)
  await list(desk).getByRole('button', { name: 'Revoke Deploys from CI…' }).click()
  await revoking.getByRole('button', { name: 'Revoke', exact: true }).click()
  await expect(desk.getByRole('heading', { name: 'No tokens yet' })).toBeVisible()
  expect((await home.api('GET', '/v1/projects', undefined, token)).status).toBe(401)
})

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
