import { type Locator, type Page, expect } from '@playwright/test'
import type { TestPlatform } from '../../support/platform.ts'
import type { Repository } from '../../support/repository.ts'
import type { BridgeDouble } from '../bridge.ts'
import type { Hand } from '../hand.ts'

/** Who tells a story: a person with some window, some theme and some way to use it. */
export interface Teller {
  /** The page of the person, who is signed in and sees the projects. */
  desk: Page
  /** The platform that it is of. */
  home: TestPlatform
  /** Another platform, for what happens between two. */
  startOther: () => Promise<TestPlatform>
  hand: Hand
  /** There in the desktop window alone. */
  bridge: BridgeDouble | null
  /** A git repository that goes when the story ends. */
  repository: (files: Record<string, string>) => Repository
}

/** Goes to a page by its address, as a bookmark does. */
export async function goTo({ desk, home }: Teller, path: string): Promise<void> {
  await desk.goto(`${home.platform.dashboard_url}${path}`)
  await expect(desk.getByRole('heading', { level: 1 })).toBeVisible()
  // A project that is still coming has a heading, too, and nothing yet that the palette could find.
  await expect(desk.locator('h1 .skeleton')).toHaveCount(0)
}

/** Opens an address of an app: in the desktop by way of the bridge, else in a tab of its own. Returns the heading of its page. */
export async function visit({ desk, hand, bridge }: Teller, link: Locator): Promise<string> {
  const href = (await link.getAttribute('href')) ?? ''
  if (!bridge) {
    const [tab] = await Promise.all([desk.context().waitForEvent('page'), hand.press(link)])
    await tab.waitForURL(href)
    const heading = await tab.getByRole('heading', { level: 1 }).innerText()
    await tab.close()
    return heading
  }
  const asked = bridge.given('openExternal').length
  await hand.press(link)
  await expect.poll(() => bridge.given('openExternal').slice(asked)).toEqual([[new URL(href).href]])
  expect(desk.context().pages(), 'no second window').toHaveLength(1)
  const theirs = await desk.context().browser()?.newPage()
  if (!theirs) throw new Error('the browser is gone')
  await theirs.goto(href)
  const heading = await theirs.getByRole('heading', { level: 1 }).innerText()
  await theirs.close()
  return heading
}

/** What the last press of a copying button left. */
export async function copied(desk: Page): Promise<string> {
  return desk.evaluate(() => navigator.clipboard.readText())
}

/** Every address that the page asks for from now on: no secret may be in one. */
export function addressesOf(desk: Page): string[] {
  const addresses: string[] = []
  desk.on('request', (request) => addresses.push(request.url()))
  return addresses
}

/** A project that serves, made by a program. */
export async function serving({ home }: Teller, project: { slug: string; name: string; repo_url: string; pushes?: boolean }): Promise<void> {
  await home.createProject(project)
  const { status } = await home.ended(project.slug, (await home.deploy(project.slug)).id)
  expect(status).toBe('ready')
}
