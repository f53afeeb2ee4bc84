import { execFile } from 'node:child_process'

const name = 'org.kde.StatusNotifierWatcher'
const bus = 'org.freedesktop.DBus'
const path = '/org/freedesktop/DBus'

/** Ways to ask the session bus of Linux whether anything shows tray icons, one of which is on any desktop. */
const questions: [string, string[]][] = [
  ['gdbus', ['call', '--session', '--timeout', '2', '--dest', bus, '--object-path', path, '--method', `${bus}.NameHasOwner`, name]],
  ['busctl', ['--user', '--timeout=2', 'call', bus, path, bus, 'NameHasOwner', 's', name]],
  ['dbus-send', ['--session', '--print-reply', '--reply-timeout=2000', `--dest=${bus}`, path, `${bus}.NameHasOwner`, `string:${name}`]],
]

export type Ask = (program: string, args: string[]) => Promise<string>

/**
 * Whether this desktop shows tray icons. Electron makes one without a word where nothing shows it, and an app whose window is closed
 * could then never be found again: what cannot be asked counts as no.
 */
export async function hasTrayHost(ask: Ask = run, platform: NodeJS.Platform = process.platform): Promise<boolean> {
  if (platform !== 'linux') return true
  for (const [program, args] of questions) {
    const answer = await ask(program, args).catch(() => undefined)
    if (answer !== undefined) return /\btrue\b/.test(answer)
  }
  return false
}

const run: Ask = (program, args) =>
  new Promise((resolve, reject) => {
    execFile(program, args, { timeout: 3_000 }, (error, out) => (error ? reject(error) : resolve(out)))
  })
