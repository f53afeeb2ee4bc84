import { readFile, readdir, realpath, stat } from 'node:fs/promises'
import { join, posix, sep } from 'node:path'
import { DetectFailure } from './detect-failure.ts'

/** The largest file that detection reads, in bytes: large enough for the lock files of large monorepos. */
const maxFile_bytes = 64 * 1024 * 1024

/** Read access to one folder. Every path is relative to it, uses slashes, is resolved through links, and must stay inside. */
export interface SourceFolder {
  /** Text of a file; null when it does not exist. Throws DetectFailure for a link that leaves the folder. */
  read(path: string): Promise<string | null>
  has(path: string): Promise<boolean>
  isFolder(path: string): Promise<boolean>
  /** Names in a folder, sorted; names of folders end with a slash. Empty when the folder does not exist. */
  list(path: string): Promise<string[]>
}

export async function openSourceFolder(folder: string): Promise<SourceFolder> {
  const root = await realpath(folder)
  const locate = async (path: string): Promise<string | null> => {
    const real = await realpath(join(root, path)).catch(() => null)
    if (real === null || real === root || real.startsWith(root + sep)) return real
    throw new DetectFailure(`“${path}” is a link that leaves the source.`, 'Add the files themselves to the repository, or fix root_directory.')
  }
  const statPath = async (path: string) => {
    const real = await locate(path)
    return real === null ? null : await stat(real).catch(() => null)
  }
  return {
    async read(path) {
      const info = await statPath(path)
      if (!info?.isFile() || info.size > maxFile_bytes) return null
      return readFile((await locate(path)) ?? '', 'utf8')
    },
    has: async (path) => (await statPath(path))?.isFile() ?? false,
    isFolder: async (path) => (await statPath(path))?.isDirectory() ?? false,
    async list(path) {
      const real = await locate(path)
      const entries = real === null ? [] : await readdir(real, { withFileTypes: true }).catch(() => [])
      return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
    },
  }
}

/** Joins relative paths: `.` is the source itself. Throws for a path that leaves the source. */
export function joinInside(base: string, path: string): string {
  const joined = posix.normalize(posix.join(base, path)).replace(/\/$/, '') || '.'
  if (joined === '..' || joined.startsWith('../') || posix.isAbsolute(path)) {
    throw new DetectFailure(`“${path}” is outside of the source.`, 'Use a folder inside the repository, such as apps/web.')
  }
  return joined
}

/** The first of several files that exists. */
export async function readFirst(source: SourceFolder, base: string, names: string[]): Promise<{ name: string; text: string } | null> {
  for (const name of names) {
    const text = await source.read(joinInside(base, name))
    if (text !== null) return { name, text }
  }
  return null
}
