import { type ChildProcess, execFile, spawn, type StdioOptions } from 'node:child_process'
import { constants, platform } from 'node:os'
import { Readable } from 'node:stream'
import type { Timer } from '../../lib/clock.ts'
import { type GroupLimits, watchGroupLimits } from './group-limits.ts'
import { findProcessTree, readProcessTable } from './process-table.ts'

/** A program and the limits of its group. */
export interface GroupProgram extends GroupLimits {
  file: string
  args: string[]
  /** The arguments are a Windows command line already, so Node must not quote them. */
  windowsVerbatimArguments?: boolean
  cwd: string
  env: Record<string, string>
  /** The program is a sandbox that writes JSON with `child-pid`, the leader of the group, to its file descriptor 3. */
  reports_pid?: boolean
}

/** The standard streams of a group. */
export interface GroupStreams<Connected extends ConnectedStreams = ConnectedStreams> {
  /** Input, output and errors, as `spawn` takes them. */
  stdio: ('ignore' | 'pipe' | number)[]
  /** Called once the program has its streams, or could not be started. */
  release?(): void
  /** Called once the program runs. */
  connect(child: ChildProcess): Connected
}

export interface ConnectedStreams {
  /** Called before the group is stopped. */
  close?(): void
  /** Called after the end of the group; resolves when the rest of its output was delivered. */
  drain(): Promise<void>
  /** The output shows that the program has exhausted its own heap. */
  isHeapExhausted?(): boolean
}

/** A program and its child processes, managed as a unit. */
export interface ProcessGroup<Connected extends ConnectedStreams = ConnectedStreams> {
  pid: number
  streams: Connected
  /** Resolves once the program has ended, the rest of its group is gone and its output was drained. */
  ended: Promise<ProcessGroupExit>
  /** SIGTERM to the group, SIGKILL after `grace_ms`; 0 kills immediately. Resolves when the group has ended. */
  stop(grace_ms: number): Promise<ProcessGroupExit>
  /** SIGSTOP or SIGCONT to the group. A stopped group is not monitored. */
  setFrozen(frozen: boolean): void
  /** The current processes of the group. */
  listPids(since?: number): Promise<number[]>
}

export interface ProcessGroupExit {
  code: number | null
  signal: NodeJS.Signals | null
  out_of_memory: boolean
  too_many_processes: boolean
}

/** Rejects with Node's own error (ENOENT, EACCES) when the program cannot be started. */
export async function startProcessGroup<Connected extends ConnectedStreams>(
  program: GroupProgram,
  streams: GroupStreams<Connected>,
): Promise<ProcessGroup<Connected>> {
  const child = await spawnProgram(program, streams).finally(() => streams.release?.())
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve(program.reports_pid ? toCommandExit(code, signal) : { code, signal }))
  })
  child.on('error', () => {})
  const pid = (program.reports_pid ? await readReportedPid(child) : undefined) ?? child.pid!
  const connected = streams.connect(child)
  let isOverMemory = false
  let hasTooManyProcesses = false
  let killTimer: Timer | undefined

  const kill = (name: NodeJS.Signals) => {
    killProcessGroup(pid, name)
    // The sandbox process itself is killed as well, because it may not have started its command yet.
    if (name === 'SIGKILL' && pid !== child.pid) killProcessGroup(child.pid!, name)
  }
  const watch = watchGroupLimits(pid, program, {
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
    await connected.drain()
    const isHeapAbort =
      connected.isHeapExhausted?.() === true && (signal === 'SIGABRT' || signal === 'SIGTRAP' || code === 134 || code === 133 || code === 1)
    return { code, signal, out_of_memory: isOverMemory || isHeapAbort, too_many_processes: hasTooManyProcesses }
  })

  return {
    pid,
    streams: connected,
    ended,
    setFrozen(frozen) {
      watch.setPaused(frozen)
      kill(frozen ? 'SIGSTOP' : 'SIGCONT')
    },
    async stop(grace_ms) {
      // Refreshed once more, because a process that left the group cannot be found after its parent has ended.
      await watch.refresh()
      connected.close?.()
      if (grace_ms > 0) {
        kill('SIGTERM')
        // A stopped process only receives SIGKILL.
        watch.setPaused(false)
        if (platform() !== 'win32') kill('SIGCONT')
        killTimer ??= program.clock.setTimeout(() => kill('SIGKILL'), grace_ms)
      } else {
        kill('SIGKILL')
      }
      return ended
    },
    listPids: async (since) => findProcessTree(await readProcessTable(since === undefined ? {} : { since }), pid),
  }
}

async function spawnProgram(program: GroupProgram, { stdio }: GroupStreams): Promise<ChildProcess> {
  const all: StdioOptions = program.reports_pid ? [...stdio, 'pipe'] : stdio
  const child = spawn(program.file, program.args, {
    cwd: program.cwd,
    env: program.env,
    // A separate group on Unix; on Windows a tree that taskkill can end.
    detached: platform() !== 'win32',
    stdio: all,
    windowsHide: true,
    windowsVerbatimArguments: program.windowsVerbatimArguments,
  })
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  return child
}

/** Reads the pid when the sandbox starts; undefined when the sandbox ended before; its output shows why. */
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

/** A sandbox exits with 128 plus the signal that ended its command, as a shell does. */
function toCommandExit(code: number | null, signal: NodeJS.Signals | null): { code: number | null; signal: NodeJS.Signals | null } {
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
