import { app, expect, test } from './fixtures.ts'

test('stop takes it off, a deployment brings it back', async ({ desk, home, repository }) => {
  await home.createProject({ slug: 'tired', name: 'Tired', repo_url: repository(app('awake')).url })
  await home.ended('tired', (await home.deploy('tired')).id)
  await desk.goto(`${home.platform.dashboard_url}projects/tired`)
  await expect(desk.locator('.project-title')).toContainText('Live')
  await desk.getByRole('button', { name: 'More actions' }).click()
  await desk.getByRole('menuitem', { name: 'Stop' }).click()
  await expect(desk.locator('.project-title')).toContainText('Stopped')
  await desk.getByRole('button', { name: 'Deploy', exact: true }).click()
  await expect(desk.locator('.project-title')).toContainText('Live')
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
  await expect(rows.first()).toContainText('In service')
  await expect(rows.nth(2)).not.toContainText('In service')
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
