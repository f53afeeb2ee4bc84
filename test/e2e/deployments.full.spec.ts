import { writeFileSync } from 'node:fs'
import { gateIn } from '../support/platform.ts'
import { app, expect, test } from './fixtures.ts'

const title = '.project-title'
const row = '.project-row'

test('a restart keeps it answering; stop asks first, and a deployment starts it again', async ({ desk, home, repository }) => {
  await home.createProject({ slug: 'tired', name: 'Tired', repo_url: repository(app('awake')).url })
  await home.ended('tired', (await home.deploy('tired')).id)
  await desk.goto(`${home.platform.dashboard_url}projects/tired`)
  await expect(desk.locator(title)).toContainText('Live')
  const more = desk.getByRole('button', { name: 'More actions' })
  await more.click()
  await desk.getByRole('menuitem', { name: 'Restart' }).click()
  await expect(desk).toHaveURL(/\/deployments\/dpl_/)
  await expect(desk.locator('.report-head')).toContainText('Restarted')
  await expect(desk.locator('.report-head')).toContainText('Ready')
  // Nothing was built again.
  await expect(desk.locator('.passage', { hasText: 'Build' })).toContainText('skipped')

  await more.click()
  await desk.getByRole('menuitem', { name: 'Stop…' }).click()
  const dialog = desk.getByRole('dialog', { name: 'Stop Tired?' })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect((await home.project('tired')).status).toBe('live')
  await desk.goto(`${home.platform.dashboard_url}projects/tired?do=stop`)
  await dialog.getByRole('button', { name: 'Stop project' }).click()
  await expect(dialog).toBeHidden()
  await expect(desk.locator(title)).toContainText('Stopped')
  await desk.getByRole('button', { name: 'Deploy', exact: true }).click()
  await expect(desk.locator(title)).toContainText('Live')
})

test('a version that serves stays live while the next one is built, and is what its row shows after a cancel', async ({ desk, home, repository }) => {
  const made = repository(app('one'))
  await home.createProject({ slug: 'steady', name: 'Steady', repo_url: made.url })
  const first = await home.ended('steady', (await home.deploy('steady')).id)
  made.commit(app('two'), 'Second edition')
  await home.ended('steady', (await home.deploy('steady')).id)
  const back = await home.api<{ deployment_id: string }>('POST', `/v1/projects/steady/deployments/${first.id}/rollback`)
  await home.ended('steady', back.body.deployment_id)
  await desk.goto(`${home.platform.dashboard_url}projects/steady`)
  const serving = desk.getByRole('region', { name: 'Live' })
  await expect(serving).toContainText('for less than a minute')
  await expect(serving).toContainText('Rolled back')

  const go = gateIn(home.data_dir, 'go')
  const wait = `setInterval(() => require('node:fs').existsSync(${JSON.stringify(go)}) && process.exit(), 50)`
  made.commit(app('three', wait), 'Third edition')
  const { id } = await home.deploy('steady')
  await expect(desk.locator(title)).toHaveText(/^SteadyLiveBuilding ?\d+ s$/)
  await expect(desk.getByRole('link', { name: 'Open', exact: true })).toBeVisible()
  await expect(serving.getByRole('heading', { name: 'Live' })).toBeVisible()
  await expect(serving.locator('.mark-turning')).toHaveCount(0)
  await expect(desk.getByRole('link', { name: 'Live Steady building' })).toBeVisible()
  expect((await home.edge('steady.localhost')).body).toContain('one')
  await desk.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Projects' }).click()
  await expect(desk.locator(row)).toContainText(/First.*Live.*Building/)

  await home.api('POST', `/v1/projects/steady/deployments/${id}/cancel`)
  await expect(desk.locator(row)).not.toContainText('Building')
  await expect(desk.locator(row)).toContainText(/First.*Live/)
  await desk.reload()
  await expect(desk.locator(row)).toContainText(/First.*Live/)
  await expect(desk.locator(row)).not.toContainText('Third edition')
  writeFileSync(go, '')
})

test('an app that throws at its start shows its error, and steps that were not reached say so', async ({ desk, home, repository }) => {
  const files = { ...app('x'), 'server.js': "// a harbour\nthrow new Error('there is no harbour')\n" }
  await home.createProject({ slug: 'thrower', name: 'Thrower', repo_url: repository(files).url })
  const { id } = await home.ended('thrower', (await home.deploy('thrower')).id)
  await desk.goto(`${home.platform.dashboard_url}projects/thrower/deployments/${id}`)
  await expect(desk.locator('.failure-line')).toContainText('Error: there is no harbour')
  await expect(desk.locator('.passage', { hasText: 'Install' })).toContainText('skipped')
  await expect(desk.locator('.passage', { hasText: 'Switch' })).toContainText('not reached')
})

test('pages ask only for what exists, and wait for a part that the network lost', async ({ desk, home, repository }) => {
  const complaints: string[] = []
  desk.on('console', (message) => message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`))
  desk.on('pageerror', ({ message }) => complaints.push(message))
  await home.createProject({ slug: 'bare', name: 'Bare', repo_url: repository(app('bare')).url })
  await home.ended('bare', (await home.deploy('bare')).id)
  await desk.goto(`${home.platform.dashboard_url}projects/bare/database`)
  await expect(desk.getByRole('heading', { name: 'No database yet' })).toBeVisible()
  await desk.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Settings' }).click()
  await desk.getByRole('button', { name: 'Delete…' }).click()
  await desk.getByLabel('Type bare to confirm').fill('bare')
  await desk.getByRole('button', { name: 'Delete the project' }).click()
  await expect(desk).toHaveURL(home.platform.dashboard_url)
  await expect(desk.getByRole('heading', { level: 1 })).toBeVisible()
  expect(complaints).toEqual([])

  // The names of parts are those of their files; each is lost twice.
  const lost = new Map<string, number>()
  await desk.addInitScript(() => Object.defineProperty(navigator, 'connection', { value: { saveData: true } }))
  await desk.route(/\/assets\/.*\.js$/, (route) => {
    const url = route.request().url()
    const times = lost.get(url) ?? 0
    lost.set(url, times + 1)
    return route.request().frame().url().includes('/account') && times < 2 ? route.abort('internetdisconnected') : route.continue()
  })
  await desk.goto(home.platform.dashboard_url)
  await desk.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Account' }).click()
  await expect(desk.getByRole('heading', { name: 'Account', exact: true })).toBeVisible()
  expect([...lost.values()].some((times) => times > 2)).toBe(true)
  expect(complaints.filter((one) => !one.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([])
})

test('a running build is watched, canceled, and built again', async ({ desk, home, repository }) => {
  await home.createProject({
    slug: 'long',
    name: 'Long',
    repo_url: repository(app('long', `console.log('rowing'); setInterval(() => console.log('stroke'), 100)`)).url,
  })
  await desk.goto(`${home.platform.dashboard_url}projects/long`)
  await desk.getByRole('button', { name: 'Deploy', exact: true }).click()
  await expect(desk.locator('.log-text', { hasText: 'stroke' }).first()).toBeVisible()
  await expect(desk).toHaveTitle(/^Building · /)
  await expect(desk.locator('#favicon')).toHaveAttribute('href', /favicon-building\.svg$/)
  await expect(desk.locator('.passage-running')).toContainText('Build')
  await desk.getByRole('button', { name: 'Cancel', exact: true }).click()
  await expect(desk.locator('.report-head')).toContainText('Canceled')
  await expect(desk).not.toHaveTitle(/^Building/)
  await expect(desk.getByRole('button', { name: 'Build again' })).toBeVisible()
})

test('the list filters by its address, and changes by itself', async ({ desk, home, repository }) => {
  const made = repository(app('listed'))
  await home.createProject({ slug: 'listed', name: 'Listed', repo_url: made.url })
  await home.ended('listed', (await home.deploy('listed')).id)
  made.commit({ 'build.js': 'process.exit(2)' }, 'Break the list')
  await home.ended('listed', (await home.deploy('listed')).id)

  await desk.goto(`${home.platform.dashboard_url}projects/listed/deployments?status=failed`)
  const rows = desk.locator('.deployment-row')
  await expect(rows).toHaveCount(1)
  await expect(rows).toContainText('Break the list')
  await desk.getByRole('button', { name: 'Clear filters' }).click()
  await expect(rows).toHaveCount(2)
  await expect(desk).toHaveURL(/deployments$/)

  made.commit(app('listed again'), 'Mend the list')
  await home.deploy('listed')
  await expect(rows).toHaveCount(3)
  await expect(rows.first()).toContainText('Current')
  await expect(rows.nth(2)).not.toContainText('Current')
})

test('a project that is gone says so, and deleting asks for the name', async ({ desk, home, repository }) => {
  await home.createProject({ slug: 'doomed', name: 'Doomed', repo_url: repository(app('doomed')).url })
  await desk.goto(`${home.platform.dashboard_url}projects/doomed/settings`)
  await desk.getByRole('button', { name: 'Delete…' }).click()
  const confirm = desk.getByRole('button', { name: 'Delete the project' })
  await expect(confirm).toBeDisabled()
  await desk.getByLabel('Type doomed to confirm').fill('doomed')
  await confirm.click()
  await expect(desk).toHaveURL(home.platform.dashboard_url)
  await desk.goto(`${home.platform.dashboard_url}projects/doomed`)
  await expect(desk.getByText('There is no project “doomed”')).toBeVisible()
})
