/**
 * Detects whether Chromium's sandbox can start on Linux. Ubuntu 23.10 and later restrict unprivileged user namespaces with AppArmor, some Debian
 * kernels with a setting. Only a setuid-root helper works then, and Electron aborts without one (electron#41066, electron#42510). Plain JavaScript,
 * because main/start.mjs uses it before Electron runs.
 */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const thisSystem = {
  platform: process.platform,
  uid: process.getuid?.(),
  read: readOr,
  stat: (path) => statSync(path, { throwIfNoEntry: false }),
}

/** The commands that enable the sandbox for an Electron binary; undefined if it already works. */
export function sandboxFix(binary, system = thisSystem) {
  if (system.platform !== 'linux') return undefined
  const isRestricted =
    system.read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns').trim() === '1' ||
    system.read('/proc/sys/kernel/unprivileged_userns_clone').trim() === '0'
  if (!isRestricted) return undefined
  const helper = join(dirname(binary), 'chrome-sandbox')
  const found = system.stat(helper)
  if (found?.uid === 0 && (found.mode & 0o4000) !== 0) return undefined
  const quoted = `'${helper.replaceAll("'", String.raw`'\''`)}'`
  return `sudo chown root:root ${quoted} && sudo chmod 4755 ${quoted}`
}

/**
 * Decides how to start Electron: its arguments, or why it must not be started. `--no-sandbox` is remembered in a file until `--sandbox` is passed.
 * Chromium does not run its sandbox as root, so root runs without it. This is acceptable because the window shows only pages of Homeport.
 */
export function chooseSandbox({ args, binary, choice_file }, system = thisSystem) {
  if (args.includes('--no-sandbox')) writeFileSync(choice_file, '')
  if (args.includes('--sandbox')) rmSync(choice_file, { force: true })
  const others = args.filter((arg) => arg !== '--no-sandbox' && arg !== '--sandbox')
  if ((system.platform === 'linux' && system.uid === 0) || existsSync(choice_file)) return { flags: ['--no-sandbox'], args: others }
  const fix = binary === undefined ? undefined : sandboxFix(binary, system)
  if (fix === undefined) return { flags: [], args: others }
  const reason = `Chromium’s sandbox is blocked on this system. Enable it with\n  ${fix}\nor always open the window without the sandbox with\n  npm start -- --no-sandbox`
  return { flags: [], args: others, reason }
}

/** The doctor's note about a window without the sandbox. */
export function sandboxNote(binary, system = thisSystem) {
  const fix = sandboxFix(binary, system)
  const hint =
    system.uid === 0
      ? 'Run Homeport as a regular user, because Chromium cannot use its sandbox as root.'
      : `${fix === undefined ? 'Start' : `Enable it with ${fix}, then start`} Homeport with npm start -- --sandbox. For a package, install the .deb instead of the AppImage.`
  return { message: 'The window runs without Chromium’s sandbox. It only shows pages of Homeport.', hint }
}

function readOr(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
