import type { EntryKind } from './archive-tree.ts'
import type { FileHandle } from 'node:fs/promises'

/** One entry of an archive, as declared by the archive; not checked yet. */
export interface ArchiveEntry {
  name: string
  kind: EntryKind
  /** Target of a link of either kind, else null. */
  target: string | null
  is_executable: boolean
  /** Mode bits as the archive declares them. */
  mode: number
  /** Declared size of a file; the reader throws when the content has another one. */
  size: number
  /** Null in formats that have no owners. */
  owner: { uid: number; gid: number } | null
  modified_at: Date | null
  bytes: AsyncIterable<Buffer>
}

export interface ArchiveReadOptions {
  handle: FileHandle
  size: number
  /** The bytes of the file from `from` up to but not including `to`, or to the end of the file. */
  openRange(from: number, to?: number): AsyncGenerator<Buffer>
  /** Must be called for all unpacked bytes; throws ArchiveError when the limit is exceeded. */
  countBytes(bytes: number, entry: string | null): void
  /** Allows hard links as entries. Without it, an archive with one is rejected. */
  allows_hard_links?: boolean
  /** Without it, the limit of sources applies. */
  max_entries?: number
  signal: AbortSignal
}
