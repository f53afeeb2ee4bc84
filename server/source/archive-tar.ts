import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { ArchiveError, type EntryKind } from './archive-tree.ts'
import type { ArchiveEntry, ArchiveReadOptions } from './archive-entry.ts'

/** The largest allowed header data between two entries, such as long names. tar-stream buffers this data and copies it for each entry. */
const maxHeaderBytes = 64 * 1024
const block_bytes = 512
const chunkBytes = 64 * 1024
const zeroChunk = Buffer.alloc(chunkBytes)

/** The header at run time, which has more fields than the types of tar-stream declare. */
interface TarHeader extends Pick<Header, 'name' | 'size' | 'mode' | 'uid' | 'gid' | 'mtime'> {
  type: string | null
  linkname: string | null
  /** Position of the content in the unpacked stream. */
  byteOffset?: number
  /** PAX records from the preceding extended header. */
  pax?: unknown
}

/** The entries of a .tar.gz, in order. The caller must read or skip each entry before it requests the next one. */
export async function* readTar({ openRange, countBytes, allows_hard_links = false, signal }: ArchiveReadOptions): AsyncGenerator<ArchiveEntry> {
  const compressed = Readable.from(openRange(0), { objectMode: false })
  const gunzip = createGunzip({ chunkSize: chunkBytes })
  const tar = extract()
  /** End of the last known entry in the unpacked stream. */
  let contentEnd = 0
  let lastName: string | null = null
  /** The bytes of the unpacked stream from `end` on. */
  const recent = new RecentBytes()

  const pump = async (): Promise<void> => {
    let unpackedBytes = 0
    let headerBytes = 0
    compressed.on('error', (error) => gunzip.destroy(error)).pipe(gunzip)
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      signal.throwIfAborted()
      countBytes(chunk.length, lastName)
      recent.add(unpackedBytes, chunk)
      unpackedBytes += chunk.length
      if (unpackedBytes <= contentEnd || !isZero(chunk)) headerBytes = Math.max(0, unpackedBytes - contentEnd)
      // Up to two chunks may be on their way to the reader.
      if (headerBytes > maxHeaderBytes + 2 * chunkBytes) throw new ArchiveError(null, 'The archive has headers that are too large.')
      if (!tar.write(chunk)) await waitForDrain(tar)
    }
    tar.end(null)
  }
  const pumping = pump().catch((error: unknown) => tar.destroy(toArchiveError(error, lastName)))

  try {
    for await (const entry of tar) {
      const header: TarHeader = entry.header
      const { byteOffset = 0, size } = header
      if (byteOffset - contentEnd > maxHeaderBytes + block_bytes) throw new ArchiveError(header.name, 'comes after headers that are too large.')
      lastName = header.name
      verifyHeaderSizes(recent, contentEnd, byteOffset, lastName)
      verifyPaxRecords(header)
      const kind = readEntryKind(header, allows_hard_links)
      if (kind !== 'file' && size > 0) throw new ArchiveError(header.name, 'has content but is not a file.')
      contentEnd = byteOffset + Math.ceil(size / block_bytes) * block_bytes
      recent.dropBefore(contentEnd)
      yield {
        name: header.name,
        kind,
        target: kind === 'link' || kind === 'hard_link' ? (header.linkname ?? '') : null,
        is_executable: (header.mode & 0o111) !== 0,
        mode: header.mode,
        size,
        owner: { uid: header.uid ?? 0, gid: header.gid ?? 0 },
        modified_at: header.mtime ?? null,
        bytes: translateErrors(entry as AsyncIterable<Buffer>, lastName),
      }
      entry.resume()
    }
    await pumping
  } catch (error) {
    throw toArchiveError(error, lastName)
  } finally {
    tar.destroy(null)
    gunzip.destroy()
    compressed.destroy()
    await pumping
  }
}

/** Translates errors of a damaged archive that occur while an entry is read. */
async function* translateErrors(bytes: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  try {
    yield* bytes
  } catch (error) {
    throw toArchiveError(error, name)
  }
}

/** The last bytes of a stream, addressed by their position in it. */
class RecentBytes {
  #chunks: { from: number; bytes: Buffer }[] = []
  #start = 0

  add(from: number, bytes: Buffer): void {
    if (from + bytes.length > this.#start) this.#chunks.push({ from, bytes })
  }

  dropBefore(start: number): void {
    this.#start = start
    this.#chunks = this.#chunks.filter(({ from, bytes }) => from + bytes.length > start)
  }

  slice(from: number, to: number): Buffer {
    const parts = this.#chunks.map((chunk) => chunk.bytes.subarray(Math.max(0, from - chunk.from), Math.max(0, to - chunk.from)))
    return Buffer.concat(parts)
  }
}

const extendedHeaderTypes: ReadonlySet<string> = new Set(['x', 'g', 'L', 'K', 'N'])

/**
 * Checks the size in each header between the end of one entry and the content of the next. tar-stream treats a header of PAX records or long names
 * with a negative size as empty, and reads -1 in base 256 as 0.
 */
function verifyHeaderSizes(recent: RecentBytes, from: number, content: number, name: string): void {
  let at = from
  while (at < content) {
    const header = recent.slice(at, at + block_bytes)
    if (header.length < block_bytes) break
    at += block_bytes
    if (isZero(header)) continue
    const size = parseSize(header)
    if (size === undefined) throw new ArchiveError(name, 'is damaged: a size in its headers is not a valid number.')
    if (extendedHeaderTypes.has(String.fromCharCode(header[156] ?? 0))) at += Math.ceil(size / block_bytes) * block_bytes
  }
  if (at !== content) throw new ArchiveError(name, 'is damaged: its headers are not contiguous.')
}

/** Octal digits, or a positive number in base 256. */
function parseSize(header: Buffer): number | undefined {
  const field = header.subarray(124, 136)
  if (field[0] === 0x80) return field.readUIntBE(6, 6)
  const digits = /^[ \0]*([0-7]*)[ \0]*$/.exec(field.toString('latin1'))?.[1]
  return digits === undefined ? undefined : Number.parseInt(digits || '0', 8)
}

/** Rejects records that make different readers see different entries. */
function verifyPaxRecords({ name, pax }: TarHeader): void {
  if (typeof pax !== 'object' || pax === null) return
  if ('size' in pax && !/^\d{1,15}$/.test(String(pax.size))) throw new ArchiveError(name, 'is damaged: its size is not a valid number.')
  if (Object.keys(pax).some((key) => key.startsWith('GNU.sparse.')))
    throw new ArchiveError(name, 'is a sparse file. Create the archive without “--sparse”.')
}

function readEntryKind({ name, type }: TarHeader, allowsHardLinks: boolean): EntryKind {
  if (type === 'file' || type === 'contiguous-file') return 'file'
  if (type === 'directory') return 'folder'
  if (type === 'symlink') return 'link'
  if (type === 'link' && allowsHardLinks) return 'hard_link'
  const kindLabels: Record<string, string> = {
    link: 'a hard link',
    'character-device': 'a device',
    'block-device': 'a device',
    fifo: 'a pipe',
  }
  throw new ArchiveError(name, `is ${kindLabels[type ?? ''] ?? 'of an unknown type'}. Archives may only contain files, folders and symbolic links.`)
}

const isZero = (chunk: Buffer): boolean => chunk.length <= zeroChunk.length && chunk.equals(zeroChunk.subarray(0, chunk.length))

const waitForDrain = (tar: ReturnType<typeof extract>): Promise<void> =>
  new Promise((resolve, reject) => {
    const onDrain = () => {
      tar.off('drain', onDrain).off('close', onClose)
      resolve()
    }
    const onClose = () => {
      tar.off('drain', onDrain).off('close', onClose)
      reject(new Error('the archive is not read any further'))
    }
    if (tar.destroyed) reject(new Error('the archive is not read any further'))
    else tar.on('drain', onDrain).on('close', onClose)
  })

/** Translates errors about a damaged archive into an ArchiveError. Other errors are returned unchanged. */
function toArchiveError(error: unknown, lastName: string | null): Error {
  if (error instanceof ArchiveError) return error
  const { code: errorCode, message } = toError(error)
  // The code of an abort error is a number.
  const code = typeof errorCode === 'string' ? errorCode : ''
  const after = lastName === null ? '' : ` after “${lastName.slice(0, 200)}”`
  if (code.startsWith('Z_') || code === 'ERR_BUFFER_TOO_LARGE') return new ArchiveError(null, `The archive is damaged or truncated${after}.`, error)
  if (/tar header|Invalid header|Unexpected end of data|Header exceeds|Invalid pax/i.test(message))
    return new ArchiveError(null, `This is not a valid tar archive: it is damaged or truncated${after}.`, error)
  return toError(error)
}

const toError = (error: unknown): NodeJS.ErrnoException => (error instanceof Error ? error : new Error(String(error)))
