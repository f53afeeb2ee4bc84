import type { Browser, BrowserContext, Page } from '@playwright/test'
import { waitUntilIdle, takeLayoutShifts } from '../support/page-performance.ts'
import { addAxe, colorContrastRules } from './accessibility.ts'
import { expect, expectNoHorizontalScroll, expectAccessible, test as base } from './fixtures.ts'
import type { Screen } from './screen.ts'
import { screens } from './screens.ts'
import { checkTiers, isInDefaultTier } from './screen-tiers.ts'
import {
  type DashboardTarget,
  toDashboardTarget,
  leaveScreen,
  openScreen,
  createWindow,
  fetchSeededPlatform,
  preventPrefetch,
} from './screen-navigation.ts'

/** A window, and one half as wide, as with 200 % zoom; 320 is the minimum that a page must fit (WCAG 1.4.10). */
const windows = [
  { width: 1280, narrow: 640 },
  { width: 390, narrow: 320 },
] as const
type Width = (typeof windows)[number]['width']

interface WorkerFixtures {
  seededPlatform: { target: DashboardTarget; screens: Screen[] }
  /** A window of this width, signed in or not as the previous screen left it. */
  openWindowOf: (width: Width) => Promise<BrowserContext>
  /** The page of such a window without animations, shared by consecutive screens, because a new page takes longer than a check. */
  openPageOf: (width: Width) => Promise<Page>
}

async function openWindow(browser: Browser, width: Width, { records }: { records: boolean }): Promise<BrowserContext> {
  const window = await createWindow(browser, { viewport: { width, height: 844 }, hasTouch: width < 500, records })
  await addAxe(window)
  return window
}

const test = base.extend<object, WorkerFixtures>({
  seededPlatform: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright requires the braces
    async ({}, use) => {
      const { target, ids } = await fetchSeededPlatform()
      await use({ target, screens: screens(ids) })
    },
    { scope: 'worker' },
  ],
  openWindowOf: [
    async ({ browser }, use) => {
      const windows = new Map<Width, BrowserContext>()
      await use(async (width) => {
        const window = windows.get(width) ?? (await openWindow(browser, width, { records: true }))
        windows.set(width, window)
        return window
      })
      for (const window of windows.values()) await window.close()
    },
    { scope: 'worker' },
  ],
  openPageOf: [
    async ({ browser }, use) => {
      const windows = new Map<Width, BrowserContext>()
      await use(async (width) => {
        const window = windows.get(width) ?? (await openWindow(browser, width, { records: false }))
        windows.set(width, window)
        const [open] = window.pages()
        if (open) return open
        const page = await window.newPage()
        await preventPrefetch(page)
        return page
      })
      for (const window of windows.values()) await window.close()
    },
    { scope: 'worker' },
  ],
})

// Names are known before the seeded platform runs; their content is not.
const declared = screens({ serving_id: '', failed_id: '', running_id: '' })
checkTiers(declared.map(({ name }) => name))
for (const [index, { name, seen_by, act }] of declared.entries()) {
  // Long text and loading states are most difficult in the least space.
  const isNarrowOnly = /^long-|-loading$/.test(name)
  // Layout shifts after the user's own actions do not count, and a loading page has not shifted yet.
  const canJump = act === undefined && !isNarrowOnly
  const find = (all: Screen[]) => all.find((one) => one.name === name)!

  /** The first-run screen belongs to the worker's own platform, which is empty. */
  const declareTest = (title: string, tag: string[], look: (target: DashboardTarget, screen: Screen, of: WorkerFixtures) => Promise<void>) => {
    if (seen_by === 'newcomer')
      test(title, { tag }, ({ platform, seededPlatform, openWindowOf, openPageOf }) =>
        look(toDashboardTarget(platform), find(seededPlatform.screens), { seededPlatform, openWindowOf, openPageOf }),
      )
    else
      test(title, { tag }, ({ seededPlatform, openWindowOf, openPageOf }) =>
        look(seededPlatform.target, find(seededPlatform.screens), { seededPlatform, openWindowOf, openPageOf }),
      )
  }

  // Each of the four combinations has its screens.
  const theme = index % 2 === 0 ? 'light' : 'dark'
  const width = isNarrowOnly || index % 4 > 1 ? 390 : 1280
  declareTest(`for everybody: ${name}, ${theme}, ${width} wide`, isInDefaultTier(name) ? [] : ['@full'], async (target, screen, { openPageOf }) => {
    const page = await openPageOf(width)
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await openScreen(page, target, screen)
    await expectAccessible(page, name)
    await leaveScreen(page, target, screen)
  })

  declareTest(
    `for everybody, in both themes, wide and narrow, and nothing jumps by itself: ${name}`,
    ['@full'],
    async (target, screen, { openWindowOf }) => {
      for (const [windowIndex, { width, narrow }] of windows.entries()) {
        if (width > 500 && isNarrowOnly) continue
        // Each theme at one width; the frame around every screen in all four, one per screen.
        const [theme, other] = (index + windowIndex) % 2 === 0 ? (['light', 'dark'] as const) : (['dark', 'light'] as const)
        const page = await (await openWindowOf(width)).newPage()
        await page.emulateMedia({ colorScheme: theme })
        await openScreen(page, target, screen)
        if (canJump) await expectNoLayoutShift(page, `${name}, ${width} wide, asked for by its address`)
        await expectAccessible(page, `${name}, ${theme}, ${width} wide`)
        if (isNarrowOnly) {
          await page.emulateMedia({ colorScheme: other })
          await expectAccessible(page, `${name}, ${other}, ${width} wide`, { only: colorContrastRules })
        }
        await page.setViewportSize({ width: narrow, height: 844 })
        await expectNoHorizontalScroll(page, `${name}, ${narrow} wide`)
        // The origin is the same in a narrow window.
        if (canJump && seen_by === undefined && width > 500) {
          await page.setViewportSize({ width, height: 844 })
          await expectStillAfterReturn(page, screen)
        }
        await leaveScreen(page, target, { ...screen, alters_page: true })
      }
    },
  )
}

async function expectStillAfterReturn(page: Page, { name }: Screen): Promise<void> {
  const address = page.url()
  await page.evaluate(() => history.pushState(null, '', '/app/account'))
  await page.getByRole('heading', { name: 'Account', level: 1, exact: true }).waitFor()
  await waitUntilIdle(page)
  await takeLayoutShifts(page)
  await page.evaluate((url) => history.pushState(null, '', url), address)
  await expectNoLayoutShift(page, `${name}, from another screen`)
}

async function expectNoLayoutShift(page: Page, what: string): Promise<void> {
  await waitUntilIdle(page)
  const { sum, who } = await takeLayoutShifts(page)
  if (sum > 0.002) console.log(`      ${what}: ${sum.toFixed(4)} ${who.slice(0, 6).join('; ')}`)
  expect.soft(sum, `${what}: ${who.join('; ')}`).toBeLessThan(0.02)
}

const pickScreens = (all: Screen[], ...names: string[]) => all.filter(({ name }) => names.includes(name))

test('nothing is animated with reduced motion', { tag: '@full' }, async ({ browser, seededPlatform }) => {
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  for (const screen of pickScreens(
    seededPlatform.screens,
    'overview-building',
    'deployment-running',
    'upload-under-way',
    'palette',
    'projects-loading',
  )) {
    const page = await context.newPage()
    await openScreen(page, seededPlatform.target, screen)
    const moving = () => page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').length)
    await expect.poll(moving, screen.name).toBe(0)
    await leaveScreen(page, seededPlatform.target, { ...screen, alters_page: true })
  }
  await context.close()
})

test('checked, selected and current elements stay distinguishable with forced colors', { tag: '@full' }, async ({ browser, seededPlatform }) => {
  const context = await browser.newContext({ forcedColors: 'active' })
  /** The computed styles must differ, because otherwise the two states look the same. */
  const expectDifferent = async (page: Page, on: string, off: string) => {
    const readStyle = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => {
          const { backgroundColor, outlineStyle, borderColor } = getComputedStyle(element)
          return [backgroundColor, outlineStyle, borderColor].join()
        })
    expect(await readStyle(on), `${on} and ${off}`).not.toBe(await readStyle(off))
  }
  const pairs: Record<string, [on: string, off: string][]> = {
    settings: [
      ['.switch[data-state=checked]', '.switch[data-state=unchecked]'],
      ['.tab[aria-current]', '.tab:not([aria-current])'],
      ['.sidebar-link[aria-current]', '.sidebar-link:not([aria-current])'],
    ],
    palette: [['[role=option][aria-selected=true]', '[role=option][aria-selected=false]']],
    metrics: [['[role=radio][data-state=on]', '[role=radio][data-state=off]']],
  }
  for (const screen of pickScreens(seededPlatform.screens, ...Object.keys(pairs))) {
    const page = await context.newPage()
    await openScreen(page, seededPlatform.target, screen)
    for (const [on, off] of pairs[screen.name] ?? []) await expectDifferent(page, on, off)
    await leaveScreen(page, seededPlatform.target, { ...screen, alters_page: true })
  }
  await context.close()
})
