import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from '@playwright/test'
import type { Deployment } from '../../server/contract/deployments.ts'
import { tgzOf, zipOf } from '../support/archives.ts'
import type { TestPlatform } from '../support/platform.ts'
import { app, expect, expectForEverybody, test as base } from './fixtures.ts'

const test = base.extend<{ shelf: (name: string, content?: Buffer) => string }>({
  /** Files on a disk, as a person has them; a folder where there is no content. */
  // oxlint-disable-next-line no-empty-pattern -- Playwright asks for the braces
  async shelf({}, use) {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-shelf-'))
    await use((name, content) => {
      const path = join(folder, name)
      if (content) writeFileSync(path, content)
      else mkdirSync(path)
      return path
    })
    rmSync(folder, { recursive: true, force: true })
  },
})
test.use({ harbour: 'upload' })
test.describe.configure({ mode: 'serial' })

const zipped = (files: Record<string, string>) => zipOf(Object.entries(files).map(([name, data]) => ({ name: `app/${name}`, data })))

/** Drags files from outside of the browser over a part of the page, and lets them go there or not. */
async function drag(page: Page, over: Locator, files: string[], { lets_go = true } = {}): Promise<void> {
  const box = await over.boundingBox()
  if (!box) throw new Error('there is no such place on the page')
  const hand = await page.context().newCDPSession(page)
  const at = { x: box.x + Math.min(box.width / 2, 300), y: box.y + Math.min(box.height / 2, 100), data: { items: [], files, dragOperationsMask: 1 } }
  for (const type of ['dragEnter', 'dragOver', ...(lets_go ? (['drop'] as const) : [])] as const)
    await hand.send('Input.dispatchDragEvent', { type, ...at })
  await hand.detach()
}

const deployments = async (home: TestPlatform, slug: string) =>
  (await home.api<{ deployments: Deployment[] }>('GET', `/v1/projects/${slug}/deployments`)).body.deployments

test('a .zip that is dropped on the welcome page is live a moment later', async ({ desk, home, shelf }) => {
  const file = shelf('Harbour café.zip', zipped(app('Hello from a zip')))
  await expect(desk.getByRole('heading', { name: 'Bring in your first app', exact: true })).toBeVisible()
  await drag(desk, desk.getByRole('main'), [file], { lets_go: false })
  await expect(desk.getByText('Drop it to bring it in')).toBeVisible()
  await drag(desk, desk.getByRole('main'), [file])
  await expect(desk.getByText('Drop it to bring it in')).toBeHidden()
  await expect(desk.getByText('Harbour café.zip')).toBeVisible()
  await expect(desk.getByLabel('Slug')).toHaveValue('harbour-cafe')
  await expectForEverybody(desk, 'welcome with an archive')
  await desk.getByRole('button', { name: 'Deploy', exact: true }).click()

  await expect(desk).toHaveURL(/\/projects\/harbour-cafe\/deployments\/dpl_/)
  await expect(desk.locator('.report-head').getByText('Ready')).toBeVisible({ timeout: 60_000 })
  await expect(desk.locator('.report-head')).toContainText('Upload')
  expect((await home.edge('harbour-cafe.localhost')).body).toContain('Hello from a zip')
})

test('a .tar.gz that is dropped on a project deploys it; by keys alone the same', async ({ desk, home, shelf }) => {
  const files = Object.entries(app('Second voyage')).map(([name, data]) => ({ name, data }))
  await desk.goto(`${home.platform.dashboard_url}projects/harbour-cafe`)
  await expect(desk.getByRole('heading', { name: 'In service', exact: true })).toBeVisible()
  await drag(desk, desk.getByRole('region', { name: 'In service' }), [shelf('app.tar.gz', tgzOf(files))])
  await expect(desk).toHaveURL(/\/projects\/harbour-cafe\/deployments\/dpl_/)
  await expect(desk.locator('.report-head').getByText('Ready')).toBeVisible({ timeout: 60_000 })
  expect((await home.edge('harbour-cafe.localhost')).body).toContain('Second voyage')

  await desk.keyboard.press('ControlOrMeta+k')
  await expect(desk.getByRole('dialog', { name: 'Find or do' }).getByRole('combobox')).toBeFocused()
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
  await expect.poll(async () => (await home.edge('harbour-cafe.localhost')).body, { timeout: 60_000 }).toContain('Third voyage')
})

test('what is no archive is said before anything is sent', async ({ desk, home, shelf }) => {
  const sent: string[] = []
  desk.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
  const before = await deployments(home, 'harbour-cafe')
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
  expect(await deployments(home, 'harbour-cafe')).toHaveLength(before.length)

  // Beside the place, and on pages that take none, nothing happens: least of all does the browser go to the file.
  const url = desk.url()
  await drag(desk, desk.getByRole('navigation', { name: 'Main' }), [zip])
  await desk.getByRole('link', { name: 'Metrics' }).click()
  await expect(desk).toHaveURL(/metrics$/)
  await drag(desk, desk.getByRole('main'), [zip])
  await expect(desk).toHaveURL(url.replace('deployments', 'metrics'))
  expect(sent).toEqual([])
})

test('a broken archive: the entry and the reason stand by the place, and the next one is taken', async ({ desk, home, shelf }) => {
  await desk.goto(`${home.platform.dashboard_url}projects/harbour-cafe`)
  await expect(desk.getByRole('heading', { name: 'In service', exact: true })).toBeVisible()
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
  await expect.poll(async () => (await home.edge('harbour-cafe.localhost')).body, { timeout: 60_000 }).toContain('Mended')
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
  await expect(desk.getByRole('heading', { name: 'In service', exact: true })).toBeVisible()
  await throttle(200_000)
  await drag(desk, desk.getByRole('main'), [file])
  await expect(bar).toBeVisible()
  await desk.getByRole('region', { name: 'Upload' }).getByRole('button', { name: 'Cancel' }).click()
  await expect(bar).toBeHidden()
  await throttle(-1)
  expect(await deployments(home, 'harbour-cafe')).toHaveLength(before.length)
  await expect.poll(archives).toEqual(stored)
})
