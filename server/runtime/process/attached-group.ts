import { platform } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { TerminalSize } from '../../contract/command-frames.ts'
import type { Clock } from '../../lib/clock.ts'
import { createHeldOutput, type HeldOutput } from '../held-output.ts'
import { unixShell } from '../unix-shell.ts'
import type { SandboxCommand } from '../sandbox/sandbox.ts'
import type { GroupLimits } from './group-limits.ts'
import { type ConnectedStreams, type GroupProgram, type GroupStreams, type ProcessGroup, startProcessGroup } from './process-group.ts'
import { openTerminal, type PseudoTerminal } from './pseudo-terminal.ts'

/** A program as started: in the sandbox, or directly. */
type StartableProgram = Pick<GroupProgram, 'file' | 'args' | 'windowsVerbatimArguments' | 'reports_pid'>

export type ConfineProgram = (program: SandboxCommand & { windowsVerbatimArguments?: boolean }) => StartableProgram

interface AttachedGroupOptions extends GroupLimits {
  env: Record<string, string>
  program: Parameters<ConfineProgram>[0]
  confine: ConfineProgram
  terminal: TerminalSize | null
}

/** The other ends of the standard streams. */
interface AttachedStreams extends ConnectedStreams {
  input: Writable
  stdout: Readable
  stderr: Readable | null
}

/** A process group with the input and output of its caller. */
interface AttachedGroup extends ProcessGroup<AttachedStreams> {
  resize(size: TerminalSize): void
}

/** Rejects with Node's own error (ENOENT, EACCES) when the program cannot be started. */
export async function startAttachedGroup({ program, confine, terminal: size, ...limits }: AttachedGroupOptions): Promise<AttachedGroup> {
  const terminal = size && (await openTerminal(size))
  const startable = terminal ? withTerminal(program, confine, terminal) : confine(program)
  const streams = terminal ? createTerminalStreams(terminal, limits.clock) : createPipeStreams(limits.clock)
  try {
    const group = await startProcessGroup({ ...startable, cwd: program.cwd, ...limits }, streams)
    return { ...group, resize: (next) => terminal?.resize(next) }
  } catch (error) {
    terminal?.close()
    throw error
  }
}

const createPipeStreams = (clock: Clock): GroupStreams<AttachedStreams> => ({
  stdio: ['pipe', 'pipe', 'pipe'],
  connect({ stdin, stdout, stderr }) {
    const outputs = [stdout!, stderr!].map((source) => createHeldOutput(source, clock))
    stdin!.on('error', () => {})
    return { input: stdin!, ...holdOutputs(outputs) }
  },
})

const createTerminalStreams = (terminal: PseudoTerminal, clock: Clock): GroupStreams<AttachedStreams> => ({
  stdio: [terminal.program_fd, terminal.program_fd, terminal.program_fd],
  release: () => terminal.releaseProgramSide(),
  connect() {
    const held = holdOutputs([createHeldOutput(terminal.screen, clock)])
    return {
      input: terminal.keyboard,
      ...held,
      close() {
        held.close()
        // The end of a terminal is a SIGHUP for its programs.
        terminal.close()
      },
    }
  },
})

function holdOutputs(outputs: HeldOutput[]) {
  return {
    stdout: outputs[0]!.stream,
    stderr: outputs[1]?.stream ?? null,
    close() {
      for (const { stream } of outputs) stream.destroy()
    },
    /** The caller may take any time to read them. */
    async drain() {
      for (const output of outputs) output.endWhenSilent()
    },
  }
}

/** Opens the terminal `$0` as the leader of a session, which makes it the controlling terminal, and executes the program. */
const openScript = 'exec "$@" <"$0" >"$0" 2>&1'

/**
 * The program with the terminal as its controlling terminal, which shells need for Ctrl-C and job control. bubblewrap hides the path of the terminal
 * and has its own session, so `setsid` inside of it takes over the terminal that is standard input.
 */
function withTerminal(program: AttachedGroupOptions['program'], confine: ConfineProgram, { path }: PseudoTerminal): StartableProgram {
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
