import type { Page } from '@playwright/test'
import { installFakeBridge } from './fake-bridge.ts'
import { expect, test } from './fixtures.ts'
import { createKeyboardDriver, createPointerDriver } from './input-driver.ts'
import { findOutWhatChanged } from './stories/activity.ts'
import { browseDatabase } from './stories/browse-database.ts'
import { purgeCache } from './stories/cache.ts'
import { connectWithPsql } from './stories/database.ts'
import { buyDomain } from './stories/domain.ts'
import { changeEnvironment } from './stories/environment.ts'
import { completeFirstRun } from './stories/first-run.ts'
import { fixBrokenBuild } from './stories/fix-build.ts'
import { addWebhookAndRedeliver } from './stories/notifications.ts'
import { followTrace } from './stories/follow-trace.ts'
import { openPreview } from './stories/preview.ts'
import { readMetrics } from './stories/read-metrics.ts'
import { replayWebhook } from './stories/replay.ts'
import { rollBackDeployment } from './stories/rollback.ts'
import type { StoryContext } from './stories/story-context.ts'
import { promoteAndPull } from './stories/promote-and-pull.ts'
import { useTerminal } from './stories/terminal.ts'
import { createAndRevokeToken } from './stories/token.ts'
import { signIn } from './screen-navigation.ts'

/** Covers all pairs of values except those of theme and bridge, and of width and input crosswise, which four rows cannot cover. */
const variants = [
  { colorScheme: 'light', width: 1280, has_bridge: false, hand: 'pointer' },
  { colorScheme: 'dark', width: 390, has_bridge: true, hand: 'pointer' },
  { colorScheme: 'dark', width: 1280, has_bridge: true, hand: 'keyboard' },
  { colorScheme: 'light', width: 390, has_bridge: false, hand: 'keyboard' },
] as const

/** In the default tier each story runs in one of the variants, so that each variant has some; in the full tier in all. */
const stories: [name: string, variant: 0 | 1 | 2 | 3, tell: (teller: StoryContext) => Promise<void>][] = [
  ['complete the first run and open the live address', 1, completeFirstRun],
  ['fix a broken build', 2, fixBrokenBuild],
  ['roll back a deployment', 3, rollBackDeployment],
  ['change the environment and redeploy', 0, changeEnvironment],
  ['connect to a database with psql', 1, connectWithPsql],
  ['browse the database and query it', 1, browseDatabase],
  ['buy a domain offline', 0, buyDomain],
  ['open a preview', 3, openPreview],
  ['purge the cache', 2, purgeCache],
  ['open a terminal and leave it', 2, useTerminal],
  ['create and revoke a token', 3, createAndRevokeToken],
  ['replay a webhook against a preview', 0, replayWebhook],
  ['read the metrics', 2, readMetrics],
  ['follow a request to its trace', 3, followTrace],
  ['find out what changed', 0, findOutWhatChanged],
  ['add a webhook and send a notification again', 0, addWebhookAndRedeliver],
  ['promote to another instance and pull back', 1, promoteAndPull],
]

for (const [index, { colorScheme, width, has_bridge, hand }] of variants.entries()) {
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
      test(name, { tag: variant === index ? [] : '@full' }, async ({ page, platform, startSecondPlatform, createRepository }) => {
        const bridge = has_bridge ? await installFakeBridge(page.context()) : null
        const faults = recordPageErrors(page)
        await signIn(page, await platform.handle.signInUrl())
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
        const keyboard = hand === 'keyboard' ? createKeyboardDriver(page) : null
        await tell({
          dashboard: page,
          platform,
          startSecondPlatform,
          inputDriver: keyboard ?? createPointerDriver(page, { isFinger }),
          bridge,
          createRepository,
        })
        expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 'it fits its window').toBe(0)
        expect(faults).toEqual([])
        if (keyboard) test.info().annotations.push({ type: 'keys', description: String(keyboard.pressed()) })
      })
    }
  })
}

/** Errors of the page itself. */
function recordPageErrors(page: Page): string[] {
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  return faults
}
