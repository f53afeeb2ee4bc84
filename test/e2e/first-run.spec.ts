import { app, expect, test } from './fixtures.ts'

test.use({ harbour: 'first run' })
test.describe.configure({ mode: 'serial' })

test('from a git folder to a live address', async ({ desk, repository, home }) => {
  const made = repository(app('Hello, harbour'))
  await expect(desk.getByRole('heading', { name: 'Bring in your first app' })).toBeVisible()
  await expect(desk.getByText('Running without containers')).toBeVisible()

  await desk.getByRole('radio', { name: 'Git address' }).click()
  await desk.getByLabel('Git address', { exact: true }).last().fill(made.url)
  await desk.getByLabel('Name', { exact: true }).fill('My Grand Café')
  await expect(desk.getByLabel('Slug')).toHaveValue('my-grand-cafe')
  await expect(desk.getByText(/Will be at my-grand-cafe\.localhost:\d+/)).toBeVisible()
  await desk.getByRole('button', { name: 'Deploy', exact: true }).click()

  await expect(desk).toHaveURL(/\/projects\/my-grand-cafe\/deployments\/dpl_/)
  await expect(desk.getByRole('list', { name: 'Steps' })).toContainText('Health check')
  await expect(desk.locator('.report-head').getByText('Ready')).toBeVisible({ timeout: 60_000 })
  await expect(desk.locator('.log-text', { hasText: 'compiled Hello, harbour' })).toBeVisible()
  await expect(desk.locator('.report-head').getByText('In service')).toBeVisible()

  const address = await desk.locator('.report-head').getByRole('link', { name: 'Open' }).getAttribute('href')
  expect(address).toBe(`http://my-grand-cafe.localhost:${new URL(home.platform.edge_url).port}`)
  const visitor = await desk.context().newPage()
  await visitor.goto(address ?? '')
  await expect(visitor.getByRole('heading', { name: 'Hello, harbour' })).toBeVisible()
  await visitor.close()

  await desk.getByRole('link', { name: 'Projects', exact: true }).click()
  const row = desk.getByRole('list', { name: 'Projects' }).getByRole('listitem').filter({ hasText: 'My Grand Café' })
  await expect(row).toContainText('Live')
  await expect(row).toContainText('Node.js')
})

test('a slug that is taken is said at its field', async ({ desk, repository }) => {
  await desk.getByRole('button', { name: 'New project' }).last().click()
  const dialog = desk.getByRole('dialog', { name: 'New project' })
  await dialog.getByRole('radio', { name: 'Git address' }).click()
  await dialog
    .getByLabel('Git address', { exact: true })
    .last()
    .fill(repository(app('again')).url)
  await dialog.getByLabel('Name').fill('My Grand Café')
  await dialog.getByRole('button', { name: 'Deploy' }).click()
  await expect(dialog.getByLabel('Slug')).toHaveAttribute('aria-invalid', 'true')
  await expect(dialog.getByRole('alert')).toBeVisible()
  await desk.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
})

test('a local folder deploys as it lies there', async ({ desk, repository }) => {
  const made = repository(app('From a folder'))
  await desk.getByRole('button', { name: 'New project' }).last().click()
  const dialog = desk.getByRole('dialog', { name: 'New project' })
  await dialog.getByRole('textbox', { name: 'Folder' }).fill(made.folder)
  await dialog.getByLabel('Name').fill('Folder app')
  await dialog.getByRole('button', { name: 'Deploy' }).click()
  await expect(desk).toHaveURL(/\/projects\/folder-app\/deployments\/dpl_/)
  await expect(desk.locator('.report-head').getByText('Ready')).toBeVisible({ timeout: 60_000 })
})
