import { type BrowserContext, type Page, expect } from '@playwright/test'
import { keptPromotions } from '../../renderer/stores/promotions.ts'
import { type TestPlatform, startTestPlatform } from '../support/platform.ts'
import { type Scene, setScene } from './scene.ts'
import type { Screen } from './screens.ts'

/** The platforms that the screens are of. */
export interface Stage {
  scene: Scene
  /** Nobody has used it. */
  empty: TestPlatform
  remove(): Promise<void>
}

export async function setStage({ pictures = false } = {}): Promise<Stage> {
  const scene = await setScene({ pictures })
  const empty = await startTestPlatform({ runtime: 'process' })
  return {
    scene,
    empty,
    async remove() {
      await empty.remove()
      await scene.remove()
    },
  }
}

const lastSeenBy = new WeakMap<BrowserContext, Screen['seen_by']>()

/** The gallery has no runner that would be patient for it. */
const patience = { timeout: 20_000 }

/** A page of its own for each screen, so that what one leaves behind (a slow line, an upload) is nowhere else. */
export async function openScreen(context: BrowserContext, { scene, empty }: Stage, screen: Screen): Promise<Page> {
  const { path, seen_by = 'owner', before, is_loading = false, act } = screen
  const home = seen_by === 'newcomer' ? empty : scene.home
  const page = await context.newPage()
  // What hangs is said at once, and is not the whole list's end.
  page.setDefaultTimeout(20_000)
  // A promotion that another screen left in the middle would be offered here.
  await page.addInitScript((key) => self === top && localStorage.removeItem(key), keptPromotions)
  if (lastSeenBy.get(context) !== seen_by) {
    if (seen_by === 'guest') await context.clearCookies()
    else await page.goto(await home.platform.signInUrl())
    lastSeenBy.set(context, seen_by)
  }
  await before?.(page)
  await page.goto(`${home.platform.dashboard_url}${path}`)
  const skeletons = page.locator('.skeleton, .skeleton-row')
  await expect(page.locator('h1').first(), `${screen.name} has its heading`).toBeVisible(patience)
  if (is_loading) await expect(skeletons.first()).toBeVisible(patience)
  else await expect(skeletons, `${screen.name} has its answers`).toHaveCount(0, patience)
  await act?.(page)
  await settled(page)
  return page
}

export async function closeScreen(page: Page): Promise<void> {
  await page.close()
  await page.context().setOffline(false)
}

/** The last entrance has ended when nothing moves but what turns for ever. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document.getAnimations().every((animation) => animation.playState !== 'running' || animation.effect?.getTiming().iterations === Infinity),
  )
}
