import type { Page } from '@playwright/test'
import { type TestPlatform, startTestPlatform } from '../support/platform.ts'
import { withBridge } from './bridge.ts'
import { buildDashboard, expect, test } from './fixtures.ts'
import { createKeyboard, createPointer } from './hand.ts'
import { cachePurged } from './stories/cache.ts'
import { databaseToPsql } from './stories/database.ts'
import { domainBought } from './stories/domain.ts'
import { environmentChanged } from './stories/environment.ts'
import { firstRun } from './stories/first-run.ts'
import { brokenAndMended } from './stories/mended.ts'
import { previewOpened } from './stories/preview.ts'
import { rolledBack } from './stories/rolled-back.ts'
import type { Teller } from './stories/teller.ts'
import { thereAndBack } from './stories/there-and-back.ts'
import { tokenMintedAndRevoked } from './stories/token.ts'

/** In this order: the first one wants an instance where nothing is yet. */
const stories: [name: string, tell: (teller: Teller) => Promise<void>][] = [
  ['first run to live address', firstRun],
  ['broken build to mended', brokenAndMended],
  ['rollback', rolledBack],
  ['environment change to redeploy', environmentChanged],
  ['database to psql', databaseToPsql],
  ['domain bought offline', domainBought],
  ['preview opened', previewOpened],
  ['cache purged', cachePurged],
  ['token minted and revoked', tokenMintedAndRevoked],
  ['local to remote and back', thereAndBack],
]

/** All pairs of values but those of theme and bridge, and of width and hand crosswise: four rows cover no more. */
const variants = [
  { colorScheme: 'light', width: 1280, has_bridge: false, hand: 'pointer' },
  { colorScheme: 'dark', width: 390, has_bridge: true, hand: 'pointer' },
  { colorScheme: 'dark', width: 1280, has_bridge: true, hand: 'keyboard' },
  { colorScheme: 'light', width: 390, has_bridge: false, hand: 'keyboard' },
] as const

// Each row is a worker's: one after the other they would be the last to end, with the other worker idle.
test.describe.configure({ mode: 'parallel' })

for (const { colorScheme, width, has_bridge, hand } of variants) {
  const isFinger = hand === 'pointer' && width < 500
  test.describe(`${colorScheme}, ${width} wide, ${has_bridge ? 'desktop' : 'browser'}, ${hand}`, () => {
    test.describe.configure({ mode: 'default' })
    test.use({
      colorScheme,
      viewport: { width, height: 844 },
      hasTouch: isFinger,
      isMobile: isFinger,
      permissions: ['clipboard-read', 'clipboard-write'],
    })

    let home: TestPlatform
    test.beforeAll(async () => {
      test.setTimeout(120_000)
      await buildDashboard()
      home = await startTestPlatform({ runtime: 'process' })
    })
    test.afterAll(() => home.remove())

    for (const [name, tell] of stories) {
      test(name, async ({ page, repository }) => {
        test.setTimeout(180_000)
        const bridge = has_bridge ? await withBridge(page.context()) : null
        const faults = faultsOf(page)
        // What cannot be pressed is said at once, by its name.
        page.setDefaultTimeout(20_000)
        await page.goto(await home.platform.signInUrl())
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
        const keyboard = hand === 'keyboard' ? createKeyboard(page) : null
        await tell({ desk: page, home, hand: keyboard ?? createPointer(page, { isFinger }), bridge, repository })
        expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 'it fits its window').toBe(0)
        expect(faults).toEqual([])
        if (keyboard) test.info().annotations.push({ type: 'keys', description: String(keyboard.pressed()) })
      })
    }
  })
}

/** What the page itself stumbled over. */
function faultsOf(page: Page): string[] {
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  return faults
}
