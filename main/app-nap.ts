import { powerSaveBlocker } from 'electron'
import type { Clock, Timer } from '../server/lib/clock.ts'

/** Visits are told once a second while there are any. */
const activityTimeout_ms = 5_000

/**
 * Keeps macOS from throttling the process (App Nap) while builds or requests run and no window is visible. A package says so in its
 * Info.plist; a checkout runs in Electron's own bundle, which does not. The Mac does not fall asleep meanwhile either.
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
