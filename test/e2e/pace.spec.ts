import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allHere, shiftOf, watchPace } from '../support/pace.ts'
import { buildDashboard, expect, test as base } from './fixtures.ts'
import { screens } from './screens.ts'
import { type Stage, closeScreen, openScreen, setStage } from './stage.ts'

const test = base.extend<object, { stage: Stage }>({
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
})

test.describe.configure({ mode: 'parallel' })

/** `SCREENS=cache,disk` looks at those alone, while one works on them. */
const wanted = process.env['SCREENS']?.split(',') ?? ['']

for (const width of [1280, 390]) {
  test(`nothing jumps by itself on any screen, ${width} wide`, async ({ browser, stage }) => {
    test.setTimeout(600_000)
    const context = await browser.newContext({ viewport: { width, height: 844 }, hasTouch: width < 500, locale: 'en-GB' })
    await watchPace(context)
    // What somebody opens moves by their own hand; what waits for ever has not moved yet.
    for (const screen of screens(stage.scene).filter(({ act, is_loading }) => act === undefined && is_loading !== true)) {
      if (!wanted.some((part) => screen.name.includes(part)) || screen.name.startsWith('long-')) continue
      await test.step(screen.name, async () => {
        const page = await openScreen(context, stage, screen)
        const holdsStill = async (when: string) => {
          await allHere(page)
          const { sum, who } = await shiftOf(page)
          if (sum > 0.002) console.log(`      ${screen.name}, ${width} wide, ${when}: ${sum.toFixed(4)} ${who.slice(0, 6).join('; ')}`)
          expect.soft(sum, `${screen.name}, ${when}: ${who.join('; ')}`).toBeLessThan(0.02)
        }
        await holdsStill('asked for by its address')
        // Where one comes from is the same in a narrow window.
        if (screen.seen_by === undefined && width > 500) {
          const address = page.url()
          await page.evaluate(() => history.pushState(null, '', '/app/account'))
          await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor()
          await allHere(page)
          await shiftOf(page)
          await page.evaluate((url) => history.pushState(null, '', url), address)
          await holdsStill('from another screen')
        }
        await closeScreen(page)
      })
    }
    await context.close()
  })
}

test('the first screen is light, comes compressed, and is painted before any script has come', async ({ stage, browser }) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 820 } })
  const page = await context.newPage()
  const named = [...readFileSync(join(import.meta.dirname, '../../out/renderer/index.html'), 'utf8').matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(
    ([, path = '']) => path,
  )
  const sent = new Map<string, { coding: string | undefined; kept: string | undefined; bytes: number }>()
  page.on('response', async (response) => {
    const path = new URL(response.url()).pathname
    if (!named.includes(path)) return
    const headers = response.headers()
    sent.set(path, { coding: headers['content-encoding'], kept: headers['cache-control'], bytes: Number(headers['content-length']) })
  })
  await page.goto(await stage.scene.home.platform.signInUrl())
  await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor()
  expect([...sent.keys()].toSorted()).toEqual(named.toSorted())
  expect([...sent.values()].reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(350_000)
  for (const [path, { coding, kept }] of sent) {
    // The script for the theme is smaller than a packet.
    if (!path.startsWith('/app/assets/')) continue
    expect([path, coding, kept]).toEqual([path, 'br', 'public, max-age=31536000, immutable'])
  }

  // The frame stands before the script does: held back here for good.
  const slow = await context.newPage()
  await slow.route('**/*.js', (route) => (route.request().url().endsWith('/theme.js') ? route.continue() : undefined))
  await slow.goto(stage.scene.home.platform.dashboard_url, { waitUntil: 'commit' })
  await expect(slow.locator('.rail')).toHaveText(/Homeport/)
  await expect.poll(() => slow.evaluate(() => performance.getEntriesByName('first-contentful-paint').length)).toBe(1)
  await context.close()
})
