import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'

export interface Worktree {
  /** The same folder in the main worktree; the folder itself outside of git. */
  main_folder: string
  /** Null without git, and for a detached HEAD. */
  branch: string | null
  /** A worktree of `git worktree add`. */
  is_linked: boolean
}

/** Reads git's files of a folder directly, so that git need not be installed. */
export function readWorktree(folder: string): Worktree {
  for (let root = resolve(folder); ; root = dirname(root)) {
    const path = join(root, '.git')
    const info = statSync(path, { throwIfNoEntry: false })
    if (info?.isDirectory()) return { main_folder: resolve(folder), branch: readBranch(path), is_linked: false }
    if (info) return readLinked(folder, root, path)
    if (root === dirname(root)) return { main_folder: resolve(folder), branch: null, is_linked: false }
  }
}

/** `.git` is a file that names the folder of the worktree in the main repository; a submodule has such a file too. */
function readLinked(folder: string, root: string, path: string): Worktree {
  const target = /^gitdir: *(.+)$/m.exec(readText(path))?.[1]?.trim()
  if (target === undefined) return { main_folder: resolve(folder), branch: null, is_linked: false }
  const gitFolder = resolve(root, target)
  const common = readText(join(gitFolder, 'commondir')).trim()
  const branch = readBranch(gitFolder)
  const commonFolder = resolve(gitFolder, common)
  if (common === '' || basename(commonFolder) !== '.git') return { main_folder: resolve(folder), branch, is_linked: common !== '' }
  return { main_folder: join(dirname(commonFolder), relative(root, resolve(folder))), branch, is_linked: true }
}

const readBranch = (gitFolder: string): string | null => /^ref: refs\/heads\/(.+)$/m.exec(readText(join(gitFolder, 'HEAD')))?.[1] ?? null

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
