import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { ArchiveFault, type EntryKind } from './archive-tree.ts'
import type { ArchiveEntry, ReadOptions } from './archive.ts'

/** What may stand between two entries: long names and the like. tar-stream holds it in memory, and again for each entry. */
const maxHeaderBytes = 64 * 1024
const block = 512
const chunkBytes = 64 * 1024
const zeros = Buffer.alloc(chunkBytes)

/** As it comes: more than its types say. */
interface TarHeader extends Pick<Header, 'name' | 'size' | 'mode'> {
  type: string | null
  linkname: string | null
  /** Where the content begins, in the unpacked stream. */
  byteOffset?: number
  /** Records of the header before it. */
  pax?: unknown
}

/** The entries of a .tar.gz, in order. Each has to be read, or left, before the next is asked for. */
export async function* readTar({ open, count, signal }: ReadOptions): AsyncGenerator<ArchiveEntry> {
  const packed = Readable.from(open(0), { objectMode: false })
  const gunzip = createGunzip({ chunkSize: chunkBytes })
  const tar = extract()
  /** Where the last entry that is known ends, in the unpacked stream. */
  let end = 0
  let latest: string | null = null
  /** The unpacked stream from `end` on. */
  const recent = new RecentBytes()

  const feed = async (): Promise<void> => {
    let fed = 0
    let between = 0
    packed.on('error', (error) => gunzip.destroy(error)).pipe(gunzip)
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      signal.throwIfAborted()
      count(chunk.length, latest)
      recent.add(fed, chunk)
      fed += chunk.length
      if (fed <= end || !isZero(chunk)) between = Math.max(0, fed - end)
      // Two chunks may be on their way to the reader.
      if (between > maxHeaderBytes + 2 * chunkBytes) throw new ArchiveFault(null, 'The archive has headers that are too large.')
      if (!tar.write(chunk)) await drained(tar)
    }
    tar.end(null)
  }
  const feeding = feed().catch((error: unknown) => tar.destroy(faultOf(error, latest)))

  try {
    for await (const entry of tar) {
      const header: TarHeader = entry.header
      const { byteOffset = 0, size } = header
      if (byteOffset - end > maxHeaderBytes + block) throw new ArchiveFault(header.name, 'comes after headers that are too large.')
      latest = header.name
      checkSizes(recent, end, byteOffset, latest)
      checkRecords(header)
      const kind = kindOf(header)
      if (kind !== 'file' && size > 0) throw new ArchiveFault(header.name, 'is no file and has content.')
      end = byteOffset + Math.ceil(size / block) * block
      recent.dropBefore(end)
      yield {
        name: header.name,
        kind,
        target: kind === 'link' ? (header.linkname ?? '') : null,
        is_executable: (header.mode & 0o111) !== 0,
        bytes: told(entry as AsyncIterable<Buffer>, latest),
      }
      entry.resume()
    }
    await feeding
  } catch (error) {
    throw faultOf(error, latest)
  } finally {
    tar.destroy(null)
    gunzip.destroy()
    packed.destroy()
    await feeding
  }
}

/** Whoever reads an entry hears of a broken archive in our words too. */
async function* told(bytes: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  try {
    yield* bytes
  } catch (error) {
    throw faultOf(error, name)
  }
}

/** The last bytes of a stream, by their position in it. */
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

const headersOfNames: ReadonlySet<string> = new Set(['x', 'g', 'L', 'K', 'N'])

/**
 * Reads the size in each header from the end of one entry to the content of the next. tar-stream takes a header of records or names
 * with a negative size for an empty one, and -1 in base 256 for 0.
 */
function checkSizes(recent: RecentBytes, from: number, content: number, name: string): void {
  let at = from
  while (at < content) {
    const header = recent.slice(at, at + block)
    if (header.length < block) break
    at += block
    if (isZero(header)) continue
    const size = sizeIn(header)
    if (size === undefined) throw new ArchiveFault(name, 'is damaged: the size in a header of it is no number from 0 on.')
    if (headersOfNames.has(String.fromCharCode(header[156] ?? 0))) at += Math.ceil(size / block) * block
  }
  if (at !== content) throw new ArchiveFault(name, 'is damaged: its headers do not follow one another.')
}

/** Octal digits, or a positive number in base 256. */
function sizeIn(header: Buffer): number | undefined {
  const field = header.subarray(124, 136)
  if (field[0] === 0x80) return field.readUIntBE(6, 6)
  const digits = /^[ \0]*([0-7]*)[ \0]*$/.exec(field.toString('latin1'))?.[1]
  return digits === undefined ? undefined : Number.parseInt(digits || '0', 8)
}

/** What would make the entry another to another reader. */
function checkRecords({ name, pax }: TarHeader): void {
  if (typeof pax !== 'object' || pax === null) return
  if ('size' in pax && !/^\d{1,15}$/.test(String(pax.size))) throw new ArchiveFault(name, 'is damaged: its size is no number.')
  if (Object.keys(pax).some((key) => key.startsWith('GNU.sparse.'))) throw new ArchiveFault(name, 'is a file with holes. Pack it without “--sparse”.')
}

function kindOf({ name, type }: TarHeader): EntryKind {
  if (type === 'file' || type === 'contiguous-file') return 'file'
  if (type === 'directory') return 'folder'
  if (type === 'symlink') return 'link'
  const what: Record<string, string> = {
    link: 'a hard link',
    'character-device': 'a device',
    'block-device': 'a device',
    fifo: 'a pipe',
  }
  throw new ArchiveFault(name, `is ${what[type ?? ''] ?? 'of an unknown kind'}. Only files, folders and symbolic links are taken.`)
}

const isZero = (chunk: Buffer): boolean => chunk.length <= zeros.length && chunk.equals(zeros.subarray(0, chunk.length))

const drained = (tar: ReturnType<typeof extract>): Promise<void> =>
  new Promise((resolve, reject) => {
    const done = () => {
      tar.off('drain', done).off('close', gone)
      resolve()
    }
    const gone = () => {
      tar.off('drain', done).off('close', gone)
      reject(new Error('the archive is not read any further'))
    }
    if (tar.destroyed) reject(new Error('the archive is not read any further'))
    else tar.on('drain', done).on('close', gone)
  })

/** What the tools say of a broken archive, in our words; what is no fault of the archive stays as it is. */
function faultOf(error: unknown, latest: string | null): Error {
  if (error instanceof ArchiveFault) return error
  const { code: given, message } = toError(error)
  // That of an abort is a number.
  const code = typeof given === 'string' ? given : ''
  const after = latest === null ? '' : ` after “${latest.slice(0, 200)}”`
  if (code.startsWith('Z_') || code === 'ERR_BUFFER_TOO_LARGE') return new ArchiveFault(null, `The archive is damaged or cut off${after}.`, error)
  if (/tar header|Invalid header|Unexpected end of data|Header exceeds|Invalid pax/i.test(message))
    return new ArchiveFault(null, `This is no tar archive in order: it is damaged or cut off${after}.`, error)
  return toError(error)
}

const toError = (error: unknown): NodeJS.ErrnoException => (error instanceof Error ? error : new Error(String(error)))
