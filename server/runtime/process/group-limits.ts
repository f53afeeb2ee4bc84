import type { Clock, Timer } from '../../lib/clock.ts'
import { findProcessTree, measurePrivateMemory, processTableTime, readProcessTable } from './process-table.ts'

const memoryCheckInterval_ms = 400
/** The table of all processes is read once per this many memory checks. */
const memoryChecksPerTable = 3

export interface GroupLimits {
  /** Memory limit of the whole group. The limit is checked periodically; a group above it is killed. */
  memory_mb: number
  max_processes: number
  clock: Clock
}

/** Monitors memory and process count of a group. `stop` returns the last known processes outside of the group. */
export function watchGroupLimits(
  pid: number,
  limits: GroupLimits,
  handlers: { onOverMemory(): void; onTooManyProcesses(): void },
): { stop(): number[]; refresh(): Promise<void>; setPaused(paused: boolean): void } {
  let isStopped = false
  let isPaused = false
  let round = 0
  let pids = [pid]
  let escaped: number[] = []
  let timer: Timer | undefined
  // An earlier table does not contain the group.
  const since = processTableTime()

  const readTable = async (now = false) => {
    const table = await readProcessTable({ now, since })
    if (isStopped) return
    pids = table.length > 0 ? findProcessTree(table, pid) : [pid]
    const inGroup = new Set(table.filter((row) => row.group === pid).map((row) => row.pid))
    escaped = pids.filter((one) => one !== pid && !inGroup.has(one))
    if (pids.length > limits.max_processes) handlers.onTooManyProcesses()
  }
  const refresh = async () => {
    if (round++ % memoryChecksPerTable === 0) await readTable()
    const bytes = await measurePrivateMemory(pids)
    if (!isStopped && bytes > limits.memory_mb * 1024 * 1024) handlers.onOverMemory()
  }
  const scheduleNext = () => {
    timer = limits.clock.setTimeout(() => {
      ;(isPaused ? Promise.resolve() : refresh())
        .catch(() => {})
        .finally(() => {
          if (!isStopped) scheduleNext()
        })
    }, memoryCheckInterval_ms)
  }
  scheduleNext()
  return {
    refresh: () => readTable(true).catch(() => {}),
    setPaused(paused) {
      isPaused = paused
    },
    stop() {
      isStopped = true
      timer?.cancel()
      return escaped
    },
  }
}
