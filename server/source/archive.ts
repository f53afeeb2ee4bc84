import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { limits } from '../contract/limits.ts'
import { createTurns } from '../lib/turns.ts'
import { readTar } from './archive-tar.ts'
import { ArchiveFault, createTree, type EntryKind } from './archive-tree.ts'
import { readZip } from './archive-zip.ts'

export { ArchiveFault } from './archive-tree.ts'

/** One entry of an archive, as it says of itself; nothing of it is checked yet. */
export interface ArchiveEntry {
  name: string
  kind: EntryKind
  /** Of a link, else null. */
  target: string | null
  is_executable: boolean
  bytes: AsyncIterable<Buffer>
}

export interface ReadOptions {
  handle: FileHandle
  size: number
  /** The bytes of the file from one place to before another, or to its end. */
  open(from: number, to?: number): AsyncGenerator<Buffer>
  /** To be told of all bytes that come out; throws ArchiveFault when they are too many. */
  count(bytes: number, entry: string | null): void
  signal: AbortSignal
}

/** An archive that came in whole and was found in order. */
export interface ReceivedArchive {
  /** Where it lies until it is moved away. */
  file: string
  bytes: number
  files: number
  /** Removes it, unless it was moved away. */
  discard(): Promise<void>
}

export interface Archives {
  /** Streams an archive to the quarantine and checks it. Throws ArchiveFault, or what `chunks` throws; then nothing stays behind. */
  receive(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<ReceivedArchive>
}

/** Checked at once: one alone keeps a core busy. */
const checkedAtOnce = 2
/** A file up to this size is written while the next ones are read; so many at once. */
const small_bytes = 64 * 1024
const writtenAtOnce = 16
/** Under this size what is unpacked is small whatever the ratio is: a page of blanks is no bomb. */
const ratioFrom_bytes = 2 ** 20

/** `folder`: the quarantine, on the volume where archives are kept. What the last run left in it goes first. */
export async function createArchives(folder: string): Promise<Archives> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const turns = createTurns(checkedAtOnce)
  return {
    async receive(chunks, signal) {
      const file = join(folder, randomUUID())
      const discard = () => rm(file, { force: true, maxRetries: 3 })
      try {
        const bytes = await store(chunks, file)
        const { files } = await turns(signal, () => walk({ file, into: null, signal }))
        return { file, bytes, files, discard }
      } catch (error) {
        await discard()
        throw error
      }
    },
  }
}

/** Unpacks an archive into an empty folder and says where the source begins: below the one top folder, if there is one. */
export async function unpackArchive(
  file: string,
  into: string,
  signal: AbortSignal,
): Promise<{ folder: string; files: number; left_out: number; bytes: number }> {
  await mkdir(into, { recursive: true })
  const found = await walk({ file, into, signal })
  const [top, second] = await readdir(into, { withFileTypes: true })
  const folder = top?.isDirectory() === true && second === undefined ? join(into, top.name) : into
  return { ...found, folder }
}

async function store(chunks: AsyncIterable<Uint8Array>, file: string): Promise<number> {
  const handle = await open(file, 'wx', 0o600)
  let bytes = 0
  let head = Buffer.alloc(0)
  try {
    for await (const chunk of chunks) {
      if (head.length < 4) {
        head = Buffer.concat([head, chunk.subarray(0, 4)])
        // What is no archive is refused before the rest of it is sent.
        if (head.length >= 4) kindOf(head)
      }
      for (let from = 0; from < chunk.length;) from += (await handle.write(chunk, from)).bytesWritten
      bytes += chunk.length
    }
    kindOf(head)
    await handle.sync()
    return bytes
  } finally {
    await handle.close()
  }
}

function kindOf(head: Buffer): 'zip' | 'tar' {
  if (head.length === 0) throw new ArchiveFault(null, 'The body is empty. Send a .zip or a .tar.gz.')
  if (head[0] === 0x1f && head[1] === 0x8b) return 'tar'
  if (head.length >= 4 && head.readUInt32LE(0) === 0x04034b50) return 'zip'
  if (head.length >= 4 && head.readUInt32LE(0) === 0x06054b50) throw new ArchiveFault(null, 'There are no files in the archive.')
  throw new ArchiveFault(null, 'This is neither a .zip nor a .tar.gz, by its first bytes.')
}

/** Goes over every byte of an archive; with `into` it writes what it finds, links last, so that none is ever written through. */
async function walk(options: {
  file: string
  into: string | null
  signal: AbortSignal
}): Promise<{ files: number; left_out: number; bytes: number }> {
  const { into, signal } = options
  const handle = await open(options.file, 'r')
  const writer = createWriter()
  try {
    const { size } = await handle.stat()
    const head = Buffer.alloc(4)
    await handle.read(head, 0, 4, 0)
    const tree = createTree()
    const folders = new Set<string>()
    let bytes = 0
    const read: ReadOptions = {
      handle,
      size,
      signal,
      open: (from, to) => bytesOf(handle, from, to ?? size, signal),
      count(more, entry) {
        bytes += more
        if (bytes > limits.upload.unpacked_bytes)
          throw new ArchiveFault(entry, `is where the archive passes ${limits.upload.unpacked_bytes} bytes unpacked.`)
        if (bytes > ratioFrom_bytes && bytes > size * limits.upload.ratio)
          throw new ArchiveFault(entry, `is where the archive passes ${limits.upload.ratio} times its packed size.`)
      },
    }
    const folderAt = async (path: string): Promise<void> => {
      if (folders.has(path)) return
      folders.add(path)
      await mkdir(path, { recursive: true, mode: 0o755 })
    }
    for await (const entry of kindOf(head) === 'zip' ? readZip(read) : readTar(read)) {
      signal.throwIfAborted()
      const path = tree.add(entry.name, entry.kind, entry.target)
      const place = into === null || path === null ? null : join(into, path)
      if (place !== null && entry.kind === 'folder') await folderAt(place)
      if (entry.kind !== 'file') continue
      if (place === null) for await (const _ of entry.bytes);
      else {
        await folderAt(dirname(place))
        await writer.add(entry, place)
      }
    }
    const { links, files, left_out } = tree.finish()
    await writer.end()
    writer.check()
    if (into !== null) {
      for (const { path, target } of links) {
        await folderAt(dirname(join(into, path)))
        await symlink(target, join(into, path))
      }
    }
    return { files, left_out, bytes }
  } finally {
    await writer.end()
    await handle.close()
  }
}

/**
 * Writes files: new ones and no other, no mode but “may be run”, nothing followed, nothing replaced. Small ones a few at once,
 * while the next entries are read.
 */
function createWriter() {
  const under = new Set<Promise<void>>()
  let failure: { error: unknown } | undefined

  const behind = (work: Promise<void>): void => {
    const settled = work
      .catch((error: unknown) => {
        failure ??= { error }
      })
      .finally(() => under.delete(settled))
    under.add(settled)
  }

  return {
    async add({ bytes, is_executable }: ArchiveEntry, place: string): Promise<void> {
      const mode = is_executable ? 0o755 : 0o644
      const held: Buffer[] = []
      let length = 0
      let handle: FileHandle | undefined
      try {
        for await (const chunk of bytes) {
          length += chunk.length
          if (length <= small_bytes) held.push(chunk)
          else {
            handle ??= await open(place, 'wx', mode)
            for (const piece of [...held.splice(0), chunk]) await writeAll(handle, piece)
          }
        }
      } finally {
        await handle?.close()
      }
      if (handle) return
      if (under.size >= writtenAtOnce) await Promise.race(under)
      if (failure) throw failure.error
      behind(writeFile(place, Buffer.concat(held), { flag: 'wx', mode }))
    },
    /** Nobody writes any more when this resolves. */
    async end(): Promise<void> {
      await Promise.all(under)
    },
    check(): void {
      if (failure) throw failure.error
    },
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let from = 0; from < chunk.length;) from += (await handle.write(chunk, from)).bytesWritten
}

async function* bytesOf(handle: FileHandle, from: number, to: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  for (let at = from; at < to;) {
    signal.throwIfAborted()
    const chunk = Buffer.allocUnsafeSlow(Math.min(64 * 1024, to - at))
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at)
    if (bytesRead === 0) throw new ArchiveFault(null, 'The archive is cut off.')
    yield chunk.subarray(0, bytesRead)
    at += bytesRead
  }
}
