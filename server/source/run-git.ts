import { spawn } from 'node:child_process'
import type { Clock } from '../lib/clock.ts'
import { isMacosGitStub } from './macos-git-stub.ts'

export interface GitResult {
  /** Exit code; null when the process was killed. */
  code: number | null
  stdout: string
  /** The last lines of standard error, used to classify failures. */
  stderr: string
  /** Killed because git printed no output for too long. */
  timed_out: boolean
}

export interface GitRunOptions {
  cwd?: string
  environment: Record<string, string>
  signal: AbortSignal
  /** Measures how long git prints no output. */
  clock: Clock
  /** Called with each chunk of standard error; progress output overwrites itself with carriage returns. */
  onStderr?: (text: string) => void
  /** Text for standard input. */
  input?: string
  platform?: NodeJS.Platform
}

/** git is killed after this time without output. */
const silenceTimeout_ms = 60_000
const maxStderr_chars = 64 * 1024
const maxStdout_bytes = 64 * 1024 * 1024

/**
 * Runs git as the leader of its own process group, so that its helpers are killed with it. Rejects with the abort's reason once the group has ended;
 * a failed git resolves with its exit code.
 */
export async function runGit(args: string[], options: GitRunOptions): Promise<GitResult> {
  if (await isMacosGitStub(options.environment.PATH ?? '', options.platform))
    throw Object.assign(new Error('spawn git ENOENT'), { code: 'ENOENT', syscall: 'spawn git' })
  const { signal, clock } = options
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const child = spawn('git', args, {
      cwd: options.cwd,
      env: options.environment,
      detached: process.platform !== 'win32',
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
    const stdout: Buffer[] = []
    let stdoutBytes = 0
    let stderr = ''
    let timedOut = false

    const kill = (): void => {
      if (child.pid === undefined) return
      try {
        if (process.platform === 'win32') child.kill('SIGKILL')
        else process.kill(-child.pid, 'SIGKILL')
      } catch {
        // The group has ended already.
      }
    }
    const startIdleTimer = () =>
      clock.setTimeout(() => {
        timedOut = true
        kill()
      }, silenceTimeout_ms)
    let idleTimer = startIdleTimer()
    const onOutput = (): void => {
      idleTimer.cancel()
      idleTimer = startIdleTimer()
    }
    signal.addEventListener('abort', kill, { once: true })
    const cleanUp = (): void => {
      idleTimer.cancel()
      signal.removeEventListener('abort', kill)
    }

    child.stdout.on('data', (bytes: Buffer) => {
      onOutput()
      stdoutBytes += bytes.length
      if (stdoutBytes <= maxStdout_bytes) stdout.push(bytes)
      else kill()
    })
    child.stderr.setEncoding('utf8')
    child.stderr.on('data', (text: string) => {
      onOutput()
      stderr = (stderr + text).slice(-maxStderr_chars)
      options.onStderr?.(text)
    })
    child.stdin.on('error', () => {}) // git may exit before it has read all input
    child.stdin.end(options.input ?? '')
    child.on('error', (error) => {
      cleanUp()
      reject(error)
    })
    child.on('close', (code) => {
      cleanUp()
      if (signal.aborted) reject(signal.reason)
      else
        resolve({
          code: timedOut || stdoutBytes > maxStdout_bytes ? null : code,
          stdout: Buffer.concat(stdout).toString('utf8'),
          stderr,
          timed_out: timedOut,
        })
    })
  })
}
