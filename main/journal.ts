import { createMask } from '../server/deploy/mask.ts'
import { createLogFile, withoutSecrets } from '../server/lib/log-file.ts'
import { createLog, type Log } from '../server/lib/log.ts'

/** The log of the desktop, in a folder that a person can find. */
export interface Journal extends Log {
  folder: string
  /** Hides a value from now on, however it is written. */
  hide(secret: string): void
  /** The last lines, oldest first. */
  tail(lines: number): string[]
}

/** `main.log`, `main.1.log`, `main.2.log`. */
export function createJournal(folder: string, { limits = {}, echo = (_line: string) => {} } = {}): Journal {
  const secrets = new Set<string>()
  let mask = createMask(secrets)
  const file = createLogFile(folder, 'main', limits)
  const log = createLog((line) => {
    const text = withoutSecrets(mask(line))
    echo(`${text}\n`)
    file.write(text)
  })

  return {
    ...log,
    folder,
    hide(secret) {
      secrets.add(secret)
      mask = createMask(secrets)
    },
    tail: file.tail,
  }
}
