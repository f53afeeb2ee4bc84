import { crc32, deflateRawSync, gzipSync } from 'node:zlib'

/** Archives written byte by byte, so that a test can falsify every field. */
export interface ZipEntry {
  name: string | Buffer
  data?: string | Buffer
  /** Unix mode with type, such as 0o100644 or 0o120777. */
  mode?: number
  method?: number
  flags?: number
  /** Values that the headers contain instead of the real ones. */
  says?: { size?: number; packed?: number; crc?: number; local_name?: string; offset?: number }
  extra?: Buffer
}

export function createZip(entries: ZipEntry[], overrides: { entries?: number; disk?: number; no_end?: boolean } = {}): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, data = '', mode, method = 8, flags = 0, says: lies = {}, extra = Buffer.alloc(0) } of entries) {
    const bytes = Buffer.from(data)
    const packed = method === 8 ? deflateRawSync(bytes) : bytes
    const isLong = lies.size !== undefined && lies.size > 0xffffffff
    const title = Buffer.from(name)
    const local = Buffer.from(lies.local_name ?? title)
    const sizes = [lies.crc ?? crc32(bytes), lies.packed ?? packed.length, isLong ? 0xffffffff : (lies.size ?? bytes.length)]
    const more = isLong ? Buffer.concat([uint16(1), uint16(8), uint64(lies.size ?? 0), extra]) : extra
    const common = (length: number) => [uint16(flags), uint16(method), uint32(0), ...sizes.map(uint32), uint16(length), uint16(more.length)]
    const entry = Buffer.concat([uint32(0x04034b50), uint16(20), ...common(local.length), local, more, packed])
    parts.push(entry)
    const location = [uint16(0), uint16(0), uint16(0), uint32(mode === undefined ? 0 : mode * 65536), uint32(lies.offset ?? at)]
    directory.push(Buffer.concat([uint32(0x02014b50), uint16(0x031e), uint16(20), ...common(title.length), ...location, title, more]))
    at += entry.length
  }
  const list = Buffer.concat(directory)
  const count = overrides.entries ?? entries.length
  const long = count > 0xfffe
  const first = at + list.length
  const record = [uint32(0x06064b50), uint64(44), uint16(45), uint16(45), uint32(0), uint32(0), ...[count, count, list.length, at].map(uint64)]
  const zip64 = long ? [...record, uint32(0x07064b50), uint32(0), uint64(first), uint32(1)] : []
  const counts = [uint16(long ? 0xffff : count), uint16(long ? 0xffff : count)]
  const end = [...zip64, uint32(0x06054b50), uint16(overrides.disk ?? 0), uint16(0), ...counts, uint32(list.length), uint32(at), uint16(0)]
  return Buffer.concat([...parts, list, ...(overrides.no_end === true ? [] : end)])
}

export interface TarEntry {
  name: string
  /** `0` file, `1` hard link, `2` symbolic link, `3` and `4` devices, `5` folder, `6` pipe; or any other letter. */
  type?: string
  data?: string | Buffer
  mode?: number
  link?: string
  /** Written instead of the real size; text is written as is. */
  size?: number | string
  pax?: Record<string, string>
  bad_checksum?: boolean
}

export function createTar(entries: TarEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(encodeTarEntry), Buffer.alloc(1024)])
}

export const createTarGz = (entries: TarEntry[]): Buffer => gzipSync(createTar(entries))

function encodeTarEntry({ name, type = '0', data = '', mode = 0o644, link = '', size, pax, bad_checksum }: TarEntry): Buffer[] {
  const bytes = Buffer.from(data)
  const header = Buffer.alloc(512)
  header.write(name.slice(0, 100))
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100)
  header.write('0000000\0'.repeat(2), 108)
  header.write(typeof size === 'string' ? size : `${(size ?? bytes.length).toString(8).padStart(11, '0')} `, 124, 'latin1')
  header.write('00000000000 ', 136)
  header.write('        ', 148)
  header.write(type, 156)
  header.write(link.slice(0, 100), 157)
  header.write('ustar\u000000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0) + (bad_checksum === true ? 1 : 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  const before = pax === undefined ? [] : encodeTarEntry({ name: 'PaxHeader', type: 'x', data: encodePaxRecords(pax) })
  return [...before, header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]
}

export function encodePaxRecords(records: Record<string, string>): string {
  return Object.entries(records)
    .map(([key, value]) => {
      const rest = Buffer.byteLength(` ${key}=${value}\n`)
      let length = rest + String(rest).length
      if (rest + String(length).length !== length) length = rest + String(length).length
      return `${length} ${key}=${value}\n`
    })
    .join('')
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}
function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return bytes
}
function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
