import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib'
import { type Entry, fromRandomAccessReaderPromise, getFileNameLowLevel, RandomAccessReader } from 'yauzl'
import { limits } from '../contract/limits.ts'
import { ArchiveError, type EntryKind } from './archive-tree.ts'
import { encryptedFlags, localHeaderSignature, locateEntry, type ZipEntryRange } from './archive-zip-local-header.ts'
import type { ArchiveEntry, ArchiveReadOptions } from './archive-entry.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Entries up to this size are unpacked synchronously, which takes a tenth of the time of a stream. Projects have many small files. */
const inlineLimits = { packed: 32 * 1024, unpacked: 128 * 1024 }
/** After this much synchronous work, the event loop gets a turn. */
const yieldInterval_ms = 10
const windowBytes = 64 * 1024
const fileTypes = { mask: 0o170000, file: 0o100000, folder: 0o040000, link: 0o120000 }
/** Hosts that set Unix modes: Unix and macOS, by the high byte of “version made by”. */
const unixHosts: ReadonlySet<number> = new Set([3, 19])
const unicodePathFieldId = 0x7075
const centralDirectorySignature = 0x02014b50
const endOfDirectorySignature = 0x06054b50
const zip64EndSignature = 0x06064b50
const zip64LocatorSignature = 0x07064b50
const digitalSignatureSignature = 0x05054b50
const endOfDirectoryBytes = Buffer.from('PK\u0005\u0006', 'latin1')
const endRecordBytes = 22
const locatorBytes = 20
/** Records that appear once per archive, after the entries. */
const trailerSignatures: ReadonlySet<number> = new Set([
  centralDirectorySignature,
  endOfDirectorySignature,
  zip64EndSignature,
  zip64LocatorSignature,
  digitalSignatureSignature,
])

/** The entries of a .zip, by its central directory. Throws ArchiveError for contradictions in the archive. */
export async function* readZip(options: ArchiveReadOptions): AsyncGenerator<ArchiveEntry> {
  const { handle, size, openRange, countBytes, max_entries = limits.upload.entries, signal } = options
  const reader = new WindowedReader(handle, size)
  const data = new WindowedReader(handle, size)
  const ranges: ZipEntryRange[] = []
  try {
    const zip = await fromRandomAccessReaderPromise(reader, size, { lazyEntries: true, autoClose: false, decodeStrings: false })
    if (zip.entryCount > max_entries) throw new ArchiveError(null, `The archive has more than ${max_entries} entries.`)
    const directory = Number(zip.readEntryCursor)
    let sliceStart = performance.now()
    for await (const entry of zip.eachEntry()) {
      if (performance.now() - sliceStart > yieldInterval_ms) {
        await nextTurn()
        sliceStart = performance.now()
      }
      signal.throwIfAborted()
      const name = readEntryName(entry)
      const kind = readEntryKind(entry, name)
      if (entry.generalPurposeBitFlag & encryptedFlags) throw new ArchiveError(name, 'is encrypted.')
      if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
        throw new ArchiveError(name, `uses an unsupported compression method (${entry.compressionMethod}). Use “deflate”.`)
      const range = await locateEntry(entry, name, data)
      ranges.push(range)
      if (kind === 'folder' && (entry.uncompressedSize > 0 || entry.compressedSize > 2)) throw new ArchiveError(name, 'is a folder with content.')
      if (kind === 'link' && entry.uncompressedSize > limits.upload.path_bytes)
        throw new ArchiveError(name, 'is a link with a target path that is too long.')
      const contentOptions = { entry, name, start: range.start, data, openRange, countBytes }
      const bytes = kind === 'folder' ? emptyStream() : readContent(contentOptions)
      const is_executable = kind === 'file' && (readUnixMode(entry) & 0o111) !== 0
      yield {
        name,
        kind,
        target: kind === 'link' ? await readLinkTarget(bytes, name) : null,
        is_executable,
        mode: is_executable || kind === 'folder' ? 0o755 : 0o644,
        size: kind === 'file' ? entry.uncompressedSize : 0,
        owner: null,
        modified_at: entry.getLastModDate(),
        bytes: kind === 'link' ? emptyStream() : bytes,
      }
    }
    const end = Number(zip.readEntryCursor)
    await verifyTrailer(end, data)
    await verifyNoOverlaps([...ranges, { from: directory, start: directory, to: end }], data)
  } catch (error) {
    throw toArchiveError(error)
  }
}

/** The result of zlib with `info`, which its types do not declare. */
interface InflateResult {
  buffer: Buffer
  engine: { bytesWritten: number }
}

interface ZipContentOptions {
  entry: Entry
  name: string
  start: number
  data: WindowedReader
  openRange: ArchiveReadOptions['openRange']
  countBytes: ArchiveReadOptions['countBytes']
}

/** The content of an entry. Throws unless size and checksum match the directory. */
async function* readContent({ entry, name, start, data, openRange, countBytes }: ZipContentOptions): AsyncGenerator<Buffer> {
  let checksum = 0
  let bytes = 0
  for await (const chunk of decompress()) {
    bytes += chunk.length
    countBytes(chunk.length, name)
    if (bytes > entry.uncompressedSize) throw new ArchiveError(name, 'is larger than its declared size.')
    checksum = crc32(chunk, checksum)
    yield chunk
  }
  if (bytes !== entry.uncompressedSize) throw new ArchiveError(name, 'is smaller than its declared size.')
  if (checksum !== entry.crc32) throw new ArchiveError(name, 'is damaged: its checksum does not match.')

  function requireFullyRead(read: number): void {
    if (read !== entry.compressedSize) throw new ArchiveError(name, 'contains data after its content.')
  }

  async function* decompress(): AsyncGenerator<Buffer> {
    if (entry.compressedSize === 0 && entry.compressionMethod === 0) return
    try {
      if (entry.compressedSize <= inlineLimits.packed && entry.uncompressedSize <= inlineLimits.unpacked) {
        const packed = await data.readAt(start, entry.compressedSize)
        if (entry.compressionMethod === 0) return yield packed
        // One byte more than the declared size is enough to detect an entry that is too large.
        const inflated: unknown = inflateRawSync(packed, { maxOutputLength: entry.uncompressedSize + 1, info: true })
        const { buffer, engine } = inflated as InflateResult
        requireFullyRead(engine.bytesWritten)
        return yield buffer
      }
      const packed = openRange(start, start + entry.compressedSize)
      if (entry.compressionMethod === 0) return yield* packed
      const source = Readable.from(packed, { objectMode: false })
      const inflate = createInflateRaw({ chunkSize: windowBytes })
      try {
        source.on('error', (error) => inflate.destroy(error)).pipe(inflate)
        yield* inflate as AsyncIterable<Buffer>
        requireFullyRead(inflate.bytesWritten)
      } finally {
        inflate.destroy()
        source.destroy()
      }
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'ERR_BUFFER_TOO_LARGE') throw new ArchiveError(name, 'is larger than its declared size.', error)
      if (code.startsWith('Z_')) throw new ArchiveError(name, 'is damaged and cannot be unpacked.', error)
      throw error
    }
  }
}

/**
 * Verifies that the end record follows the directory and ends at the end of the file, so that no second archive can hide behind it or in its
 * comment.
 */
async function verifyTrailer(directoryEnd: number, data: WindowedReader): Promise<void> {
  const readSignatureAt = async (position: number) => (await data.readAt(position, 4)).readUInt32LE(0)
  let at = directoryEnd
  if (!trailerSignatures.has(await readSignatureAt(at)) || (await readSignatureAt(at)) === centralDirectorySignature)
    throw new ArchiveError(null, 'The archive’s directory contains more entries than it declares.')
  if ((await readSignatureAt(at)) === digitalSignatureSignature) at += 6 + (await data.readAt(at + 4, 2)).readUInt16LE(0)
  if ((await readSignatureAt(at)) === zip64EndSignature) at += 12 + Number((await data.readAt(at + 4, 8)).readBigUInt64LE(0))
  if ((await readSignatureAt(at)) === zip64LocatorSignature) at += locatorBytes
  const end = await data.readAt(at, endRecordBytes)
  const comment = end.readUInt16LE(endRecordBytes - 2)
  if (
    end.readUInt32LE(0) !== endOfDirectorySignature ||
    at + endRecordBytes + comment !== data.size ||
    (await data.readAt(at + endRecordBytes, comment)).includes(endOfDirectoryBytes)
  )
    throw new ArchiveError(null, 'The file contains several archives. Pack all files into a single archive.')
}

/** Verifies that entries do not overlap and that no bytes between them look like another entry to a reader that starts at the front. */
async function verifyNoOverlaps(ranges: ZipEntryRange[], data: WindowedReader): Promise<void> {
  ranges.sort((a, b) => a.from - b.from)
  if (ranges[0]!.from !== 0) throw new ArchiveError(null, 'The archive starts with data that its directory does not list.')
  for (let at = 1; at < ranges.length; at++) {
    const { from } = ranges[at]!
    const { to } = ranges[at - 1]!
    if (from < to) throw new ArchiveError(null, 'Entries of the archive overlap.')
    const mark = from - to >= 4 ? (await data.readAt(to, 4)).readUInt32LE(0) : 0
    if (mark === localHeaderSignature) throw new ArchiveError(null, 'The archive has entries that its directory does not list.')
    if (trailerSignatures.has(mark)) throw new ArchiveError(null, 'The file contains several archives. Pack all files into a single archive.')
  }
}

/**
 * Decodes the name as UTF-8 when it is valid UTF-8, because most tools write UTF-8 without setting the flag; otherwise by the encoding of the
 * format.
 */
function readEntryName(entry: Entry): string {
  const raw = entry.fileNameRaw
  const plain = decodeUtf8(raw) ?? getFileNameLowLevel(entry.generalPurposeBitFlag & ~0x800, raw, [], true)
  const field = entry.extraFields.find(({ id, data }) => id === unicodePathFieldId && data.length > 5 && data[0] === 1)?.data
  // A Unicode name field with another checksum was left over when the entry was renamed.
  if (field === undefined || field.readUInt32LE(1) !== crc32(raw)) return plain
  const name = decodeUtf8(field.subarray(5))
  if (name === null || (name !== plain && isAscii(raw))) throw new ArchiveError(plain, 'has two names in the archive.')
  return name
}

const isAscii = (bytes: Buffer): boolean => bytes.every((byte) => byte < 0x80)

function decodeUtf8(bytes: Buffer): string | null {
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}

const readUnixMode = (entry: Entry): number => (unixHosts.has(entry.versionMadeBy >>> 8) ? entry.externalFileAttributes >>> 16 : 0)

function readEntryKind(entry: Entry, name: string): EntryKind {
  const type = readUnixMode(entry) & fileTypes.mask
  if (type === fileTypes.link) return 'link'
  if (type !== 0 && type !== fileTypes.file && type !== fileTypes.folder)
    throw new ArchiveError(name, 'is a device or a pipe. Archives may only contain files, folders and symbolic links.')
  return type === fileTypes.folder || name.endsWith('/') ? 'folder' : 'file'
}

async function readLinkTarget(bytes: AsyncIterable<Buffer>, name: string): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  const text = decodeUtf8(Buffer.concat(chunks))
  if (text === null) throw new ArchiveError(name, 'is a link whose target is not text.')
  return text
}

// oxlint-disable-next-line require-yield -- a stream without a byte
async function* emptyStream(): AsyncGenerator<Buffer> {}

/** Reads a file through a buffer, so that the many small headers of an archive need few system calls. */
class WindowedReader extends RandomAccessReader {
  readonly #handle: FileHandle
  readonly size: number
  #from = 0
  #window = Buffer.alloc(0)

  constructor(handle: FileHandle, size: number) {
    super()
    this.#handle = handle
    this.size = size
  }

  async readAt(position: number, length: number): Promise<Buffer> {
    if (position < 0 || position + length > this.size)
      throw new ArchiveError(null, 'The archive is damaged or truncated: it refers to data past its end.')
    if (position < this.#from || position + length > this.#from + this.#window.length) {
      const window = Buffer.alloc(Math.min(Math.max(length, windowBytes), this.size - position))
      const { bytesRead } = await this.#handle.read(window, 0, window.length, position)
      if (bytesRead < length) throw new ArchiveError(null, 'The archive is truncated.')
      this.#from = position
      this.#window = window.subarray(0, bytesRead)
    }
    return this.#window.subarray(position - this.#from, position - this.#from + length)
  }

  override read(buffer: Buffer, offset: number, length: number, position: number, callback: (error: Error | null) => void): void {
    void this.#answer(buffer, offset, length, position, callback)
  }

  async #answer(buffer: Buffer, offset: number, length: number, position: number, callback: (error: Error | null) => void): Promise<void> {
    let failure: Error | null = null
    try {
      const bytes = await this.readAt(position, length)
      bytes.copy(buffer, offset)
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
    }
    callback(failure)
  }
}

function toArchiveError(error: unknown): Error {
  if (error instanceof ArchiveError) return error
  if (!(error instanceof Error)) return new Error(String(error))
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined || error.name === 'AbortError') return error
  // Errors of yauzl about the archive have no code; file system errors have one.
  return new ArchiveError(null, 'This is not a valid zip archive: it is damaged, truncated, or split into several parts.', error)
}
