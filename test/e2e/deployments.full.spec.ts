import { writeFileSync } from 'node:fs'
import { signalFileIn } from '../support/platform.ts'
import { greetingAppFiles, expect, test } from './fixtures.ts'

const title = '[data-testid=project-title]'
const row = '[data-testid=project-row]'

test('a restart keeps the app responding; stop asks first, and a deployment starts it again', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'tired', name: 'Tired', repo_url: createRepository(greetingAppFiles('awake')).url })
  await platform.waitForEnd('tired', (await platform.deploy('tired')).id)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/tired`)
  await expect(dashboard.locator(title)).toContainText('Live')
  const more = dashboard.getByRole('button', { name: 'More actions' })
  await more.click()
  await dashboard.getByRole('menuitem', { name: 'Restart' }).click()
  await expect(dashboard).toHaveURL(/\/deployments\/dpl_/)
  await expect(dashboard.getByTestId('report-head')).toContainText('Restart')
  await expect(dashboard.getByTestId('report-head')).toContainText('Ready')
  // Nothing was rebuilt.
  await expect(dashboard.getByTestId('timeline-step').filter({ hasText: 'Build' })).toContainText('skipped')

  await more.click()
  await dashboard.getByRole('menuitem', { name: 'Stop…' }).click()
  const dialog = dashboard.getByRole('dialog', { name: 'Stop Tired?' })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect((await platform.getProject('tired')).status).toBe('live')
  await dashboard.goto(`${platform.handle.dashboard_url}projects/tired?do=stop`)
  await dialog.getByRole('button', { name: 'Stop project' }).click()
  await expect(dialog).toBeHidden()
  await expect(dashboard.locator(title)).toContainText('Stopped')
  await dashboard.getByRole('button', { name: 'Deploy', exact: true }).click()
  await expect(dashboard.locator(title)).toContainText('Live')
})

test('the serving version stays live during the next build, and its row shows it after a cancel', async ({
  dashboard,
  platform,
  createRepository,
}) => {
  const repository = createRepository(greetingAppFiles('one'))
  await platform.createProject({ slug: 'steady', name: 'Steady', repo_url: repository.url })
  const first = await platform.waitForEnd('steady', (await platform.deploy('steady')).id)
  repository.commit(greetingAppFiles('two'), 'Second edition')
  await platform.waitForEnd('steady', (await platform.deploy('steady')).id)
  const back = await platform.api<{ deployment_id: string }>('POST', `/v1/projects/steady/deployments/${first.id}/rollback`)
  await platform.waitForEnd('steady', back.body.deployment_id)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/steady`)
  const serving = dashboard.getByRole('region', { name: 'Live' })
  await expect(serving).toContainText('for less than a minute')
  await expect(serving).toContainText('Rollback')

  const go = signalFileIn(platform.data_dir, 'go')
  const wait = `setInterval(() => require('node:fs').existsSync(${JSON.stringify(go)}) && process.exit(), 50)`
  repository.commit(greetingAppFiles('three', wait), 'Third edition')
  const { id } = await platform.deploy('steady')
  await expect(dashboard.locator(title)).toHaveText(/^SteadyLiveBuilding ?\d+ s$/)
  await expect(dashboard.getByRole('link', { name: 'Open', exact: true })).toBeVisible()
  await expect(serving.getByRole('heading', { name: 'Live' })).toBeVisible()
  await expect(serving.locator('.status-icon-spinning')).toHaveCount(0)
  await expect(dashboard.getByRole('link', { name: 'Live Steady building' })).toBeVisible()
  expect((await platform.fetchEdge('steady.localhost')).body).toContain('one')
  await dashboard.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Projects' }).click()
  await expect(dashboard.locator(row)).toContainText(/First.*Live.*Building/)

  await platform.api('POST', `/v1/projects/steady/deployments/${id}/cancel`)
  await expect(dashboard.locator(row)).not.toContainText('Building')
  await expect(dashboard.locator(row)).toContainText(/First.*Live/)
  await dashboard.reload()
  await expect(dashboard.locator(row)).toContainText(/First.*Live/)
  await expect(dashboard.locator(row)).not.toContainText('Third edition')
  writeFileSync(go, '')
})

test('an app that throws during startup shows its error, and unreached steps are marked', async ({ dashboard, platform, createRepository }) => {
  const files = { ...greetingAppFiles('x'), 'server.js': "// a harbour\nthrow new Error('there is no harbour')\n" }
  await platform.createProject({ slug: 'thrower', name: 'Thrower', repo_url: createRepository(files).url })
  const { id } = await platform.waitForEnd('thrower', (await platform.deploy('thrower')).id)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/thrower/deployments/${id}`)
  await expect(dashboard.getByTestId('failure-line')).toContainText('Error: there is no harbour')
  await expect(dashboard.getByTestId('timeline-step').filter({ hasText: 'Install' })).toContainText('skipped')
  await expect(dashboard.getByTestId('timeline-step').filter({ hasText: 'Switch' })).toContainText('not reached')
})

test('pages request only what exists, and retry a part that the network lost', async ({ dashboard, platform, createRepository }) => {
  const complaints: string[] = []
  dashboard.on('console', (message) => message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`))
  dashboard.on('pageerror', ({ message }) => complaints.push(message))
  await platform.createProject({ slug: 'bare', name: 'Bare', repo_url: createRepository(greetingAppFiles('bare')).url })
  await platform.waitForEnd('bare', (await platform.deploy('bare')).id)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/bare/database`)
  await expect(dashboard.getByRole('heading', { name: 'No database yet' })).toBeVisible()
  for (const page of ['tables', 'sql']) {
    await dashboard.goto(`${platform.handle.dashboard_url}projects/bare/database/${page}`)
    await expect(dashboard.getByRole('heading', { name: 'No database', exact: true })).toBeVisible()
  }
  await dashboard.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Settings' }).click()
  await dashboard.getByRole('button', { name: 'Delete project…' }).click()
  await dashboard.getByLabel('Type bare to confirm').fill('bare')
  await dashboard.getByRole('button', { name: 'Delete project' }).click()
  await expect(dashboard).toHaveURL(platform.handle.dashboard_url)
  await expect(dashboard.getByRole('heading', { level: 1 })).toBeVisible()
  expect(complaints).toEqual([])

  // Chunks are named after their files; each request fails twice.
  const lost = new Map<string, number>()
  await dashboard.addInitScript(() => Object.defineProperty(navigator, 'connection', { value: { saveData: true } }))
  await dashboard.route(/\/assets\/.*\.js$/, (route) => {
    const url = route.request().url()
    const times = lost.get(url) ?? 0
    lost.set(url, times + 1)
    return route.request().frame().url().includes('/account') && times < 2 ? route.abort('internetdisconnected') : route.continue()
  })
  await dashboard.goto(platform.handle.dashboard_url)
  await dashboard.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Account' }).click()
  await expect(dashboard.getByRole('heading', { name: 'Account', exact: true })).toBeVisible()
  expect([...lost.values()].some((times) => times > 2)).toBe(true)
  expect(complaints.filter((one) => !one.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([])
})

test('a running build can be followed, canceled and retried', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({
    slug: 'long',
    name: 'Long',
    repo_url: createRepository(greetingAppFiles('long', `console.log('rowing'); setInterval(() => console.log('stroke'), 100)`)).url,
  })
  await dashboard.goto(`${platform.handle.dashboard_url}projects/long`)
  await dashboard.getByRole('button', { name: 'Deploy', exact: true }).click()
  await expect(dashboard.getByTestId('log-text').filter({ hasText: 'stroke' }).first()).toBeVisible()
  await expect(dashboard).toHaveTitle(/^Building · /)
  await expect(dashboard.locator('#favicon')).toHaveAttribute('href', /favicon-building\.svg$/)
  await expect(dashboard.locator('[data-testid=timeline-step][data-status=running]')).toContainText('Build')
  await dashboard.getByRole('button', { name: 'Cancel deployment', exact: true }).click()
  await expect(dashboard.getByTestId('report-head')).toContainText('Canceled')
  await expect(dashboard).not.toHaveTitle(/^Building/)
  await expect(dashboard.getByRole('button', { name: 'Redeploy' })).toBeVisible()
})

test('the list is filtered by its URL, and updates by itself', async ({ dashboard, platform, createRepository }) => {
  const repository = createRepository(greetingAppFiles('listed'))
  await platform.createProject({ slug: 'listed', name: 'Listed', repo_url: repository.url })
  await platform.waitForEnd('listed', (await platform.deploy('listed')).id)
  repository.commit({ 'build.js': 'process.exit(2)' }, 'Break the list')
  await platform.waitForEnd('listed', (await platform.deploy('listed')).id)

  await dashboard.goto(`${platform.handle.dashboard_url}projects/listed/deployments?status=failed`)
  const rows = dashboard.locator('.deployment-row')
  await expect(rows).toHaveCount(1)
  await expect(rows).toContainText('Break the list')
  await dashboard.getByRole('button', { name: 'Clear filters' }).click()
  await expect(rows).toHaveCount(2)
  await expect(dashboard).toHaveURL(/deployments$/)

  repository.commit(greetingAppFiles('listed again'), 'Mend the list')
  await platform.deploy('listed')
  await expect(rows).toHaveCount(3)
  await expect(rows.first()).toContainText('Current')
  await expect(rows.nth(2)).not.toContainText('Current')
})

test('a deleted project is reported, and deleting asks for the name', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'doomed', name: 'Doomed', repo_url: createRepository(greetingAppFiles('doomed')).url })
  await dashboard.goto(`${platform.handle.dashboard_url}projects/doomed/settings`)
  await dashboard.getByRole('button', { name: 'Delete project…' }).click()
  const confirm = dashboard.getByRole('button', { name: 'Delete project' })
  await expect(confirm).toBeDisabled()
  await dashboard.getByLabel('Type doomed to confirm').fill('doomed')
  await confirm.click()
  await expect(dashboard).toHaveURL(platform.handle.dashboard_url)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/doomed`)
  await expect(dashboard.getByText('Project “doomed” not found')).toBeVisible()
})
