import { expect } from '@playwright/test'
import { type Teller, addressesOf, copied } from './teller.ts'

/** A token is made, shown this once, used, and revoked. */
export async function tokenMintedAndRevoked({ desk, home, hand }: Teller): Promise<void> {
  const addresses = addressesOf(desk)
  const list = desk.getByRole('list', { name: 'API tokens' }).getByRole('listitem')
  await hand.openPage('Account', 'account api tokens')
  await expect(desk.getByRole('heading', { name: 'Account', exact: true })).toBeVisible()
  await expect(desk.getByRole('heading', { name: 'No tokens yet', exact: true })).toBeVisible()

  await hand.press(desk.getByRole('button', { name: 'Create token' }))
  const making = desk.getByRole('dialog', { name: 'Create token' })
  await expect(making.getByLabel('Name')).toBeFocused()
  await expect(making.getByRole('button', { name: 'Create' })).toBeDisabled()
  await hand.fill(making.getByLabel('Name'), 'Deploys from CI')
  await hand.choose(making.getByLabel('Expires in'), '30 days')
  await hand.press(making.getByRole('button', { name: 'Create' }))

  const made = desk.getByRole('dialog', { name: 'The token “Deploys from CI”' })
  await expect(made).toContainText('shown this once')
  await hand.press(made.getByRole('button', { name: 'Copy the token' }))
  await expect.poll(() => copied(desk)).toMatch(/^svc_[0-9A-Za-z]{49}$/)
  const token = await copied(desk)
  await expect(made.locator('code').first()).toHaveText(token)
  await hand.press(made.getByRole('button', { name: 'Done' }))
  await hand.left(made)
  await expect(list).toHaveCount(1)
  await expect(list).toContainText(`svc_…${token.slice(-4)}`)
  await expect(list).toContainText('Never used')
  await expect(list).toContainText('Expires ')
  expect(await desk.content()).not.toContain(token)
  expect(addresses.filter((address) => address.includes(token))).toEqual([])

  // It signs a program in, and that is told.
  expect((await home.api('GET', '/v1/projects', undefined, token)).status).toBe(200)
  await desk.reload()
  await expect(list).toContainText('Used just now')
  expect(await desk.content()).not.toContain(token)

  const revoke = list.getByRole('button', { name: 'Revoke Deploys from CI…' })
  const revoking = desk.getByRole('dialog', { name: 'Revoke “Deploys from CI”?' })
  await hand.press(revoke)
  await hand.press(revoking.getByRole('button', { name: 'Cancel' }))
  await hand.left(revoking)
  await expect(list).toHaveCount(1)
  await hand.press(revoke)
  await hand.press(revoking.getByRole('button', { name: 'Revoke', exact: true }))
  await hand.left(revoking)
  await expect(desk.getByRole('heading', { name: 'No tokens yet', exact: true })).toBeVisible()
  expect((await home.api('GET', '/v1/projects', undefined, token)).status).toBe(401)
}
