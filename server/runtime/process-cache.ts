import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { copyFolder, isFolder, moveFolder, pathPart } from './files.ts'
import type { NodePlan } from './dependencies.ts'

/** Dependencies and framework folders that outlive a build, per project. */
export interface BuildCache {
  /** Puts installed dependencies of this key into a source; false when there are none. */
  takeDependencies(projectId: string, key: string, source: string, signal: AbortSignal): Promise<boolean>
  /** Keeps what an install made. Another build may have kept the same by now. */
  keepDependencies(projectId: string, key: string, source: string, plan: NodePlan, signal: AbortSignal): Promise<void>
  takeFramework(projectId: string, app: string, folders: string[]): Promise<void>
  keepFramework(projectId: string, app: string, folders: string[], signal: AbortSignal): Promise<void>
  /** Copies the set of a key once more while nobody waits, so that the next build moves it in. Resolves when that is over. */
  layAside(projectId: string, key: string): Promise<void>
  forget(projectId: string): Promise<void>
  /** Resolves when nothing is being laid aside. */
  settled(): Promise<void>
}

/** Sets of dependencies that are kept for one project; the least recently used goes. */
const keptSets = 3
/** A copy of a set that no build has had, beside the sets; of each project one at most. */
const spare = '.spare-'

/** `closing`: what is made for later is let go. */
export function createBuildCache(root: string, closing: AbortSignal): BuildCache {
  const layingAside = new Map<string, { done: Promise<void>; stop: AbortController }>()
  const dependencies = (projectId: string) => join(root, 'dependencies', pathPart(projectId))
  const frameworks = (projectId: string) => join(root, 'frameworks', pathPart(projectId))

  return {
    async takeDependencies(projectId, key, source, signal) {
      const set = join(dependencies(projectId), pathPart(key))
      if (!(await isFolder(set))) return false
      const now = new Date()
      await utimes(set, now, now).catch(() => {})
      const taken = await mkdtemp(join(dependencies(projectId), '.half-'))
      try {
        // Of two builds at once one gets it, and the other copies.
        await rename(join(dependencies(projectId), spare + key), join(taken, 'set')).catch(() => {})
        for (const name of await readdir(set)) {
          const target = join(source, decodeURIComponent(name))
          await rm(target, { recursive: true, force: true })
          await rename(join(taken, 'set', name), target).catch(() => copyFolder(join(set, name), target, { signal }))
        }
      } finally {
        await rm(taken, { recursive: true, force: true })
      }
      return true
    },

    async layAside(projectId, key) {
      if (layingAside.has(projectId) || closing.aborted) return
      const folder = dependencies(projectId)
      const stop = new AbortController()
      const signal = AbortSignal.any([stop.signal, closing])
      const copy = async () => {
        const others = (await readdir(folder)).filter((name) => name.startsWith(spare) && name !== spare + key)
        for (const name of others) await rm(join(folder, name), { recursive: true, force: true })
        if (await isFolder(join(folder, spare + key))) return
        const half = join(folder, `${spare}half`)
        try {
          await copyFolder(join(folder, pathPart(key)), half, { signal, isUrgent: false })
          await rename(half, join(folder, spare + key))
        } finally {
          await rm(half, { recursive: true, force: true })
        }
      }
      // Without it the next build copies.
      const done = copy()
        .catch(() => {})
        .finally(() => layingAside.delete(projectId))
      layingAside.set(projectId, { done, stop })
      await done
    },

    async keepDependencies(projectId, key, source, plan, signal) {
      const folder = dependencies(projectId)
      const set = join(folder, pathPart(key))
      if (await isFolder(set)) return
      // Yarn's plug'n'play leaves no node_modules to keep.
      if (await stat(join(source, plan.install_directory, '.pnp.cjs')).catch(() => undefined)) return
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const half = await mkdtemp(join(folder, '.half-'))
      try {
        for (const modules of await moduleFolders(source, plan))
          await copyFolder(join(source, modules), join(half, encodeURIComponent(modules)), { signal })
        await rename(half, set).catch(async (error: unknown) => {
          if (!(await isFolder(set))) throw error
        })
      } finally {
        await rm(half, { recursive: true, force: true })
      }
      await dropOldest(folder)
    },

    async takeFramework(projectId, app, folders) {
      for (const folder of folders) {
        const kept = join(frameworks(projectId), encodeURIComponent(folder))
        const target = join(app, folder)
        // Moved, not copied: of two builds at once one goes without, and nothing is ever half there.
        if ((await isFolder(kept)) && !(await isFolder(target))) await moveFolder(kept, target).catch(() => {})
      }
    },

    async keepFramework(projectId, app, folders, signal) {
      for (const folder of folders) {
        if (!(await isFolder(join(app, folder)))) continue
        const kept = join(frameworks(projectId), encodeURIComponent(folder))
        await mkdir(dirname(kept), { recursive: true, mode: 0o700 })
        const half = await mkdtemp(join(dirname(kept), '.half-'))
        try {
          await copyFolder(join(app, folder), join(half, 'new'), { signal })
          // Another build may do the same at this moment: the one that comes second has kept nothing, and has lost nothing.
          await rename(kept, join(half, 'old')).catch(() => {})
          await rename(join(half, 'new'), kept).catch(async (error: unknown) => {
            if (!(await isFolder(kept))) throw error
          })
        } finally {
          await rm(half, { recursive: true, force: true })
        }
      }
    },

    async forget(projectId) {
      const under = layingAside.get(projectId)
      under?.stop.abort()
      await under?.done
      await rm(dependencies(projectId), { recursive: true, force: true })
      await rm(frameworks(projectId), { recursive: true, force: true })
    },

    async settled() {
      await Promise.all([...layingAside.values()].map(({ done }) => done))
    },
  }
}

/** `node_modules` of the install folder and of every workspace, relative to the source; folders within them come along. */
async function moduleFolders(source: string, plan: NodePlan): Promise<string[]> {
  const folders = new Set([plan.install_directory, plan.app_directory, ...plan.install_inputs.map((input) => dirname(input))])
  const found = []
  for (const folder of folders) {
    const modules = join(folder, 'node_modules')
    if (await isFolder(join(source, modules))) found.push(modules)
  }
  return [...new Set(found)]
}

async function dropOldest(folder: string): Promise<void> {
  const sets = await Promise.all(
    (await readdir(folder)).filter((name) => !name.startsWith('.')).map(async (name) => ({ name, used: (await stat(join(folder, name))).mtimeMs })),
  )
  for (const { name } of sets.toSorted((a, b) => b.used - a.used).slice(keptSets)) await rm(join(folder, name), { recursive: true, force: true })
}
