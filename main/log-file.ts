import { createSecretMask } from '../server/deployments/secret-mask.ts'
import { createLogFile, maskSecrets } from '../server/lib/log-file.ts'
import { createLog, type Log } from '../server/lib/log.ts'

/** The log of the desktop, in a folder that the user can open. */
export interface DesktopLog extends Log {
  folder: string
  /** Masks a value from now on, in every encoding. */
  redact(secret: string): void
  /** The last lines, oldest first. */
  tail(lines: number): string[]
}

/** `main.log`, `main.1.log`, `main.2.log`. */
export function createDesktopLog(folder: string, { limits = {}, echo = (_line: string) => {} } = {}): DesktopLog {
  const secrets = new Set<string>()
  let mask = createSecretMask(secrets)
  const file = createLogFile(folder, 'main', limits)
  const log = createLog((line) => {
    const text = maskSecrets(mask(line))
    echo(`${text}\n`)
    file.write(text)
  })

  return {
    ...log,
    folder,
    redact(secret) {
      secrets.add(secret)
      mask = createSecretMask(secrets)
    },
    tail: file.tail,
  }
}
