import type { Page } from '@playwright/test'
import { createBenchStore } from '../bench/store.ts'
import { type TestPlatform, startTestPlatform } from '../support/platform.ts'
import { expect, test } from './fixtures.ts'
import { signIn } from './screen-navigation.ts'

// The store is created once.
test.describe.configure({ mode: 'default' })

/** Years of use: 10 000 projects, 5 001 deployments of one of them. `npm run bench -- dashboard` measures speed; this checks the rest. */
const fleetTest = test.extend<object, { fleetPlatform: TestPlatform }>({
  fleetPlatform: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright requires the braces
    async ({}, use) => {
      const { data } = await createBenchStore({ deployments: 15_000 })
      const platform = await startTestPlatform({ runtime: 'process', data_dir: data })
      await use(platform)
      await platform.remove()
    },
    { scope: 'worker' },
  ],
})

const recordRequests = (page: Page, path: RegExp) => {
  const urls: string[] = []
  page.on('request', (request) => path.test(request.url()) && urls.push(request.url()))
  return urls
}

/** The maximum number of rows rendered at once while scrolling from top to bottom. */
const countMostRows = (page: Page, row: string) =>
  page.evaluate(async (selector) => {
    let most = 0
    for (let step = 0; step <= 60; step++) {
      window.scrollTo(0, (document.documentElement.scrollHeight * step) / 60)
      await new Promise(requestAnimationFrame)
      most = Math.max(most, document.querySelectorAll(selector).length)
    }
    return most
  }, row)

fleetTest('ten thousand projects: few rows are there at a time, and any of them is found', async ({ fleetPlatform, page }) => {
  const pages = recordRequests(page, /\/v1\/projects\?/)
  const rows = recordRequests(page, /\/v1\/projects\/[^/]+\/deployments\?/)
  await signIn(page, await fleetPlatform.handle.signInUrl())
  const list = page.getByRole('list', { name: 'Projects' })
  await expect(list.getByRole('link', { name: 'Project 9999', exact: true })).toBeVisible()
  const search = page.getByRole('searchbox', { name: 'Search projects' })
  await search.fill('project-42.git team')
  await expect(list.getByRole('link', { name: 'Project 42', exact: true })).toBeVisible()
  await expect(page).toHaveURL(/\?q=project-42.git\+team$/)
  await expect(page.getByRole('status').filter({ hasText: '1 of 10,000 projects' })).toBeVisible()
  // The platform searches, so the page need not load everything.
  expect(new Set(pages).size).toBe(1)
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByRole('dialog').getByRole('combobox').fill('project-77.git')
  await expect(page.getByRole('option', { name: /^Project 77\b/ })).toBeVisible()
  await page.keyboard.press('Escape')
  await search.fill('')
  await expect(page.getByText('100 newest projects; scroll to load more')).toBeVisible()
  for (const count of [200, 300, 400]) {
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight))
    await expect(page.getByText(`${count} newest projects; scroll to load more`)).toBeVisible()
  }
  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight))
  await expect(list.getByRole('link', { name: 'Project 9600', exact: true })).toBeVisible()
  expect(await countMostRows(page, '[data-testid=project-row]')).toBeLessThan(60)
  // Details of the rows are requested in batches, so that many stops while scrolling stay below the rate limit.
  await expect(
    page
      .getByTestId('project-row')
      .filter({ hasText: /Change number/ })
      .first(),
  ).toBeVisible()
  expect(rows).toEqual([])
})

fleetTest('five thousand deployments come as one scrolls, and the oldest by a button', async ({ fleetPlatform, page }) => {
  await signIn(page, await fleetPlatform.handle.signInUrl())
  const pages = recordRequests(page, /\/project-0\/deployments\?limit=100/)
  await page.goto(`${fleetPlatform.handle.dashboard_url}projects/project-0/deployments`)
  const list = page.getByRole('list', { name: 'Deployments' })
  await expect(list.getByText('Change number 14999')).toBeVisible()
  expect(await list.getByRole('listitem').count()).toBeLessThan(60)
  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight))
  await expect(page.getByText('200 most recent deployments; scroll to load more')).toBeVisible()
  await page.getByRole('button', { name: 'Load all' }).click()
  await expect(page.getByText('5,001 deployments', { exact: true })).toBeVisible()
  await expect(list.getByText('Change number 0', { exact: true })).toBeInViewport()
  expect(await list.getByRole('listitem').count()).toBeLessThan(60)
  expect(new Set(pages).size).toBe(51)
  expect(await countMostRows(page, '.deployment-row')).toBeLessThan(60)
})

test('ten windows share one stream, and a change in one soon shows in all', async ({ dashboard, platform: fleetPlatform }) => {
  const windows = [dashboard]
  while (windows.length < 10) {
    const page = await dashboard.context().newPage()
    await page.goto(fleetPlatform.handle.dashboard_url)
    windows.push(page)
  }
  for (const page of windows) await expect(page.locator('.sidebar, .topbar').first()).toBeAttached()
  await expect(windows[9]?.getByRole('heading', { name: /^(Projects|Deploy your first app)$/ }) ?? dashboard.locator('main')).toBeVisible()
  // If each window held its own connection, this request would wait forever. The benchmark measures its speed.
  const status = await dashboard.evaluate(async () => {
    const response = await fetch('/v1/projects', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-homeport-session': localStorage.getItem('homeport.session') ?? '' },
      body: JSON.stringify({ name: 'Shared news', slug: 'shared-news' }),
    })
    return response.status
  })
  expect(status).toBe(201)
  for (const page of windows) await expect(page.getByRole('link', { name: 'Shared news' }).first()).toBeAttached()
})
