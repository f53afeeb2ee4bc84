import { type FileHandle, open } from 'node:fs/promises'
import type { ArchiveEntry, ArchiveReadOptions } from './archive-entry.ts'
import { readTar } from './archive-tar.ts'
import { ArchiveError } from './archive-tree.ts'
import { readZip } from './archive-zip.ts'

/** Limits for the unpacked content of an archive. */
export interface ArchiveLimits extends Pick<ArchiveReadOptions, 'allows_hard_links' | 'max_entries'> {
  unpacked_bytes: number
  /** Unpacked bytes per byte of the archive, enforced from `ratio_from_bytes` on, because a small archive cannot be a bomb. */
  ratio: number
  ratio_from_bytes: number
}

/** Writes an archive to a new file. Throws ArchiveError at the first bytes of a file that is not an archive. */
export async function saveArchive(chunks: AsyncIterable<Uint8Array>, file: string): Promise<number> {
  const handle = await open(file, 'wx', 0o600)
  let bytes = 0
  let head = Buffer.alloc(0)
  try {
    for await (const chunk of chunks) {
      if (head.length < 4) {
        head = Buffer.concat([head, chunk.subarray(0, 4)])
        // A file that is not an archive is rejected before the rest is received.
        if (head.length >= 4) detectFormat(head)
      }
      for (let from = 0; from < chunk.length;) from += (await handle.write(chunk, from)).bytesWritten
      bytes += chunk.length
    }
    detectFormat(head)
    await handle.sync()
    return bytes
  } finally {
    await handle.close()
  }
}

function detectFormat(head: Buffer): 'zip' | 'tar' {
  if (head.length === 0) throw new ArchiveError(null, 'The request body is empty. Send a .zip or .tar.gz archive.')
  if (head[0] === 0x1f && head[1] === 0x8b) return 'tar'
  if (head.length >= 4 && head.readUInt32LE(0) === 0x04034b50) return 'zip'
  if (head.length >= 4 && head.readUInt32LE(0) === 0x06054b50) throw new ArchiveError(null, 'The archive contains no files.')
  throw new ArchiveError(null, 'The file is neither a .zip nor a .tar.gz archive.')
}

/** The entries of a .zip or .tar.gz, in order, each as declared by the archive. `onBytes` gets the unpacked bytes so far. */
export async function* readArchiveEntries(
  file: string,
  { unpacked_bytes, ratio, ratio_from_bytes, ...options }: ArchiveLimits,
  signal: AbortSignal,
  onBytes: (total: number) => void = () => {},
): AsyncGenerator<ArchiveEntry> {
  const handle = await open(file, 'r')
  try {
    const { size } = await handle.stat()
    const head = Buffer.alloc(4)
    await handle.read(head, 0, 4, 0)
    let bytes = 0
    const read: ArchiveReadOptions = {
      ...options,
      handle,
      size,
      signal,
      openRange: (from, to) => readRange(handle, from, to ?? size, signal),
      countBytes(more, entry) {
        bytes += more
        if (bytes > unpacked_bytes) throw new ArchiveError(entry, `makes the archive larger than ${unpacked_bytes} bytes unpacked.`)
        if (bytes > ratio_from_bytes && bytes > size * ratio)
          throw new ArchiveError(entry, `makes the archive larger than ${ratio} times its packed size.`)
        onBytes(bytes)
      },
    }
    yield* detectFormat(head) === 'zip' ? readZip(read) : readTar(read)
  } finally {
    await handle.close()
  }
}

async function* readRange(handle: FileHandle, from: number, to: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  for (let at = from; at < to;) {
    signal.throwIfAborted()
    const chunk = Buffer.allocUnsafeSlow(Math.min(64 * 1024, to - at))
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at)
    if (bytesRead === 0) throw new ArchiveError(null, 'The archive is truncated.')
    yield chunk.subarray(0, bytesRead)
    at += bytesRead
  }
}
