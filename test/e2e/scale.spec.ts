import { expect, test } from './fixtures.ts'

test.use({ harbour: 'scale' })

test('ten thousand projects: the list is quick, and any of them is found', async ({ desk, home }) => {
  test.setTimeout(240_000)
  await home.api('PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000 })
  // A window that hears of ten thousand new projects in half a minute is another story.
  await desk.goto('about:blank')
  for (let first = 0; first < 10_000; first += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        home.createProject({ slug: `berth-${String(first + index).padStart(5, '0')}`, name: `Berth ${first + index}` }),
      ),
    )
  }
  const began = Date.now()
  await desk.goto(home.platform.dashboard_url)
  const list = desk.getByRole('list', { name: 'Projects' })
  await expect(list.getByRole('listitem').first()).toBeVisible()
  console.log(`      first rows after ${Date.now() - began} ms`)
  expect(await list.getByRole('listitem').count()).toBeLessThan(60)

  const searching = Date.now()
  await desk.getByRole('searchbox', { name: 'Search projects' }).fill('berth-00042')
  await expect(list.getByRole('link', { name: 'Berth 42', exact: true })).toBeVisible({ timeout: 60_000 })
  console.log(`      the oldest but 42 found after ${Date.now() - searching} ms`)
  await expect(desk).toHaveURL(/\?q=berth-00042$/)

  await desk.getByRole('searchbox', { name: 'Search projects' }).fill('')
  await expect(desk.getByText('10,000 projects')).toBeVisible()
  const frames = await desk.evaluate(async () => {
    const times: number[] = []
    let before = await new Promise<number>(requestAnimationFrame)
    for (let step = 1; step <= 60; step++) {
      window.scrollTo(0, (document.documentElement.scrollHeight * step) / 60)
      const now = await new Promise<number>(requestAnimationFrame)
      times.push(now - before)
      before = now
    }
    return times.toSorted((a, b) => a - b)
  })
  console.log(`      scrolling: frame median ${frames[30]?.toFixed(1)} ms, p95 ${frames[57]?.toFixed(1)} ms`)
  expect(frames[30]).toBeLessThan(25)
})

test('ten windows share one stream, so that a change in one is quick and shows in all', async ({ desk, home }) => {
  const windows = [desk]
  while (windows.length < 10) {
    const page = await desk.context().newPage()
    await page.goto(home.platform.dashboard_url)
    windows.push(page)
  }
  for (const page of windows) await expect(page.locator('.rail, .topbar').first()).toBeAttached()
  await expect(windows[9]?.getByRole('heading', { name: /Projects|Bring in/ }) ?? desk.locator('main')).toBeVisible()
  const took = await desk.evaluate(async () => {
    const began = performance.now()
    const answer = await fetch('/v1/projects', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Shared news', slug: 'shared-news' }),
    })
    return { status: answer.status, ms: performance.now() - began }
  })
  expect(took.status).toBe(201)
  expect(took.ms).toBeLessThan(1_000)
  for (const page of windows) await expect(page.getByRole('link', { name: 'Shared news' }).first()).toBeAttached()
})
