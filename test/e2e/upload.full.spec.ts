import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Deployment } from '../../server/contract/deployments.ts'
import { tgzOf, zipOf } from '../support/archives.ts'
import type { TestPlatform } from '../support/platform.ts'
import { drag, test, zipped } from './drag.ts'
import { app, expect, expectForEverybody, upload } from './fixtures.ts'

test.use({ platform_name: 'upload' })
test.describe.configure({ mode: 'serial' })
test.beforeAll(async ({ workerHome }) => {
  await workerHome.createProject({ slug: 'harbour-cafe', name: 'Harbour café' })
  await upload(workerHome, 'harbour-cafe', tgzOf(Object.entries(app('First voyage')).map(([name, data]) => ({ name, data }))))
})

const deployments = async (home: TestPlatform, slug: string) =>
  (await home.api<{ deployments: Deployment[] }>('GET', `/v1/projects/${slug}/deployments`)).body.deployments

test('a .tar.gz that is dropped on a project deploys it; by keys alone the same', async ({ desk, home, shelf }) => {
  const files = Object.entries(app('Second voyage')).map(([name, data]) => ({ name, data }))
  await desk.goto(`${home.platform.dashboard_url}projects/harbour-cafe`)
  await expect(desk.getByRole('heading', { name: 'Live', exact: true })).toBeVisible()
  await drag(desk, desk.getByRole('region', { name: 'Live' }), [shelf('app.tar.gz', tgzOf(files))])
  await expect(desk).toHaveURL(/\/projects\/harbour-cafe\/deployments\/dpl_/)
  await expect(desk.locator('.report-head').getByText('Ready')).toBeVisible()
  expect((await home.edge('harbour-cafe.localhost')).body).toContain('Second voyage')

  await desk.keyboard.press('ControlOrMeta+k')
  await expect(desk.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox')).toBeFocused()
  await desk.keyboard.type('upload a .zip')
  await expect(desk.getByRole('option', { selected: true })).toContainText('upload a .zip')
  await desk.keyboard.press('Enter')
  const dialog = desk.getByRole('dialog', { name: 'Upload to Harbour café' })
  await expect(dialog.getByRole('button', { name: 'Choose a file…' })).toBeFocused()
  await expectForEverybody(desk, 'upload dialog')
  const choosing = desk.waitForEvent('filechooser')
  await dialog.getByRole('button', { name: 'Choose a file…' }).press('Enter')
  await (await choosing).setFiles(shelf('third.zip', zipped(app('Third voyage'))))
  await expect(dialog).toBeHidden()
  await expect(desk).toHaveURL(/\/deployments\/dpl_/)
  await expect.poll(async () => (await home.edge('harbour-cafe.localhost')).body).toContain('Third voyage')
})

test('a broken archive: the entry and the reason stand by the place, and the next one is taken', async ({ desk, home, shelf }) => {
  await desk.goto(`${home.platform.dashboard_url}projects/harbour-cafe`)
  await expect(desk.getByRole('heading', { name: 'Live', exact: true })).toBeVisible()
  await drag(desk, desk.getByRole('main'), [shelf('evil.zip', zipOf([{ name: '../outside.txt', data: 'x' }]))])
  const alert = desk.getByRole('main').getByRole('alert')
  await expect(alert).toContainText('evil.zip was not taken.')
  await expect(alert).toContainText('../outside.txt')
  await expect(alert).toContainText('invalid_archive')
  await expectForEverybody(desk, 'a broken archive')
  const choosing = desk.waitForEvent('filechooser')
  await alert.getByRole('button', { name: 'Choose another…' }).click()
  await (await choosing).setFiles(shelf('good.zip', zipped(app('Mended'))))
  await expect(desk).toHaveURL(/\/deployments\/dpl_/)
  await expect.poll(async () => (await home.edge('harbour-cafe.localhost')).body).toContain('Mended')
})

test('a long upload shows its progress, goes on while one looks elsewhere, and leaves nothing behind when it is canceled', async ({
  desk,
  home,
  shelf,
}) => {
  const archives = () => readdirSync(join(home.data_dir, 'archives'), { recursive: true, encoding: 'utf8' }).toSorted((a, b) => (a < b ? -1 : 1))
  const stored = archives()
  const slow = await desk.context().newCDPSession(desk)
  await slow.send('Network.enable')
  const throttle = (upload: number) =>
    slow.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: upload })
  const file = shelf('cargo.zip', zipOf([{ name: 'cargo.bin', data: randomBytes(6 * 2 ** 20), method: 0 }]))
  await desk.goto(home.platform.dashboard_url)
  await expect(desk.getByRole('heading', { name: 'Projects', exact: true })).toBeVisible()
  await throttle(200_000)
  await drag(desk, desk.getByRole('main'), [file])
  const dialog = desk.getByRole('dialog', { name: 'New project' })
  await dialog.getByLabel('Name', { exact: true }).fill('Cargo')
  await dialog.getByRole('button', { name: 'Deploy', exact: true }).click()
  await expect(desk).toHaveURL(/\/projects\/cargo$/)
  const bar = desk.getByRole('progressbar', { name: 'Uploading cargo.zip' })
  await expect(bar).toBeVisible()
  await expect(desk.getByRole('region', { name: 'Upload' })).toContainText(/left/)
  await expectForEverybody(desk, 'an upload under way')
  await desk.getByRole('link', { name: 'Logs', exact: true }).click()
  await expect(bar).toBeVisible()
  await expect.poll(async () => Number(await bar.getAttribute('aria-valuenow'))).toBeGreaterThan(0)
  await desk.getByRole('region', { name: 'Upload' }).getByRole('button', { name: 'Cancel' }).click()

  // The project was made for it, and goes with it.
  await expect(desk).toHaveURL(home.platform.dashboard_url)
  await expect(bar).toBeHidden()
  await expect.poll(async () => (await home.api('GET', '/v1/projects/cargo')).status).toBe(404)
  await expect.poll(archives).toEqual(stored)

  // A project that was there before stays as it was.
  const before = await deployments(home, 'harbour-cafe')
  await desk.goto(`${home.platform.dashboard_url}projects/harbour-cafe`)
  await expect(desk.getByRole('heading', { name: 'Live', exact: true })).toBeVisible()
  await throttle(200_000)
  await drag(desk, desk.getByRole('main'), [file])
  await expect(bar).toBeVisible()
  await desk.getByRole('region', { name: 'Upload' }).getByRole('button', { name: 'Cancel' }).click()
  await expect(bar).toBeHidden()
  await throttle(-1)
  expect(await deployments(home, 'harbour-cafe')).toHaveLength(before.length)
  await expect.poll(archives).toEqual(stored)
})
