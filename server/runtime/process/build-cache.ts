import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { copyFolder } from '../copy-folder.ts'
import { isFolder, moveFolder, toPathSegment } from '../files.ts'
import { partialPrefix } from './leftovers.ts'

/** Dependencies and framework folders that outlive a build, per project. */
export interface BuildCache {
  /** Moves or copies installed dependencies with this key into a source; false when there are none. */
  restoreDependencies(projectId: string, key: string, source: string, signal: AbortSignal): Promise<boolean>
  /**
   * Saves the folders of an install, relative to the source. Another build may have saved the same set already, which stays unless this one `replaces`
   * it.
   */
  saveDependencies(
    projectId: string,
    key: string,
    source: string,
    folders: string[],
    options: { signal: AbortSignal; replaces: boolean },
  ): Promise<void>
  restoreFramework(projectId: string, app: string, folders: string[]): Promise<void>
  saveFramework(projectId: string, app: string, folders: string[], signal: AbortSignal): Promise<void>
  /** A folder for the caches of compilers and package managers. A build without cache gets an empty one, which replaces the other if it is kept. */
  openToolCache(projectId: string, isFresh: boolean): Promise<ToolCache>
  /** Prepares another copy of a set in the background, so that the next build can move it. Resolves when the copy is done. */
  prepareSpareCopy(projectId: string, key: string): Promise<void>
  removeProject(projectId: string): Promise<void>
  /** Resolves when no copy is in progress. */
  waitForSpareCopies(): Promise<void>
}

export interface ToolCache {
  folder: string
  keep(): Promise<void>
  /** Removes everything that was not kept. */
  close(): Promise<void>
}

/** Sets of dependencies to keep per project; the least recently used one is removed. */
const maxDependencySets = 3
/** A copy of a set for the next build, in the folder of the sets; at most one per project. */
const sparePrefix = '.spare-'

/** In the folder of the frameworks, whose own folders have percent-encoded names. */
const toolCacheName = '.tools'

/** `closing` aborts copies in progress. */
export function createBuildCache(root: string, closing: AbortSignal): BuildCache {
  const spareCopies = new Map<string, { done: Promise<void>; stop: AbortController }>()
  const getDependencyFolder = (projectId: string) => join(root, 'dependencies', toPathSegment(projectId))
  const getFrameworkFolder = (projectId: string) => join(root, 'frameworks', toPathSegment(projectId))

  /** A copy of the set is removed as well, because it would be moved instead of the new one. */
  const removeSet = async (projectId: string, key: string) => {
    const running = spareCopies.get(projectId)
    running?.stop.abort()
    await running?.done
    await rm(join(getDependencyFolder(projectId), sparePrefix + key), { recursive: true, force: true })
    await rm(join(getDependencyFolder(projectId), toPathSegment(key)), { recursive: true, force: true })
  }

  return {
    async restoreDependencies(projectId, key, source, signal) {
      const set = join(getDependencyFolder(projectId), toPathSegment(key))
      if (!(await isFolder(set))) return false
      const now = new Date()
      await utimes(set, now, now).catch(() => {})
      const temporary = await mkdtemp(join(getDependencyFolder(projectId), partialPrefix))
      try {
        // Of two concurrent builds, one moves the copy and the other copies the set.
        await rename(join(getDependencyFolder(projectId), sparePrefix + key), join(temporary, 'set')).catch(() => {})
        for (const name of await readdir(set)) {
          const target = join(source, decodeURIComponent(name))
          await rm(target, { recursive: true, force: true })
          await mkdir(dirname(target), { recursive: true })
          await rename(join(temporary, 'set', name), target).catch(() => copyFolder(join(set, name), target, { signal }))
        }
      } catch (error) {
        // A build without cache replaced the set meanwhile; an install replaces the copy.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        return false
      } finally {
        await rm(temporary, { recursive: true, force: true })
      }
      return true
    },

    async prepareSpareCopy(projectId, key) {
      if (spareCopies.has(projectId) || closing.aborted) return
      const folder = getDependencyFolder(projectId)
      const stop = new AbortController()
      const signal = AbortSignal.any([stop.signal, closing])
      const copy = async () => {
        const others = (await readdir(folder)).filter((name) => name.startsWith(sparePrefix) && name !== sparePrefix + key)
        for (const name of others) await rm(join(folder, name), { recursive: true, force: true })
        if (await isFolder(join(folder, sparePrefix + key))) return
        const partial = join(folder, `${sparePrefix}half`)
        try {
          await copyFolder(join(folder, toPathSegment(key)), partial, { signal, isUrgent: false })
          await rename(partial, join(folder, sparePrefix + key))
        } finally {
          await rm(partial, { recursive: true, force: true })
        }
      }
      // Without a spare copy the next build copies the set.
      const done = copy()
        .catch(() => {})
        .finally(() => spareCopies.delete(projectId))
      spareCopies.set(projectId, { done, stop })
      await done
    },

    async saveDependencies(projectId, key, source, folders, { signal, replaces }) {
      const folder = getDependencyFolder(projectId)
      const set = join(folder, toPathSegment(key))
      if (!replaces && (await isFolder(set))) return
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const partial = await mkdtemp(join(folder, partialPrefix))
      await mkdir(join(partial, 'new'))
      try {
        for (const name of folders) await copyFolder(join(source, name), join(partial, 'new', encodeURIComponent(name)), { signal })
        if (replaces) await removeSet(projectId, key)
        await rename(join(partial, 'new'), set).catch(async (error: unknown) => {
          if (!(await isFolder(set))) throw error
        })
      } finally {
        await rm(partial, { recursive: true, force: true })
      }
      await removeOldestSets(folder)
    },

    async restoreFramework(projectId, app, folders) {
      for (const folder of folders) {
        const cached = join(getFrameworkFolder(projectId), encodeURIComponent(folder))
        const target = join(app, folder)
        // Moved, not copied: of two concurrent builds one has no cache, and no folder is incomplete.
        if ((await isFolder(cached)) && !(await isFolder(target))) await moveFolder(cached, target).catch(() => {})
      }
    },

    async saveFramework(projectId, app, folders, signal) {
      for (const folder of folders) {
        if (!(await isFolder(join(app, folder)))) continue
        const cached = join(getFrameworkFolder(projectId), encodeURIComponent(folder))
        await mkdir(dirname(cached), { recursive: true, mode: 0o700 })
        const partial = await mkdtemp(join(dirname(cached), partialPrefix))
        try {
          await copyFolder(join(app, folder), join(partial, 'new'), { signal })
          // Another build may do the same at this moment; the second rename fails harmlessly.
          await rename(cached, join(partial, 'old')).catch(() => {})
          await rename(join(partial, 'new'), cached).catch(async (error: unknown) => {
            if (!(await isFolder(cached))) throw error
          })
        } finally {
          await rm(partial, { recursive: true, force: true })
        }
      }
    },

    async openToolCache(projectId, isFresh) {
      const current = join(getFrameworkFolder(projectId), toolCacheName)
      await mkdir(current, { recursive: true, mode: 0o700 })
      if (!isFresh) return { folder: current, keep: async () => {}, close: async () => {} }
      const temporary = await mkdtemp(join(getFrameworkFolder(projectId), partialPrefix))
      const folder = join(temporary, 'new')
      await mkdir(folder)
      return {
        folder,
        async keep() {
          await rename(current, join(temporary, 'old')).catch(() => {})
          await rename(folder, current)
        },
        close: () => rm(temporary, { recursive: true, force: true, maxRetries: 5 }),
      }
    },

    async removeProject(projectId) {
      const running = spareCopies.get(projectId)
      running?.stop.abort()
      await running?.done
      await rm(getDependencyFolder(projectId), { recursive: true, force: true })
      await rm(getFrameworkFolder(projectId), { recursive: true, force: true })
    },

    async waitForSpareCopies() {
      await Promise.all([...spareCopies.values()].map(({ done }) => done))
    },
  }
}

async function removeOldestSets(folder: string): Promise<void> {
  const sets = await Promise.all(
    (await readdir(folder)).filter((name) => !name.startsWith('.')).map(async (name) => ({ name, used: (await stat(join(folder, name))).mtimeMs })),
  )
  for (const { name } of sets.toSorted((a, b) => b.used - a.used).slice(maxDependencySets))
    await rm(join(folder, name), { recursive: true, force: true })
}
