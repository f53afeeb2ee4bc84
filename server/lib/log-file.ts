import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Rotating log files in a folder that only its owner can read, limited in size. */
export interface LogFile {
  /** The current file. */
  path: string
  write(line: string): void
  /** The last lines, oldest first. */
  tail(lines: number): string[]
}

const maxLine_chars = 8_000

/** `name.log`, `name.1.log`, `name.2.log`. A line that cannot be written is dropped. */
export function createLogFile(folder: string, name: string, { file_bytes = 2 ** 20, files = 3 } = {}): LogFile {
  const pathOf = (index: number) => join(folder, index === 0 ? `${name}.log` : `${name}.${index}.log`)
  let bytes = statSync(pathOf(0), { throwIfNoEntry: false })?.size ?? 0

  const rotate = () => {
    rmSync(pathOf(files - 1), { force: true })
    for (let index = files - 2; index >= 0; index--) if (existsSync(pathOf(index))) renameSync(pathOf(index), pathOf(index + 1))
    bytes = 0
  }

  return {
    path: pathOf(0),
    write(line) {
      const text = `${line.slice(0, maxLine_chars)}\n`
      try {
        // The folder is created with the first line, so that a data folder that is refused stays unchanged.
        if (bytes === 0) mkdirSync(folder, { recursive: true, mode: 0o700 })
        if (bytes > 0 && bytes + text.length > file_bytes) rotate()
        appendFileSync(pathOf(0), text, { mode: 0o600 })
        bytes += Buffer.byteLength(text)
      } catch {
        // A full disk must not stop the process.
      }
    },
    tail(lines) {
      const text = [1, 0].map((index) => (existsSync(pathOf(index)) ? readFileSync(pathOf(index), 'utf8') : '')).join('')
      return text.split('\n').filter(Boolean).slice(-lines)
    },
  }
}

/** Masks everything that looks like a secret: tokens, codes of sign-in links, credentials in URLs and headers. */
export function maskSecrets(text: string): string {
  return text
    .replace(/\b(svc|hpp)_[A-Za-z0-9_-]+/g, '$1_••••••')
    .replace(/([?&](?:code|token|key|secret|password)=)[^&\s"'\\]+/gi, '$1••••••')
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^/@\s'"\\]+@/gi, '$1••••••@')
    .replace(/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, '$1 ••••••')
}
