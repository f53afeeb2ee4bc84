import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib'
import { type Entry, fromRandomAccessReaderPromise, getFileNameLowLevel, RandomAccessReader } from 'yauzl'
import { limits } from '../contract/limits.ts'
import { ArchiveFault, type EntryKind } from './archive-tree.ts'
import { encryptedFlags, localMark, locate, type Place } from './archive-zip-local.ts'
import type { ArchiveEntry, ReadOptions } from './archive.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Up to here an entry is unpacked in one go and on the spot: a tenth of a stream's cost, for the many small files of a project. */
const small = { packed: 32 * 1024, unpacked: 128 * 1024 }
/** After so much work on the spot everybody else has a turn. */
const turn_ms = 10
const windowBytes = 64 * 1024
const modes = { mask: 0o170000, file: 0o100000, folder: 0o040000, link: 0o120000 }
/** Who may set Unix modes: Unix and macOS, by the high byte of “version made by”. */
const unixMakers: ReadonlySet<number> = new Set([3, 19])
const unicodePath = 0x7075
const directoryMark = 0x02014b50
const endMark = 0x06054b50
const longEndMark = 0x06064b50
const locatorMark = 0x07064b50
const signatureMark = 0x05054b50
const endSignature = Buffer.from('PK\u0005\u0006', 'latin1')
const endBytes = 22
const locatorBytes = 20
/** What one archive alone has once, after its entries. */
const archiveMarks: ReadonlySet<number> = new Set([directoryMark, endMark, longEndMark, locatorMark, signatureMark])

/** The entries of a .zip, by its central directory, which also says what does not fit together. */
export async function* readZip({ handle, size, open, count, signal }: ReadOptions): AsyncGenerator<ArchiveEntry> {
  const reader = new WindowReader(handle, size)
  const data = new WindowReader(handle, size)
  const taken: Place[] = []
  try {
    const zip = await fromRandomAccessReaderPromise(reader, size, { lazyEntries: true, autoClose: false, decodeStrings: false })
    if (zip.entryCount > limits.upload.entries) throw new ArchiveFault(null, `The archive has more than ${limits.upload.entries} entries.`)
    const directory = Number(zip.readEntryCursor)
    let turn = performance.now()
    for await (const entry of zip.eachEntry()) {
      if (performance.now() - turn > turn_ms) {
        await nextTurn()
        turn = performance.now()
      }
      signal.throwIfAborted()
      const name = nameOf(entry)
      const kind = kindOf(entry, name)
      if (entry.generalPurposeBitFlag & encryptedFlags) throw new ArchiveFault(name, 'is encrypted.')
      if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
        throw new ArchiveFault(name, `is packed by a method that is not read here (${entry.compressionMethod}). Use “deflate”.`)
      const place = await locate(entry, name, data)
      taken.push(place)
      if (kind === 'folder' && (entry.uncompressedSize > 0 || entry.compressedSize > 2)) throw new ArchiveFault(name, 'is a folder and has content.')
      if (kind === 'link' && entry.uncompressedSize > limits.upload.path_bytes) throw new ArchiveFault(name, 'is a link to too long a path.')
      const unpack = { entry, name, start: place.start, data, open, count }
      const bytes = kind === 'folder' ? none() : contentOf(unpack)
      yield {
        name,
        kind,
        target: kind === 'link' ? await textOf(bytes, name) : null,
        is_executable: kind === 'file' && (modeOf(entry) & 0o111) !== 0,
        bytes: kind === 'link' ? none() : bytes,
      }
    }
    const end = Number(zip.readEntryCursor)
    await refuseTrailer(end, data)
    await refuseOverlaps([...taken, { from: directory, start: directory, to: end }], data)
  } catch (error) {
    throw faultOf(error)
  }
}

/** What zlib gives with `info`; its types know nothing of it. */
interface Informed {
  buffer: Buffer
  engine: { bytesWritten: number }
}

interface Content {
  entry: Entry
  name: string
  start: number
  data: WindowReader
  open: ReadOptions['open']
  count: ReadOptions['count']
}

/** What an entry holds: its size and its checksum are what it says, or it is refused. */
async function* contentOf({ entry, name, start, data, open, count }: Content): AsyncGenerator<Buffer> {
  let sum = 0
  let bytes = 0
  for await (const chunk of unpacked()) {
    bytes += chunk.length
    count(chunk.length, name)
    if (bytes > entry.uncompressedSize) throw new ArchiveFault(name, 'unpacks to more than it says.')
    sum = crc32(chunk, sum)
    yield chunk
  }
  if (bytes !== entry.uncompressedSize) throw new ArchiveFault(name, 'unpacks to less than it says.')
  if (sum !== entry.crc32) throw new ArchiveFault(name, 'is damaged: its checksum is another.')

  function refuseRest(read: number): void {
    if (read !== entry.compressedSize) throw new ArchiveFault(name, 'holds more than its content.')
  }

  async function* unpacked(): AsyncGenerator<Buffer> {
    if (entry.compressedSize === 0 && entry.compressionMethod === 0) return
    try {
      if (entry.compressedSize <= small.packed && entry.uncompressedSize <= small.unpacked) {
        const packed = await data.at(start, entry.compressedSize)
        if (entry.compressionMethod === 0) return yield packed
        // One byte more than announced is enough to see that there is more.
        const inflated: unknown = inflateRawSync(packed, { maxOutputLength: entry.uncompressedSize + 1, info: true })
        const { buffer, engine } = inflated as Informed
        refuseRest(engine.bytesWritten)
        return yield buffer
      }
      const packed = open(start, start + entry.compressedSize)
      if (entry.compressionMethod === 0) return yield* packed
      const source = Readable.from(packed, { objectMode: false })
      const inflate = createInflateRaw({ chunkSize: windowBytes })
      try {
        source.on('error', (error) => inflate.destroy(error)).pipe(inflate)
        yield* inflate as AsyncIterable<Buffer>
        refuseRest(inflate.bytesWritten)
      } finally {
        inflate.destroy()
        source.destroy()
      }
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'ERR_BUFFER_TOO_LARGE') throw new ArchiveFault(name, 'unpacks to more than it says.', error)
      if (code.startsWith('Z_')) throw new ArchiveFault(name, 'is damaged and cannot be unpacked.', error)
      throw error
    }
  }
}

/** The end record follows the directory and ends with the file, so that no second archive stands behind it or in its comment. */
async function refuseTrailer(directoryEnd: number, data: WindowReader): Promise<void> {
  const markAt = async (position: number) => (await data.at(position, 4)).readUInt32LE(0)
  let at = directoryEnd
  if (!archiveMarks.has(await markAt(at)) || (await markAt(at)) === directoryMark)
    throw new ArchiveFault(null, 'The archive’s directory goes on past the entries that are counted in it.')
  if ((await markAt(at)) === signatureMark) at += 6 + (await data.at(at + 4, 2)).readUInt16LE(0)
  if ((await markAt(at)) === longEndMark) at += 12 + Number((await data.at(at + 4, 8)).readBigUInt64LE(0))
  if ((await markAt(at)) === locatorMark) at += locatorBytes
  const end = await data.at(at, endBytes)
  const comment = end.readUInt16LE(endBytes - 2)
  if (end.readUInt32LE(0) !== endMark || at + endBytes + comment !== data.size || (await data.at(at + endBytes, comment)).includes(endSignature))
    throw new ArchiveFault(null, 'The file does not end with the archive: several archives stand one after another. Pack the files into one.')
}

/** Bytes are one entry's alone, and none stand between that a reader from the front would take for a further entry. */
async function refuseOverlaps(taken: Place[], data: WindowReader): Promise<void> {
  taken.sort((a, b) => a.from - b.from)
  if (taken[0]!.from !== 0) throw new ArchiveFault(null, 'The archive begins with something that its directory does not name.')
  for (let at = 1; at < taken.length; at++) {
    const { from } = taken[at]!
    const { to } = taken[at - 1]!
    if (from < to) throw new ArchiveFault(null, 'Entries of the archive share the same bytes.')
    const mark = from - to >= 4 ? (await data.at(to, 4)).readUInt32LE(0) : 0
    if (mark === localMark) throw new ArchiveFault(null, 'The archive has entries that its directory does not name.')
    if (archiveMarks.has(mark)) throw new ArchiveFault(null, 'Several archives stand one after another. Pack the files into one.')
  }
}

/** In UTF-8 whenever it is that, as most tools write without saying so; else as the format says. */
function nameOf(entry: Entry): string {
  const raw = entry.fileNameRaw
  const plain = textOrNull(raw) ?? getFileNameLowLevel(entry.generalPurposeBitFlag & ~0x800, raw, [], true)
  const field = entry.extraFields.find(({ id, data }) => id === unicodePath && data.length > 5 && data[0] === 1)?.data
  // A field that belongs to another name was left over when the entry was renamed.
  if (field === undefined || field.readUInt32LE(1) !== crc32(raw)) return plain
  const name = textOrNull(field.subarray(5))
  if (name === null || (name !== plain && isAscii(raw))) throw new ArchiveFault(plain, 'has two names in the archive.')
  return name
}

const isAscii = (bytes: Buffer): boolean => bytes.every((byte) => byte < 0x80)

function textOrNull(bytes: Buffer): string | null {
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}

const modeOf = (entry: Entry): number => (unixMakers.has(entry.versionMadeBy >>> 8) ? entry.externalFileAttributes >>> 16 : 0)

function kindOf(entry: Entry, name: string): EntryKind {
  const type = modeOf(entry) & modes.mask
  if (type === modes.link) return 'link'
  if (type !== 0 && type !== modes.file && type !== modes.folder)
    throw new ArchiveFault(name, 'is a device or a pipe. Only files, folders and symbolic links are taken.')
  return type === modes.folder || name.endsWith('/') ? 'folder' : 'file'
}

async function textOf(bytes: AsyncIterable<Buffer>, name: string): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  const text = textOrNull(Buffer.concat(chunks))
  if (text === null) throw new ArchiveFault(name, 'is a link to a name that is no text.')
  return text
}

// oxlint-disable-next-line require-yield -- a stream without a byte
async function* none(): AsyncGenerator<Buffer> {}

/** Reads a file through a window, so that the many small headers of an archive cost few calls to the system. */
class WindowReader extends RandomAccessReader {
  readonly #handle: FileHandle
  readonly size: number
  #from = 0
  #window = Buffer.alloc(0)

  constructor(handle: FileHandle, size: number) {
    super()
    this.#handle = handle
    this.size = size
  }

  async at(position: number, length: number): Promise<Buffer> {
    if (position < 0 || position + length > this.size) throw new ArchiveFault(null, 'The archive is damaged or cut off: it names bytes past its end.')
    if (position < this.#from || position + length > this.#from + this.#window.length) {
      const window = Buffer.alloc(Math.min(Math.max(length, windowBytes), this.size - position))
      const { bytesRead } = await this.#handle.read(window, 0, window.length, position)
      if (bytesRead < length) throw new ArchiveFault(null, 'The archive is cut off.')
      this.#from = position
      this.#window = window.subarray(0, bytesRead)
    }
    return this.#window.subarray(position - this.#from, position - this.#from + length)
  }

  override read(buffer: Buffer, offset: number, length: number, position: number, callback: (error: Error | null) => void): void {
    void this.#answer(buffer, offset, length, position, callback)
  }

  async #answer(buffer: Buffer, offset: number, length: number, position: number, callback: (error: Error | null) => void): Promise<void> {
    let fault: Error | null = null
    try {
      const found = await this.at(position, length)
      found.copy(buffer, offset)
    } catch (error) {
      fault = error instanceof Error ? error : new Error(String(error))
    }
    callback(fault)
  }
}

function faultOf(error: unknown): Error {
  if (error instanceof ArchiveFault) return error
  if (!(error instanceof Error)) return new Error(String(error))
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined || error.name === 'AbortError') return error
  // What yauzl says of the archive carries no code; what the system says of the file does.
  return new ArchiveFault(null, 'This is no zip archive in order: it is damaged, cut off, or in several parts.', error)
}
