/**
 * Whether Chromium's sandbox can start on Linux. Ubuntu 23.10 and later forbid unprivileged user namespaces by AppArmor, some Debian
 * kernels by a setting; then only a helper that is setuid root works, and Electron aborts without one (electron#41066, electron#42510).
 * Plain JavaScript, because main/start.mjs asks before Electron runs.
 */
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The commands that make the sandbox work for an Electron binary; undefined where it works already. */
export function sandboxFix(binary, system = { platform: process.platform, read: readOr, stat: (path) => statSync(path, { throwIfNoEntry: false }) }) {
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

function readOr(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
