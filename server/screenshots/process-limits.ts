import { readdir } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { systemClock } from '../lib/clock.ts'
import { readProcFile } from '../lib/proc-file.ts'
import type { ScreenshotLimits } from './screenshotter.ts'

const checkInterval_ms = 300
const page_bytes = 4096

/**
 * Lowers the priority of a process group, and calls `onMemoryExceeded` when its private memory exceeds the limit. Without /proc, only the first
 * process gets the lower priority, and only the heap limit applies.
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

/** Private memory of a process group: resident memory without shared memory. */
async function measureGroup(group: number, niceness: number): Promise<number> {
  let bytes = 0
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    // The program name in parentheses may contain any characters; the process group is the third field after it.
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
    // The process has ended, or the system denies the change; then the priority is unchanged.
  }
}
