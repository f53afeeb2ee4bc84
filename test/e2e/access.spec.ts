import type { Page } from '@playwright/test'
import { buildDashboard, expect, expectFits, expectForEverybody, rulesOfColour, test as base } from './fixtures.ts'
import { type Stage, closeScreen, openScreen, screens, setStage } from './screens.ts'

const test = base.extend<object, { stage: Stage }>({
  stage: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright asks for the braces
    async ({}, use) => {
      await buildDashboard()
      const stage = await setStage()
      await use(stage)
      await stage.remove()
    },
    { scope: 'worker', timeout: 120_000 },
  ],
})

/** `SCREENS=cache,disk` looks at those alone, while one works on them. */
const wanted = process.env['SCREENS']?.split(',') ?? ['']

for (const { width, narrow } of [
  // Half as wide is what who enlarges everything twice has; 320 is the least that a page has to fit (WCAG 1.4.10).
  { width: 1280, narrow: 640 },
  { width: 390, narrow: 320 },
]) {
  test(`every screen is for everybody, in both themes, ${width} wide`, async ({ browser, stage }) => {
    test.setTimeout(600_000)
    const context = await browser.newContext({ viewport: { width, height: 844 }, hasTouch: width < 500, locale: 'en-GB' })
    for (const screen of screens(stage.scene).filter(({ name }) => wanted.some((part) => name.includes(part)))) {
      await test.step(screen.name, async () => {
        const page = await openScreen(context, stage, screen)
        await page.emulateMedia({ colorScheme: 'light' })
        await expectForEverybody(page, `${screen.name}, light, ${width} wide`)
        await page.emulateMedia({ colorScheme: 'dark' })
        await expectForEverybody(page, `${screen.name}, dark, ${width} wide`, { only: rulesOfColour })
        await page.setViewportSize({ width: narrow, height: 844 })
        await expectFits(page, `${screen.name}, ${narrow} wide`)
        await closeScreen(page)
      })
    }
    await context.close()
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
