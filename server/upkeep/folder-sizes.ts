import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, withTimeout } from '../lib/clock.ts'

export interface FolderSizes {
  /** What is known of these paths after at most `ms`; one that was not reached is missing. The count goes on, and the next look finds its end. */
  of(paths: readonly string[], ms: number): Promise<Map<string, number>>
}

interface Count {
  found: Map<string, number>
  done: Promise<void>
  is_done: boolean
}

/** So many looks at files are under way at once: the threads that do them also read what the edge serves. */
const hands = 16

export function createFolderSizes(clock: Clock): FolderSizes {
  let current: Count | undefined

  const begin = (paths: readonly string[]): Count => {
    const found = new Map<string, number>()
    const count: Count = { found, is_done: false, done: Promise.resolve() }
    count.done = (async () => {
      for (const path of paths) found.set(path, await sizeOnDisk(path))
      count.is_done = true
    })()
    return count
  }

  return {
    async of(paths, ms) {
      const count = current ?? begin(paths)
      current = count
      await withTimeout(clock, ms, count.done)
      // One that came late is told once more; all else is counted anew.
      if (count.is_done) current = undefined
      return new Map(count.found)
    },
  }
}

/**
 * What lies below a path, or the file itself, as the disk counts: whole blocks, a file with several names once. Links are not
 * followed; what cannot be read, or goes away meanwhile, is left out.
 */
export async function sizeOnDisk(path: string): Promise<number> {
  const seen = new Set<string>()
  let bytes = 0
  const look = async (file: string): Promise<boolean> => {
    const found = await lstat(file).catch(() => undefined)
    if (!found) return false
    if (found.nlink > 1 && !found.isDirectory()) {
      const name = `${found.dev}:${found.ino}`
      if (seen.has(name)) return false
      seen.add(name)
    }
    // Windows knows no blocks.
    bytes += process.platform === 'win32' ? found.size : found.blocks * 512
    return found.isDirectory()
  }
  const folders = (await look(path)) ? [path] : []
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const files = (await readdir(folder).catch(() => [])).map((name) => join(folder, name))
    for (let i = 0; i < files.length; i += hands)
      await Promise.all(files.slice(i, i + hands).map(async (file) => ((await look(file)) ? folders.push(file) : undefined)))
  }
  return bytes
}
