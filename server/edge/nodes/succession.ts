import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const poll_ms = 50

/**
 * An update starts the new program of a node before it ends the old one. Both then have the same ports, and a file through which the old one learns that the
 * new one listens.
 */
export function createSuccession(path: string) {
  const id = randomUUID()
  return {
    /** Says that this program listens. */
    announce: (): Promise<void> => writeFile(path, id),
    /** Resolves once another program listens, at the latest after this time. */
    async waitForNext(limit_ms: number): Promise<void> {
      const end = performance.now() + limit_ms
      while (performance.now() < end && (await readFile(path, 'utf8').catch(() => id)) === id) await sleep(poll_ms)
    },
  }
}
