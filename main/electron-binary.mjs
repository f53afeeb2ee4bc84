import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Electron's binary in a folder of its package; undefined where it is not, or not wholly. An installation is told from a download that
 * was cut off as electron/install.js tells them: by `dist/version`, and by `path.txt`, which it writes last.
 */
export function electronBinary(folder, env = process.env) {
  const names = ['electron', 'electron.exe', 'Electron.app/Contents/MacOS/Electron']
  const elsewhere = env.ELECTRON_OVERRIDE_DIST_PATH
  if (elsewhere) return names.map((name) => join(elsewhere, name)).find((path) => existsSync(path))
  try {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    if (
      readFileSync(join(folder, 'dist', 'version'), 'utf8')
        .trim()
        .replace(/^v/, '') !== version
    )
      return undefined
    const binary = join(folder, 'dist', readFileSync(join(folder, 'path.txt'), 'utf8'))
    return existsSync(binary) ? binary : undefined
  } catch {
    return undefined
  }
}
