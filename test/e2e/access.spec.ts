import type { BrowserContext, Page } from '@playwright/test'
import { buildDashboard, expect, expectFits, expectForEverybody, rulesOfColour, test as base } from './fixtures.ts'
import { screens } from './screens.ts'
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
      for (const { width } of windows)
        contexts.push(await browser.newContext({ viewport: { width, height: 844 }, hasTouch: width < 500, locale: 'en-GB' }))
      await use(contexts)
      for (const context of contexts) await context.close()
    },
    { scope: 'worker' },
  ],
})

test.describe.configure({ mode: 'parallel' })

// Names are known before the scene is set; what is behind them then is another matter.
for (const { name } of screens({ serving_id: '', failed_id: '', running_id: '' })) {
  test(`for everybody, in both themes, wide and narrow: ${name}`, async ({ contexts, stage }) => {
    test.setTimeout(180_000)
    const screen = screens(stage.scene).find((one) => one.name === name)
    if (!screen) throw new Error(`${name} is gone`)
    for (const [index, { width, narrow }] of windows.entries()) {
      // What is long or not there yet is hardest where there is the least room.
      if (width > 500 && /^long-|-loading$/.test(name)) continue
      const page = await openScreen(contexts[index]!, stage, screen)
      await page.emulateMedia({ colorScheme: 'light' })
      await expectForEverybody(page, `${name}, light, ${width} wide`)
      // A colour is the same however wide the window is.
      if (width > 500 || /^long-|-loading$/.test(name)) {
        await page.emulateMedia({ colorScheme: 'dark' })
        await expectForEverybody(page, `${name}, dark, ${width} wide`, { only: rulesOfColour })
      }
      await page.setViewportSize({ width: narrow, height: 844 })
      await expectFits(page, `${name}, ${narrow} wide`)
      await closeScreen(page)
    }
  })
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
