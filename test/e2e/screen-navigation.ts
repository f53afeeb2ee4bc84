import type { QueryClient } from '@tanstack/react-query'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from '@playwright/test'
import { promotionsStorageKey } from '../../renderer/stores/promotions.ts'
import { recordPerformance } from '../support/page-performance.ts'
import { type TestPlatform, createClient } from '../support/platform.ts'
import type { SeededIds } from './seeded-platform.ts'
import type { Screen } from './screen.ts'

/** A platform whose dashboard is shown. */
export interface DashboardTarget {
  dashboard_url: string
  signInUrl(): Promise<string>
}

export const toDashboardTarget = ({ handle: platform }: TestPlatform): DashboardTarget => ({
  dashboard_url: platform.dashboard_url,
  signInUrl: () => platform.signInUrl(),
})

/** What the process with the seeded platform tells the workers about it. */
export interface SharedPlatformInfo {
  instance: Parameters<typeof createClient>[0]
  dashboard_url: string
  ids: SeededIds
}

/** The environment variable with the URL of the seeded platform's process. */
export const seededPlatformVariable = 'HOMEPORT_TEST_SCENE'

/** Per run: the first request seeds the platform. */
export async function fetchSeededPlatform(): Promise<{ target: DashboardTarget; ids: SeededIds }> {
  const response = await fetch(process.env[seededPlatformVariable] ?? '')
  if (!response.ok) throw new Error(await response.text())
  const { instance, dashboard_url, ids } = (await response.json()) as SharedPlatformInfo
  const { api } = createClient(instance)
  const signInUrl = async () => (await api<{ url: string }>('POST', '/instance/sign-in-links')).body.url
  return { target: { dashboard_url, signInUrl }, ids }
}

/** `records`: its pages record layout shifts and frames, for which they never stop painting. */
export async function createWindow(
  browser: Browser,
  { records = true, ...options }: BrowserContextOptions & { records?: boolean },
): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  if (records) await recordPerformance(context)
  // An unfinished promotion of another screen would be offered here.
  await context.addInitScript((key) => self === top && origin !== 'null' && localStorage.removeItem(key), promotionsStorageKey)
  return context
}

/** The page loads no code of other pages in advance, as in data-saving mode: more than a second of processor time for each document. */
export const preventPrefetch = (page: Page): Promise<unknown> =>
  page.addInitScript(() => Object.defineProperty(navigator, 'connection', { value: { saveData: true } }))

/** Opens a sign-in link, and waits until the dashboard has loaded. */
export async function signIn(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.waitForURL(/\/app\//)
}

const lastSeenBy = new WeakMap<BrowserContext, Screen['seen_by']>()

/** The address of an instance that does not exist. There nothing of the dashboard is mounted but the message that says so. */
const emptyAddress = ({ dashboard_url }: DashboardTarget) => `${dashboard_url}on/rem_none/`

/** Brings a page into the state of the screen. A page that `leaveScreen` left keeps its document, because loading one takes four times as long. */
export async function openScreen(
  page: Page,
  target: DashboardTarget,
  { path, seen_by = 'owner', before, is_loading = false, alters_page = false, act }: Screen,
): Promise<void> {
  const context = page.context()
  if (lastSeenBy.get(context) !== seen_by) {
    if (seen_by === 'guest') {
      await page.goto(target.dashboard_url)
      await page.evaluate(() => localStorage.clear())
    } else await signIn(page, await target.signInUrl())
    lastSeenBy.set(context, seen_by)
  }
  await before?.(page)
  const address = `${target.dashboard_url}${path}`
  // The responses of another instance are in a cache of their own.
  if (page.url() === emptyAddress(target) && !alters_page && !path.startsWith('on/')) await openWithinDocument(page, address)
  else await page.goto(address)
  await page.locator('h1').first().waitFor()
  if (is_loading) await page.locator('.skeleton, .skeleton-row').first().waitFor()
  else await page.waitForFunction(() => document.querySelector('.skeleton, .skeleton-row') === null)
  await act?.(page)
  await waitForAnimations(page)
}

/** Opens an address as if nothing had been loaded. The page does not offer its query cache, but React has it in the properties of its provider. */
async function openWithinDocument(page: Page, address: string): Promise<void> {
  await page.evaluate(() => {
    interface Fiber {
      child: Fiber
      memoizedProps: { client?: QueryClient } | null
    }
    const root = document.getElementById('root') as unknown as Record<string, { stateNode: { current: Fiber } }>
    let fiber = root[Object.keys(root).find((key) => key.startsWith('__reactContainer'))!]!.stateNode.current
    while (!fiber.memoizedProps?.client) fiber = fiber.child
    fiber.memoizedProps.client.removeQueries({ type: 'inactive' })
    void fiber.memoizedProps.client.resetQueries()
  })
  return navigateWithinDocument(page, address)
}

/** Goes to another page of the dashboard as by a link. */
export const navigateWithinDocument = (page: Page, address: string): Promise<void> =>
  page.evaluate(async (url) => {
    const previous = document.querySelector('h1')
    history.pushState(null, '', url)
    while (previous?.isConnected) await new Promise(requestAnimationFrame)
  }, address)

/** Undoes a screen's routes and network conditions; `alters_page` means that it changed more than that. A page that is left does no work. */
export async function leaveScreen(page: Page, target: DashboardTarget, { alters_page = false, seen_by }: Screen): Promise<void> {
  await page.context().setOffline(false)
  if (alters_page) return page.close()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  // Dialogs of the frame stay open, and so do toasts.
  while ((await page.getByRole('dialog').count()) > 0) await page.keyboard.press('Escape')
  if (seen_by !== undefined || (await page.getByRole('status').locator('[class*=toast]').count()) > 0) await page.goto('about:blank')
  else {
    await page.evaluate((url) => history.pushState(null, '', url), emptyAddress(target))
    await page.getByRole('heading', { name: 'Instance not found' }).waitFor()
  }
}

/** All entrance animations have ended, except endless ones. */
export async function waitForAnimations(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document.getAnimations().every((animation) => animation.playState !== 'running' || animation.effect?.getTiming().iterations === Infinity),
  )
}
