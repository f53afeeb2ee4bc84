import { closeSync, openSync } from 'node:fs'

/**
 * Makes an empty file that its owner alone can read, unless it is there. One that is there is not opened: closing it again
 * would drop every lock that this process holds on it.
 */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
