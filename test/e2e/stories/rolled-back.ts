import { expect } from '@playwright/test'
import { app } from '../fixtures.ts'
import { type Teller, goTo, serving } from './teller.ts'

/** What was live before is live again, without a build. */
export async function rolledBack(teller: Teller): Promise<void> {
  const { desk, home, hand, repository } = teller
  const made = repository(app('old and good'))
  await serving(teller, { slug: 'rolled', name: 'Rolled', repo_url: made.url })
  made.commit(app('new and bad'), 'Make it worse')
  expect((await home.ended('rolled', (await home.deploy('rolled')).id)).status).toBe('ready')
  expect((await home.edge('rolled.localhost')).body).toContain('new and bad')

  await goTo(teller, 'projects/rolled')
  const dialog = desk.getByRole('dialog', { name: 'Roll back' })
  const more = desk.getByRole('button', { name: 'More actions' })
  // Who only looked is back where they were.
  await hand.pick(more, 'Roll back…')
  await hand.press(dialog.getByRole('button', { name: 'Close' }))
  await hand.left(dialog)
  await hand.pick(more, 'Roll back…')
  await hand.press(dialog.getByRole('listitem').filter({ hasText: 'First' }).getByRole('button', { name: 'Roll back to this' }))
  await expect(desk.locator('.report-head')).toContainText('Rolled back')
  await expect(desk.locator('.report-head')).toContainText('Current')
  expect((await home.edge('rolled.localhost')).body).toContain('old and good')
}
