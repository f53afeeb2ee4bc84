import { execFile } from 'node:child_process'
import { userInfo } from 'node:os'
import { basename } from 'node:path'
import { type Clock, timeoutSignal } from '../server/lib/clock.ts'
import type { PlatformOptions } from '../server/options.ts'

type Environment = PlatformOptions['environment']

/** The PATH that macOS gives to an app that is opened from Finder, from the dock or at login. */
const systemPathFolders = new Set(['/usr/bin', '/bin', '/usr/sbin', '/sbin'])
const homebrewFolders = ['/opt/homebrew/bin', '/opt/homebrew/sbin', '/usr/local/bin']
const shellTimeout_ms = 3_000

export interface ShellEnvironmentOptions {
  environment: Environment
  clock: Clock
  platform?: NodeJS.Platform
  /** The user's login shell. */
  shell?: string | null
}

/**
 * The environment with the PATH of the user's terminal. An app opened from Finder on macOS gets four system folders, and would find neither the
 * user's git nor Docker's helpers. The login shell is queried once; Homebrew's folders are added in any case.
 */
export async function resolveShellEnvironment({
  environment,
  clock,
  platform = process.platform,
  shell,
}: ShellEnvironmentOptions): Promise<Environment> {
  const currentFolders = splitPath(environment.PATH ?? '')
  if (platform !== 'darwin' || currentFolders.some((folder) => !systemPathFolders.has(folder))) return environment
  const loginShell = shell === undefined ? userInfo().shell : shell
  const shellPath = loginShell === null ? '' : await readPathFromShell(loginShell, environment, timeoutSignal(clock, shellTimeout_ms))
  return { ...environment, PATH: [...new Set([...splitPath(shellPath), ...homebrewFolders, ...currentFolders])].join(':') }
}

const splitPath = (path: string) => path.split(':').filter((folder) => folder.startsWith('/'))

const outputMarker = '__homeport__'

/** The PATH in the user's login shell; empty if it fails. The markers separate it from the output of startup files. */
function readPathFromShell(shell: string, environment: Environment, signal: AbortSignal): Promise<string> {
  // csh accepts only -l.
  const flags = /^t?csh$/.test(basename(shell)) ? ['-ic'] : ['-i', '-l', '-c']
  // Prevents zsh frameworks from asking about updates or opening tmux.
  const env = { ...environment, DISABLE_AUTO_UPDATE: 'true', ZSH_TMUX_AUTOSTART: 'false' }
  return new Promise((resolve) => {
    const command = `echo ${outputMarker}; /usr/bin/printenv PATH; echo ${outputMarker}`
    execFile(shell, [...flags, command], { env, signal, killSignal: 'SIGKILL', maxBuffer: 2 ** 20 }, (_error, out) =>
      resolve(out.split(outputMarker)[1]?.trim() ?? ''),
    ).stdin?.end()
  })
}
