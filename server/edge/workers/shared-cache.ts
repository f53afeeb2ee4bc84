import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { CacheInspection, EdgeCache } from '../edge.ts'
import type { WorkerCall, WorkerState } from './protocol.ts'
import type { PlainCommand } from './worker-process.ts'

/** The caches of all workers as one. */
export interface SharedCache {
  edgeCache: EdgeCache
  /** Counts an invalidation. */
  countChange(projectId: string): void
  /** Whether a worker that has seen this number of purges and invalidations has seen all. */
  isCurrent(projectId: string, count: number): boolean
  /** What a new worker needs. */
  getState(): Pick<WorkerState, 'uncached_projects' | 'cache_changes'>
  /** The folder of a worker; null without a cache. */
  getFolder(index: number): WorkerState['cache']
}

export function createSharedCache(options: {
  /** undefined: nothing is cached. null: in memory only. */
  directory: string | null | undefined
  tellAll(command: PlainCommand): void
  callAll(command: WorkerCall): Promise<unknown[]>
  /** What each worker has reported of a project. */
  listStats(projectId: string): { objects: number; bytes: number }[]
}): SharedCache {
  const uncachedProjects = new Set<string>()
  const changes = new Map<string, number>()
  const countChange = (projectId: string): void => void changes.set(projectId, (changes.get(projectId) ?? 0) + 1)

  const edgeCache: EdgeCache = {
    async purge(project_id, scope) {
      countChange(project_id)
      // The workers store the same responses, as far as they were sent to each other.
      return Math.max(0, ...(await options.callAll({ type: 'purge', project_id, scope })).map((count) => (typeof count === 'number' ? count : 0)))
    },
    async purgeHost(project_id, host) {
      countChange(project_id)
      await options.callAll({ type: 'purge_host', project_id, host })
    },
    stats(project_id) {
      const reported = options.listStats(project_id)
      return { objects: Math.max(0, ...reported.map(({ objects }) => objects)), bytes: Math.max(0, ...reported.map(({ bytes }) => bytes)) }
    },
    async inspect(request) {
      const found = (await options.callAll({ type: 'inspect', request })).filter((result) => result !== undefined) as CacheInspection[]
      const best = found.find(({ cache_status }) => cache_status === 'HIT') ?? found.find(({ stored }) => stored !== null) ?? found[0]
      if (best === undefined) throw new Error('No edge worker is running.')
      return best
    },
    setEnabled(project_id, is_enabled) {
      if (is_enabled) uncachedProjects.delete(project_id)
      else uncachedProjects.add(project_id)
      countChange(project_id)
      options.tellAll({ type: 'set_caching', project_id, is_enabled })
    },
    async removeProject(project_id) {
      uncachedProjects.delete(project_id)
      countChange(project_id)
      await options.callAll({ type: 'remove_cache', project_id })
    },
  }

  return {
    edgeCache,
    countChange,
    isCurrent: (projectId, count) => (changes.get(projectId) ?? 0) === count,
    getState: () => ({ uncached_projects: [...uncachedProjects], cache_changes: [...changes] }),
    // The first worker uses the folder of an edge without workers.
    getFolder: (index) =>
      options.directory === undefined
        ? null
        : { directory: options.directory === null || index === 0 ? options.directory : `${options.directory}-${index + 1}` },
  }
}

/** Removes the caches of workers that this start does not have, because the purges from now on do not reach them. */
export async function removeUnusedCaches(directory: string, workers: number): Promise<void> {
  const folder = dirname(directory)
  const names = await readdir(folder).catch(() => [])
  const unused = names.filter((name) => name.startsWith(`${basename(directory)}-`) && Number(name.slice(basename(directory).length + 1)) > workers)
  await Promise.all(unused.map((name) => rm(join(folder, name), { recursive: true, force: true })))
}
