import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { withSecrets } from '../options.ts'

/** A program that runs in this terminal. */
export interface RunningProgram {
  /** The exit code; 1 after a signal, undefined when the program is not installed. */
  exited: Promise<number | undefined>
  /** Ends the program and everything that it started. */
  stop(): Promise<void>
}

export interface ProgramOptions {
  cwd: string
  /** Added to the environment of this process. */
  variables: Record<string, string>
  /** Standard output is reserved for the result, so the program writes to standard error. */
  keeps_output: boolean
}

const killAfter_ms = 5_000

/**
 * Starts a program. It ends with this process, even if that is killed: a separate guard process waits for the end of its standard input
 * and then ends the remaining processes.
 */
export function startProgram(file: string, args: readonly string[], { cwd, variables, keeps_output }: ProgramOptions): RunningProgram {
  const env = withSecrets(variables)
  const isWindows = process.platform === 'win32'
  // Windows finds npm.cmd and its like only through a shell. Its arguments come from the user's own files and command line.
  const child = spawn(file, args, { cwd, env, stdio: keeps_output ? ['inherit', 2, 2] : 'inherit', shell: isWindows })
  const guard = child.pid === undefined ? undefined : startGuard(child.pid)
  const exited = new Promise<number | undefined>((resolve) => {
    child.once('error', () => resolve(undefined))
    child.once('exit', (code) => resolve(code ?? 1))
  })
  void exited.then(() => guard?.kill('SIGKILL'))
  return {
    exited,
    async stop() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      const pids = [child.pid, ...(await listDescendants(child.pid))]
      signalAll(pids, 'SIGTERM')
      const timer = setTimeout(() => signalAll(pids, 'SIGKILL'), killAfter_ms)
      await exited
      clearTimeout(timer)
      signalAll(pids, 'SIGKILL')
    },
  }
}

/** The child processes of a program and their descendants. Empty where the system does not list them. */
export async function listDescendants(pid: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']).catch(() => ({ stdout: '' }))
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  const found = [pid]
  for (const parent of found) for (const [child = 0, of = 0] of pairs) if (of === parent && child > 0 && !found.includes(child)) found.push(child)
  return found.slice(1)
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // The process has ended.
    }
  }
}

/** Ends the known descendants when its standard input ends, which means that the process at the other end is gone. */
const guardScript = `
const { execFileSync } = require('node:child_process')
const root = Number(process.argv[1])
process.stdin.resume().once('end', () => {
  let pairs = []
  try {
    pairs = execFileSync('ps', ['-A', '-o', 'pid=,ppid=']).toString().split('\\n').map((line) => line.trim().split(/\\s+/).map(Number))
  } catch {}
  const found = [root]
  for (const parent of found) for (const [pid, of] of pairs) if (of === parent && !found.includes(pid)) found.push(pid)
  for (const pid of found) try { process.kill(pid, 'SIGTERM') } catch {}
  process.exit()
})
`

function startGuard(pid: number) {
  const guard = spawn(process.execPath, ['-e', guardScript, String(pid)], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  guard.once('error', () => {})
  guard.unref()
  return guard
}
