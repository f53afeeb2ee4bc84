import { greetingAppFiles, expect, test } from './fixtures.ts'

test('a taken slug is reported at its field; under another one the folder is deployed with uncommitted changes', async ({
  dashboard,
  platform,
  createRepository,
}) => {
  const repository = createRepository(greetingAppFiles('From a folder'))
  await platform.createProject({ slug: 'folder-app', name: 'There before' })
  await dashboard.goto(platform.handle.dashboard_url)
  await dashboard.getByRole('button', { name: 'New project' }).last().click()
  const dialog = dashboard.getByRole('dialog', { name: 'New project' })
  await dialog.getByRole('radio', { name: 'Git URL' }).click()
  await dialog.getByRole('textbox', { name: 'Git URL' }).fill(repository.url)
  await dialog.getByLabel('Name').fill('Folder app')
  await dialog.getByRole('button', { name: 'Deploy' }).click()
  await expect(dialog.getByLabel('Slug')).toHaveAttribute('aria-invalid', 'true')
  await expect(dialog.getByRole('alert')).toBeVisible()

  await dialog.getByRole('radio', { name: 'Local folder' }).click()
  await dialog.getByRole('textbox', { name: 'Folder' }).fill(repository.folder)
  await dialog.getByLabel('Slug').fill('folder-app-2')
  await dialog.getByRole('button', { name: 'Deploy' }).click()
  await expect(dashboard).toHaveURL(/\/projects\/folder-app-2\/deployments\/dpl_/)
  await expect(dashboard.getByTestId('report-head').getByText('Ready')).toBeVisible()
})
