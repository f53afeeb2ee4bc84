import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Deployment } from '../../server/contract/deployments.ts'
import { createTarGz, createZip } from '../support/archives.ts'
import type { TestPlatform } from '../support/platform.ts'
import { dragFiles, test, createAppZip } from './drag-and-drop.ts'
import { greetingAppFiles, expect, expectAccessible, uploadArchive } from './fixtures.ts'

test.use({ platform_name: 'upload' })
test.describe.configure({ mode: 'serial' })
test.beforeAll(async ({ workerPlatform: workerHome }) => {
  await workerHome.createProject({ slug: 'harbour-cafe', name: 'Harbour café' })
  await uploadArchive(
    workerHome,
    'harbour-cafe',
    createTarGz(Object.entries(greetingAppFiles('First voyage')).map(([name, data]) => ({ name, data }))),
  )
})

const deployments = async (platform: TestPlatform, slug: string) =>
  (await platform.api<{ deployments: Deployment[] }>('GET', `/v1/projects/${slug}/deployments`)).body.deployments

test('a .tar.gz dropped on a project deploys it, and so does the keyboard', async ({ dashboard, platform, createTestFile }) => {
  const files = Object.entries(greetingAppFiles('Second voyage')).map(([name, data]) => ({ name, data }))
  await dashboard.goto(`${platform.handle.dashboard_url}projects/harbour-cafe`)
  await expect(dashboard.getByRole('heading', { name: 'Live', exact: true })).toBeVisible()
  await dragFiles(dashboard, dashboard.getByRole('region', { name: 'Live' }), [createTestFile('app.tar.gz', createTarGz(files))])
  await expect(dashboard).toHaveURL(/\/projects\/harbour-cafe\/deployments\/dpl_/)
  await expect(dashboard.getByTestId('report-head').getByText('Ready')).toBeVisible()
  expect((await platform.fetchEdge('harbour-cafe.localhost')).body).toContain('Second voyage')

  await dashboard.keyboard.press('ControlOrMeta+k')
  await expect(dashboard.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox')).toBeFocused()
  await dashboard.keyboard.type('upload a .zip')
  await expect(dashboard.getByRole('option', { selected: true })).toContainText('upload a .zip')
  await dashboard.keyboard.press('Enter')
  const dialog = dashboard.getByRole('dialog', { name: 'Upload to Harbour café' })
  await expect(dialog.getByRole('button', { name: 'Choose file…' })).toBeFocused()
  await expectAccessible(dashboard, 'upload dialog')
  const choosing = dashboard.waitForEvent('filechooser')
  await dialog.getByRole('button', { name: 'Choose file…' }).press('Enter')
  await (await choosing).setFiles(createTestFile('third.zip', createAppZip(greetingAppFiles('Third voyage'))))
  await expect(dialog).toBeHidden()
  await expect(dashboard).toHaveURL(/\/deployments\/dpl_/)
  await expect.poll(async () => (await platform.fetchEdge('harbour-cafe.localhost')).body).toContain('Third voyage')
})

test('a broken archive: the entry and the reason appear next to the drop area, and the next one is accepted', async ({
  dashboard,
  platform,
  createTestFile,
}) => {
  await dashboard.goto(`${platform.handle.dashboard_url}projects/harbour-cafe`)
  await expect(dashboard.getByRole('heading', { name: 'Live', exact: true })).toBeVisible()
  await dragFiles(dashboard, dashboard.getByRole('main'), [createTestFile('evil.zip', createZip([{ name: '../outside.txt', data: 'x' }]))])
  const alert = dashboard.getByRole('main').getByRole('alert')
  await expect(alert).toContainText('evil.zip was rejected.')
  await expect(alert).toContainText('../outside.txt')
  await expect(alert).toContainText('invalid_archive')
  await expectAccessible(dashboard, 'a broken archive')
  const choosing = dashboard.waitForEvent('filechooser')
  await alert.getByRole('button', { name: 'Choose another…' }).click()
  await (await choosing).setFiles(createTestFile('good.zip', createAppZip(greetingAppFiles('Fixed'))))
  await expect(dashboard).toHaveURL(/\/deployments\/dpl_/)
  await expect.poll(async () => (await platform.fetchEdge('harbour-cafe.localhost')).body).toContain('Fixed')
})

test('a long upload shows its progress, continues on other pages, and leaves nothing behind when canceled', async ({
  dashboard,
  platform,
  createTestFile,
}) => {
  const archives = () => readdirSync(join(platform.data_dir, 'archives'), { recursive: true, encoding: 'utf8' }).toSorted((a, b) => (a < b ? -1 : 1))
  const stored = archives()
  const slow = await dashboard.context().newCDPSession(dashboard)
  await slow.send('Network.enable')
  const throttle = (upload: number) =>
    slow.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: upload })
  const file = createTestFile('cargo.zip', createZip([{ name: 'cargo.bin', data: randomBytes(6 * 2 ** 20), method: 0 }]))
  await dashboard.goto(platform.handle.dashboard_url)
  await expect(dashboard.getByRole('heading', { name: 'Projects', exact: true })).toBeVisible()
  await throttle(200_000)
  await dragFiles(dashboard, dashboard.getByRole('main'), [file])
  const dialog = dashboard.getByRole('dialog', { name: 'New project' })
  await dialog.getByLabel('Name', { exact: true }).fill('Cargo')
  await dialog.getByRole('button', { name: 'Deploy', exact: true }).click()
  await expect(dashboard).toHaveURL(/\/projects\/cargo$/)
  const bar = dashboard.getByRole('progressbar', { name: 'Uploading cargo.zip' })
  await expect(bar).toBeVisible()
  await expect(dashboard.getByRole('region', { name: 'Upload' })).toContainText(/left/)
  await expectAccessible(dashboard, 'an upload under way')
  await dashboard.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Logs', exact: true }).click()
  await expect(bar).toBeVisible()
  await expect.poll(async () => Number(await bar.getAttribute('aria-valuenow'))).toBeGreaterThan(0)
  await dashboard.getByRole('region', { name: 'Upload' }).getByRole('button', { name: 'Cancel' }).click()

  // The project was created for the upload, and is deleted with it.
  await expect(dashboard).toHaveURL(platform.handle.dashboard_url)
  await expect(bar).toBeHidden()
  await expect.poll(async () => (await platform.api('GET', '/v1/projects/cargo')).status).toBe(404)
  await expect.poll(archives).toEqual(stored)

  // An existing project is unchanged.
  const before = await deployments(platform, 'harbour-cafe')
  await dashboard.goto(`${platform.handle.dashboard_url}projects/harbour-cafe`)
  await expect(dashboard.getByRole('heading', { name: 'Live', exact: true })).toBeVisible()
  await throttle(200_000)
  await dragFiles(dashboard, dashboard.getByRole('main'), [file])
  await expect(bar).toBeVisible()
  await dashboard.getByRole('region', { name: 'Upload' }).getByRole('button', { name: 'Cancel' }).click()
  await expect(bar).toBeHidden()
  await throttle(-1)
  expect(await deployments(platform, 'harbour-cafe')).toHaveLength(before.length)
  await expect.poll(archives).toEqual(stored)
})
