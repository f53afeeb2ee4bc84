import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createMask } from '../server/deploy/mask.ts'
import { createLog, type Log } from '../server/lib/log.ts'

/** The log of the desktop, in a folder that a person can find. */
export interface Journal extends Log {
  folder: string
  /** Hides a value from now on, however it is written. */
  hide(secret: string): void
  /** The last lines, oldest first. */
  tail(lines: number): string[]
}

const file_bytes = 1024 * 1024
/** `main.log`, `main.1.log`, `main.2.log`. */
const files = 3
const line_chars = 8_000

export function createJournal(folder: string, { limits = { file_bytes, files }, echo = (_line: string) => {} } = {}): Journal {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const pathOf = (index: number) => join(folder, index === 0 ? 'main.log' : `main.${index}.log`)
  const secrets = new Set<string>()
  let mask = createMask(secrets)
  let bytes = existsSync(pathOf(0)) ? statSync(pathOf(0)).size : 0

  const turnOver = () => {
    rmSync(pathOf(limits.files - 1), { force: true })
    for (let index = limits.files - 2; index >= 0; index--) if (existsSync(pathOf(index))) renameSync(pathOf(index), pathOf(index + 1))
    bytes = 0
  }

  const log = createLog((line) => {
    const text = `${withoutSecrets(mask(line)).slice(0, line_chars)}\n`
    echo(text)
    try {
      if (bytes > 0 && bytes + text.length > limits.file_bytes) turnOver()
      appendFileSync(pathOf(0), text, { mode: 0o600 })
      bytes += Buffer.byteLength(text)
    } catch {
      // A full disk is no reason to end.
    }
  })

  return {
    ...log,
    folder,
    hide(secret) {
      secrets.add(secret)
      mask = createMask(secrets)
    },
    tail(lines) {
      const text = [1, 0].map((index) => (existsSync(pathOf(index)) ? readFileSync(pathOf(index), 'utf8') : '')).join('')
      return text.split('\n').filter(Boolean).slice(-lines)
    },
  }
}

/** What looks like a secret, whosever it is: tokens, codes of sign-in links, credentials in addresses and headers. */
export function withoutSecrets(text: string): string {
  return text
    .replace(/\b(svc|hpp)_[A-Za-z0-9_-]+/g, '$1_••••••')
    .replace(/([?&](?:code|token|key|secret|password)=)[^&\s"'\\]+/gi, '$1••••••')
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^/@\s'"\\]+@/gi, '$1••••••@')
    .replace(/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, '$1 ••••••')
}
