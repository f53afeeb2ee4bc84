import { readFileSync } from 'node:fs'

/**
 * The text of a file of /proc, such as `${pid}/stat`; empty when it is gone or not ours to read. Read at once, as it is never waited for:
 * `readFile` takes 64 kB for each file that does not tell its size, and a look at all processes of a machine took tens of megabytes.
 */
export function readProcFile(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}
