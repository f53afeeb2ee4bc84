import { expect } from '@playwright/test'
import { isFullTier } from '../../support/tier.ts'
import { cacheableAppFiles } from '../fixtures.ts'
import { type StoryContext, goTo, createReadyProject } from './story-context.ts'

/** The cache inspector shows what is stored and why; a URL, a tag and everything are purged, and nothing else. */
export async function purgeCache(story: StoryContext): Promise<void> {
  const { dashboard, platform, inputDriver, createRepository } = story
  await createReadyProject(story, { slug: 'kiosk', name: 'Kiosk', repo_url: createRepository(cacheableAppFiles()).url })
  for (const path of ['/news', '/news', '/weather', '/tides']) await platform.fetchEdge('kiosk.localhost', path)
  await goTo(story, 'projects/kiosk')
  await inputDriver.openTab('Settings', { name: 'Cache', words: 'cache status and inspector' })
  await expect(dashboard.getByText('Stored now: 3 responses')).toBeVisible()
  await expect(dashboard.getByTestId('cache-legend')).toContainText('1 hit')

  const inspector = dashboard.getByRole('region', { name: 'Cache inspector' })
  const log = dashboard.getByRole('region', { name: 'Purge log', exact: true }).getByRole('listitem')
  await inputDriver.fill(inspector.getByLabel('Path or URL'), '/news')
  await inputDriver.press(inspector.getByRole('button', { name: 'Inspect', exact: true }))
  const result = inspector.getByRole('status')
  await expect(result).toContainText('Hit: served by the edge')
  await expect(result).toContainText('in memory')
  await expect(result.getByTestId('tag')).toHaveText(['news', 'front'])
  await expect(result).toContainText(/fresh for another \d+ min/)
  await expect(dashboard).toHaveURL(/\?url=%2Fnews$/)

  // The path is enough for another request.
  if (isFullTier) await dashboard.reload()
  await expect(result).toContainText('Hit')
  await inputDriver.press(inspector.getByRole('button', { name: 'Send a request' }))
  await expect(result.getByRole('region', { name: 'Test request' })).toContainText('HIT')
  await expect(result.getByRole('region', { name: 'Test request' })).toContainText('Homeport served a stored response')

  await inputDriver.press(result.getByRole('button', { name: 'Purge this URL' }))
  await expect(result).toContainText('Miss: served by the app')
  await expect(log.first()).toContainText('By URL: 1 stored response')
  await expect(log.first()).toContainText('from the dashboard')
  await expect(dashboard.getByText('Stored now: 2 responses')).toBeVisible()

  // A request shows its cache result, and what it stored.
  await inputDriver.press(inspector.getByRole('button', { name: 'Send a request' }))
  await expect(result.getByRole('region', { name: 'Test request' })).toContainText('MISS')
  await expect(result).toContainText('Miss: served by the app')
  await expect(result).toContainText('in memory')

  // Purging a tag leaves other responses.
  const purge = dashboard.getByRole('region', { name: 'Purge', exact: true })
  await inputDriver.fill(purge.getByLabel('Tags'), 'front, unknown')
  await inputDriver.press(purge.getByRole('button', { name: 'Purge 2 tags' }))
  await expect(dashboard.getByText('Purged 2 stored responses.')).toBeVisible()
  await expect(log.first()).toContainText('By tag: 2 stored responses')
  await expect(log.first().getByTestId('tag')).toHaveText(['front', 'unknown'])
  await expect(dashboard.getByText('Stored now: 1 response,')).toBeVisible()
  expect((await platform.fetchEdge('kiosk.localhost', '/tides')).headers['x-cache']).toBe('HIT')
  expect((await platform.fetchEdge('kiosk.localhost', '/news')).headers['x-cache']).toBe('MISS')

  const everything = dashboard.getByRole('button', { name: 'Purge everything…' })
  const dialog = dashboard.getByRole('dialog', { name: 'Purge the whole cache of Kiosk?' })
  await inputDriver.press(everything)
  await inputDriver.press(dialog.getByRole('button', { name: 'Cancel' }))
  await inputDriver.expectClosed(dialog)
  await inputDriver.press(everything)
  await inputDriver.press(dialog.getByRole('button', { name: 'Purge everything' }))
  await inputDriver.expectClosed(dialog)
  await expect(log.first()).toContainText('Everything: 2 stored responses')
  await expect(dashboard.getByText('Stored now: 0 responses')).toBeVisible()
  expect((await platform.fetchEdge('kiosk.localhost', '/tides')).headers['x-cache']).toBe('MISS')
}
