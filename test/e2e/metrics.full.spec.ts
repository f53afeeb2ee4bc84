import { expect, newsstand, test } from './fixtures.ts'

test('what was asked is counted exactly, drawn, and read out by keyboard', async ({ desk, home, repository }) => {
  await home.createProject({ slug: 'counted', name: 'Counted', repo_url: repository(newsstand()).url })
  await desk.goto(`${home.platform.dashboard_url}projects/counted/metrics`)
  await expect(desk.getByRole('heading', { name: 'No requests in the last 24 hours', exact: true })).toBeVisible()
  await expect(desk.getByText('Nothing serves yet')).toBeVisible()

  await home.ended('counted', (await home.deploy('counted')).id)
  await expect(desk.getByText('Open the app once')).toBeVisible()
  const asked = { '/': 7, '/moved': 2, '/lost': 3, '/broken': 1 }
  for (const [path, times] of Object.entries(asked)) for (let time = 0; time < times; time++) await home.edge('counted.localhost', path)

  // It looks again by itself.
  const figures = desk.locator('.figures')
  await expect(figures).toContainText('13')
  await expect(figures).toContainText('1 server error (5xx)')
  const requests = desk.getByRole('region', { name: 'Requests' })
  await expect(requests.locator('.chart-legend')).toContainText(/2xx\s*7.*3xx\s*2.*4xx\s*3.*5xx\s*1/)

  const chart = requests.getByRole('slider')
  await chart.focus()
  await chart.press('End')
  await expect(requests.locator('.chart-tip')).toBeVisible()
  const readings: string[] = []
  // On the hour a story may begin in one bucket and end in the next.
  for (let step = 0; step < 2; step++) {
    readings.push((await chart.getAttribute('aria-valuetext')) ?? '')
    await chart.press('ArrowLeft')
  }
  const sum = (name: string) => readings.reduce((total, reading) => total + Number(new RegExp(`${name} (\\d+)`).exec(reading)?.[1] ?? 0), 0)
  expect([sum('2xx'), sum('3xx'), sum('4xx'), sum('5xx')]).toEqual([7, 2, 3, 1])
  await chart.press('Escape')
  await expect(requests.locator('.chart-tip')).toBeHidden()

  await desk.getByText('As a table').click()
  await expect(desk.getByRole('region', { name: 'Metrics as a table' }).getByRole('row').nth(1)).toContainText(/\d/)

  await desk.getByRole('radio', { name: '30 days' }).click()
  await expect(desk).toHaveURL(/\?range=30d$/)
  await expect(desk.getByRole('slider').first()).toHaveAttribute('aria-valuemax', '119')
  await desk.reload()
  await expect(desk.getByRole('radio', { name: '30 days' })).toBeChecked()
  await expect(figures).toContainText('13')

  await desk.goto(home.platform.dashboard_url)
  await expect(desk.getByRole('img', { name: '13 requests in 24 hours' })).toBeVisible()
})

test('an app that sleeps says so everywhere, its waking is counted, and always warm is the plan’s to allow', async ({ desk, home, repository }) => {
  await home.createProject({ slug: 'dozer', name: 'Dozer', repo_url: repository(newsstand()).url })
  await home.ended('dozer', (await home.deploy('dozer')).id)
  await home.edge('dozer.localhost')
  await desk.goto(`${home.platform.dashboard_url}projects/dozer`)
  const title = desk.locator('.project-title')
  await expect(title).toContainText('Live')
  await home.api('PATCH', '/instance/settings', { sleep_after_s: 1 })
  await expect(title).toContainText('Live, asleep')
  await home.api('PATCH', '/instance/settings', { sleep_after_s: 900 })
  const facts = desk.getByRole('complementary', { name: 'Facts' })
  await expect(facts).toContainText('The next request wakes it')
  await expect(desk.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Dozer' })).toContainText('asleep')
  await desk.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Projects' }).click()
  await expect(desk.getByRole('list', { name: 'Projects' }).getByRole('listitem').filter({ hasText: 'Dozer' })).toContainText('last visit')

  await desk.goto(`${home.platform.dashboard_url}projects/dozer/logs`)
  await expect(desk.locator('.log-line').filter({ hasText: 'went to sleep' }).first()).toBeVisible()
  await expect(desk.locator('.log-foot')).toContainText('asleep')
  expect((await home.project('dozer')).is_cold).toBe(true)
  expect((await home.edge('dozer.localhost')).status).toBe(200)
  await expect(title).not.toContainText('asleep')
  await expect(desk.locator('.log-foot')).toContainText('The app is running')
  await expect(desk.locator('.log-line').filter({ hasText: 'awake again' })).toBeVisible()

  await desk.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Metrics' }).click()
  await expect(desk.locator('.figure').filter({ hasText: 'Cold starts' })).toContainText(/Cold starts\s*1/)

  await home.api('PATCH', '/instance/settings', { plan: 'starter' })
  await desk.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Overview' }).click()
  const warm = facts.getByRole('switch', { name: 'Always warm' })
  await warm.click()
  await expect(facts.getByRole('alert')).toContainText('needs a paid plan')
  await expect(warm).not.toBeChecked()
  await home.api('PATCH', '/instance/settings', { plan: 'enterprise' })
  await warm.click()
  await expect(facts).toContainText('Stays awake')
  await expect.poll(async () => (await home.project('dozer')).always_warm).toBe(true)
})
