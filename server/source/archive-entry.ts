import type { EntryKind } from './archive-tree.ts'
import type { FileHandle } from 'node:fs/promises'

/** One entry of an archive, as it says of itself; nothing of it is checked yet. */
export interface ArchiveEntry {
  name: string
  kind: EntryKind
  /** Of a link, else null. */
  target: string | null
  is_executable: boolean
  bytes: AsyncIterable<Buffer>
}

export interface ArchiveReadOptions {
  handle: FileHandle
  size: number
  /** The bytes of the file from one place to before another, or to its end. */
  openRange(from: number, to?: number): AsyncGenerator<Buffer>
  /** To be told of all bytes that come out; throws ArchiveFault when they are too many. */
  countBytes(bytes: number, entry: string | null): void
  signal: AbortSignal
}
