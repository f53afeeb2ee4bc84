import { expect } from '@playwright/test'
import { cacheableAppFiles } from '../fixtures.ts'
import { type StoryContext, createReadyProject, goTo } from './story-context.ts'

/** The range is changed, a marker leads to its deployment, and a route with errors to its requests. */
export async function readMetrics(story: StoryContext): Promise<void> {
  const { dashboard, platform, inputDriver, createRepository } = story
  await createReadyProject(story, { slug: 'measured', name: 'Measured', repo_url: createRepository(cacheableAppFiles()).url })
  for (const path of ['/', '/lost', '/lost', '/broken']) await platform.fetchEdge('measured.localhost', path)
  await goTo(story, 'projects/measured')
  await inputDriver.openTab('Metrics')
  const figures = dashboard.getByTestId('figures')
  await expect(figures).toContainText('1 server error (5xx)')
  await inputDriver.press(dashboard.getByRole('radio', { name: '7 days' }))
  await expect(dashboard).toHaveURL(/\?range=7d$/)
  await expect(figures).toContainText('1 server error (5xx)')

  const marker = dashboard.getByRole('region', { name: 'Requests' }).getByRole('link', { name: /^Deployed: / })
  await inputDriver.press(marker)
  await expect(dashboard).toHaveURL(/\/projects\/measured\/deployments\/dpl_\w+$/)
  await dashboard.goBack()

  const routes = dashboard.getByRole('region', { name: 'Routes', exact: true })
  await inputDriver.press(routes.getByRole('radio', { name: 'Most errors' }))
  await expect(routes.getByRole('row').nth(1)).toContainText('GET /broken')
  await inputDriver.press(routes.getByRole('link', { name: 'GET /lost' }))
  await expect(dashboard.getByRole('list', { name: 'Requests' }).getByRole('listitem')).toHaveCount(2)
}
