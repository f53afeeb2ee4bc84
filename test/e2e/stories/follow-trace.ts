import { expect } from '@playwright/test'
import { handTracedApp } from '../../tracing/traced-app.ts'
import { type StoryContext, createReadyProject, goTo } from './story-context.ts'

/** A slow request is opened in the request log, and its trace shows the statement that failed. */
export async function followTrace(story: StoryContext): Promise<void> {
  const { dashboard, platform, inputDriver, createRepository } = story
  await createReadyProject(story, { slug: 'orders', name: 'Orders', repo_url: createRepository(handTracedApp).url })
  await platform.fetchEdge('orders.localhost', '/orders/7')
  await goTo(story, 'projects/orders')
  await inputDriver.openTab('Logs', { name: 'Requests', words: 'requests' })
  await inputDriver.press(dashboard.getByRole('button', { name: /GET.*\/orders\/7/ }))
  await inputDriver.press(dashboard.getByRole('dialog').getByRole('link', { name: 'Show trace' }))

  const spans = dashboard.getByRole('list', { name: 'Spans' })
  const statement = spans.getByRole('button', { name: /^SELECT shop/ })
  await expect(async () => {
    await dashboard.getByRole('button', { name: 'Refresh' }).click()
    await expect(statement).toBeVisible({ timeout: 1_000 })
  }).toPass()
  await expect(spans.getByRole('button', { name: /^edge GET \/orders\/7/ })).toBeVisible()
  await inputDriver.press(statement)
  const dialog = dashboard.getByRole('dialog', { name: 'SELECT shop' })
  await expect(dialog.getByRole('region', { name: 'SQL' })).toContainText('SELECT * FROM orders WHERE id = $1')
  await expect(dialog).toContainText('relation "orders" does not exist')
  await inputDriver.press(dialog.getByRole('button', { name: 'Close' }))
  await inputDriver.expectClosed(dialog)
}
