/**
 * Whether Chromium's sandbox can start on Linux. Ubuntu 23.10 and later forbid unprivileged user namespaces by AppArmor, some Debian
 * kernels by a setting; then only a helper that is setuid root works, and Electron aborts without one (electron#41066, electron#42510).
 * Plain JavaScript, because main/start.mjs asks before Electron runs.
 */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const thisSystem = {
  platform: process.platform,
  uid: process.getuid?.(),
  read: readOr,
  stat: (path) => statSync(path, { throwIfNoEntry: false }),
}

/** The commands that make the sandbox work for an Electron binary; undefined where it works already. */
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
 * How a start goes about the sandbox: the arguments for Electron, or why it must not be started. `--no-sandbox` is remembered in a file
 * until `--sandbox` takes it back. Chromium refuses its sandbox to root, who goes without: the window shows our own pages only.
 */
export function chooseSandbox({ args, binary, choice_file }, system = thisSystem) {
  if (args.includes('--no-sandbox')) writeFileSync(choice_file, '')
  if (args.includes('--sandbox')) rmSync(choice_file, { force: true })
  const others = args.filter((arg) => arg !== '--no-sandbox' && arg !== '--sandbox')
  if ((system.platform === 'linux' && system.uid === 0) || existsSync(choice_file)) return { flags: ['--no-sandbox'], args: others }
  const fix = binary === undefined ? undefined : sandboxFix(binary, system)
  if (fix === undefined) return { flags: [], args: others }
  const reason = `This system does not let Chromium’s sandbox start. Allow it with\n  ${fix}\nor open the window without it, once and from then on, with\n  npm start -- --no-sandbox`
  return { flags: [], args: others, reason }
}

/** What the doctor says of a window without the sandbox. */
export function sandboxNote(binary, system = thisSystem) {
  const fix = sandboxFix(binary, system)
  const mend =
    system.uid === 0
      ? 'Run Homeport as an ordinary user: Chromium refuses its sandbox to root.'
      : `${fix === undefined ? 'Start' : `Allow it with ${fix}, then start`} Homeport with npm start -- --sandbox. A package: install the .deb instead of the AppImage.`
  return { message: 'The window runs without Chromium’s sandbox. It shows pages of Homeport only.', mend }
}

function readOr(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
