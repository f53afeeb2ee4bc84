import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, open, readdir, readFile, readlink } from 'node:fs/promises'
import { dirname, isAbsolute, join, posix, relative, resolve, sep } from 'node:path'
import { digestLine, trailerName } from './backup-format.ts'
import type { TarEntry } from './tar-writer.ts'

/** A file up to this size is read at once, so that its content is consistent. */
const smallFile_bytes = 2 ** 20

/** A file as an entry; a file that shrinks while it is read is padded with zeros and reported to `note`. */
export async function fileEntry(path: string, name: string, note: (what: string) => void): Promise<TarEntry> {
  const info = await lstat(path)
  const is_executable = (info.mode & 0o111) !== 0
  if (info.size <= smallFile_bytes) {
    const bytes = await readFile(path)
    return { name, kind: 'file', is_executable, size: bytes.length, chunks: [bytes] }
  }
  return {
    name,
    kind: 'file',
    is_executable,
    size: info.size,
    chunks: readExactly(path, info.size, () => note(`${name} changed during the backup.`)),
  }
}

async function* readExactly(path: string, size: number, onShort: () => void): AsyncGenerator<Uint8Array> {
  let left = size
  for await (const chunk of createReadStream(path, { end: size - 1, highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    left -= chunk.length
    yield chunk
  }
  if (left > 0) onShort()
  for (; left > 0; left -= smallFile_bytes) yield Buffer.alloc(Math.min(left, smallFile_bytes))
}

/** All entries below a folder. Special files, links that leave the folder and files removed in the meantime are left out. */
export async function* folderEntries(root: string, name: string, note: (what: string) => void): AsyncGenerator<TarEntry> {
  yield* walkFolder(root, root, name, note)
}

async function* walkFolder(root: string, folder: string, name: string, note: (what: string) => void): AsyncGenerator<TarEntry> {
  const dirents = await ignoreMissing(readdir(folder, { withFileTypes: true }))
  if (!dirents) return
  if (dirents.length === 0) yield { name, kind: 'folder' }
  for (const entry of dirents.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    const inner = posix.join(name, entry.name)
    if (entry.isDirectory()) yield* walkFolder(root, path, inner, note)
    else if (entry.isSymbolicLink()) {
      const target = await ignoreMissing(resolveLinkWithin(root, path))
      if (target === null) note(`${inner}: a link that points outside of its folder.`)
      else if (target !== undefined) yield { name: inner, kind: 'link', target }
    } else if (entry.isFile()) {
      const entryOfFile = await ignoreMissing(fileEntry(path, inner, note))
      if (entryOfFile) yield entryOfFile
      else note(`${inner} was deleted during the backup.`)
    }
  }
}

/** The target of a link as a relocatable path; null when the target is outside. */
async function resolveLinkWithin(root: string, path: string): Promise<string | null> {
  const target = await readlink(path)
  const to = resolve(dirname(path), target)
  if (to !== root && !to.startsWith(root + sep)) return null
  return (isAbsolute(target) ? relative(dirname(path), to) || '.' : target).replaceAll(sep, '/')
}

async function ignoreMissing<R>(work: Promise<R>): Promise<R | undefined> {
  return work.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
}

/** The names in a folder in a stable order; empty when the folder does not exist. */
export async function listNames(folder: string): Promise<string[]> {
  const names = (await ignoreMissing(readdir(folder))) ?? []
  return names.sort((a, b) => (a < b ? -1 : 1))
}

/** Syncs the content and the name of a file to disk. */
export async function syncToDisk(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.sync().finally(() => file.close())
  if (process.platform === 'win32') return
  const folder = await open(dirname(path), 'r')
  await folder.sync().finally(() => folder.close())
}

/** The entries, and after them a document with their count and digest. */
export async function* digestEntries(
  entries: AsyncIterable<TarEntry>,
  createTrailer: (result: { entries: number; digest: string }) => object,
  signal?: AbortSignal,
): AsyncGenerator<TarEntry> {
  const digest = createHash('sha256')
  let count = 0
  for await (const entry of entries) {
    signal?.throwIfAborted()
    count++
    if (entry.kind !== 'file') {
      digest.update(digestLine(entry.kind, entry.name, entry.kind === 'link' ? JSON.stringify(entry.target) : ''))
      yield entry
      continue
    }
    const checksum = createHash('sha256')
    yield { ...entry, chunks: hashChunks(entry.chunks, checksum) }
    digest.update(digestLine(entry.is_executable ? 'program' : 'file', entry.name, `${entry.size} ${checksum.digest('hex')}`))
  }
  yield createJsonEntry(trailerName, createTrailer({ entries: count, digest: digest.digest('hex') }))
}

async function* hashChunks(chunks: Extract<TarEntry, { kind: 'file' }>['chunks'], checksum: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    checksum.update(chunk)
    yield chunk
  }
}

export function createJsonEntry(name: string, value: object): TarEntry {
  const bytes = Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
  return { name, kind: 'file', is_executable: false, size: bytes.length, chunks: [bytes] }
}
