import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Makes an empty file that its owner alone can read, unless it is there. One that is there is not opened: closing it again
 * would drop every lock that this process holds on it.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/** Those that earlier versions of Homeport made with the mode of the system. */
const legacyFolders = ['bundles', 'processes', 'toolchains', 'cache', 'work', 'sources']

/** Makes the data folder. Other users enter none of its folders; what else lies in it is not ours to close. */
export function createDataFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  for (const name of legacyFolders) {
    const folder = join(path, name)
    const found = statSync(folder, { throwIfNoEntry: false })
    if (found?.isDirectory() && (found.mode & 0o077) !== 0) chmodSync(folder, 0o700)
  }
}
