import type { EntryKind } from './archive-tree.ts'
import type { FileHandle } from 'node:fs/promises'

/** One entry of an archive, as declared by the archive; not checked yet. */
export interface ArchiveEntry {
  name: string
  kind: EntryKind
  /** Target of a link, else null. */
  target: string | null
  is_executable: boolean
  bytes: AsyncIterable<Buffer>
}

export interface ArchiveReadOptions {
  handle: FileHandle
  size: number
  /** The bytes of the file from `from` up to but not including `to`, or to the end of the file. */
  openRange(from: number, to?: number): AsyncGenerator<Buffer>
  /** Must be called for all unpacked bytes; throws ArchiveError when the limit is exceeded. */
  countBytes(bytes: number, entry: string | null): void
  signal: AbortSignal
}
