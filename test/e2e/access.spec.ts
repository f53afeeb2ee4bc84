import { buildDashboard, expectForEverybody, rulesOfColour, test as base } from './fixtures.ts'
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

for (const width of [1280, 390]) {
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
        await closeScreen(page)
      })
    }
    await context.close()
  })
}
