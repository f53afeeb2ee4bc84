import { execFileSync } from 'node:child_process'
import type { Page } from '@playwright/test'
import { startTestPlatform } from '../support/platform.ts'
import { greetingAppFiles, expect, expectAccessible, test } from './fixtures.ts'
import { signIn } from './screen-navigation.ts'

const rows = (dashboard: Page) => dashboard.getByRole('region', { name: 'Previews' }).getByRole('listitem')
/** Branches found by the first check of a repository are not new. A branch must appear after it. */
const expectChecked = (dashboard: Page) => expect(dashboard.getByRole('region', { name: 'Automatic deployments' })).toContainText('Checked')

test('a failed preview is reported, and the previous version keeps serving', async ({ dashboard, platform, createRepository }) => {
  const repository = createRepository(greetingAppFiles('on main'))
  await platform.createProject({ slug: 'quay', name: 'Quay', repo_url: repository.url, pushes: true })
  expect((await platform.waitForEnd('quay', (await platform.deploy('quay')).id)).status).toBe('ready')
  await dashboard.goto(`${platform.handle.dashboard_url}projects/quay/previews`)
  await expect(dashboard.getByRole('heading', { name: 'No open previews', exact: true })).toBeVisible()
  await expectChecked(dashboard)

  // Without any interaction: the branch is detected by itself.
  execFileSync('git', ['switch', '--quiet', '-c', 'feature/new-crane'], { cwd: repository.folder })
  repository.commit(greetingAppFiles('a new crane'), 'Lift twice as much')
  const row = rows(dashboard).filter({ hasText: 'feature/new-crane' })
  await expect(row).toContainText('Live')
  repository.commit({ 'build.js': 'process.exit(1)' }, 'Break the crane')
  await expect(row).toContainText('Failed')
  await expect(row).toContainText('the previous version is live')
  await expect(row.getByRole('link', { name: /^feature-new-crane--quay\.localhost/ })).toBeVisible()
  expect((await platform.fetchEdge('feature-new-crane--quay.localhost')).body).toContain('a new crane')
})

test('push settings are changed, the repository is checked on demand, and failures are reported', async ({
  dashboard,
  platform,
  createRepository,
}) => {
  const repository = createRepository(greetingAppFiles('shed'))
  await platform.createProject({ slug: 'shed', name: 'Shed', repo_url: repository.url, pushes: true })
  await dashboard.goto(`${platform.handle.dashboard_url}projects/shed`)
  await expect(dashboard.getByRole('heading', { level: 1 })).toHaveText('Shed')
  await dashboard.keyboard.press('ControlOrMeta+k')
  await expect(dashboard.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox')).toBeFocused()
  await dashboard.keyboard.type('automatic deployments')
  await expect(dashboard.getByRole('option', { selected: true })).toHaveText('Previews: automatic deployments')
  await dashboard.keyboard.press('Enter')
  const card = dashboard.getByRole('region', { name: 'Automatic deployments' })
  await card.getByRole('switch', { name: 'Previews of other branches' }).click()
  await expect(card.getByRole('switch', { name: 'Previews of other branches' })).not.toBeChecked()
  await expect(dashboard.getByRole('heading', { name: 'Previews are off', exact: true })).toBeVisible()
  await card.getByRole('switch', { name: 'Deploy pushes to main' }).click()
  await expect(card).toContainText('Not watched')
  await card.getByRole('switch', { name: 'Previews of other branches' }).click()
  await expect(card).toContainText('Watched')
  // The switch shows the requested state before it takes effect.
  await Promise.all([
    dashboard.waitForResponse((response) => response.request().method() === 'PATCH' && response.url().endsWith('/watching')),
    card.getByRole('switch', { name: 'A database for each preview' }).click(),
  ])
  await dashboard.reload()
  await expect(card.getByRole('switch', { name: 'A database for each preview' })).toBeChecked()

  repository.remove()
  await card.getByRole('button', { name: 'Check now' }).click()
  await expect(card).toContainText('Cannot check')
  await expectAccessible(dashboard, 'a repository that is gone')
})

test('a project without a repository explains what previews require', async ({ dashboard, platform }) => {
  await platform.createProject({ slug: 'loft', name: 'Loft', pushes: true })
  await dashboard.goto(`${platform.handle.dashboard_url}projects/loft/previews`)
  await expect(dashboard.getByRole('heading', { name: 'Previews need a repository', exact: true })).toBeVisible()
  await dashboard.getByRole('link', { name: 'Open settings' }).click()
  await expect(dashboard).toHaveURL(/\/projects\/loft\/settings$/)
})

test('screenshots appear by themselves, in their frames and in the lists', async ({ page, createRepository }) => {
  const platform = await startTestPlatform({ runtime: 'process', screenshots: true })
  try {
    const repository = createRepository(greetingAppFiles('Worth a picture'))
    await platform.createProject({ slug: 'gallery', name: 'Gallery', repo_url: repository.url, pushes: true })
    await signIn(page, await platform.handle.signInUrl())
    await page.goto(`${platform.handle.dashboard_url}projects/gallery`)
    await platform.deploy('gallery')
    const drawn = async (name: string) => {
      const picture = page.getByRole('img', { name })
      await expect(picture).toBeVisible()
      await expect
        .poll(() => picture.evaluate((image: HTMLImageElement) => [image.complete, image.naturalWidth]))
        .toEqual([true, name.includes('phone') ? 390 : 1280])
    }
    await drawn('gallery on a desktop screen')
    await drawn('gallery on a phone')
    await expectAccessible(page, 'device frames')

    await page.goto(platform.handle.dashboard_url)
    const thumbnail = page.getByRole('list', { name: 'Projects' }).locator('img')
    await expect.poll(() => thumbnail.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1280)
    await expectAccessible(page, 'thumbnails')

    await page.goto(`${platform.handle.dashboard_url}projects/gallery/previews`)
    await expectChecked(page)
    execFileSync('git', ['switch', '--quiet', '-c', 'in-red'], { cwd: repository.folder })
    repository.commit(greetingAppFiles('In red'), 'Paint it red')
    const preview = rows(page).filter({ hasText: 'in-red' }).locator('img')
    await expect(preview).toBeVisible()
    await expect.poll(() => preview.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1280)
  } finally {
    await platform.remove()
  }
})
