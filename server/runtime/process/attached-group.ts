import { type ChildProcess, spawn } from 'node:child_process'
import { platform } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { TerminalSize } from '../../contract/command-frames.ts'
import type { Clock, Timer } from '../../lib/clock.ts'
import { createHeldOutput, type HeldOutput } from '../held-output.ts'
import { unixShell } from '../unix-shell.ts'
import type { SandboxCommand } from '../sandbox/sandbox.ts'
import { killProcess, killProcessGroup, type ProcessGroup, readReportedPid, toCommandExit, watchProcessGroup } from './process-group.ts'
import { findProcessTree, readProcessTable } from './process-table.ts'
import { openTerminal, type PseudoTerminal } from './pseudo-terminal.ts'

/** A program as it is started: in the sandbox, or as it is. */
interface StartableProgram {
  file: string
  args: string[]
  windowsVerbatimArguments?: boolean
  /** The program is a sandbox, as in `ProcessGroupOptions`. */
  reports_pid?: boolean
}

export type ConfineProgram = (program: SandboxCommand & { windowsVerbatimArguments?: boolean }) => StartableProgram

interface AttachedGroupOptions {
  program: Parameters<ConfineProgram>[0]
  confine: ConfineProgram
  env: Record<string, string>
  terminal: TerminalSize | null
  memory_mb: number
  max_processes: number
  clock: Clock
}

/** A process group with the input and output of its caller. */
interface AttachedGroup extends ProcessGroup {
  input: Writable
  stdout: Readable
  stderr: Readable | null
  resize(size: TerminalSize): void
}

/** Rejects with Node's own error (ENOENT, EACCES) when the program cannot be started. */
export async function startAttachedGroup(options: AttachedGroupOptions): Promise<AttachedGroup> {
  const { clock } = options
  const terminal = options.terminal && (await openTerminal(options.terminal))
  const program = terminal ? withTerminal(options, terminal) : options.confine(options.program)
  const pipe = 'pipe' as const
  let child: ChildProcess
  try {
    child = spawn(program.file, program.args, {
      cwd: options.program.cwd,
      env: options.env,
      detached: platform() !== 'win32',
      stdio: [
        ...(terminal ? [terminal.program_fd, terminal.program_fd, terminal.program_fd] : [pipe, pipe, pipe]),
        ...(program.reports_pid ? [pipe] : []),
      ],
      windowsHide: true,
      windowsVerbatimArguments: program.windowsVerbatimArguments,
    })
  } catch (error) {
    terminal?.close()
    throw error
  } finally {
    terminal?.releaseProgramSide()
  }
  const exited = new Promise<ReturnType<typeof toCommandExit>>((resolve) => {
    child.once('exit', (code, signal) => resolve(program.reports_pid ? toCommandExit(code, signal) : { code, signal }))
  })
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject)).catch((error: unknown) => {
    terminal?.close()
    throw error
  })
  child.on('error', () => {})
  const pid = (program.reports_pid ? await readReportedPid(child) : undefined) ?? child.pid!
  let isOverMemory = false
  let hasTooManyProcesses = false
  let killTimer: Timer | undefined

  const kill = (name: NodeJS.Signals) => {
    killProcessGroup(pid, name)
    if (name === 'SIGKILL' && pid !== child.pid) killProcessGroup(child.pid!, name)
  }
  const watch = watchProcessGroup(pid, options, {
    onOverMemory() {
      isOverMemory = true
      kill('SIGKILL')
    },
    onTooManyProcesses() {
      hasTooManyProcesses = true
      kill('SIGKILL')
    },
  })
  const outputs = (terminal ? [terminal.screen] : [child.stdout!, child.stderr!]).map((source) => createHeldOutput(source, clock))
  child.stdin?.on('error', () => {})

  const ended = exited.then(({ code, signal }) => {
    killTimer?.cancel()
    const escaped = watch.stop()
    // Processes left behind by the command are killed too; then the outputs end.
    kill('SIGKILL')
    for (const escapedPid of escaped) killProcess(escapedPid)
    for (const output of outputs) output.endWhenSilent()
    return { code, signal, out_of_memory: isOverMemory, too_many_processes: hasTooManyProcesses }
  })

  return {
    pid,
    ended,
    input: terminal ? terminal.keyboard : child.stdin!,
    stdout: outputs[0]!.stream,
    stderr: outputs[1]?.stream ?? null,
    resize: (size) => terminal?.resize(size),
    setFrozen(frozen) {
      watch.setPaused(frozen)
      kill(frozen ? 'SIGSTOP' : 'SIGCONT')
    },
    async stop(grace_ms) {
      await watch.refresh()
      closeOutputs(outputs, terminal)
      if (grace_ms > 0) {
        kill('SIGTERM')
        if (platform() !== 'win32') kill('SIGCONT')
        killTimer ??= clock.setTimeout(() => kill('SIGKILL'), grace_ms)
      } else kill('SIGKILL')
      return ended
    },
    listPids: async () => findProcessTree(await readProcessTable(), pid),
  }
}

/** The end of a terminal is a SIGHUP for its programs. */
function closeOutputs(outputs: HeldOutput[], terminal: PseudoTerminal | null): void {
  for (const { stream } of outputs) stream.destroy()
  terminal?.close()
}

/** Opens the terminal `$0` as the leader of a session, which makes it the controlling terminal, and becomes the program. */
const openScript = 'exec "$@" <"$0" >"$0" 2>&1'

/**
 * The program with the terminal as its controlling terminal, which shells need for Ctrl-C and job control. bubblewrap hides the path of the terminal
 * and has a session of its own, so `setsid` inside of it takes over the terminal that is standard input.
 */
function withTerminal({ program, confine }: AttachedGroupOptions, { path }: PseudoTerminal): StartableProgram {
  const { file, args, cwd } = program
  if (confine(program).reports_pid) return confine({ file: 'setsid', args: ['--ctty', file, ...args], cwd })
  const confined = confine(program)
  return { file: '/bin/sh', args: ['-c', openScript, path, confined.file, ...confined.args] }
}

/** The shell of the system: bash where it is installed. */
export function findShell(systemRoot: string | undefined): string[] {
  if (platform() === 'win32') return [systemRoot === undefined ? 'cmd.exe' : join(systemRoot, 'System32', 'cmd.exe')]
  return unixShell
}
