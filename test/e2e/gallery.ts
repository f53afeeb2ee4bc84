/**
 * Screenshots of every screen, in both themes, wide and narrow, into out/gallery/: `node test/e2e/gallery.ts [parts of names]`.
 * `--theme dark` and `--width 1440` choose one. The content is real: the platform runs, builds and serves.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium } from '@playwright/test'
import { waitUntilIdle } from '../support/page-performance.ts'
import { startTestPlatform } from '../support/platform.ts'
import { chromiumPath } from '../support/requirements.ts'
import { createSeededPlatform } from './seeded-platform.ts'
import { screens } from './screens.ts'
import { toDashboardTarget, openScreen, createWindow } from './screen-navigation.ts'

const folder = join(import.meta.dirname, '../../out/gallery')
const { values, positionals: wanted } = parseArgs({
  options: { theme: { type: 'string', multiple: true }, width: { type: 'string', multiple: true } },
  allowPositionals: true,
})
const themes = (['light', 'dark'] as const).filter((theme) => values.theme?.includes(theme) ?? true)
const widths = values.width?.map(Number) ?? [1280, 390]

mkdirSync(folder, { recursive: true })
const seeded = await createSeededPlatform({ pictures: true })
/** A platform without any use. */
const empty = await startTestPlatform({ runtime: 'process' })
const browser = await chromium.launch({
  ...(chromiumPath ? { executablePath: chromiumPath } : {}),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})
try {
  for (const colorScheme of themes) {
    for (const width of widths) {
      const viewport = { width, height: width < 500 ? 844 : width < 1400 ? 820 : 900 }
      const context = await createWindow(browser, { colorScheme, viewport, deviceScaleFactor: viewport.width < 500 ? 2 : 1 })
      context.on('console', (message) => message.type() === 'error' && console.log(`  console: ${message.text()}`))
      context.on('weberror', (error) => console.log(`  page: ${error.error().message}`))
      for (const screen of screens(seeded.ids)) {
        const { name, path, act, seen_by } = screen
        if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue
        const page = await context.newPage()
        await openScreen(page, toDashboardTarget(seen_by === 'newcomer' ? empty : seeded.platform), screen)
        if (!act && !screen.is_loading) await waitUntilIdle(page)
        await page.screenshot({
          path: join(folder, `${name}-${colorScheme}-${viewport.width}.png`),
          fullPage: !act && !path.includes('deployments/'),
        })
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
        console.log(`${name} ${colorScheme} ${viewport.width}${wider > 0 ? `  WIDER THAN THE WINDOW by ${wider}` : ''}`)
        await page.close()
        await context.setOffline(false)
      }
      await context.close()
    }
  }
} finally {
  await browser.close()
  await empty.remove()
  await seeded.remove()
}
