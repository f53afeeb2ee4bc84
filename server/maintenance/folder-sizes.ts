import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, withTimeout } from '../lib/clock.ts'

export interface FolderSizes {
  /**
   * The known sizes of these paths after at most `ms`; paths that were not measured in time are missing. The measurement continues, and the next
   * call returns its result.
   */
  measure(paths: readonly string[], ms: number): Promise<Map<string, number>>
}

interface SizeCount {
  found: Map<string, number>
  done: Promise<void>
  is_done: boolean
}

/** Limits concurrent file system calls, because the same thread pool reads the files that the edge serves. */
const maxConcurrentStats = 16

export function createFolderSizes(clock: Clock): FolderSizes {
  let current: SizeCount | undefined

  const startCount = (paths: readonly string[]): SizeCount => {
    const found = new Map<string, number>()
    const count: SizeCount = { found, is_done: false, done: Promise.resolve() }
    count.done = (async () => {
      for (const path of paths) found.set(path, await sizeOnDisk(path))
      count.is_done = true
    })()
    return count
  }

  return {
    async measure(paths, ms) {
      const count = current ?? startCount(paths)
      current = count
      await withTimeout(clock, ms, count.done)
      // A late result is returned once; then the paths are measured again.
      if (count.is_done) current = undefined
      return new Map(count.found)
    },
  }
}

/** Disk usage of a path: whole blocks, and hard-linked files once. Links are not followed; unreadable and removed files are ignored. */
export async function sizeOnDisk(path: string): Promise<number> {
  const seen = new Set<string>()
  let bytes = 0
  const addFile = async (file: string): Promise<boolean> => {
    const info = await lstat(file).catch(() => undefined)
    if (!info) return false
    if (info.nlink > 1 && !info.isDirectory()) {
      const name = `${info.dev}:${info.ino}`
      if (seen.has(name)) return false
      seen.add(name)
    }
    // Windows reports no blocks.
    bytes += process.platform === 'win32' ? info.size : info.blocks * 512
    return info.isDirectory()
  }
  const folders = (await addFile(path)) ? [path] : []
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const files = (await readdir(folder).catch(() => [])).map((name) => join(folder, name))
    for (let i = 0; i < files.length; i += maxConcurrentStats)
      await Promise.all(files.slice(i, i + maxConcurrentStats).map(async (file) => ((await addFile(file)) ? folders.push(file) : undefined)))
  }
  return bytes
}
