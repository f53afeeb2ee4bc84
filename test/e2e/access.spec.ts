import type { Page } from '@playwright/test'
import { buildDashboard, expect, expectForEverybody, test as base } from './fixtures.ts'
import { type Scene, setScene } from './scene.ts'

const test = base.extend<object, { scene: Scene }>({
  scene: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright asks for the braces
    async ({}, use) => {
      await buildDashboard()
      const scene = await setScene()
      await use(scene)
      await scene.remove()
    },
    { scope: 'worker', timeout: 120_000 },
  ],
})

const screens: { name: string; path: (scene: Scene) => string; dialog?: (page: Page) => Promise<unknown> }[] = [
  { name: 'projects', path: () => '' },
  { name: 'overview', path: () => 'projects/harbour-shop' },
  { name: 'overview of a project that failed', path: () => 'projects/customs' },
  { name: 'deployments', path: () => 'projects/harbour-shop/deployments' },
  { name: 'deployment that serves', path: (scene) => `projects/harbour-shop/deployments/${scene.serving_id}` },
  { name: 'deployment that failed', path: (scene) => `projects/harbour-shop/deployments/${scene.failed_id}` },
  { name: 'deployment under way', path: (scene) => `projects/night-ferry/deployments/${scene.running_id}` },
  { name: 'previews', path: () => 'projects/harbour-shop/previews' },
  { name: 'no previews', path: () => 'projects/tide-tables/previews' },
  { name: 'uploading', path: () => 'projects/harbour-shop?do=upload', dialog: async () => undefined },
  { name: 'logs', path: () => 'projects/harbour-shop/logs' },
  { name: 'overview of one asleep', path: () => 'projects/fog-horn' },
  { name: 'metrics', path: () => 'projects/harbour-shop/metrics?range=7d' },
  { name: 'metrics of nothing', path: () => 'projects/chart-room/metrics' },
  {
    name: 'cache',
    path: () => 'projects/harbour-shop/cache?url=/boats',
    dialog: (page) => page.getByRole('button', { name: 'Purge everything…' }).click(),
  },
  { name: 'verdict of the cache', path: () => 'projects/harbour-shop/cache?url=/boats' },
  { name: 'environment', path: () => 'projects/harbour-shop/environment' },
  {
    name: 'environment of nothing, and a file before it is saved',
    path: () => 'projects/customs/environment?do=import',
    dialog: (page) => page.getByLabel('Content of the file').fill('# ours\nPORT_NAME=north\n9LIVES=no\nHOMEPORT_X=1\nPORT_NAME=south'),
  },
  {
    name: 'adding a variable',
    path: () => 'projects/harbour-shop/environment?do=add',
    dialog: (page) => page.getByLabel('Key', { exact: true }).fill('1st'),
  },
  { name: 'database', path: () => 'projects/harbour-shop/database' },
  { name: 'no database', path: () => 'projects/chart-room/database' },
  {
    name: 'a database about to be dropped',
    path: () => 'projects/harbour-shop/database?do=drop',
    dialog: (page) => page.getByLabel('Type harbour-shop to confirm').fill('harbour'),
  },
  { name: 'importing', path: () => 'projects/harbour-shop/database?do=import', dialog: async () => undefined },
  { name: 'domains', path: () => 'projects/harbour-shop/domains' },
  { name: 'no domains', path: () => 'projects/chart-room/domains' },
  { name: 'adding a domain', path: () => 'projects/harbour-shop/domains?do=add', dialog: async () => undefined },
  { name: 'every domain', path: () => 'domains' },
  { name: 'settings', path: () => 'projects/harbour-shop/settings' },
  { name: 'instance', path: () => 'instance' },
  { name: 'network', path: () => 'instance/network' },
  { name: 'account', path: () => 'account' },
  { name: 'making a token', path: () => 'account?do=token', dialog: async () => undefined },
  { name: 'disk', path: () => 'instance/disk' },
  { name: 'clean-up', path: () => 'instance/disk?do=clean', dialog: async () => undefined },
  { name: 'backups', path: () => 'instance/backups' },
  {
    name: 'password',
    path: () => 'instance/network',
    dialog: (page) => page.getByRole('button', { name: 'Set the password…' }).click(),
  },
  { name: 'new project', path: () => '', dialog: (page) => page.getByRole('button', { name: 'New project' }).last().click() },
  { name: 'palette', path: () => 'projects/harbour-shop', dialog: (page) => page.keyboard.press('ControlOrMeta+k') },
]

const looks = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'light', width: 390 },
] as const

for (const { colorScheme, width } of looks) {
  test(`every screen is for everybody: ${colorScheme}, ${width} wide`, async ({ page, scene }) => {
    test.setTimeout(420_000)
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 844 })
    await page.goto(await scene.home.platform.signInUrl())
    for (const { name, path, dialog } of screens) {
      await test.step(name, async () => {
        await page.goto(`${scene.home.platform.dashboard_url}${path(scene)}`)
        await expect(page.locator('h1').first()).toBeVisible()
        await expect(page.locator('.skeleton, .skeleton-row')).toHaveCount(0)
        if (dialog) {
          await dialog(page)
          await expect(page.getByRole('dialog')).toBeVisible()
        }
        await expectForEverybody(page, name)
      })
    }
  })
}
