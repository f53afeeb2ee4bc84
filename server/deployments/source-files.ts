import { hash } from 'node:crypto'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** The digest of each file, by relative path. */
export type SourceDigests = Record<string, string>

export interface SourceSummary {
  bytes: number
  /** Undefined for a source with more files than are compared. */
  digests: SourceDigests | undefined
}

/** Larger files are compared by their size. */
const maxHashed_bytes = 16 * 2 ** 20
const maxConcurrentFiles = 16

/** The size of a fetched source, and what a later source of its project is compared with. */
export async function summarizeSource(folder: string, signal: AbortSignal, maxFiles = 5_000): Promise<SourceSummary> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => !entry.isDirectory())
  const isCompared = entries.length <= maxFiles
  const digests: SourceDigests = {}
  let bytes = 0
  const remaining = entries.values()
  const worker = async () => {
    for (const entry of remaining) {
      signal.throwIfAborted()
      const path = join(entry.parentPath, entry.name)
      const { size, mode } = await lstat(path)
      bytes += size
      if (!isCompared) continue
      const content = entry.isSymbolicLink() ? await readlink(path) : size > maxHashed_bytes ? '' : hash('sha256', await readFile(path), 'base64url')
      digests[relative(folder, path)] = `${mode & 0o100} ${size} ${content}`
    }
  }
  await Promise.all(Array.from({ length: maxConcurrentFiles }, worker))
  return { bytes, digests: isCompared ? digests : undefined }
}

/** The number of files that were added, changed or deleted. */
export function countChangedFiles(before: SourceDigests, after: SourceDigests): number {
  return Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path]).length
}
