import { readdir } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { systemClock } from '../lib/clock.ts'
import { readProcFile } from '../lib/proc-file.ts'
import type { ScreenshotLimits } from './screenshotter.ts'

const checkInterval_ms = 300
const page_bytes = 4096

/**
 * Lowers the priority of the processes of a group, and calls `tooMuch` when together they hold more memory of their own than the limit.
 * Where there is no /proc only the first process is lowered, and only the limit of the heap holds.
 */
export function limitProcessGroup(
  group: number,
  limits: Pick<ScreenshotLimits, 'memory_bytes' | 'niceness'>,
  onExceeded: () => void,
): { stop(): void } {
  setNiceness(group, limits.niceness)
  if (process.platform !== 'linux') return { stop() {} }
  let isMeasuring = false
  const timer = systemClock.setInterval(() => {
    if (isMeasuring) return
    isMeasuring = true
    measureGroup(group, limits.niceness)
      .then((bytes) => bytes > limits.memory_bytes && onExceeded())
      .catch(() => {})
      .finally(() => (isMeasuring = false))
  }, checkInterval_ms)
  timer.unref()
  return { stop: () => timer.cancel() }
}

/** What the processes of a group have for themselves: resident, less what they share. */
async function measureGroup(group: number, niceness: number): Promise<number> {
  let bytes = 0
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    // The name of the program, in parentheses, may hold anything; its group is the third field after it.
    const fields = readProcFile(`${name}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ')
    if (Number(fields[2]) !== group) continue
    const [, resident = 0, shared = 0] = readProcFile(`${name}/statm`).split(' ').map(Number)
    bytes += (resident - shared) * page_bytes
    // A browser that runs as root raises its own priority.
    setNiceness(Number(name), niceness)
  }
  return bytes
}

function setNiceness(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness)
  } catch {
    // It may be gone already, or the system may not let us: it then runs as everybody does.
  }
}
