import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { har } from '../support/har.ts'
import { greetingAppFiles, expect, test } from './fixtures.ts'

const lines = (page: Page) => page.getByTestId('log-line')

test('the log of an app follows, holds its position on scroll, and never stops by accident', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'chatty', name: 'Chatty', repo_url: createRepository(greetingAppFiles('chatty')).url })
  await platform.waitForEnd('chatty', (await platform.deploy('chatty')).id)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/chatty/logs`)
  await expect(lines(dashboard).filter({ hasText: 'chatty listens' })).toBeVisible()
  await expect(lines(dashboard).filter({ hasText: /running \(#1 / })).toBeVisible()
  await expect(dashboard.locator('.ink-cyan')).toHaveText('chatty')

  // A burst, a resize of the window, and another burst: the newest line stays visible all the time.
  await platform.fetchEdge('chatty.localhost', '/many/3000')
  await expect(lines(dashboard).filter({ hasText: /line 2999$/ })).toBeInViewport()
  await dashboard.setViewportSize({ width: 900, height: 700 })
  await platform.fetchEdge('chatty.localhost', '/many/500')
  await expect(
    lines(dashboard)
      .filter({ hasText: /line 499$/ })
      .last(),
  ).toBeInViewport()
  await dashboard.setViewportSize({ width: 1280, height: 820 })
  await platform.fetchEdge('chatty.localhost', '/still-here')
  await expect(lines(dashboard).filter({ hasText: 'to /still-here' })).toBeInViewport()
  await expect(dashboard.getByRole('button', { name: 'Stop following' })).toBeVisible()

  // The search is part of the address.
  await dashboard.getByRole('searchbox', { name: 'Search log' }).fill('still-here')
  await expect(dashboard).toHaveURL(/search=still-here/)
  await dashboard.reload()
  await expect(lines(dashboard)).toHaveCount(1)
  await dashboard.getByRole('searchbox', { name: 'Search log' }).fill('')
  await expect(dashboard).not.toHaveURL(/search=/)

  // Manual scrolling holds the position, and counts new lines.
  // Step by step, like a wheel: a scroll counts as manual for a moment after a step, and each could fail.
  await dashboard.getByTestId('log-scroller').hover()
  for (let notch = 0; notch < 10; notch++) await dashboard.mouse.wheel(0, -200)
  await expect(dashboard.getByRole('button', { name: 'Follow new lines' })).toBeVisible()
  await platform.fetchEdge('chatty.localhost', '/many/41')
  await dashboard.getByRole('button', { name: '42 new lines' }).click()
  await expect(
    lines(dashboard)
      .filter({ hasText: /line 40$/ })
      .last(),
  ).toBeInViewport()
})

test('a request ID in a line leads to the request, by keyboard', async ({ dashboard, platform, createRepository }) => {
  const files = greetingAppFiles('linked')
  const server = files['server.js']?.replace("' to ' + request.url", "' by \\x1b[31m' + request.headers['x-request-id']")
  await platform.createProject({ slug: 'linked', name: 'Linked', repo_url: createRepository({ ...files, 'server.js': server ?? '' }).url })
  await platform.waitForEnd('linked', (await platform.deploy('linked')).id)
  const id = String((await platform.fetchEdge('linked.localhost', '/from-the-log')).headers['x-request-id'])
  await dashboard.goto(`${platform.handle.dashboard_url}projects/linked/logs`)
  await lines(dashboard).getByRole('link', { name: id }).focus()
  await dashboard.keyboard.press('Enter')
  await expect(dashboard).toHaveURL(`${platform.handle.dashboard_url}projects/linked/logs/requests?request=${id}`)
  const dialog = dashboard.getByRole('dialog', { name: 'GET /from-the-log' })
  const download = dashboard.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Download HAR' }).click()
  const { log } = har.parse(JSON.parse(readFileSync(await (await download).path(), 'utf8')))
  expect(log.entries).toMatchObject([{ comment: id, response: { status: 200 } }])
  await dashboard.keyboard.press('Escape')
  const list = dashboard.waitForEvent('download')
  await dashboard.getByRole('button', { name: 'Download HAR' }).click()
  expect((await list).suggestedFilename()).toBe('linked-requests.har')
})

test('a hidden log pauses, and resumes without a gap or a repeat', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'resting', name: 'Resting', repo_url: createRepository(greetingAppFiles('resting')).url })
  await platform.waitForEnd('resting', (await platform.deploy('resting')).id)
  const streams: string[] = []
  dashboard.on('request', (request) => request.url().includes('/runtime-logs') && streams.push(request.headers()['last-event-id'] ?? ''))
  await dashboard.goto(`${platform.handle.dashboard_url}projects/resting/logs`)
  await expect(lines(dashboard).filter({ hasText: 'resting listens' })).toBeVisible()
  await platform.fetchEdge('resting.localhost', '/before')
  await expect(lines(dashboard).filter({ hasText: 'to /before' })).toBeVisible()

  // Headless tabs are always visible, so this one is told that it is hidden.
  const look = (state: string) =>
    dashboard.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, state)
  const ended = dashboard.waitForEvent('requestfailed', (request) => request.url().includes('/runtime-logs'))
  await look('hidden')
  await ended
  await platform.fetchEdge('resting.localhost', '/meanwhile')
  await look('visible')
  await expect(lines(dashboard).filter({ hasText: 'to /meanwhile' })).toHaveCount(1)
  await expect(lines(dashboard).filter({ hasText: 'to /before' })).toHaveCount(1)
  expect(streams).toHaveLength(2)
  expect(streams[1]).not.toBe('')
})

test('search, filter, copy and download', async ({ dashboard, platform, createRepository }) => {
  await dashboard.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await platform.createProject({
    slug: 'sought',
    name: 'Sought',
    repo_url: createRepository(greetingAppFiles('sought', "console.log('a\\rb\\rprogress 100 %'); console.error('WARN a warning')")).url,
  })
  const { id } = await platform.waitForEnd('sought', (await platform.deploy('sought')).id)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/sought/deployments/${id}`)
  await expect(lines(dashboard).filter({ hasText: 'progress 100 %' }).getByTestId('log-text')).toHaveText('progress 100 %')

  await dashboard.getByRole('searchbox', { name: 'Search log' }).fill('PROGRESS')
  await expect(lines(dashboard)).toHaveCount(1)
  await expect(lines(dashboard).locator('mark')).toHaveText('progress')
  await dashboard.getByRole('button', { name: 'Copy filtered lines' }).click()
  await expect(dashboard.getByText('1 line copied.')).toBeVisible()
  expect(await dashboard.evaluate(() => navigator.clipboard.readText())).toBe('progress 100 %\n')

  await dashboard.getByRole('searchbox', { name: 'Search log' }).fill('')
  await dashboard.getByRole('combobox', { name: 'Log level' }).selectOption('Errors only')
  await expect(lines(dashboard).filter({ hasText: 'a warning' })).toHaveCount(0)
  await dashboard.getByRole('combobox', { name: 'Log level' }).selectOption('stderr')
  await expect(lines(dashboard).filter({ hasText: 'a warning' })).toBeVisible()
  await expect(lines(dashboard).filter({ hasText: 'progress' })).toHaveCount(0)
  const [download] = await Promise.all([
    dashboard.waitForEvent('download'),
    dashboard.getByRole('button', { name: 'Download filtered lines' }).click(),
  ])
  expect(download.suggestedFilename()).toBe(`sought-${id}.log`)

  await dashboard.getByRole('button', { name: 'Download full log' }).click()
  const [whole] = await Promise.all([dashboard.waitForEvent('download'), dashboard.getByRole('menuitem', { name: 'Full log as NDJSON' }).click()])
  expect(whole.suggestedFilename()).toBe(`sought-${id}.ndjson`)
  expect(readFileSync(await whole.path(), 'utf8')).toMatch(/"line":".*progress 100 %"}\n/)
})

test('the output of an app is shown as text, whatever it contains', async ({ dashboard, platform, createRepository }) => {
  const hostile = String.raw`console.log('</script><img src=x onerror="document.title=1">'); console.log('\x1b]8;;javascript:alert(1)\x07click\x1b]8;;\x07 me'); console.log('x'.repeat(12000)); console.log('\n\nevent: status\ndata: {"status":"ready"}\n\n')`
  await platform.createProject({ slug: 'hostile', name: '<b>Hostile</b>', repo_url: createRepository(greetingAppFiles('hostile', hostile)).url })
  const { id } = await platform.waitForEnd('hostile', (await platform.deploy('hostile')).id)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/hostile/deployments/${id}`)
  await expect(dashboard.getByRole('heading', { name: '<b>Hostile</b>', exact: true })).toBeVisible()
  await dashboard.getByRole('searchbox', { name: 'Search log' }).fill('script>')
  await expect(lines(dashboard).first()).toContainText('</script><img src=x onerror=')
  await dashboard.getByRole('searchbox', { name: 'Search log' }).fill('click')
  await expect(lines(dashboard).first().getByTestId('log-text')).toHaveText('click me')
  expect(await dashboard.locator('[data-testid=log-panel] a, [data-testid=log-panel] img').count()).toBe(0)
})

test('of 100 000 lines only the visible ones are rendered, and search finds any', async ({ dashboard, platform, createRepository }) => {
  const flood =
    "for (let line = 0; line < 100000; line++) console.log('\\x1b[32mcompiled\\x1b[0m module ' + line + ' of the fleet, with its sails and its anchors')"
  await platform.createProject({ slug: 'flood', name: 'Flood', repo_url: createRepository(greetingAppFiles('flood', flood)).url })
  const { id } = await platform.waitForEnd('flood', (await platform.deploy('flood')).id)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/flood/deployments/${id}`)
  await expect(dashboard.getByTestId('log-foot')).toContainText(/100,\d{3} lines/)
  await expect(dashboard.getByTestId('log-foot')).toContainText('Complete')

  // `npm run bench -- dashboard` measures smoothness; here only visible lines may be rendered.
  const most = await dashboard.getByTestId('log-scroller').evaluate(async (scroller) => {
    let rows = 0
    for (let step = 0; step < 90; step++) {
      scroller.scrollTop = (scroller.scrollHeight * step) / 90
      await new Promise(requestAnimationFrame)
      rows = Math.max(rows, scroller.querySelectorAll('[data-testid=log-line]').length)
    }
    return rows
  })
  expect(most).toBeGreaterThan(5)
  expect(most).toBeLessThan(120)
  expect(await lines(dashboard).count()).toBeLessThan(120)

  await dashboard.getByRole('searchbox', { name: 'Search log' }).fill('module 77777 ')
  await expect(lines(dashboard)).toHaveCount(1)
})

test('a search over all projects opens a line in its log, with what was before and after it', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'sought', name: 'Sought', repo_url: createRepository(greetingAppFiles('sought')).url })
  await platform.waitForEnd('sought', (await platform.deploy('sought')).id)
  await platform.fetchEdge('sought.localhost', '/many/2000')
  await dashboard.goto(`${platform.handle.dashboard_url}logs`)
  await dashboard.getByRole('searchbox', { name: 'Search all logs' }).fill('"line 700"')
  const found = dashboard.getByRole('region', { name: 'Lines' }).getByRole('link', { name: /line 700/ })
  await expect(found).toHaveCount(1)
  await found.click()
  await expect(dashboard).toHaveURL(/\/projects\/sought\/logs\?around=\d+$/)
  await expect(lines(dashboard).filter({ hasText: /line 700$/ })).toBeInViewport()
  await dashboard.getByRole('button', { name: 'Earlier lines' }).click()
  await expect(dashboard.getByText('400 lines')).toBeVisible()
  await expect(lines(dashboard).filter({ hasText: /line 600$/ })).toBeInViewport()
  await dashboard.getByRole('button', { name: 'Later lines' }).click()
  await expect(dashboard.getByText('600 lines')).toBeVisible()
  await dashboard.getByRole('button', { name: 'Back to live output' }).click()
  await expect(lines(dashboard).filter({ hasText: /line 1999$/ })).toBeInViewport()
  await dashboard.getByRole('button', { name: 'Jump to time…' }).click()
  await dashboard.getByRole('textbox', { name: 'Time' }).fill('2020-01-01T00:00:00')
  await dashboard.getByRole('button', { name: 'Jump', exact: true }).click()
  await expect(lines(dashboard).filter({ hasText: 'sought listens' })).toBeVisible()
})
