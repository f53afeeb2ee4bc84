import { type Locator, type Page, expect } from '@playwright/test'
import type { TestPlatform } from '../../support/platform.ts'
import type { Repository } from '../../support/repository.ts'
import { isFullTier } from '../../support/tier.ts'
import type { FakeBridge } from '../fake-bridge.ts'
import type { InputDriver } from '../input-driver.ts'
import { navigateWithinDocument } from '../screen-navigation.ts'

/** The context of a story: a user with a window size, a theme and an input device. */
export interface StoryContext {
  /** The page of the user, who is signed in and sees the projects. */
  dashboard: Page
  /** The platform behind it. */
  platform: TestPlatform
  /** Another platform, for stories between two. */
  startSecondPlatform: () => Promise<TestPlatform>
  inputDriver: InputDriver
  /** Only in the desktop window. */
  bridge: FakeBridge | null
  /** A git repository that is removed when the story ends. */
  createRepository: (files: Record<string, string>) => Repository
}

/** Opens a page by its URL, like a bookmark; in the default tier within the document, because loading one takes as long as a third of a story. */
export async function goTo({ dashboard, platform }: StoryContext, path: string): Promise<void> {
  const address = `${platform.handle.dashboard_url}${path}`
  if (isFullTier) await dashboard.goto(address)
  else await navigateWithinDocument(dashboard, address)
  await expect(dashboard.getByRole('heading', { level: 1 })).toBeVisible()
  // A loading project has a heading too, but nothing yet that the palette could find.
  await expect(dashboard.locator('h1 .skeleton')).toHaveCount(0)
}

/** Opens the URL of an app: in the desktop through the bridge, otherwise in a new tab. Returns the heading of its page. */
export async function openAppLink({ dashboard, inputDriver, bridge }: StoryContext, link: Locator): Promise<string> {
  const href = (await link.getAttribute('href')) ?? ''
  if (!bridge) {
    const [tab] = await Promise.all([dashboard.context().waitForEvent('page'), inputDriver.press(link)])
    await tab.waitForURL(href)
    const heading = await tab.getByRole('heading', { level: 1 }).innerText()
    await tab.close()
    return heading
  }
  const openedBefore = bridge.argumentsOf('openExternal').length
  await inputDriver.press(link)
  await expect.poll(() => bridge.argumentsOf('openExternal').slice(openedBefore)).toEqual([[new URL(href).href]])
  expect(dashboard.context().pages(), 'no second window').toHaveLength(1)
  const externalPage = await dashboard.context().browser()?.newPage()
  if (!externalPage) throw new Error('the browser is gone')
  await externalPage.goto(href)
  const heading = await externalPage.getByRole('heading', { level: 1 }).innerText()
  await externalPage.close()
  return heading
}

/** The clipboard after the last press of a copy button. */
export async function readClipboard(dashboard: Page): Promise<string> {
  return dashboard.evaluate(() => navigator.clipboard.readText())
}

/** Every URL that the page requests from now on. None may contain a secret. */
export function recordRequestUrls(dashboard: Page): string[] {
  const addresses: string[] = []
  dashboard.on('request', (request) => addresses.push(request.url()))
  return addresses
}

/** A live project, created over the API. */
export async function createReadyProject(
  { platform }: StoryContext,
  project: { slug: string; name: string; repo_url: string; pushes?: boolean },
): Promise<void> {
  await platform.createProject(project)
  const { status } = await platform.waitForEnd(project.slug, (await platform.deploy(project.slug)).id)
  expect(status).toBe('ready')
}
