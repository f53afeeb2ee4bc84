import type { Page } from '@playwright/test'
import type { Preview, Watching } from '../../server/contract/previews.ts'
import type { Screen } from './screen.ts'

/** The first preview is of a pull request, and previews of pull requests are on. */
async function withPullRequests(page: Page): Promise<void> {
  await page.route('**/v1/projects/*/previews', async (route) => {
    const response = await route.fetch()
    const { previews } = (await response.json()) as { previews: Preview[] }
    const changed = previews.map((one, index) =>
      index === 0 ? { ...one, branch: 'pull/12', host: 'pr-12--harbour-shop.localhost', url: 'http://pr-12--harbour-shop.localhost:4680' } : one,
    )
    await route.fulfill({ response, json: { previews: changed } })
  })
  await page.route('**/instance/projects/*/watching', async (route) => {
    const response = await route.fetch()
    const { watching } = (await response.json()) as { watching: Watching }
    await route.fulfill({ response, json: { watching: { ...watching, pull_requests: true } } })
  })
}

export const pullRequestScreens: Screen[] = [{ name: 'previews-pull-requests', path: 'projects/harbour-shop/previews', before: withPullRequests }]
