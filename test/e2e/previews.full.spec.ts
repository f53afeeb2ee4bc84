import { execFileSync } from 'node:child_process'
import type { Page } from '@playwright/test'
import { startTestPlatform } from '../support/platform.ts'
import { app, expect, expectForEverybody, test } from './fixtures.ts'
import { signIn } from './stage.ts'

const rows = (desk: Page) => desk.getByRole('region', { name: 'Previews' }).getByRole('listitem')
/** The branches of the first look at a repository are no news: what is to be seen by itself comes after it. */
const isLookedAt = (desk: Page) => expect(desk.getByRole('region', { name: 'Automatic deployments' })).toContainText('Looked')

test('a preview that fails says so, and what served before serves on', async ({ desk, home, repository }) => {
  const made = repository(app('on main'))
  await home.createProject({ slug: 'quay', name: 'Quay', repo_url: made.url, pushes: true })
  expect((await home.ended('quay', (await home.deploy('quay')).id)).status).toBe('ready')
  await desk.goto(`${home.platform.dashboard_url}projects/quay/previews`)
  await expect(desk.getByRole('heading', { name: 'No open previews', exact: true })).toBeVisible()
  await isLookedAt(desk)

  // Nobody presses anything: the branch is seen by itself.
  execFileSync('git', ['switch', '--quiet', '-c', 'feature/new-crane'], { cwd: made.folder })
  made.commit(app('a new crane'), 'Lift twice as much')
  const row = rows(desk).filter({ hasText: 'feature/new-crane' })
  await expect(row).toContainText('Live')
  made.commit({ 'build.js': 'process.exit(1)' }, 'Break the crane')
  await expect(row).toContainText('Failed')
  await expect(row).toContainText('the version before serves')
  await expect(row.getByRole('link', { name: /^feature-new-crane--quay\.localhost/ })).toBeVisible()
  expect((await home.edge('feature-new-crane--quay.localhost')).body).toContain('a new crane')
})

test('what a push does is switched, looked at now, and said when it cannot be done', async ({ desk, home, repository }) => {
  const made = repository(app('shed'))
  await home.createProject({ slug: 'shed', name: 'Shed', repo_url: made.url, pushes: true })
  await desk.goto(`${home.platform.dashboard_url}projects/shed`)
  await expect(desk.getByRole('heading', { level: 1 })).toHaveText('Shed')
  await desk.keyboard.press('ControlOrMeta+k')
  await expect(desk.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox')).toBeFocused()
  await desk.keyboard.type('automatic deployments')
  await expect(desk.getByRole('option', { selected: true })).toHaveText('Previews: automatic deployments')
  await desk.keyboard.press('Enter')
  const card = desk.getByRole('region', { name: 'Automatic deployments' })
  await card.getByRole('switch', { name: 'Previews of other branches' }).click()
  await expect(card.getByRole('switch', { name: 'Previews of other branches' })).not.toBeChecked()
  await expect(desk.getByRole('heading', { name: 'Previews are switched off', exact: true })).toBeVisible()
  await card.getByRole('switch', { name: 'Deploy pushes to main' }).click()
  await expect(card).toContainText('Not watched')
  await card.getByRole('switch', { name: 'Previews of other branches' }).click()
  await expect(card).toContainText('Watched')
  // The switch shows what is wanted before it is so.
  await Promise.all([
    desk.waitForResponse((response) => response.request().method() === 'PATCH' && response.url().endsWith('/watching')),
    card.getByRole('switch', { name: 'A database for each preview' }).click(),
  ])
  await desk.reload()
  await expect(card.getByRole('switch', { name: 'A database for each preview' })).toBeChecked()

  made.remove()
  await card.getByRole('button', { name: 'Check now' }).click()
  await expect(card).toContainText('Cannot look')
  await expectForEverybody(desk, 'a repository that is gone')
})

test('a project without a repository is told what previews take', async ({ desk, home }) => {
  await home.createProject({ slug: 'loft', name: 'Loft', pushes: true })
  await desk.goto(`${home.platform.dashboard_url}projects/loft/previews`)
  await expect(desk.getByRole('heading', { name: 'No repository, no branches', exact: true })).toBeVisible()
  await desk.getByRole('link', { name: 'To the settings' }).click()
  await expect(desk).toHaveURL(/\/projects\/loft\/settings$/)
})

test('pictures appear by themselves, in their frames and in the lists', async ({ page, repository }) => {
  const home = await startTestPlatform({ runtime: 'process', screenshots: true })
  try {
    const made = repository(app('Worth a picture'))
    await home.createProject({ slug: 'gallery', name: 'Gallery', repo_url: made.url, pushes: true })
    await signIn(page, await home.platform.signInUrl())
    await page.goto(`${home.platform.dashboard_url}projects/gallery`)
    await home.deploy('gallery')
    const drawn = async (name: string) => {
      const picture = page.getByRole('img', { name })
      await expect(picture).toBeVisible()
      await expect
        .poll(() => picture.evaluate((image: HTMLImageElement) => [image.complete, image.naturalWidth]))
        .toEqual([true, name.includes('phone') ? 390 : 1280])
    }
    await drawn('gallery on a desktop screen')
    await drawn('gallery on a phone')
    await expectForEverybody(page, 'device frames')

    await page.goto(home.platform.dashboard_url)
    const thumbnail = page.getByRole('list', { name: 'Projects' }).locator('img')
    await expect.poll(() => thumbnail.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1280)
    await expectForEverybody(page, 'thumbnails')

    await page.goto(`${home.platform.dashboard_url}projects/gallery/previews`)
    await isLookedAt(page)
    execFileSync('git', ['switch', '--quiet', '-c', 'in-red'], { cwd: made.folder })
    made.commit(app('In red'), 'Paint it red')
    const preview = rows(page).filter({ hasText: 'in-red' }).locator('img')
    await expect(preview).toBeVisible()
    await expect.poll(() => preview.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1280)
  } finally {
    await home.remove()
  }
})
