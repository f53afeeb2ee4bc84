import { type FSWatcher, watch } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Listens for what git changes in a repository of this machine. */
export interface RepositoryEvents {
  /** Looks whether what is listened to is still what is there: a repository may be made anew, or come later. */
  renew(): Promise<void>
  close(): void
}

/** Of a repository with more folders of branches the rest is found by the slow look alone. */
const mostFolders = 500

/**
 * Calls `changed` when branches of the repository at a file:// address may have moved. It promises nothing: where the system
 * gives no events, or no more of them, whoever asks has to look by himself now and then.
 */
export function followRepository(url: string, changed: () => void): RepositoryEvents {
  const folder = fileURLToPath(url)
  const watchers = new Map<string, FSWatcher>()
  let inode: number | undefined
  let closed = false

  const listen = (path: string, heard: (name: string) => void): void => {
    if (closed || watchers.has(path) || watchers.size >= mostFolders) return
    try {
      // Without a name it is the folder itself.
      const watcher = watch(path, { persistent: false }, (_, name) => heard(name ?? basename(path)))
      // The folder is gone, or cannot be listened to any longer.
      watcher.on('error', () => forget(path))
      watchers.set(path, watcher)
    } catch {
      // Not there, or the system has no more of them: the slow look remains.
    }
  }

  const forget = (path: string): void => {
    watchers.get(path)?.close()
    watchers.delete(path)
  }

  /** `feature/x` is a file in a folder: folders come and go with their branches, and a name may be another folder by now. */
  const listenBelow = async (path: string): Promise<void> => {
    listen(path, (name) => {
      if (isLock(name)) return
      forget(path)
      void listenBelow(path).then(changed)
    })
    const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined)
    if (entries === undefined) return forget(path)
    for (const entry of entries) if (entry.isDirectory()) await listenBelow(join(path, entry.name))
  }

  const begin = async (git: string): Promise<void> => {
    listen(git, (name) => {
      if (name === 'packed-refs' || name === 'refs' || name === 'reftable') changed()
      if (name === basename(git)) {
        end()
        changed()
      }
    })
    listen(join(git, 'reftable'), (name) => (isLock(name) ? undefined : changed()))
    await listenBelow(join(git, 'refs', 'heads'))
  }

  const end = (): void => {
    for (const path of watchers.keys()) forget(path)
  }

  return {
    async renew() {
      const git = await findGitFolder(folder)
      const there = git === undefined ? undefined : (await stat(git).catch(() => undefined))?.ino
      if (closed) return
      if (there !== inode) end()
      inode = there
      if (git !== undefined && there !== undefined) await begin(git)
    },
    close() {
      closed = true
      end()
    },
  }
}

const isLock = (name: string): boolean => name.endsWith('.lock')

/** Where the branches lie: in `.git`, in the folder itself when it is bare, or with the repository that a worktree belongs to. */
async function findGitFolder(folder: string): Promise<string | undefined> {
  const inside = join(folder, '.git')
  const found = await stat(inside).catch(() => undefined)
  if (found?.isDirectory()) return inside
  if (found?.isFile()) {
    const own = resolve(folder, /^gitdir: (.+)$/m.exec(await textOf(inside))?.[1]?.trim() ?? '.')
    const common = (await textOf(join(own, 'commondir'))).trim()
    return common === '' ? own : resolve(own, common)
  }
  const head = await stat(join(folder, 'HEAD')).catch(() => undefined)
  return head?.isFile() ? folder : undefined
}

const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')
