import type { Page } from '@playwright/test'
import { withBridge } from './bridge.ts'
import { expect, test } from './fixtures.ts'
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
import { signIn } from './stage.ts'

/** All pairs of values but those of theme and bridge, and of width and hand crosswise: four rows cover no more. */
const variants = [
  { colorScheme: 'light', width: 1280, has_bridge: false, hand: 'pointer' },
  { colorScheme: 'dark', width: 390, has_bridge: true, hand: 'pointer' },
  { colorScheme: 'dark', width: 1280, has_bridge: true, hand: 'keyboard' },
  { colorScheme: 'light', width: 390, has_bridge: false, hand: 'keyboard' },
] as const

/** Told in the default tier in one of the variants, so that each variant has its stories; in the full tier in all. */
const stories: [name: string, variant: 0 | 1 | 2 | 3, tell: (teller: Teller) => Promise<void>][] = [
  ['first run to live address', 1, firstRun],
  ['broken build to mended', 2, brokenAndMended],
  ['rollback', 3, rolledBack],
  ['environment change to redeploy', 0, environmentChanged],
  ['database to psql', 1, databaseToPsql],
  ['domain bought offline', 0, domainBought],
  ['preview opened', 3, previewOpened],
  ['cache purged', 2, cachePurged],
  ['token minted and revoked', 3, tokenMintedAndRevoked],
  ['local to remote and back', 1, thereAndBack],
]

for (const [place, { colorScheme, width, has_bridge, hand }] of variants.entries()) {
  const isFinger = hand === 'pointer' && width < 500
  test.describe(`${colorScheme}, ${width} wide, ${has_bridge ? 'desktop' : 'browser'}, ${hand}`, () => {
    test.use({
      colorScheme,
      viewport: { width, height: 844 },
      hasTouch: isFinger,
      isMobile: isFinger,
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    for (const [name, variant, tell] of stories) {
      test(name, { tag: variant === place ? [] : '@full' }, async ({ page, home, startOther, repository }) => {
        const bridge = has_bridge ? await withBridge(page.context()) : null
        const faults = faultsOf(page)
        await signIn(page, await home.platform.signInUrl())
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
        const keyboard = hand === 'keyboard' ? createKeyboard(page) : null
        await tell({ desk: page, home, startOther, hand: keyboard ?? createPointer(page, { isFinger }), bridge, repository })
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
