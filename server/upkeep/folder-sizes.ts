import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export interface FolderSize {
  /** As the disk counts: whole blocks, a file with several names once. */
  bytes: number
  /** Files and folders right in it. */
  entries: number
  /** False: this much was counted so far. */
  is_whole: boolean
}

export interface FolderSizes {
  /** What is known of these paths after at most `ms`. What is not done by then goes on, and the next look finds it. */
  of(paths: readonly string[], ms: number): Promise<Map<string, FolderSize>>
}

interface Walk {
  size: FolderSize
  done: Promise<void>
  /** Longer than one look took: it may be told to the next one as well. */
  was_late: boolean
}

/** So many looks at files are under way at once: the threads that do them also read what the edge serves. */
const hands = 16

export function createFolderSizes(): FolderSizes {
  const walks = new Map<string, Walk>()

  const begin = (path: string): Walk => {
    const size: FolderSize = { bytes: 0, entries: 0, is_whole: false }
    const walk: Walk = { size, done: measure(path, size).finally(() => (size.is_whole = true)), was_late: false }
    walks.set(path, walk)
    return walk
  }

  return {
    async of(paths, ms) {
      const late = delay(ms)
      const found = new Map<string, FolderSize>()
      await Promise.all(
        paths.map(async (path) => {
          const walk = walks.get(path) ?? begin(path)
          await Promise.race([walk.done, late])
          if (walk.size.is_whole) walks.delete(path)
          found.set(path, { ...walk.size })
        }),
      )
      return found
    },
  }
}

/** What lies below a path, or the file itself; links are not followed, and what cannot be read or goes away meanwhile is left out. */
export async function sizeOnDisk(path: string): Promise<number> {
  const size = { bytes: 0, entries: 0, is_whole: false }
  await measure(path, size)
  return size.bytes
}

async function measure(path: string, into: FolderSize): Promise<void> {
  const seen = new Set<string>()
  const look = async (file: string): Promise<boolean> => {
    const found = await lstat(file, { bigint: false }).catch(() => undefined)
    if (!found) return false
    if (found.nlink > 1 && !found.isDirectory()) {
      const name = `${found.dev}:${found.ino}`
      if (seen.has(name)) return false
      seen.add(name)
    }
    // Windows knows no blocks.
    into.bytes += found.blocks > 0 ? found.blocks * 512 : found.size > 0 && process.platform === 'win32' ? found.size : 0
    return found.isDirectory()
  }
  if (!(await look(path))) return
  const folders = [path]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const at = folder
    const entries = await readdir(at, { withFileTypes: true }).catch(() => [])
    if (at === path) into.entries = entries.length
    for (let i = 0; i < entries.length; i += hands)
      await Promise.all(
        entries.slice(i, i + hands).map(async (entry) => {
          const full = join(at, entry.name)
          if (await look(full)) folders.push(full)
        }),
      )
  }
}
