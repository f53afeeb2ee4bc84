import type { Entry } from 'yauzl'
import { ArchiveError } from './archive-tree.ts'

/** Where an entry lies: its header, its content, and what follows behind it. */
export interface ZipEntryRange {
  from: number
  /** Where the content begins. */
  start: number
  /** After the content and its data descriptor. */
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
 * Finds an entry's content. The header before it and the record behind it have to tell what the directory tells: two readers
 * of one archive, one from the front and one by the directory, must not see two.
 */
export async function locateEntry(entry: Entry, name: string, data: ZipBytes): Promise<ZipEntryRange> {
  const from = entry.relativeOffsetOfLocalHeader
  const header = await data.readAt(from, 30)
  if (header.readUInt32LE(0) !== localHeaderSignature) throw new ArchiveError(name, 'is not where the directory of the archive says.')
  const nameEnd = from + 30 + header.readUInt16LE(26)
  const start = nameEnd + header.readUInt16LE(28)
  const flags = header.readUInt16LE(6)
  const method = header.readUInt16LE(8)
  const short = { crc: header.readUInt32LE(14), packed: header.readUInt32LE(18), unpacked: header.readUInt32LE(22) }
  const local = await data.readAt(from + 30, nameEnd - from - 30)
  if (!local.equals(entry.fileNameRaw)) throw new ArchiveError(name, 'has two names in the archive.')
  if (method !== entry.compressionMethod) throw new ArchiveError(name, 'is said to be packed in two ways.')
  if ((flags & encryptedFlags) !== 0) throw new ArchiveError(name, 'is encrypted.')
  const end = start + entry.compressedSize
  if (end > data.size) throw new ArchiveError(name, 'is cut off: its content is said to go past the end of the archive.')

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

/** Sizes past 4 GiB stand in an extra field; some writers put small ones there too. */
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

/** Of the record behind an entry that says what `truth` says, with its mark or without, in either width; 0: there is none. */
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
