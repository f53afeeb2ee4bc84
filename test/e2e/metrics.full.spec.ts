import { expect, cacheableAppFiles, test } from './fixtures.ts'

test('requests are counted exactly, charted, and readable by keyboard', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'counted', name: 'Counted', repo_url: createRepository(cacheableAppFiles()).url })
  await dashboard.goto(`${platform.handle.dashboard_url}projects/counted/metrics`)
  await expect(dashboard.getByRole('heading', { name: 'No requests in the last 15 minutes', exact: true })).toBeVisible()
  await expect(dashboard.getByText('The project is not live yet')).toBeVisible()

  await platform.waitForEnd('counted', (await platform.deploy('counted')).id)
  await expect(dashboard.getByText('Open the app once')).toBeVisible()
  const requestCounts = { '/': 7, '/moved': 2, '/lost': 3, '/broken': 1 }
  for (const [path, times] of Object.entries(requestCounts))
    for (let time = 0; time < times; time++) await platform.fetchEdge('counted.localhost', path)

  // It refreshes by itself.
  const figures = dashboard.getByTestId('figures')
  await expect(figures).toContainText('13')
  await expect(figures).toContainText('1 server error (5xx)')
  const requests = dashboard.getByRole('region', { name: 'Requests' })
  await expect(requests.getByRole('list', { name: 'Legend' })).toContainText(/2xx\s*7.*3xx\s*2.*4xx\s*3.*5xx\s*1/)

  const chart = requests.getByRole('slider')
  await chart.focus()
  await chart.press('End')
  await expect(requests.getByTestId('chart-tip')).toBeVisible()
  const readings: string[] = []
  // At a full hour a test may start in one bucket and end in the next.
  for (let step = 0; step < 2; step++) {
    readings.push((await chart.getAttribute('aria-valuetext')) ?? '')
    await chart.press('ArrowLeft')
  }
  const sum = (name: string) => readings.reduce((total, reading) => total + Number(new RegExp(`${name} (\\d+)`).exec(reading)?.[1] ?? 0), 0)
  expect([sum('2xx'), sum('3xx'), sum('4xx'), sum('5xx')]).toEqual([7, 2, 3, 1])
  await chart.press('Escape')
  await expect(requests.getByTestId('chart-tip')).toBeHidden()

  await chart.press('End')
  await chart.press('Enter')
  await expect(dashboard).toHaveURL(/\/projects\/counted\/logs\/requests\?since=20\S+&until=20\S+$/)
  await expect(dashboard.getByRole('button', { name: /^from .* until / })).toBeVisible()
  await dashboard.goBack()

  // The deployment is marked, and leads to its page.
  const markers = requests.getByRole('list', { name: 'Deployments' })
  await expect(markers.getByRole('link', { name: /^Deployed: / })).toHaveAttribute('href', /\/projects\/counted\/deployments\/dpl_/)
  const cpu = dashboard.getByRole('region', { name: /^CPU/ })
  await platform.advance(10_000)
  await expect(cpu.getByRole('list', { name: 'Legend' })).toContainText(/App\s*\d/)

  // A route leads to its requests.
  const routes = dashboard.getByRole('region', { name: 'Routes', exact: true })
  await routes.getByRole('radio', { name: 'Most errors' }).click()
  await expect(routes.getByRole('row').nth(1)).toContainText(/GET \/broken\s*1\s*1 \(100 %\)/)
  await routes.getByRole('link', { name: 'GET /lost' }).click()
  await expect(dashboard).toHaveURL(/\/projects\/counted\/logs\/requests\?method=GET&route=%2Flost&since=/)
  await expect(dashboard.getByRole('list', { name: 'Requests' }).getByRole('listitem')).toHaveCount(3)
  await dashboard.goBack()

  await dashboard.getByText('Show as table').click()
  await expect(dashboard.getByRole('region', { name: 'Metrics as a table' }).getByRole('row').nth(1)).toContainText(/\d/)

  await dashboard.getByRole('radio', { name: '30 days' }).click()
  await expect(dashboard).toHaveURL(/\?range=30d$/)
  // The data is younger than the range, which begins with it.
  await expect(dashboard.getByText(/^Data since /)).toBeVisible()
  await dashboard.reload()
  await expect(dashboard.getByRole('radio', { name: '30 days' })).toBeChecked()
  await expect(figures).toContainText('13')

  await dashboard.goto(platform.handle.dashboard_url)
  await expect(dashboard.getByRole('img', { name: '13 requests in 24 hours' })).toBeVisible()
})

test('a sleeping app is marked everywhere, its cold start is counted, and always warm depends on the plan', async ({
  dashboard,
  platform,
  createRepository,
}) => {
  await platform.createProject({ slug: 'dozer', name: 'Dozer', repo_url: createRepository(cacheableAppFiles()).url })
  await platform.waitForEnd('dozer', (await platform.deploy('dozer')).id)
  await platform.fetchEdge('dozer.localhost')
  await dashboard.goto(`${platform.handle.dashboard_url}projects/dozer`)
  const title = dashboard.getByTestId('project-title')
  await expect(title).toContainText('Live')
  await platform.api('PATCH', '/instance/settings', { sleep_after_s: 1 })
  await expect(title).toContainText('Live, asleep')
  await platform.api('PATCH', '/instance/settings', { sleep_after_s: 900 })
  const facts = dashboard.getByRole('complementary', { name: 'Details' })
  await expect(facts).toContainText('The next request wakes it')
  await expect(dashboard.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Dozer' })).toContainText('asleep')
  await dashboard.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Projects' }).click()
  await expect(dashboard.getByRole('list', { name: 'Projects' }).getByRole('listitem').filter({ hasText: 'Dozer' })).toContainText('last visit')

  await dashboard.goto(`${platform.handle.dashboard_url}projects/dozer/logs`)
  await expect(dashboard.getByTestId('log-line').filter({ hasText: 'asleep after being idle' }).first()).toBeVisible()
  await expect(dashboard.getByTestId('log-foot')).toContainText('asleep')
  expect((await platform.getProject('dozer')).is_cold).toBe(true)
  expect((await platform.fetchEdge('dozer.localhost')).status).toBe(200)
  await expect(title).not.toContainText('asleep')
  await expect(dashboard.getByTestId('log-foot')).toContainText('The app is running')
  await expect(dashboard.getByTestId('log-line').filter({ hasText: 'awake' })).toBeVisible()

  await dashboard.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Metrics' }).click()
  await expect(dashboard.getByTestId('figure').filter({ hasText: 'Cold starts' })).toContainText(/Cold starts\s*1/)

  await platform.api('PATCH', '/instance/settings', { plan: 'starter' })
  await dashboard.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Overview' }).click()
  const warm = facts.getByRole('switch', { name: 'Always warm' })
  await warm.click()
  await expect(facts.getByRole('alert')).toContainText('requires a paid plan')
  await expect(warm).not.toBeChecked()
  await platform.api('PATCH', '/instance/settings', { plan: 'enterprise' })
  await warm.click()
  await expect(facts).toContainText('Stays awake')
  await expect.poll(async () => (await platform.getProject('dozer')).always_warm).toBe(true)
})
