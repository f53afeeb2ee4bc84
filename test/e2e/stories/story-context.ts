import { type Locator, type Page, expect } from '@playwright/test'
import type { TestPlatform } from '../../support/platform.ts'
import type { Repository } from '../../support/repository.ts'
import type { FakeBridge } from '../fake-bridge.ts'
import type { InputDriver } from '../input-driver.ts'

/** Who tells a story: a person with some window, some theme and some way to use it. */
export interface StoryContext {
  /** The page of the person, who is signed in and sees the projects. */
  dashboard: Page
  /** The platform that it is of. */
  platform: TestPlatform
  /** Another platform, for what happens between two. */
  startSecondPlatform: () => Promise<TestPlatform>
  inputDriver: InputDriver
  /** There in the desktop window alone. */
  bridge: FakeBridge | null
  /** A git repository that goes when the story ends. */
  createRepository: (files: Record<string, string>) => Repository
}

/** Goes to a page by its address, as a bookmark does. */
export async function goTo({ dashboard, platform }: StoryContext, path: string): Promise<void> {
  await dashboard.goto(`${platform.handle.dashboard_url}${path}`)
  await expect(dashboard.getByRole('heading', { level: 1 })).toBeVisible()
  // A project that is still coming has a heading, too, and nothing yet that the palette could find.
  await expect(dashboard.locator('h1 .skeleton')).toHaveCount(0)
}

/** Opens an address of an app: in the desktop by way of the bridge, else in a tab of its own. Returns the heading of its page. */
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

/** What the last press of a copying button left. */
export async function readClipboard(dashboard: Page): Promise<string> {
  return dashboard.evaluate(() => navigator.clipboard.readText())
}

/** Every address that the page asks for from now on: no secret may be in one. */
export function recordRequestUrls(dashboard: Page): string[] {
  const addresses: string[] = []
  dashboard.on('request', (request) => addresses.push(request.url()))
  return addresses
}

/** A project that serves, made by a program. */
export async function createReadyProject(
  { platform }: StoryContext,
  project: { slug: string; name: string; repo_url: string; pushes?: boolean },
): Promise<void> {
  await platform.createProject(project)
  const { status } = await platform.waitForEnd(project.slug, (await platform.deploy(project.slug)).id)
  expect(status).toBe('ready')
}
