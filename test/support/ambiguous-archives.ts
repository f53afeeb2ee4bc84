import { crc32, deflateRawSync } from 'node:zlib'
import { encodePaxRecords, type TarEntry, createTarGz, type ZipEntry, createZip } from './archives.ts'
import type { HostileArchive } from './hostile-archives.ts'

/** Archives that different readers interpret differently: sequentially, by the directory, or on another system. */
const ok: ZipEntry = { name: 'ok.txt', data: 'fine' }
const data = 'x'.repeat(50)
const localHeaderSignature = Buffer.from('PK\u0003\u0004', 'latin1')
const centralHeaderSignature = Buffer.from('PK\u0001\u0002', 'latin1')
const endRecordSignature = Buffer.from('PK\u0005\u0006', 'latin1')

/** A valid archive of `ok.txt` and `a.txt`, then modified. `local` and `central` are the offsets of the records of `a.txt`. */
function alterZip(change: (bytes: Buffer, local: number, central: number) => Buffer | void, entry: Partial<ZipEntry> = {}): Buffer {
  const bytes = createZip([ok, { name: 'a.txt', data, ...entry }])
  return change(bytes, bytes.lastIndexOf(localHeaderSignature), bytes.lastIndexOf(centralHeaderSignature)) ?? bytes
}

/** Inserts bytes before the directory and adjusts the offsets after them. */
function insertBytes(bytes: Buffer, at: number, more: Buffer): Buffer {
  const end = bytes.lastIndexOf(endRecordSignature)
  bytes.writeUInt32LE(bytes.readUInt32LE(end + 16) + more.length, end + 16)
  return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)])
}

export function encodeDataDescriptor(values: readonly number[], options: { marked: boolean; wide: boolean }): Buffer {
  const [crc = 0, ...sizes] = values
  const width = options.wide ? 8 : 4
  const bytes = Buffer.alloc((options.marked ? 4 : 0) + 4 + 2 * width)
  let at = options.marked ? bytes.writeUInt32LE(0x08074b50) : 0
  at = bytes.writeUInt32LE(crc, at)
  for (const size of sizes) at = options.wide ? bytes.writeBigUInt64LE(BigInt(size), at) : bytes.writeUInt32LE(size, at)
  return bytes
}

/** A zip by a writer that does not know the sizes in advance and writes them after the content. */
export function createStreamedZip(behind: (values: readonly number[]) => Buffer): Buffer {
  return alterZip((bytes, local, central) => {
    const more = behind([crc32(data), deflateRawSync(data).length, data.length])
    bytes.writeUInt16LE(8, local + 6)
    bytes.fill(0, local + 14, local + 26)
    bytes.writeUInt16LE(8, central + 8)
    return insertBytes(bytes, bytes.indexOf(centralHeaderSignature), more)
  })
}

function encodeUnicodePath(name: string, of = 'a.txt'): Buffer {
  const path = Buffer.from(name)
  const bytes = Buffer.alloc(9 + path.length)
  bytes.writeUInt16LE(0x7075)
  bytes.writeUInt16LE(5 + path.length, 2)
  bytes[4] = 1
  bytes.writeUInt32LE(crc32(Buffer.from(of)), 5)
  path.copy(bytes, 9)
  return bytes
}

const zip = (name: string, bytes: () => Buffer, says: RegExp): HostileArchive => ({ name: `zip: ${name}`, bytes, expected_error: says })
const tar = (name: string, entries: TarEntry[], says: RegExp): HostileArchive => ({
  name: `tar.gz: ${name}`,
  bytes: () => createTarGz([{ name: 'ok.txt', data: 'fine' }, ...entries]),
  expected_error: says,
})

const confusableNames: [name: string, names: [string, string]][] = [
  ['a sharp s and two', ['straße', 'STRASSE']],
  ['two letters for s in Greek', ['σ', 'ς']],
  ['an old letter for s', ['ſx', 'sx']],
  ['a ligature', ['ﬁx', 'fix']],
  ['the unit of heat', ['\u212aey', 'key']],
  ['a dot at the end', ['a.', 'a']],
  ['a blank at the end of a folder', ['a /x', 'a/x']],
]

export const ambiguousArchives: HostileArchive[] = [
  ...confusableNames.flatMap(([name, names]) => [
    zip(`names alike: ${name}`, () => createZip(names.map((each) => ({ name: each, data }))), /differ only in case/),
    tar(
      `names alike: ${name}`,
      [
        { name: names[0], data },
        { name: names[1], data },
      ],
      /differ only in case/,
    ),
  ]),
  ...['.. /evil', 'a/.../evil', '....//evil', '. . '].flatMap((name) => [
    zip(`the name “${name}”`, () => createZip([ok, { name, data }]), /only dots and spaces/),
    tar(`the name “${name}”`, [{ name, data }], /only dots and spaces/),
  ]),

  zip('another size before the data', () => alterZip((bytes, local) => void bytes.writeUInt32LE(5, local + 22)), /two sizes/),
  zip('another packed size before the data', () => alterZip((bytes, local) => void bytes.writeUInt32LE(1, local + 18)), /two sizes/),
  zip('another checksum before the data', () => alterZip((bytes, local) => void bytes.writeUInt32LE(1, local + 14)), /two sizes/),
  zip(
    'a long size before the data that is not there',
    () => alterZip((bytes, local) => void bytes.writeUInt32LE(0xffffffff, local + 22)),
    /two sizes/,
  ),
  zip('encrypted by the header before the data alone', () => alterZip((bytes, local) => void bytes.writeUInt16LE(1, local + 6)), /encrypted/),
  zip('sizes that are to come and never do', () => createStreamedZip(() => Buffer.alloc(0)), /two sizes/),
  zip(
    'sizes behind the data that lie',
    () => createStreamedZip(([crc = 0]) => encodeDataDescriptor([crc, 2, 3], { marked: true, wide: false })),
    /two sizes/,
  ),
  zip(
    'a checksum behind the data that lies',
    () => createStreamedZip(([, ...sizes]) => encodeDataDescriptor([1, ...sizes], { marked: false, wide: false })),
    /two sizes/,
  ),
  zip(
    'long sizes behind the data that lie',
    () => createStreamedZip(([crc = 0]) => encodeDataDescriptor([crc, 2 ** 40, 3], { marked: true, wide: true })),
    /two sizes/,
  ),
  zip(
    'an entry that the directory does not count',
    () =>
      alterZip((bytes) => {
        const end = bytes.lastIndexOf(endRecordSignature)
        bytes.writeUInt16LE(1, end + 8)
        bytes.writeUInt16LE(1, end + 10)
      }),
    /more entries than it declares/,
  ),
  zip(
    'an entry that the directory does not name',
    () =>
      alterZip((bytes, local) => {
        const hidden = createZip([{ name: '../evil', data: 'x' }])
        return insertBytes(bytes, bytes.indexOf(centralHeaderSignature, local), hidden.subarray(0, hidden.indexOf(centralHeaderSignature)))
      }),
    /does not list/,
  ),
  zip(
    'something before the first entry',
    () =>
      alterZip((bytes, local, central) => {
        const more = Buffer.concat([localHeaderSignature, Buffer.alloc(60)])
        const first = bytes.indexOf(centralHeaderSignature)
        bytes.writeUInt32LE(more.length, first + 42)
        bytes.writeUInt32LE(local + more.length, central + 42)
        return insertBytes(bytes, 0, more)
      }),
    /does not list/,
  ),
  zip(
    'an entry over the directory',
    () =>
      alterZip(
        (bytes, local, central) => {
          for (const at of [local + 18, local + 22, central + 20, central + 24]) bytes.writeUInt32LE(data.length + 10, at)
          const sum = crc32(bytes.subarray(local + 35, local + 35 + data.length + 10))
          bytes.writeUInt32LE(sum, local + 14)
          bytes.writeUInt32LE(sum, central + 16)
        },
        { method: 0 },
      ),
    /overlap/,
  ),
  zip(
    'more behind the packed data',
    () =>
      alterZip(
        (bytes, local, central) => {
          for (const at of [local + 8, central + 10]) bytes.writeUInt16LE(8, at)
          for (const at of [local + 22, central + 24]) bytes.writeUInt32LE(1, at)
          for (const at of [local + 14, central + 16]) bytes.writeUInt32LE(crc32('x'), at)
        },
        { method: 0, data: Buffer.concat([deflateRawSync('x'), Buffer.from('more')]) },
      ),
    /data after its content/,
  ),
  zip('a second name in Unicode', () => alterZip(() => {}, { extra: encodeUnicodePath('../../evil') }), /two names/),
  zip('a second name in Unicode that stays inside', () => alterZip(() => {}, { extra: encodeUnicodePath('b.txt') }), /two names/),

  tar('a size with a fraction', [{ name: 'a', data, pax: { size: '1.5' } }], /no number|damaged/),
  tar('a size with an exponent', [{ name: 'a', data, pax: { size: '1e3' } }], /no number|damaged/),
  tar('a size below zero', [{ name: 'a', data, pax: { size: '-1' } }], /no number|damaged/),
  tar(
    'a file with holes',
    [{ name: 'a', data, pax: { 'GNU.sparse.major': '1', 'GNU.sparse.name': '../../evil', 'GNU.sparse.realsize': '99999999' } }],
    /sparse/,
  ),
  tar(
    'a way out in the last of two PAX headers',
    [
      { name: 'x', type: 'x', data: encodePaxRecords({ path: 'good' }) },
      { name: 'a', data, pax: { path: '../evil' } },
    ],
    /points outside/,
  ),
]
