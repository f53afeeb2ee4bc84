import { app, expect, test } from './fixtures.ts'

test('a slug that is taken is said at its field; under another one the folder is deployed as it lies there', async ({ desk, home, repository }) => {
  const made = repository(app('From a folder'))
  await home.createProject({ slug: 'folder-app', name: 'There before' })
  await desk.goto(home.platform.dashboard_url)
  await desk.getByRole('button', { name: 'New project' }).last().click()
  const dialog = desk.getByRole('dialog', { name: 'New project' })
  await dialog.getByRole('radio', { name: 'Git address' }).click()
  await dialog.getByRole('textbox', { name: 'Git address' }).fill(made.url)
  await dialog.getByLabel('Name').fill('Folder app')
  await dialog.getByRole('button', { name: 'Deploy' }).click()
  await expect(dialog.getByLabel('Slug')).toHaveAttribute('aria-invalid', 'true')
  await expect(dialog.getByRole('alert')).toBeVisible()

  await dialog.getByRole('radio', { name: 'Local folder' }).click()
  await dialog.getByRole('textbox', { name: 'Folder' }).fill(made.folder)
  await dialog.getByLabel('Slug').fill('folder-app-2')
  await dialog.getByRole('button', { name: 'Deploy' }).click()
  await expect(desk).toHaveURL(/\/projects\/folder-app-2\/deployments\/dpl_/)
  await expect(desk.locator('.report-head').getByText('Ready')).toBeVisible()
})
