import { execFile } from 'node:child_process'

const watcherName = 'org.kde.StatusNotifierWatcher'
const busName = 'org.freedesktop.DBus'
const busPath = '/org/freedesktop/DBus'

/** Commands that ask the Linux session bus whether tray icons are shown. Every desktop has at least one of them. */
const busQueries: [string, string[]][] = [
  ['gdbus', ['call', '--session', '--timeout', '2', '--dest', busName, '--object-path', busPath, '--method', `${busName}.NameHasOwner`, watcherName]],
  ['busctl', ['--user', '--timeout=2', 'call', busName, busPath, busName, 'NameHasOwner', 's', watcherName]],
  [
    'dbus-send',
    ['--session', '--print-reply', '--reply-timeout=2000', `--dest=${busName}`, busPath, `${busName}.NameHasOwner`, `string:${watcherName}`],
  ],
]

export type RunCommand = (program: string, args: string[]) => Promise<string>

/**
 * Whether this desktop shows tray icons. Electron reports no error if nothing shows them, and an app without a window could then not be reopened, so
 * an unknown result counts as no.
 */
export async function hasTrayHost(execute: RunCommand = runCommand, platform: NodeJS.Platform = process.platform): Promise<boolean> {
  if (platform !== 'linux') return true
  for (const [program, args] of busQueries) {
    const output = await execute(program, args).catch(() => undefined)
    if (output !== undefined) return /\btrue\b/.test(output)
  }
  return false
}

const runCommand: RunCommand = (program, args) =>
  new Promise((resolve, reject) => {
    execFile(program, args, { timeout: 3_000 }, (error, out) => (error ? reject(error) : resolve(out)))
  })
