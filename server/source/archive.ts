import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { limits } from '../contract/limits.ts'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import type { ArchiveEntry } from './archive-entry.ts'
import { readArchiveEntries, saveArchive } from './archive-reader.ts'
import { createArchiveTree } from './archive-tree.ts'

export { ArchiveError } from './archive-tree.ts'

/** An archive that was received completely and passed all checks. */
export interface ReceivedArchive {
  /** Path of the archive until it is moved. */
  file: string
  bytes: number
  files: number
  /** Removes the archive unless it was moved. */
  discard(): Promise<void>
}

export interface ArchiveQuarantine {
  /** Streams an archive to the quarantine and checks it. Throws ArchiveError, or the error of `chunks`; then no file remains. */
  receive(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<ReceivedArchive>
}

/** Concurrent checks: one check keeps a core busy. */
const maxConcurrentChecks = 2
/** A file up to this size is written while the next ones are read, several at a time. */
const smallFile_bytes = 64 * 1024
const maxConcurrentWrites = 16
const sourceLimits = { ...limits.upload, ratio_from_bytes: 2 ** 20 }

/** `folder`: the quarantine, on the volume where archives are stored. Files left by the previous run are removed. */
export async function createArchiveQuarantine(folder: string): Promise<ArchiveQuarantine> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const runLimited = createConcurrencyLimit(maxConcurrentChecks)
  return {
    async receive(chunks, signal) {
      const file = join(folder, randomUUID())
      const discard = () => rm(file, { force: true, maxRetries: 3 })
      try {
        const bytes = await saveArchive(chunks, file)
        const { files } = await runLimited(signal, () => readArchive({ file, into: null, signal }))
        return { file, bytes, files, discard }
      } catch (error) {
        await discard()
        throw error
      }
    },
  }
}

/** Unpacks an archive into an empty folder and returns the folder of the source: below the single top folder, if there is one. */
export async function unpackArchive(
  file: string,
  into: string,
  signal: AbortSignal,
): Promise<{ folder: string; files: number; left_out: number; bytes: number }> {
  await mkdir(into, { recursive: true })
  const summary = await readArchive({ file, into, signal })
  const [top, second] = await readdir(into, { withFileTypes: true })
  const folder = top?.isDirectory() === true && second === undefined ? join(into, top.name) : into
  return { ...summary, folder }
}

/** Reads every byte of an archive. With `into`, writes the entries; links are written last, so that no file is written through a link. */
async function readArchive(options: {
  file: string
  into: string | null
  signal: AbortSignal
}): Promise<{ files: number; left_out: number; bytes: number }> {
  const { file, into, signal } = options
  const writer = createFileWriter()
  try {
    const tree = createArchiveTree()
    const folders = new Set<string>()
    let bytes = 0
    const ensureFolder = async (path: string): Promise<void> => {
      if (folders.has(path)) return
      folders.add(path)
      await mkdir(path, { recursive: true, mode: 0o755 })
    }
    for await (const entry of readArchiveEntries(file, sourceLimits, signal, (total) => (bytes = total))) {
      signal.throwIfAborted()
      const path = tree.add(entry.name, entry.kind, entry.target)
      const destination = into === null || path === null ? null : join(into, path)
      if (destination !== null && entry.kind === 'folder') await ensureFolder(destination)
      if (entry.kind !== 'file') continue
      if (destination === null) for await (const _ of entry.bytes);
      else {
        await ensureFolder(dirname(destination))
        await writer.add(entry, destination)
      }
    }
    const { links, files, left_out } = tree.finish()
    await writer.end()
    writer.check()
    if (into !== null) {
      for (const { path, target } of links) {
        await ensureFolder(dirname(join(into, path)))
        await symlink(target, join(into, path))
      }
    }
    return { files, left_out, bytes }
  } finally {
    await writer.end()
  }
}

/**
 * Writes new files only: the executable bit is the only mode that is kept, links are not followed and existing files are not replaced. Small files
 * are written several at a time, while the next entries are read.
 */
function createFileWriter() {
  const pendingWrites = new Set<Promise<void>>()
  let failure: { error: unknown } | undefined

  const trackWrite = (work: Promise<void>): void => {
    const tracked = work
      .catch((error: unknown) => {
        failure ??= { error }
      })
      .finally(() => pendingWrites.delete(tracked))
    pendingWrites.add(tracked)
  }

  return {
    async add({ bytes, is_executable }: ArchiveEntry, destination: string): Promise<void> {
      const mode = is_executable ? 0o755 : 0o644
      const buffered: Buffer[] = []
      let length = 0
      let handle: FileHandle | undefined
      try {
        for await (const chunk of bytes) {
          length += chunk.length
          if (length <= smallFile_bytes) buffered.push(chunk)
          else {
            handle ??= await open(destination, 'wx', mode)
            for (const piece of [...buffered.splice(0), chunk]) await writeAll(handle, piece)
          }
        }
      } finally {
        await handle?.close()
      }
      if (handle) return
      if (pendingWrites.size >= maxConcurrentWrites) await Promise.race(pendingWrites)
      if (failure) throw failure.error
      trackWrite(writeFile(destination, Buffer.concat(buffered), { flag: 'wx', mode }))
    },
    /** Resolves once all writes have ended. */
    async end(): Promise<void> {
      await Promise.all(pendingWrites)
    },
    check(): void {
      if (failure) throw failure.error
    },
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let from = 0; from < chunk.length;) from += (await handle.write(chunk, from)).bytesWritten
}
