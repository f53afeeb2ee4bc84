import { expect } from '@playwright/test'
import { type StoryContext, recordRequestUrls, readClipboard } from './story-context.ts'

/** A token is created, shown once, used, and revoked. */
export async function createAndRevokeToken({ dashboard, platform, inputDriver }: StoryContext): Promise<void> {
  const addresses = recordRequestUrls(dashboard)
  const list = dashboard.getByRole('list', { name: 'API tokens' }).getByRole('listitem')
  await inputDriver.openPage('Account', 'account api tokens')
  await expect(dashboard.getByRole('heading', { name: 'Account', exact: true })).toBeVisible()
  await expect(dashboard.getByRole('heading', { name: 'No tokens yet', exact: true })).toBeVisible()

  await inputDriver.press(dashboard.getByRole('button', { name: 'Create token' }))
  const making = dashboard.getByRole('dialog', { name: 'Create token' })
  await expect(making.getByLabel('Name')).toBeFocused()
  await expect(making.getByRole('button', { name: 'Create' })).toBeDisabled()
  await inputDriver.fill(making.getByLabel('Name'), 'Deploys from CI')
  await inputDriver.choose(making.getByLabel('Scope'), 'Read')
  await inputDriver.choose(making.getByLabel('Expires in'), '30 days')
  await inputDriver.press(making.getByRole('button', { name: 'Create' }))

  const made = dashboard.getByRole('dialog', { name: 'Token “Deploys from CI”' })
  await expect(made).toContainText('not shown again')
  await inputDriver.press(made.getByRole('button', { name: 'Copy token' }))
  await expect.poll(() => readClipboard(dashboard)).toMatch(/^svc_[0-9A-Za-z]{49}$/)
  const token = await readClipboard(dashboard)
  await expect(made.locator('code').first()).toHaveText(token)
  await inputDriver.press(made.getByRole('button', { name: 'Done' }))
  await inputDriver.expectClosed(made)
  await expect(list).toHaveCount(1)
  await expect(list).toContainText(`svc_…${token.slice(-4)}`)
  await expect(list).toContainText('Never used')
  await expect(list).toContainText('Read')
  await expect(list).toContainText('Expires ')
  expect(await dashboard.content()).not.toContain(token)
  expect(addresses.filter((address) => address.includes(token))).toEqual([])

  // It authenticates a program, and its use is shown.
  expect((await platform.api('GET', '/v1/projects', undefined, token)).status).toBe(200)
  await dashboard.reload()
  await expect(list).toContainText('Used just now')
  expect(await dashboard.content()).not.toContain(token)

  const revoke = list.getByRole('button', { name: 'Revoke Deploys from CI…' })
  const revoking = dashboard.getByRole('dialog', { name: 'Revoke “Deploys from CI”?' })
  await inputDriver.press(revoke)
  await inputDriver.press(revoking.getByRole('button', { name: 'Cancel' }))
  await inputDriver.expectClosed(revoking)
  await expect(list).toHaveCount(1)
  await inputDriver.press(revoke)
  await inputDriver.press(revoking.getByRole('button', { name: 'Revoke token' }))
  await inputDriver.expectClosed(revoking)
  await expect(dashboard.getByRole('heading', { name: 'No tokens yet', exact: true })).toBeVisible()
  expect((await platform.api('GET', '/v1/projects', undefined, token)).status).toBe(401)
}
