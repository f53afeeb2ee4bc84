import { truncateSync } from 'node:fs'
import { tgzOf } from '../support/archives.ts'
import { drag, test, zipped } from './drag.ts'
import { app, expect, expectForEverybody } from './fixtures.ts'

test('a .zip that is dropped on the welcome page is live a moment later', async ({ desk, home, shelf }) => {
  const file = shelf('Harbour café.zip', zipped(app('Hello from a zip')))
  await expect(desk.getByRole('heading', { name: 'Deploy your first app', exact: true })).toBeVisible()
  await drag(desk, desk.getByRole('main'), [file], { lets_go: false })
  await expect(desk.getByText('Drop it to deploy')).toBeVisible()
  await drag(desk, desk.getByRole('main'), [file])
  await expect(desk.getByText('Drop it to deploy')).toBeHidden()
  await expect(desk.getByText('Harbour café.zip')).toBeVisible()
  await expect(desk.getByLabel('Slug')).toHaveValue('harbour-cafe')
  await expectForEverybody(desk, 'welcome with an archive')
  await desk.getByRole('button', { name: 'Deploy', exact: true }).click()

  await expect(desk).toHaveURL(/\/projects\/harbour-cafe\/deployments\/dpl_/)
  await expect(desk.locator('.report-head').getByText('Ready')).toBeVisible()
  await expect(desk.locator('.report-head')).toContainText('Upload')
  expect((await home.edge('harbour-cafe.localhost')).body).toContain('Hello from a zip')
})

test('what is no archive is said before anything is sent', async ({ desk, home, shelf }) => {
  const sent: string[] = []
  desk.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
  await home.createProject({ slug: 'harbour-cafe', name: 'Harbour café' })
  const zip = shelf('a.zip', zipped(app('a')))
  await desk.goto(`${home.platform.dashboard_url}projects/harbour-cafe/deployments`)
  const list = desk.getByRole('region', { name: 'Deployments' })
  // The list stands there before the project that takes what is dropped.
  await expect(desk.getByRole('heading', { level: 1 })).toHaveText('Harbour café')
  const alert = desk.getByRole('main').getByRole('alert')
  const large = shelf('large.zip', Buffer.from('PK'))
  // Sparse: no byte of it is on the disk.
  truncateSync(large, 250 * 2 ** 20 + 1)
  for (const [files, words] of [
    [[shelf('photo.png', Buffer.from('\u0089PNG....'))], '“photo.png” is neither a .zip nor a .tar.gz.'],
    [[shelf('plain.tar', tgzOf([]).subarray(0, 1))], '“plain.tar” is neither'],
    [[shelf('empty.zip', Buffer.from('x').subarray(1))], '“empty.zip” is empty.'],
    [[zip, shelf('b.zip', zipped(app('b')))], 'These are 2 files.'],
    [[large], '“large.zip” is larger than 250 MiB.'],
    [[shelf('my-folder')], '“my-folder” is a folder, and a browser sends files only.'],
  ] as const) {
    await drag(desk, list, [...files])
    await expect(alert).toContainText(words)
  }
  await expectForEverybody(desk, 'a refused file')
  await alert.getByRole('button', { name: 'Dismiss' }).click()
  await expect(alert).toBeHidden()
  expect(sent).toEqual([])
  expect((await home.project('harbour-cafe')).status).toBe('created')

  // Beside the place, and on pages that take none, nothing happens: least of all does the browser go to the file.
  const url = desk.url()
  await drag(desk, desk.getByRole('navigation', { name: 'Main' }), [zip])
  await desk.getByRole('link', { name: 'Metrics' }).click()
  await expect(desk).toHaveURL(/metrics$/)
  await drag(desk, desk.getByRole('main'), [zip])
  await expect(desk).toHaveURL(url.replace('deployments', 'metrics'))
  expect(sent).toEqual([])
})
