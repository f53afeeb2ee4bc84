import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface PlatformLogs {
  /** Called after a failed test: keeps the folder if a platform wrote a log, and prints its path. */
  keep(): void
}

/**
 * Creates the folder where every platform under test writes its log (`HOMEPORT_TEST_LOGS`). It is removed when this process ends, however those
 * platforms ended.
 */
export function createPlatformLogs(): PlatformLogs {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-logs-'))
  process.env['HOMEPORT_TEST_LOGS'] = folder
  let isKept = false
  const remove = () => {
    if (!isKept) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  process.on('exit', remove)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      remove()
      process.kill(process.pid, signal)
    })
  return {
    keep() {
      isKept = readdirSync(folder).length > 0
      if (isKept) console.log(`\nLogs of the platforms: ${folder}`)
    },
  }
}
