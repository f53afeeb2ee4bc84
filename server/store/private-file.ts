import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Creates an empty file that only its owner can read, unless the file exists. An existing file is not opened, because closing it would release every
 * lock that this process holds on it.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/** Folders that earlier versions of Homeport created with the system's default mode. */
const legacyFolders = ['bundles', 'processes', 'toolchains', 'cache', 'work', 'sources']

/** Creates the data folder. Other users can enter none of its folders. Unknown folders are left unchanged. */
export function createDataFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  for (const name of legacyFolders) {
    const folder = join(path, name)
    const found = statSync(folder, { throwIfNoEntry: false })
    if (found?.isDirectory() && (found.mode & 0o077) !== 0) chmodSync(folder, 0o700)
  }
}
