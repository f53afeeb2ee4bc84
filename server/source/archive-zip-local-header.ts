import type { Entry } from 'yauzl'
import { ArchiveError } from './archive-tree.ts'

/** The byte range of an entry: its header, its content and its data descriptor. */
export interface ZipEntryRange {
  from: number
  /** Start of the content. */
  start: number
  /** End of the content and its data descriptor. */
  to: number
}

interface ZipBytes {
  readonly size: number
  readAt(position: number, length: number): Promise<Buffer>
}

interface DeclaredSizes {
  crc: number
  packed: number
  unpacked: number
}

export const localHeaderSignature = 0x04034b50
export const encryptedFlags = 0x1 | 0x40 | 0x2000
const dataDescriptorSignature = 0x08074b50
const dataDescriptorFlag = 0x8
const zip64Marker = 0xffffffff

/**
 * Finds an entry's content. The local header and the data descriptor must match the central directory. Otherwise a reader that starts at the front
 * and a reader that uses the directory would see different files.
 */
export async function locateEntry(entry: Entry, name: string, data: ZipBytes): Promise<ZipEntryRange> {
  const from = entry.relativeOffsetOfLocalHeader
  const header = await data.readAt(from, 30)
  if (header.readUInt32LE(0) !== localHeaderSignature) throw new ArchiveError(name, 'is not at the position in the archive’s directory.')
  const nameEnd = from + 30 + header.readUInt16LE(26)
  const start = nameEnd + header.readUInt16LE(28)
  const flags = header.readUInt16LE(6)
  const method = header.readUInt16LE(8)
  const short = { crc: header.readUInt32LE(14), packed: header.readUInt32LE(18), unpacked: header.readUInt32LE(22) }
  const local = await data.readAt(from + 30, nameEnd - from - 30)
  if (!local.equals(entry.fileNameRaw)) throw new ArchiveError(name, 'has two names in the archive.')
  if (method !== entry.compressionMethod) throw new ArchiveError(name, 'has two compression methods in the archive.')
  if ((flags & encryptedFlags) !== 0) throw new ArchiveError(name, 'is encrypted.')
  const end = start + entry.compressedSize
  if (end > data.size) throw new ArchiveError(name, 'is truncated: its content extends past the end of the archive.')

  const expected: DeclaredSizes = { crc: entry.crc32, packed: entry.compressedSize, unpacked: entry.uncompressedSize }
  const declared = readZip64Sizes(short, await data.readAt(nameEnd, start - nameEnd))
  if (hasSameSizes(declared, expected))
    return { from, start, to: end + ((flags & dataDescriptorFlag) === 0 ? 0 : await readDescriptorLength(data, end, expected)) }
  const isDeferred = (flags & dataDescriptorFlag) !== 0 && sizeKeys.every((key) => declared[key] === 0 || declared[key] === expected[key])
  const descriptorBytes = isDeferred ? await readDescriptorLength(data, end, expected) : 0
  if (descriptorBytes === 0) throw new ArchiveError(name, 'has two sizes or checksums in the archive.')
  return { from, start, to: end + descriptorBytes }
}

const sizeKeys = ['crc', 'packed', 'unpacked'] as const
const hasSameSizes = (a: DeclaredSizes, b: DeclaredSizes): boolean => sizeKeys.every((key) => a[key] === b[key])

/** Sizes above 4 GiB are in an extra field; some writers also put smaller sizes there. */
function readZip64Sizes(short: DeclaredSizes, extra: Buffer): DeclaredSizes {
  for (let at = 0; at + 4 <= extra.length;) {
    const length = extra.readUInt16LE(at + 2)
    const field = extra.subarray(at + 4, at + 4 + length)
    if (extra.readUInt16LE(at) === 1) {
      const declared = { ...short }
      let offset = 0
      for (const key of ['unpacked', 'packed'] as const) {
        if (short[key] !== zip64Marker || offset + 8 > field.length) continue
        declared[key] = Number(field.readBigUInt64LE(offset))
        offset += 8
      }
      return declared
    }
    at += 4 + length
  }
  return short
}

/**
 * Length of the data descriptor after an entry, with or without its signature and with 32-bit or 64-bit sizes; 0 when no descriptor matches the
 * directory.
 */
async function readDescriptorLength(data: ZipBytes, at: number, { crc, packed, unpacked }: DeclaredSizes): Promise<number> {
  const bytes = await data.readAt(at, Math.min(24, data.size - at))
  for (const mark of [4, 0]) {
    if (mark === 4 && (bytes.length < 4 || bytes.readUInt32LE(0) !== dataDescriptorSignature)) continue
    if (bytes.length < mark + 12 || bytes.readUInt32LE(mark) !== crc) continue
    if (bytes.readUInt32LE(mark + 4) === packed && bytes.readUInt32LE(mark + 8) === unpacked) return mark + 12
    if (bytes.length < mark + 20) continue
    if (Number(bytes.readBigUInt64LE(mark + 4)) === packed && Number(bytes.readBigUInt64LE(mark + 12)) === unpacked) return mark + 20
  }
  return 0
}
