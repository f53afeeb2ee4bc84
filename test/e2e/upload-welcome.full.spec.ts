import { truncateSync } from 'node:fs'
import { createTarGz } from '../support/archives.ts'
import { dragFiles, test, createAppZip } from './drag-and-drop.ts'
import { greetingAppFiles, expect, expectAccessible } from './fixtures.ts'

test('a .zip dropped on the welcome page goes live', async ({ dashboard, platform, createTestFile }) => {
  const file = createTestFile('Harbour café.zip', createAppZip(greetingAppFiles('Hello from a zip')))
  await expect(dashboard.getByRole('heading', { name: 'Deploy your first app', exact: true })).toBeVisible()
  await dragFiles(dashboard, dashboard.getByRole('main'), [file], { lets_go: false })
  await expect(dashboard.getByText('Drop to deploy')).toBeVisible()
  await dragFiles(dashboard, dashboard.getByRole('main'), [file])
  await expect(dashboard.getByText('Drop to deploy')).toBeHidden()
  await expect(dashboard.getByText('Harbour café.zip')).toBeVisible()
  await expect(dashboard.getByLabel('Slug')).toHaveValue('harbour-cafe')
  await expectAccessible(dashboard, 'welcome with an archive')
  await dashboard.getByRole('button', { name: 'Deploy', exact: true }).click()

  await expect(dashboard).toHaveURL(/\/projects\/harbour-cafe\/deployments\/dpl_/)
  await expect(dashboard.getByTestId('report-head').getByText('Ready')).toBeVisible()
  await expect(dashboard.getByTestId('report-head')).toContainText('Upload')
  expect((await platform.fetchEdge('harbour-cafe.localhost')).body).toContain('Hello from a zip')
})

test('a file that is not an archive is refused before anything is sent', async ({ dashboard, platform, createTestFile }) => {
  const sent: string[] = []
  dashboard.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
  await platform.createProject({ slug: 'harbour-cafe', name: 'Harbour café' })
  const zip = createTestFile('a.zip', createAppZip(greetingAppFiles('a')))
  await dashboard.goto(`${platform.handle.dashboard_url}projects/harbour-cafe/deployments`)
  const list = dashboard.getByRole('region', { name: 'Deployments' })
  // The project accepts the drop, and the loaded list replaces its placeholder, which would take a drop with it.
  await expect(dashboard.getByRole('heading', { level: 1 })).toHaveText('Harbour café')
  await expect(list).toContainText('No deployments yet')
  const alert = dashboard.getByRole('main').getByRole('alert')
  const large = createTestFile('large.zip', Buffer.from('PK'))
  // Sparse: it takes no space on the disk.
  truncateSync(large, 250 * 2 ** 20 + 1)
  for (const [files, words] of [
    [[createTestFile('photo.png', Buffer.from('\u0089PNG....'))], '“photo.png” is neither a .zip nor a .tar.gz.'],
    [[createTestFile('plain.tar', createTarGz([]).subarray(0, 1))], '“plain.tar” is neither'],
    [[createTestFile('empty.zip', Buffer.from('x').subarray(1))], '“empty.zip” is empty.'],
    [[zip, createTestFile('b.zip', createAppZip(greetingAppFiles('b')))], 'You dropped 2 files.'],
    [[large], '“large.zip” is larger than 250 MiB.'],
    [[createTestFile('my-folder')], '“my-folder” is a folder, and browsers can upload only files.'],
  ] as const) {
    await dragFiles(dashboard, list, [...files])
    await expect(alert).toContainText(words)
  }
  await expectAccessible(dashboard, 'a refused file')
  await alert.getByRole('button', { name: 'Dismiss' }).click()
  await expect(alert).toBeHidden()
  expect(sent).toEqual([])
  expect((await platform.getProject('harbour-cafe')).status).toBe('created')

  // Outside of the drop area, and on pages without one, nothing happens: above all the browser does not open the file.
  const url = dashboard.url()
  await dragFiles(dashboard, dashboard.getByRole('navigation', { name: 'Main' }), [zip])
  await dashboard.getByRole('link', { name: 'Metrics' }).click()
  await expect(dashboard).toHaveURL(/metrics$/)
  await dragFiles(dashboard, dashboard.getByRole('main'), [zip])
  await expect(dashboard).toHaveURL(url.replace('deployments', 'metrics'))
  expect(sent).toEqual([])
})
