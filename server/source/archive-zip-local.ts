import type { Entry } from 'yauzl'
import { ArchiveFault } from './archive-tree.ts'

/** Where an entry lies: its header, its content, and what follows behind it. */
export interface Place {
  from: number
  /** Where the content begins. */
  start: number
  /** After the content and its data descriptor. */
  to: number
}

interface Window {
  readonly size: number
  at(position: number, length: number): Promise<Buffer>
}

interface Told {
  crc: number
  packed: number
  unpacked: number
}

export const localMark = 0x04034b50
export const encryptedFlags = 0x1 | 0x40 | 0x2000
const descriptorMark = 0x08074b50
const toldBehind = 0x8
const isLong = 0xffffffff

/**
 * Finds an entry's content. The header before it and the record behind it have to tell what the directory tells: two readers
 * of one archive, one from the front and one by the directory, must not see two.
 */
export async function locate(entry: Entry, name: string, data: Window): Promise<Place> {
  const from = entry.relativeOffsetOfLocalHeader
  const header = await data.at(from, 30)
  if (header.readUInt32LE(0) !== localMark) throw new ArchiveFault(name, 'is not where the directory of the archive says.')
  const nameEnd = from + 30 + header.readUInt16LE(26)
  const start = nameEnd + header.readUInt16LE(28)
  const flags = header.readUInt16LE(6)
  const method = header.readUInt16LE(8)
  const short = { crc: header.readUInt32LE(14), packed: header.readUInt32LE(18), unpacked: header.readUInt32LE(22) }
  const local = await data.at(from + 30, nameEnd - from - 30)
  if (!local.equals(entry.fileNameRaw)) throw new ArchiveFault(name, 'has two names in the archive.')
  if (method !== entry.compressionMethod) throw new ArchiveFault(name, 'is said to be packed in two ways.')
  if ((flags & encryptedFlags) !== 0) throw new ArchiveFault(name, 'is encrypted.')
  const end = start + entry.compressedSize
  if (end > data.size) throw new ArchiveFault(name, 'is cut off: its content is said to go past the end of the archive.')

  const truth: Told = { crc: entry.crc32, packed: entry.compressedSize, unpacked: entry.uncompressedSize }
  const told = longSizes(short, await data.at(nameEnd, start - nameEnd))
  if (isSame(told, truth)) return { from, start, to: end + ((flags & toldBehind) === 0 ? 0 : await descriptorLength(data, end, truth)) }
  const isOpen = (flags & toldBehind) !== 0 && keys.every((key) => told[key] === 0 || told[key] === truth[key])
  const behind = isOpen ? await descriptorLength(data, end, truth) : 0
  if (behind === 0) throw new ArchiveFault(name, 'has two sizes or checksums in the archive.')
  return { from, start, to: end + behind }
}

const keys = ['crc', 'packed', 'unpacked'] as const
const isSame = (a: Told, b: Told): boolean => keys.every((key) => a[key] === b[key])

/** Sizes past 4 GiB stand in an extra field; some writers put small ones there too. */
function longSizes(short: Told, extra: Buffer): Told {
  for (let at = 0; at + 4 <= extra.length;) {
    const length = extra.readUInt16LE(at + 2)
    const field = extra.subarray(at + 4, at + 4 + length)
    if (extra.readUInt16LE(at) === 1) {
      const told = { ...short }
      let place = 0
      for (const key of ['unpacked', 'packed'] as const) {
        if (short[key] !== isLong || place + 8 > field.length) continue
        told[key] = Number(field.readBigUInt64LE(place))
        place += 8
      }
      return told
    }
    at += 4 + length
  }
  return short
}

/** Of the record behind an entry that says what `truth` says, with its mark or without, in either width; 0: there is none. */
async function descriptorLength(data: Window, at: number, { crc, packed, unpacked }: Told): Promise<number> {
  const bytes = await data.at(at, Math.min(24, data.size - at))
  for (const mark of [4, 0]) {
    if (mark === 4 && (bytes.length < 4 || bytes.readUInt32LE(0) !== descriptorMark)) continue
    if (bytes.length < mark + 12 || bytes.readUInt32LE(mark) !== crc) continue
    if (bytes.readUInt32LE(mark + 4) === packed && bytes.readUInt32LE(mark + 8) === unpacked) return mark + 12
    if (bytes.length < mark + 20) continue
    if (Number(bytes.readBigUInt64LE(mark + 4)) === packed && Number(bytes.readBigUInt64LE(mark + 12)) === unpacked) return mark + 20
  }
  return 0
}
