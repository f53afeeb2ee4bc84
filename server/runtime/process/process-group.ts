import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { constants, platform } from 'node:os'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sleep, type Clock, type Timer } from '../../lib/clock.ts'
import { createLineSplitter } from '../line-splitter.ts'
import { findProcessTree, measurePrivateMemory, readProcessTable } from './process-table.ts'

export interface ProcessGroupOptions {
  file: string
  args: string[]
  /** The arguments are a Windows command line already, so Node must not quote them. */
  windowsVerbatimArguments?: boolean
  cwd: string
  env: Record<string, string>
  /** Memory limit of the whole group. The limit is checked periodically; a group above it is killed. */
  memory_mb: number
  max_processes: number
  clock: Clock
  /** The program is a sandbox that writes JSON with `child-pid`, the leader of the group, to its file descriptor 3. */
  reports_pid?: boolean
  onLine(stream: 'stdout' | 'stderr', line: string): void
}

/** A program and its child processes, managed as a unit. */
export interface ProcessGroup {
  pid: number
  /** Resolves once the program has ended, the rest of its group is gone and the last line was delivered. */
  ended: Promise<ProcessGroupExit>
  /** SIGTERM to the group, SIGKILL after `grace_ms`; 0 kills immediately. Resolves when the group has ended. */
  stop(grace_ms: number): Promise<ProcessGroupExit>
  /** SIGSTOP or SIGCONT to the group. A stopped group is not monitored. */
  setFrozen(frozen: boolean): void
  /** The current processes of the group. */
  listPids(): Promise<number[]>
}

export interface ProcessGroupExit {
  code: number | null
  signal: NodeJS.Signals | null
  out_of_memory: boolean
  too_many_processes: boolean
}

/** Rejects with Node's own error (ENOENT, EACCES) when the program cannot be started. */
export async function startProcessGroup(request: ProcessGroupOptions): Promise<ProcessGroup> {
  const { clock } = request
  const child = spawn(request.file, request.args, {
    cwd: request.cwd,
    env: request.env,
    // A separate group on Unix; on Windows a tree that taskkill can end.
    detached: platform() !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe', ...(request.reports_pid ? ['pipe' as const] : [])],
    windowsHide: true,
    windowsVerbatimArguments: request.windowsVerbatimArguments,
  })
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve(request.reports_pid ? toCommandExit(code, signal) : { code, signal }))
  })
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  child.on('error', () => {})
  const pid = (request.reports_pid ? await readReportedPid(child) : undefined) ?? child.pid!
  let isHeapExhausted = false
  let isOverMemory = false
  let hasTooManyProcesses = false
  let killTimer: Timer | undefined

  const outputs = (['stdout', 'stderr'] as const).flatMap((name) => {
    const stream = child[name]
    if (stream === null) return []
    const lines = createLineSplitter((line) => {
      if (name === 'stderr' && /JavaScript heap out of memory/.test(line)) isHeapExhausted = true
      request.onLine(name, line)
    })
    let last = clock.monotonic()
    stream.on('data', (chunk: Buffer) => {
      last = clock.monotonic()
      lines.write(chunk)
    })
    const closed = new Promise<void>((resolve) => stream.once('close', resolve))
    return [{ stream, lines, closed, idle_ms: () => clock.monotonic() - last }]
  })

  const kill = (name: NodeJS.Signals) => {
    killProcessGroup(pid, name)
    // The sandbox process itself is killed as well, because it may not have started its command yet.
    if (name === 'SIGKILL' && pid !== child.pid) killProcessGroup(child.pid!, name)
  }
  const watch = watchProcessGroup(pid, request, {
    onOverMemory() {
      isOverMemory = true
      kill('SIGKILL')
    },
    onTooManyProcesses() {
      hasTooManyProcesses = true
      kill('SIGKILL')
    },
  })

  const ended = exited.then(async ({ code, signal }) => {
    killTimer?.cancel()
    const escaped = watch.stop()
    // Processes left behind by the program are killed too, also outside of the group; then the pipes end.
    kill('SIGKILL')
    for (const escapedPid of escaped) killProcess(escapedPid)
    await Promise.all(outputs.map((output) => drainPipe(output, clock)))
    for (const output of outputs) output.lines.end()
    const isHeapAbort = isHeapExhausted && (signal === 'SIGABRT' || signal === 'SIGTRAP' || code === 134 || code === 133 || code === 1)
    return { code, signal, out_of_memory: isOverMemory || isHeapAbort, too_many_processes: hasTooManyProcesses }
  })

  return {
    pid,
    ended,
    setFrozen(frozen) {
      watch.setPaused(frozen)
      kill(frozen ? 'SIGSTOP' : 'SIGCONT')
    },
    async stop(grace_ms) {
      // Refreshed once more, because a process that left the group cannot be found after its parent has ended.
      await watch.refresh()
      if (grace_ms > 0) {
        kill('SIGTERM')
        // A stopped process only receives SIGKILL.
        watch.setPaused(false)
        if (platform() !== 'win32') kill('SIGCONT')
        killTimer ??= clock.setTimeout(() => kill('SIGKILL'), grace_ms)
      } else {
        kill('SIGKILL')
      }
      return ended
    },
    listPids: async () => findProcessTree(await readProcessTable(), pid),
  }
}

/** Reads the pid when the sandbox starts; undefined when the sandbox ended before; its output shows why. */
export function readReportedPid(child: ChildProcess): Promise<number | undefined> {
  const report = child.stdio[3]
  if (!(report instanceof Readable)) return Promise.resolve(undefined)
  return new Promise((resolve) => {
    let text = ''
    report.on('data', (piece: Buffer) => {
      text += piece.toString()
      const pid = /"child-pid": (\d+)\D/.exec(text)?.[1]
      if (pid !== undefined) resolve(Number(pid))
    })
    report.on('error', () => {})
    child.once('exit', () => {
      resolve(undefined)
      report.destroy()
    })
  })
}

/** A sandbox exits with 128 plus the signal that ended its command, as a shell does. */
export function toCommandExit(code: number | null, signal: NodeJS.Signals | null): { code: number | null; signal: NodeJS.Signals | null } {
  const [name] = Object.entries(constants.signals).find(([, number]) => code !== null && number === code - 128) ?? []
  return name === undefined ? { code, signal } : { code: null, signal: name as NodeJS.Signals }
}

/** Signals a whole group; no error when it is gone. On Windows every signal ends the tree. */
export function killProcessGroup(pid: number, name: NodeJS.Signals): void {
  if (platform() === 'win32') {
    execFile('taskkill', ['/PID', String(pid), '/T', '/F'], { windowsHide: true }, () => {})
    return
  }
  try {
    process.kill(-pid, name)
  } catch {
    // The group has ended already.
  }
}

export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended already.
  }
}

interface OutputPipe {
  stream: { destroy(): void }
  closed: Promise<void>
  idle_ms(): number
}

const maxSilence_ms = 1_000

/**
 * Waits for the end of a pipe after the exit of its program. A process that left the group may still hold the pipe; waiting ends after one second
 * without output.
 */
async function drainPipe(output: OutputPipe, clock: Clock): Promise<void> {
  const closed = new AbortController()
  // The last output is often still in the pipe when the exit is reported, so silence before the exit does not count.
  const exited_at = clock.monotonic()
  const getSilence = () => Math.min(output.idle_ms(), clock.monotonic() - exited_at)
  const waitForSilence = async () => {
    while (getSilence() < maxSilence_ms) {
      await sleep(clock, maxSilence_ms - getSilence(), closed.signal)
      // After a stall of the event loop, output in the pipe has not been read yet.
      await nextTurn()
    }
  }
  await Promise.race([output.closed, waitForSilence().catch(() => {})])
  closed.abort()
  output.stream.destroy()
}

const memoryCheckInterval_ms = 400
/** The table of all processes is read once per this many memory checks. */
const memoryChecksPerTable = 3

/** Monitors memory and process count of a group. `stop` returns the last known processes outside of the group. */
export function watchProcessGroup(
  pid: number,
  limits: Pick<ProcessGroupOptions, 'memory_mb' | 'max_processes' | 'clock'>,
  handlers: { onOverMemory(): void; onTooManyProcesses(): void },
): { stop(): number[]; refresh(): Promise<void>; setPaused(paused: boolean): void } {
  let isStopped = false
  let isPaused = false
  let round = 0
  let pids = [pid]
  let escaped: number[] = []
  let timer: Timer | undefined

  const readTable = async (now = false) => {
    const table = await readProcessTable({ now })
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
