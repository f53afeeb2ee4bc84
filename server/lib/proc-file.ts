import { readFileSync } from 'node:fs'

/**
 * The text of a file in /proc, such as `${pid}/stat`; empty if the file is gone or not readable. Read synchronously, because /proc never blocks, and
 * `readFile` allocates 64 kB for each file of unknown size, which takes tens of megabytes for all processes of a machine.
 */
export function readProcFile(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}
