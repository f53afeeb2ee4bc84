/**
 * Pictures of every screen, in both themes, wide and narrow, into out/gallery/: `node test/e2e/gallery.ts [parts of names]`.
 * What is in the pictures really happens: the platform runs, builds and serves.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Page, chromium } from '@playwright/test'
import { zipOf } from '../support/archives.ts'
import { startTestPlatform } from '../support/platform.ts'
import { chromiumPath } from '../support/requirements.ts'
import { type Scene, setScene } from './scene.ts'

const folder = join(import.meta.dirname, '../../out/gallery')
const wanted = process.argv.slice(2)

interface Shot {
  name: string
  path: string
  /** Brings the page to what the picture is of. */
  act?: (page: Page) => Promise<unknown>
}

const shots = (scene: Scene): Shot[] => [
  { name: 'projects', path: '' },
  { name: 'overview', path: 'projects/harbour-shop' },
  { name: 'overview-failed', path: 'projects/customs' },
  { name: 'overview-building', path: 'projects/night-ferry' },
  { name: 'overview-stopped', path: 'projects/lighthouse' },
  { name: 'overview-new', path: 'projects/chart-room' },
  { name: 'previews', path: 'projects/harbour-shop/previews' },
  { name: 'previews-none', path: 'projects/tide-tables/previews' },
  { name: 'previews-no-repository', path: 'projects/chart-room/previews' },
  { name: 'upload-dialog', path: 'projects/harbour-shop?do=upload' },
  {
    name: 'upload-refused',
    path: 'projects/harbour-shop',
    act: (page) => bring(page, [{ name: 'café.zip', mimeType: 'application/zip', buffer: zipOf([{ name: '../outside.txt', data: 'x' }]) }]),
  },
  {
    name: 'upload-under-way',
    path: 'projects/harbour-shop',
    async act(page) {
      const line = await page.context().newCDPSession(page)
      await line.send('Network.enable')
      const speed = (uploadThroughput: number) =>
        line.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput })
      await speed(250_000)
      await bring(page, [{ name: 'harbour-shop.zip', mimeType: 'application/zip', buffer: Buffer.concat([Buffer.from('PK'), randomBytes(6e6)]) }])
      await page.getByText('left').waitFor()
    },
  },
  { name: 'drop', path: 'projects/harbour-shop', act: hover },
  { name: 'deployments', path: 'projects/harbour-shop/deployments' },
  { name: 'deployment-ready', path: `projects/harbour-shop/deployments/${scene.serving_id}` },
  { name: 'deployment-failed', path: `projects/harbour-shop/deployments/${scene.failed_id}` },
  { name: 'deployment-running', path: `projects/night-ferry/deployments/${scene.running_id}` },
  { name: 'logs', path: 'projects/harbour-shop/logs' },
  { name: 'overview-asleep', path: 'projects/fog-horn' },
  { name: 'metrics', path: 'projects/harbour-shop/metrics' },
  { name: 'metrics-empty', path: 'projects/chart-room/metrics' },
  { name: 'cache', path: 'projects/harbour-shop/cache?url=/boats' },
  { name: 'environment', path: 'projects/harbour-shop/environment', act: (page) => page.getByRole('button', { name: 'Show values' }).click() },
  { name: 'environment-empty', path: 'projects/chart-room/environment' },
  {
    name: 'environment-import',
    path: 'projects/harbour-shop/environment?do=import',
    act: (page) =>
      page
        .getByLabel('Content of the file')
        .fill('# ours\nTIDE_API=https://tides.example.com\nCURRENCY=NOK\n9LIVES=no\nnot a line\nHOMEPORT_X=1\nPORT_NAME=north\nPORT_NAME=south'),
  },
  {
    name: 'environment-add',
    path: 'projects/harbour-shop/environment?do=add',
    act: (page) => page.getByLabel('Key', { exact: true }).fill('HOMEPORT_X'),
  },
  { name: 'database', path: 'projects/harbour-shop/database' },
  { name: 'database-empty', path: 'projects/chart-room/database' },
  {
    name: 'database-import',
    path: 'projects/harbour-shop/database?do=import',
    async act(page) {
      await page
        .locator('.dialog input[type=file]')
        .setInputFiles({ name: 'old-shop.dump', mimeType: 'application/octet-stream', buffer: Buffer.from('PGDMP') })
      await page.getByRole('alert').waitFor()
    },
  },
  { name: 'database-drop', path: 'projects/harbour-shop/database?do=drop', act: (page) => page.getByRole('dialog').waitFor() },
  { name: 'domains', path: 'projects/harbour-shop/domains' },
  { name: 'domains-every', path: 'domains' },
  { name: 'domains-add', path: 'projects/harbour-shop/domains?do=add', act: (page) => page.getByRole('dialog').waitFor() },
  {
    name: 'domains-offers',
    path: 'projects/harbour-shop/domains?do=buy',
    async act(page) {
      await page.getByLabel('Name to look for').fill('harbour')
      await page.keyboard.press('Enter')
      await page.getByRole('list', { name: 'Offers' }).waitFor()
    },
  },
  { name: 'settings', path: 'projects/harbour-shop/settings' },
  { name: 'instance', path: 'instance' },
  { name: 'network', path: 'instance/network' },
  { name: 'account', path: 'account' },
  { name: 'token-dialog', path: 'account?do=token', act: (page) => page.getByRole('dialog').waitFor() },
  { name: 'disk', path: 'instance/disk' },
  { name: 'disk-clean', path: 'instance/disk?do=clean', act: (page) => page.getByRole('dialog').waitFor() },
  { name: 'backups', path: 'instance/backups' },
  { name: 'password', path: 'instance/network', act: (page) => page.getByRole('button', { name: 'Set the password…' }).click() },
  { name: 'no-project', path: 'projects/gone' },
  { name: 'new-project', path: '', act: (page) => page.getByRole('button', { name: 'New project' }).last().click() },
  { name: 'palette', path: 'projects/harbour-shop', act: (page) => page.keyboard.press('ControlOrMeta+k') },
  {
    name: 'menu',
    path: 'projects/harbour-shop',
    async act(page) {
      const drawer = page.getByRole('button', { name: 'Menu' })
      if (await drawer.isVisible()) await drawer.click()
      else await page.getByRole('button', { name: 'More actions' }).click()
    },
  },
  {
    name: 'refused',
    path: '',
    async act(page) {
      await page.getByRole('button', { name: 'New project' }).last().click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('radio', { name: 'Git address' }).click()
      await dialog.getByLabel('Git address', { exact: true }).last().fill('ftp://example.com/boats.git')
      await dialog.getByLabel('Slug').fill('harbour-shop')
      await dialog.getByRole('button', { name: 'Deploy' }).click()
      await dialog.getByRole('alert').waitFor()
    },
  },
  {
    name: 'roll-back',
    path: 'projects/harbour-shop',
    async act(page) {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name: 'Roll back' }).click()
    },
  },
  {
    name: 'delete',
    path: 'projects/harbour-shop/settings',
    act: (page) => page.getByRole('button', { name: 'Delete…' }).click(),
  },
]

async function bring(page: Page, files: { name: string; mimeType: string; buffer: Buffer }[]) {
  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Upload' }).click()
  await page.getByRole('button', { name: 'Choose a file…' }).click()
  await (await choosing).setFiles(files)
  await page.getByRole('region', { name: 'Upload' }).or(page.getByRole('alert')).first().waitFor()
}

/** A file from outside of the browser, over the page. */
async function hover(page: Page) {
  const hand = await page.context().newCDPSession(page)
  const data = { items: [], files: [import.meta.filename], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver'] as const)
    await hand.send('Input.dispatchDragEvent', { type, x: (page.viewportSize()?.width ?? 0) * 0.7, y: 400, data })
}

mkdirSync(folder, { recursive: true })
const scene = await setScene({ pictures: true })
const empty = await startTestPlatform({ runtime: 'process' })
const browser = await chromium.launch({
  ...(chromiumPath ? { executablePath: chromiumPath } : {}),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const viewport of [
      { width: 1280, height: 820 },
      { width: 390, height: 844 },
    ]) {
      const context = await browser.newContext({ colorScheme, viewport, deviceScaleFactor: viewport.width < 500 ? 2 : 1, locale: 'en-GB' })
      const page = await context.newPage()
      page.on('console', (message) => message.type() === 'error' && console.log(`  console: ${message.text()}`))
      page.on('pageerror', (error) => console.log(`  page: ${error.message}`))
      const take = async ({ name, path, act }: Shot, url: string) => {
        if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) return
        await page.goto(`${url}${path}`)
        await page.waitForLoadState('load')
        await page.locator('.skeleton, .skeleton-row').first().waitFor({ state: 'detached' })
        await act?.(page)
        // The last entrance has ended when nothing moves but what turns for ever.
        await page.waitForFunction(() =>
          document.getAnimations().every((animation) => animation.playState !== 'running' || animation.effect?.getTiming().iterations === Infinity),
        )
        await page.waitForTimeout(350)
        await page.screenshot({
          path: join(folder, `${name}-${colorScheme}-${viewport.width}.png`),
          fullPage: !act && !path.includes('deployments/'),
        })
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
        console.log(`${name} ${colorScheme} ${viewport.width}${wider > 0 ? `  WIDER THAN THE WINDOW by ${wider}` : ''}`)
      }
      await take({ name: 'sign-in', path: '' }, scene.home.platform.dashboard_url)
      await page.goto(await scene.home.platform.signInUrl())
      for (const shot of shots(scene)) await take(shot, scene.home.platform.dashboard_url)
      await page.goto(await empty.platform.signInUrl())
      await take({ name: 'welcome', path: '' }, empty.platform.dashboard_url)
      await context.close()
    }
  }
} finally {
  await browser.close()
  await empty.remove()
  await scene.remove()
}
