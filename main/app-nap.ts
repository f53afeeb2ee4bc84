import { powerSaveBlocker } from 'electron'
import type { Clock, Timer } from '../server/lib/clock.ts'

/** Requests are reported once per second while there are any. */
const activityTimeout_ms = 5_000

/**
 * Keeps macOS from throttling the process (App Nap) while builds or requests are active and no window is visible. A package declares this in its
 * Info.plist, but a checkout runs in Electron's own bundle, which does not. The Mac does not go to sleep meanwhile either.
 */
export function createAppNapBlocker(clock: Clock) {
  let blocker: number | undefined
  let buildCount = 0
  let activityTimer: Timer | undefined
  const updateBlocker = (): void => {
    const isBusy = buildCount > 0 || activityTimer !== undefined
    if (isBusy === (blocker !== undefined)) return
    if (blocker === undefined) blocker = powerSaveBlocker.start('prevent-app-suspension')
    else {
      powerSaveBlocker.stop(blocker)
      blocker = undefined
    }
  }
  const clearActivity = (): void => {
    activityTimer?.cancel()
    activityTimer = undefined
    updateBlocker()
  }
  return {
    setBuildCount(count: number): void {
      buildCount = count
      updateBlocker()
    },
    recordActivity(): void {
      activityTimer?.cancel()
      activityTimer = clock.setTimeout(clearActivity, activityTimeout_ms)
      updateBlocker()
    },
    close(): void {
      buildCount = 0
      clearActivity()
    },
  }
}
