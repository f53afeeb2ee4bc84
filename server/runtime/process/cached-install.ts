import type { StepLog } from '../../contract/build-log.ts'
import { getCacheOwner } from '../files.ts'
import { raceAbort } from '../race-abort.ts'
import type { BuildRequest } from '../runtime.ts'
import type { ProcessBuildTools } from './build-command.ts'

export interface CachedInstall {
  /** null: the dependencies are not cached. */
  key: string | null
  source: string
  run(): Promise<void>
  /** The folders with dependencies, relative to the source; null if there is nothing to cache. */
  findFolders(): Promise<string[] | null>
}

/** Installs dependencies, or restores those of an earlier build with the same key. */
export async function installWithCache(
  { key, source, run, findFolders }: CachedInstall,
  request: BuildRequest,
  log: StepLog,
  tools: ProcessBuildTools,
): Promise<'installed' | 'restored'> {
  const { signal } = request
  const owner = getCacheOwner(request)
  if (key === null) {
    await run()
    return 'installed'
  }
  const name = `${owner} ${key}`
  for (;;) {
    const otherInstall = tools.installing.get(name)
    if (otherInstall) {
      log.note('Waiting for another build that installs the same dependencies.')
      await raceAbort(
        otherInstall.catch(() => {}),
        signal,
      )
      continue
    }
    if (!request.skips_cache && (await tools.cache.restoreDependencies(owner, key, source, signal))) {
      log.note('Using cached dependencies.')
      return 'restored'
    }
    // Another build may have started to install while the cache was read.
    if (!tools.installing.has(name)) break
  }
  const job = run()
    .then(findFolders)
    .then((folders) => (folders ? tools.cache.saveDependencies(owner, key, source, folders, { signal, replaces: request.skips_cache }) : undefined))
    .finally(() => tools.installing.delete(name))
  tools.installing.set(name, job)
  await job
  return 'installed'
}
