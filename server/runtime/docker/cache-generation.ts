import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { toPathSegment } from '../files.ts'

/**
 * The cache of Docker's builder belongs to the whole engine and cannot be removed for one project. A generation is an argument of every stage, so that
 * RUN steps of an earlier generation no longer match.
 */
export interface CacheGenerations {
  /** null: the cache was never cleared. */
  read(projectId: string): Promise<string | null>
  renew(projectId: string): Promise<void>
  remove(projectId: string): Promise<void>
}

export function createCacheGenerations(dataDir: string): CacheGenerations {
  const getFile = (projectId: string) => join(dataDir, 'cache', 'generations', toPathSegment(projectId))
  return {
    read: (projectId) => readFile(getFile(projectId), 'utf8').catch(() => null),
    async renew(projectId) {
      await mkdir(dirname(getFile(projectId)), { recursive: true, mode: 0o700 })
      await writeFile(getFile(projectId), randomBytes(8).toString('hex'), { mode: 0o600 })
    },
    remove: (projectId) => rm(getFile(projectId), { force: true }),
  }
}
