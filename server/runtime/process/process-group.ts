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
  /** The arguments are one Windows command line already: Node quotes nothing. */
  windowsVerbatimArguments?: boolean
  cwd: string
  env: Record<string, string>
  /** Ceiling for the whole group. It is checked, not reserved: what passes it is killed. */
  memory_mb: number
  max_processes: number
  clock: Clock
  /** The program is a sandbox that writes JSON with `child-pid` to its descriptor 3: the leader of the group that is meant. */
  reports_pid?: boolean
  onLine(stream: 'stdout' | 'stderr', line: string): void
}

/** A program with all that it begins, which lives and dies together. */
export interface ProcessGroup {
  pid: number
  /** Settles once the program ended, the rest of its group is gone and the last line was delivered. */
  ended: Promise<ProcessGroupExit>
  /** SIGTERM to the group, SIGKILL after `grace_ms`; 0 kills at once. Resolves when it has ended. */
  stop(grace_ms: number): Promise<ProcessGroupExit>
  /** SIGSTOP to the group, or SIGCONT. Nobody looks after what does nothing. */
  setFrozen(frozen: boolean): void
  /** Its processes by now. */
  listPids(): Promise<number[]>
}

export interface ProcessGroupExit {
  code: number | null
  signal: NodeJS.Signals | null
  out_of_memory: boolean
  too_many_processes: boolean
}

/** Rejects with Node's own error (ENOENT, EACCES) when the program can't be started. */
export async function startProcessGroup(request: ProcessGroupOptions): Promise<ProcessGroup> {
  const { clock } = request
  const child = spawn(request.file, request.args, {
    cwd: request.cwd,
    env: request.env,
    // A group of its own on Unix; on Windows a tree that taskkill can end.
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
    // A sandbox that has not begun its command yet, or stands between us and it.
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
    // What the program left behind goes too, also where it moved to a group of its own; then the pipes come to their end.
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
      // Looked at once more: once its parent is gone, nothing tells of a process that left the group.
      await watch.refresh()
      if (grace_ms > 0) {
        kill('SIGTERM')
        // A frozen process takes no signal but SIGKILL.
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

/** Read as the sandbox starts; undefined when it ended before it had one, and says itself why. */
function readReportedPid(child: ChildProcess): Promise<number | undefined> {
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

/** A sandbox ends with 128 and the number of the signal that ended its command, as a shell does. */
function toCommandExit(code: number | null, signal: NodeJS.Signals | null): { code: number | null; signal: NodeJS.Signals | null } {
  const [name] = Object.entries(constants.signals).find(([, number]) => code !== null && number === code - 128) ?? []
  return name === undefined ? { code, signal } : { code: null, signal: name as NodeJS.Signals }
}

/** Signals a whole group; nothing happens when it is gone. On Windows every signal ends the tree. */
export function killProcessGroup(pid: number, name: NodeJS.Signals): void {
  if (platform() === 'win32') {
    execFile('taskkill', ['/PID', String(pid), '/T', '/F'], { windowsHide: true }, () => {})
    return
  }
  try {
    process.kill(-pid, name)
  } catch {
    // Gone already.
  }
}

export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone already.
  }
}

interface OutputPipe {
  stream: { destroy(): void }
  closed: Promise<void>
  idle_ms(): number
}

const maxSilence_ms = 1_000

/**
 * Waits for the end of a pipe, from the exit of its program. A process that escaped with the pipe in hand is waited for no longer than
 * it is silent for a second.
 */
async function drainPipe(output: OutputPipe, clock: Clock): Promise<void> {
  const closed = new AbortController()
  // The last words of a program are often still in the pipe when its exit is known: silence before the exit does not count.
  const exited_at = clock.monotonic()
  const getSilence = () => Math.min(output.idle_ms(), clock.monotonic() - exited_at)
  const waitForSilence = async () => {
    while (getSilence() < maxSilence_ms) {
      await sleep(clock, maxSilence_ms - getSilence(), closed.signal)
      // After a stall of this process, output that is in the pipe has not been read yet.
      await nextTurn()
    }
  }
  await Promise.race([output.closed, waitForSilence().catch(() => {})])
  closed.abort()
  output.stream.destroy()
}

const memoryCheckInterval_ms = 400
/** The table of all processes is read once in so many looks at the memory. */
const memoryChecksPerTable = 3

/** Looks after memory and number of a group. `stop` returns the processes last seen outside of the group. */
function watchProcessGroup(
  pid: number,
  limits: ProcessGroupOptions,
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
