import { type FSWatcher, watch } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Watches a repository of this machine for changes by git. */
export interface RepositoryWatcher {
  /** Updates the watches, because a repository may be recreated or created later. */
  refresh(): Promise<void>
  close(): void
}

/** In a repository with more branch folders, polling finds changes in the rest. */
const maxWatchedFolders = 500

/**
 * Calls `onChange` when branches of the repository at a file:// address may have moved. Delivery is not guaranteed: where the system gives no or
 * incomplete events, the caller must poll.
 */
export function watchRepository(url: string, onChange: () => void): RepositoryWatcher {
  const folder = fileURLToPath(url)
  const watchers = new Map<string, FSWatcher>()
  let watchedInode: number | undefined
  let isClosed = false

  const watchFolder = (path: string, onEvent: (name: string) => void): void => {
    if (isClosed || watchers.has(path) || watchers.size >= maxWatchedFolders) return
    try {
      // An event without a name is about the folder itself.
      const watcher = watch(path, { persistent: false }, (_, name) => onEvent(name ?? basename(path)))
      // The folder was removed or can no longer be watched.
      watcher.on('error', () => unwatch(path))
      watchers.set(path, watcher)
    } catch {
      // The folder does not exist, or the system has no more watches; polling continues.
    }
  }

  const unwatch = (path: string): void => {
    watchers.get(path)?.close()
    watchers.delete(path)
  }

  /** The branch `feature/x` is a file in a folder, so folders are created and removed with branches, and a name may refer to a new folder. */
  const watchTree = async (path: string): Promise<void> => {
    watchFolder(path, (name) => {
      if (isLockFile(name)) return
      unwatch(path)
      void watchTree(path).then(onChange)
    })
    const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined)
    if (entries === undefined) return unwatch(path)
    for (const entry of entries) if (entry.isDirectory()) await watchTree(join(path, entry.name))
  }

  const watchGitFolder = async (git: string): Promise<void> => {
    watchFolder(git, (name) => {
      if (name === 'packed-refs' || name === 'refs' || name === 'reftable') onChange()
      if (name === basename(git)) {
        unwatchAll()
        onChange()
      }
    })
    watchFolder(join(git, 'reftable'), (name) => (isLockFile(name) ? undefined : onChange()))
    for (const name of ['heads', 'pull', 'merge-requests', 'pull-requests']) await watchTree(join(git, 'refs', name))
  }

  const unwatchAll = (): void => {
    for (const path of watchers.keys()) unwatch(path)
  }

  return {
    async refresh() {
      const git = await findGitFolder(folder)
      const currentInode = git === undefined ? undefined : (await stat(git).catch(() => undefined))?.ino
      if (isClosed) return
      if (currentInode !== watchedInode) unwatchAll()
      watchedInode = currentInode
      if (git !== undefined && currentInode !== undefined) await watchGitFolder(git)
    },
    close() {
      isClosed = true
      unwatchAll()
    },
  }
}

const isLockFile = (name: string): boolean => name.endsWith('.lock')

/** The folder with the branches: `.git`, the folder itself for a bare repository, or the repository of a worktree. */
async function findGitFolder(folder: string): Promise<string | undefined> {
  const inside = join(folder, '.git')
  const found = await stat(inside).catch(() => undefined)
  if (found?.isDirectory()) return inside
  if (found?.isFile()) {
    const own = resolve(folder, /^gitdir: (.+)$/m.exec(await readText(inside))?.[1]?.trim() ?? '.')
    const common = (await readText(join(own, 'commondir'))).trim()
    return common === '' ? own : resolve(own, common)
  }
  const head = await stat(join(folder, 'HEAD')).catch(() => undefined)
  return head?.isFile() ? folder : undefined
}

const readText = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')
