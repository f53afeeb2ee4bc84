import { readFile, readdir, realpath, stat } from 'node:fs/promises'
import { join, posix, sep } from 'node:path'
import { DetectFailure } from './detect-failure.ts'

/** The largest file that detection reads: lock files of large monorepos pass, a video named package.json does not. */
const maxFile_bytes = 64 * 1024 * 1024

/** A folder that can be read but not left: every path is relative to it, with slashes, and followed to its real end. */
export interface SourceFolder {
  /** Text of a file; null when it is not there. Throws DetectFailure for a link that leads out. */
  read(path: string): Promise<string | null>
  has(path: string): Promise<boolean>
  isFolder(path: string): Promise<boolean>
  /** Names in a folder, sorted; folders end with a slash. Empty when it is not there. */
  list(path: string): Promise<string[]>
}

export async function openSourceFolder(folder: string): Promise<SourceFolder> {
  const root = await realpath(folder)
  const locate = async (path: string): Promise<string | null> => {
    const real = await realpath(join(root, path)).catch(() => null)
    if (real === null || real === root || real.startsWith(root + sep)) return real
    throw new DetectFailure(
      `“${path}” is a link that leads out of the source.`,
      'Put the files themselves into the repository, or correct root_directory.',
    )
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

/** Joins relative paths: `.` is the source itself. Throws for one that leaves it. */
export function joinInside(base: string, path: string): string {
  const joined = posix.normalize(posix.join(base, path)).replace(/\/$/, '') || '.'
  if (joined === '..' || joined.startsWith('../') || posix.isAbsolute(path)) {
    throw new DetectFailure(`“${path}” leads out of the source.`, 'Give a folder inside the repository, such as apps/web.')
  }
  return joined
}

/** The first of some files that is there. */
export async function readFirst(source: SourceFolder, base: string, names: string[]): Promise<{ name: string; text: string } | null> {
  for (const name of names) {
    const text = await source.read(joinInside(base, name))
    if (text !== null) return { name, text }
  }
  return null
}
