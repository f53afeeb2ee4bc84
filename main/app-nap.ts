import { powerSaveBlocker } from 'electron'
import type { Clock, Timer } from '../server/lib/clock.ts'

/** Visits are told once a second while there are any. */
const quiet_ms = 5_000

/**
 * Keeps macOS from throttling the process (App Nap) while builds or requests run and no window is visible. A package says so in its
 * Info.plist; a checkout runs in Electron's own bundle, which does not. The Mac does not fall asleep meanwhile either.
 */
export function holdOffAppNap(clock: Clock) {
  let blocker: number | undefined
  let builds = 0
  let visit: Timer | undefined
  const draw = (): void => {
    const isBusy = builds > 0 || visit !== undefined
    if (isBusy === (blocker !== undefined)) return
    if (blocker === undefined) blocker = powerSaveBlocker.start('prevent-app-suspension')
    else {
      powerSaveBlocker.stop(blocker)
      blocker = undefined
    }
  }
  const quiet = (): void => {
    visit?.cancel()
    visit = undefined
    draw()
  }
  return {
    setBuilds(count: number): void {
      builds = count
      draw()
    },
    noteVisit(): void {
      visit?.cancel()
      visit = clock.setTimeout(quiet, quiet_ms)
      draw()
    },
    close(): void {
      builds = 0
      quiet()
    },
  }
}
