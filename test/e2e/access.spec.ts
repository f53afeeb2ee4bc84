import type { BrowserContext, Page } from '@playwright/test'
import { allHere, shiftOf, watchPace } from '../support/pace.ts'
import { buildDashboard, expect, expectFits, expectForEverybody, rulesOfColour, test as base } from './fixtures.ts'
import { type Screen, screens } from './screens.ts'
import { type Stage, closeScreen, openScreen, setStage } from './stage.ts'

/** A window, and one half as wide: what who enlarges everything twice has; 320 is the least that a page has to fit (WCAG 1.4.10). */
const windows = [
  { width: 1280, narrow: 640 },
  { width: 390, narrow: 320 },
]

const test = base.extend<object, { stage: Stage; contexts: BrowserContext[] }>({
  stage: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright asks for the braces
    async ({}, use) => {
      await buildDashboard()
      const stage = await setStage()
      await use(stage)
      await stage.remove()
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  contexts: [
    async ({ browser }, use) => {
      const contexts: BrowserContext[] = []
      for (const { width } of windows) {
        const context = await browser.newContext({ viewport: { width, height: 844 }, hasTouch: width < 500, locale: 'en-GB' })
        await watchPace(context)
        contexts.push(context)
      }
      await use(contexts)
      for (const context of contexts) await context.close()
    },
    { scope: 'worker' },
  ],
})

test.describe.configure({ mode: 'parallel' })

/** `SCREENS=cache,disk` looks at those alone, while one works on them. */
const wanted = process.env['SCREENS']?.split(',') ?? ['']

// Names are known before the scene is set; what is behind them then is another matter.
const names = screens({ serving_id: '', failed_id: '', running_id: '' }).map(({ name }) => name)

for (const [place, name] of names.entries()) {
  if (!wanted.some((part) => name.includes(part))) continue
  test(`for everybody, in both themes, wide and narrow, and nothing jumps by itself: ${name}`, async ({ contexts, stage }) => {
    test.setTimeout(180_000)
    const screen = screens(stage.scene).find((one) => one.name === name)
    if (!screen) throw new Error(`${name} is gone`)
    // What is long or not there yet is hardest where there is the least room.
    const isNarrowOnly = /^long-|-loading$/.test(name)
    // What somebody opens moves by their own hand; what waits for ever has not moved yet.
    const canJump = screen.act === undefined && !isNarrowOnly
    for (const [index, { width, narrow }] of windows.entries()) {
      if (width > 500 && isNarrowOnly) continue
      const page = await openScreen(contexts[index]!, stage, screen)
      if (canJump) await holdsStill(page, `${name}, ${width} wide, asked for by its address`)
      // Each theme at one of the widths, and what stands around every screen, from screen to screen, in all four.
      const [theme, other] = (place + index) % 2 === 0 ? (['light', 'dark'] as const) : (['dark', 'light'] as const)
      await page.emulateMedia({ colorScheme: theme })
      await expectForEverybody(page, `${name}, ${theme}, ${width} wide`)
      if (isNarrowOnly) {
        await page.emulateMedia({ colorScheme: other })
        await expectForEverybody(page, `${name}, ${other}, ${width} wide`, { only: rulesOfColour })
      }
      await page.setViewportSize({ width: narrow, height: 844 })
      await expectFits(page, `${name}, ${narrow} wide`)
      // Where one comes from is the same in a narrow window.
      if (canJump && screen.seen_by === undefined && width > 500) {
        await page.setViewportSize({ width, height: 844 })
        await comesBack(page, screen)
      }
      await closeScreen(page)
    }
  })
}

async function comesBack(page: Page, { name }: Screen): Promise<void> {
  const address = page.url()
  await page.evaluate(() => history.pushState(null, '', '/app/account'))
  await page.getByRole('heading', { name: 'Account', level: 1, exact: true }).waitFor()
  await allHere(page)
  await shiftOf(page)
  await page.evaluate((url) => history.pushState(null, '', url), address)
  await holdsStill(page, `${name}, from another screen`)
}

async function holdsStill(page: Page, what: string): Promise<void> {
  await allHere(page)
  const { sum, who } = await shiftOf(page)
  if (sum > 0.002) console.log(`      ${what}: ${sum.toFixed(4)} ${who.slice(0, 6).join('; ')}`)
  expect.soft(sum, `${what}: ${who.join('; ')}`).toBeLessThan(0.02)
}

const some = (stage: Stage, ...names: string[]) => screens(stage.scene).filter(({ name }) => names.includes(name))

test('nothing moves for who asked for that', async ({ browser, stage }) => {
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  for (const screen of some(stage, 'overview-building', 'deployment-running', 'upload-under-way', 'palette', 'projects-loading')) {
    const page = await openScreen(context, stage, screen)
    const moving = () => page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').length)
    await expect.poll(moving, screen.name).toBe(0)
    await closeScreen(page)
  }
  await context.close()
})

test('what is on, chosen or in front is told where the system sets the colours', async ({ browser, stage }) => {
  const context = await browser.newContext({ forcedColors: 'active' })
  /** How each of two looks: without a difference nobody knows which is which. */
  const differ = async (page: Page, on: string, off: string) => {
    const look = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => {
          const { backgroundColor, outlineStyle, borderColor } = getComputedStyle(element)
          return [backgroundColor, outlineStyle, borderColor].join()
        })
    expect(await look(on), `${on} and ${off}`).not.toBe(await look(off))
  }
  const pairs: Record<string, [on: string, off: string][]> = {
    settings: [
      ['.switch[data-state=checked]', '.switch[data-state=unchecked]'],
      ['.tab[aria-current]', '.tab:not([aria-current])'],
      ['.rail-link[aria-current]', '.rail-link:not([aria-current])'],
    ],
    palette: [['.palette-item[aria-selected=true]', '.palette-item[aria-selected=false]']],
    metrics: [['.segment[data-state=on]', '.segment[data-state=off]']],
  }
  for (const screen of some(stage, ...Object.keys(pairs))) {
    const page = await openScreen(context, stage, screen)
    for (const [on, off] of pairs[screen.name] ?? []) await differ(page, on, off)
    await closeScreen(page)
  }
  await context.close()
})
