import { expect } from '@playwright/test'
import { newsstand } from '../fixtures.ts'
import { type Teller, goTo, serving } from './teller.ts'

/** What the cache keeps, and why, is looked at; an address, a tag and everything are purged, and nothing else goes along. */
export async function cachePurged(teller: Teller): Promise<void> {
  const { desk, home, hand, repository } = teller
  await serving(teller, { slug: 'kiosk', name: 'Kiosk', repo_url: repository(newsstand()).url })
  for (const path of ['/news', '/news', '/weather', '/tides']) await home.edge('kiosk.localhost', path)
  await goTo(teller, 'projects/kiosk')
  await hand.openTab('Cache', 'cache what it keeps')
  await expect(desk.getByText('Stored now: 3 answers')).toBeVisible()
  await expect(desk.locator('.cache-key')).toContainText('1 hit')

  const inspector = desk.getByRole('region', { name: 'What does the cache do with this address?' })
  const log = desk.getByRole('region', { name: 'Log', exact: true }).getByRole('listitem')
  await hand.fill(inspector.getByLabel('Path or address'), '/news')
  await hand.press(inspector.getByRole('button', { name: 'Look', exact: true }))
  const verdict = inspector.getByRole('status')
  await expect(verdict).toContainText('Hit: the edge answers by itself')
  await expect(verdict).toContainText('in memory')
  await expect(verdict.locator('.tag')).toHaveText(['news', 'front'])
  await expect(verdict).toContainText(/fresh for another \d+ min/)
  await expect(desk).toHaveURL(/\?url=%2Fnews$/)

  // The address of the page is enough to ask again.
  await desk.reload()
  await expect(verdict).toContainText('Hit')
  await hand.press(inspector.getByRole('button', { name: 'Send a request' }))
  await expect(verdict.getByRole('region', { name: 'The request' })).toContainText('HIT')
  await expect(verdict.getByRole('region', { name: 'The request' })).toContainText('Homeport answered from its store')

  await hand.press(verdict.getByRole('button', { name: 'Purge this address' }))
  await expect(verdict).toContainText('Miss: the app is asked')
  await expect(log.first()).toContainText('By address: 1 stored answer')
  await expect(log.first()).toContainText('from the dashboard')
  await expect(desk.getByText('Stored now: 2 answers')).toBeVisible()

  // A request says what it met, and what it left behind.
  await hand.press(inspector.getByRole('button', { name: 'Send a request' }))
  await expect(verdict.getByRole('region', { name: 'The request' })).toContainText('MISS')
  await expect(verdict).toContainText('Miss: the app is asked')
  await expect(verdict).toContainText('in memory')

  // A tag takes nothing else along.
  const purge = desk.getByRole('region', { name: 'Purge', exact: true })
  await hand.fill(purge.getByLabel('Tags'), 'front, unknown')
  await hand.press(purge.getByRole('button', { name: 'Purge 2 tags' }))
  await expect(desk.getByText('2 stored answers are out.')).toBeVisible()
  await expect(log.first()).toContainText('By tag: 2 stored answers')
  await expect(log.first().locator('.tag')).toHaveText(['front', 'unknown'])
  await expect(desk.getByText('Stored now: 1 answer,')).toBeVisible()
  expect((await home.edge('kiosk.localhost', '/tides')).headers['x-cache']).toBe('HIT')
  expect((await home.edge('kiosk.localhost', '/news')).headers['x-cache']).toBe('MISS')

  const everything = desk.getByRole('button', { name: 'Purge everything…' })
  const dialog = desk.getByRole('dialog', { name: 'Purge everything of Kiosk?' })
  await hand.press(everything)
  await hand.press(dialog.getByRole('button', { name: 'Cancel' }))
  await hand.left(dialog)
  await hand.press(everything)
  await hand.press(dialog.getByRole('button', { name: 'Purge everything' }))
  await hand.left(dialog)
  await expect(log.first()).toContainText('Everything: 2 stored answers')
  await expect(desk.getByText('Stored now: 0 answers')).toBeVisible()
  expect((await home.edge('kiosk.localhost', '/tides')).headers['x-cache']).toBe('MISS')
}
