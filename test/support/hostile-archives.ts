import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { encodePaxRecords, createTar, type TarEntry, createTarGz, type ZipEntry, createZip } from './archives.ts'

export interface HostileArchive {
  name: string
  bytes: () => Buffer
  /** The expected error message. */
  expected_error: RegExp
}

const file = 0o100644
const link = 0o120777
const longName = (length: number) => 'n'.repeat(length)
const longFolder = `${longName(48)}/`

/** Cases that both formats can express, by names or links. */
const commonCases: [name: string, entries: [name: string, target?: string][], says: RegExp][] = [
  ['a name that climbs out', [['../evil']], /evil.*points outside/],
  ['a name that climbs out from below', [['a/b/../../../evil']], /points outside/],
  ['a name that climbs and comes back', [['a/../b']], /points outside/],
  ['a folder that climbs out', [['ok.txt'], ['a/../../']], /points outside/],
  ['an absolute path', [['/tmp/evil']], /absolute/],
  ['two slashes', [['//host/share/evil']], /absolute/],
  ['a drive', [['C:/evil']], /drive/],
  ['a drive without a slash', [['c:evil']], /drive/],
  ['backslashes', [['..\\..\\evil']], /backslash/],
  ['a line break in a name', [['a\nb']], /control character/],
  ['an escape sequence in a name', [['a\u001b[2Jb']], /control character/],
  ['a file below 65 folders', [[`${'d/'.repeat(65)}f`]], /deeper than 64/],
  ['a file that is named twice', [['a.txt'], ['a.txt']], /twice/],
  ['names that differ in case', [['READ.me'], ['read.ME']], /differ only in case/],
  ['folders that differ in case', [['Src/a'], ['src/b']], /differ only in case/],
  ['names that differ in Unicode form', [['caf\u00e9'], ['cafe\u0301']], /Unicode form/],
  ['a file that is a folder too', [['a'], ['a/b']], /both a folder and another kind|twice/],
  ['a folder that is a file too', [['a/b'], ['a']], /both a folder and another kind|twice/],
  ['a link to the system', [['ok.txt'], ['l', '/etc/passwd']], /points outside/],
  ['a link with a drive', [['ok.txt'], ['l', 'C:/Windows']], /points outside/],
  ['a link that climbs out', [['ok.txt'], ['a/l', '../../x']], /points outside/],
  ['a link out of the top folder', [['top/ok.txt'], ['top/l', '../other']], /points outside/],
  ['a link that leaves over another', [['ok.txt'], ['a/b/c', '../..'], ['x', 'a/b/c/../..']], /points outside/],
  ['links in a circle', [['ok.txt'], ['a', 'b'], ['b', 'a']], /circular/],
  ['a link to itself', [['ok.txt'], ['a', 'a/x']], /circular/],
  ['a link with a backslash', [['ok.txt'], ['l', '..\\..\\x']], /backslash/],
  ['a link to nowhere', [['ok.txt'], ['l', '']], /empty target/],
  ['a link and a file through it', [['real/ok.txt'], ['l', 'real'], ['l/evil', undefined]], /both a folder and another kind|twice/],
  ['a file and a link over it', [['ok.txt'], ['a'], ['a', 'ok.txt']], /twice|at once/],
  ['a link over a folder', [['a/ok.txt'], ['A', 'a']], /differ only in case|at once/],
  ['a link in place of the top', [['l', 'l2']], /no files/],
  ['folders alone', [['a/'], ['a/b/']], /no files/],
  ['nothing that is not left out', [['node_modules/x/index.js'], ['.git/config']], /no files/],
]

const toZipEntry = ([name, target]: [string, string?]): ZipEntry =>
  target === undefined
    ? { name, data: name.endsWith('/') ? '' : 'x', mode: name.endsWith('/') ? 0o040755 : file }
    : { name, data: target, mode: link, method: 0 }
const toTarEntry = ([name, target]: [string, string?]): TarEntry => ({
  name,
  ...(name.length > 100 ? { pax: { path: name } } : {}),
  ...(target === undefined ? { type: name.endsWith('/') ? '5' : '0', data: name.endsWith('/') ? '' : 'x' } : { type: '2', link: target }),
})

const ok: ZipEntry = { name: 'ok.txt', data: 'fine', mode: file }
const okTar: TarEntry = { name: 'ok.txt', data: 'fine' }
/** Fills complete tar blocks. */
const blockTar: TarEntry = { name: 'block.txt', data: longName(512) }
const zip = (name: string, entries: ZipEntry[], says: RegExp, lies?: Parameters<typeof createZip>[1]): HostileArchive => ({
  name: `zip: ${name}`,
  bytes: () => createZip(entries, lies),
  expected_error: says,
})
const tar = (name: string, entries: TarEntry[], says: RegExp): HostileArchive => ({
  name: `tar.gz: ${name}`,
  bytes: () => createTarGz(entries),
  expected_error: says,
})
const raw = (name: string, bytes: () => Buffer, says: RegExp): HostileArchive => ({ name, bytes, expected_error: says })

const zeros = (mebibytes: number) => Buffer.alloc(mebibytes * 2 ** 20)
/** 64 MiB that compress to about 1 %, so that many of them exceed 1 GiB before they exceed the ratio limit. */
function hardlyCompressible(): Buffer {
  const bytes = zeros(64)
  for (let at = 0, seed = 1; at < bytes.length; at += 128) bytes.writeUInt32LE((seed = (seed * 1103515245 + 12345) >>> 0), at)
  return bytes
}

export const hostileArchives: HostileArchive[] = [
  ...commonCases.flatMap(([name, entries, says]) => [zip(name, entries.map(toZipEntry), says), tar(name, entries.map(toTarEntry), says)]),

  zip('a NUL in a name', [ok, { name: 'a\0b', data: 'x' }], /NUL/),
  tar('a NUL in a name', [okTar, { name: 'a', data: 'x', pax: { path: 'a\0b' } }], /NUL/),
  zip('a name of 256 bytes', [{ name: longName(256), data: 'x' }], /longer than 255/),
  tar('a name of 256 bytes', [{ name: 'x', data: 'x', pax: { path: longName(256) } }], /longer than 255/),
  zip('a path of 1,500 bytes', [{ name: longFolder.repeat(30) + 'x', data: 'x' }], /longer than 1024/),
  tar('a path of 1,500 bytes', [{ name: 'x', data: 'x', pax: { path: longFolder.repeat(30) + 'x' } }], /longer than 1024/),
  zip('a socket', [ok, { name: 's', mode: 0o140644 }], /device or a pipe/),
  zip('a character device', [ok, { name: 's', mode: 0o020644 }], /device/),
  zip('a block device', [ok, { name: 's', mode: 0o060644 }], /device/),
  zip('a pipe', [ok, { name: 's', mode: 0o010644 }], /pipe/),
  tar('a hard link', [okTar, { name: 'h', type: '1', link: 'ok.txt' }], /hard link/),
  tar('a hard link to the system', [okTar, { name: 'h', type: '1', link: '/etc/passwd' }], /hard link/),
  tar('a character device', [okTar, { name: 'd', type: '3' }], /device/),
  tar('a block device', [okTar, { name: 'd', type: '4' }], /device/),
  tar('a pipe', [okTar, { name: 'p', type: '6' }], /pipe/),
  tar('a sparse file', [okTar, { name: 'p', type: 'S', data: 'x' }], /unknown type/),
  tar('a volume', [okTar, { name: 'p', type: 'V' }], /unknown type/),

  zip('a bomb', [{ name: 'b', data: zeros(8) }], /200 times/),
  raw('tar.gz: a bomb', () => createTarGz([{ name: 'b', data: zeros(8) }]), /200 times/),
  raw('tar.gz: a bomb behind the end', () => gzipSync(Buffer.concat([createTar([okTar]), zeros(8)])), /200 times/),
  zip('a count of 100,001 entries', [ok], /100000 entries/, { entries: 100_001 }),

  zip('an encrypted entry', [ok, { name: 'secret', data: 'x', flags: 1 }], /encrypted/),
  zip('a masked directory', [ok, { name: 'secret', data: 'x', flags: 0x2041 }], /encrypted|not a valid zip archive/),
  zip('an unknown method', [ok, { name: 'l', data: 'x', method: 14 }], /method/),
  zip('a size that is too small', [{ name: 'l', data: longName(5000), says: { size: 10 } }], /larger than its declared size/),
  zip(
    'a large size that is too small',
    [{ name: 'l', data: Buffer.concat([hardlyCompressible().subarray(0, 2 ** 21)]), says: { size: 2 ** 20 } }],
    /larger than its declared size/,
  ),
  zip('a size that is too large', [{ name: 'l', data: 'x', says: { size: 10 } }], /smaller than its declared size/),
  zip('a size of nine petabytes', [{ name: 'l', data: 'x', says: { size: 2 ** 53 - 2 } }], /smaller than its declared size/),
  zip('a packed size past the end', [{ name: 'l', data: 'x', says: { packed: 2 ** 31 } }], /past its end|truncated/),
  zip('a wrong checksum', [{ name: 'l', data: 'x', says: { crc: 1 } }], /checksum/),
  zip('another name before the data', [{ name: 'good', data: 'x', says: { local_name: '../e' } }], /two names/),
  zip('an offset past the end', [ok, { name: 'l', data: 'x', says: { offset: 2 ** 30 } }], /past its end/),
  zip(
    'entries that share bytes',
    [
      { name: 'aa', data: 'xyz', says: { local_name: 'aa' } },
      { name: 'bb', data: 'xyz', says: { offset: 0 } },
    ],
    /two names|share/,
  ),
  raw('zip: entries that share bytes under one name', () => zipWithSharedBytes(), /overlap|twice/),
  zip('several disks', [ok], /not a valid zip archive/, { disk: 3 }),
  zip('more entries than there are', [ok], /not a valid zip archive|past its end/, { entries: 40 }),
  zip('no end', [ok], /not a valid zip archive/, { no_end: true }),
  zip('a folder with content', [ok, { name: 'd/', data: 'content', mode: 0o040755 }], /has content|with content/),
  zip('a link with a long target', [ok, { name: 'l', data: longName(5000), mode: link }], /too long/),
  raw(
    'zip: two archives of the same layout one after another',
    () => Buffer.concat([createZip([ok]), createZip([{ ...ok, data: 'evil' }])]),
    /several archives/,
  ),
  raw(
    'zip: two archives one after another',
    () => Buffer.concat([createZip([ok]), createZip([{ name: 'b.txt', data: 'another one' }])]),
    /not a valid zip archive|several archives|damaged/,
  ),
  raw('zip: an archive in the comment of another', () => zipWithArchiveInComment(), /several archives/),
  raw('zip: an archive that another one was added to', () => zipWithAddedArchive(), /several archives/),
  raw('zip: cut off', () => createZip([{ name: 'a', data: longName(9000), method: 0 }]).subarray(0, 4000), /not a valid zip archive/),

  tar('a way out in a PAX header', [okTar, { name: 'a', data: 'x', pax: { path: '../../evil' } }], /points outside/),
  tar('a link out in a PAX header', [okTar, { name: 'a', type: '2', link: 'ok.txt', pax: { linkpath: '/etc/passwd' } }], /points outside/),
  tar('a size that lies in a PAX header', [{ name: 'a', data: 'x', pax: { size: '99999999999' } }], /damaged|truncated/),
  tar('a size that is no number', [{ name: 'a', data: 'x', pax: { size: 'many' } }], /damaged|truncated/),
  tar('a GNU long name that climbs out', [{ name: '././@LongLink', type: 'L', data: '../../evil\0' }, okTar], /points outside/),
  tar(
    'a GNU long link that climbs out',
    [okTar, { name: '././@LongLink', type: 'K', data: '/etc/passwd\0' }, { name: 'l', type: '2', link: 'x' }],
    /points outside/,
  ),
  tar(
    'a PAX header of 2 MiB',
    [{ name: 'x', type: 'x', data: encodePaxRecords({ comment: incompressibleText(2 ** 21) }) }, okTar],
    /headers that are too large/,
  ),
  tar(
    'a PAX header of 16 MiB',
    [{ name: 'x', type: 'x', data: encodePaxRecords({ comment: incompressibleText(2 ** 24) }) }, okTar],
    /headers that are too large|damaged|200 times/,
  ),
  tar(
    'many headers without an entry',
    [...Array.from({ length: 4000 }, (_, n) => ({ name: 'g', type: 'g', data: encodePaxRecords({ [`k${n}`]: String(n) }) })), okTar],
    /too large/,
  ),
  tar('a folder with content', [okTar, { name: 'd', type: '5', data: 'content' }], /has content|with content/),
  tar('a link with content', [okTar, { name: 'd', type: '2', link: 'ok.txt', data: 'content' }], /has content|with content/),
  tar('a size of minus one', [okTar, { name: 'a', size: '\xff'.repeat(12) }], /size/),
  tar('a size of minus eight in octal', [okTar, { name: 'a', size: '-0000000010 ' }], /damaged|size/),
  tar('a PAX header of negative size', [{ name: 'x', type: 'x', size: '-0000000010 ' }, blockTar, okTar], /size/),
  tar('a global PAX header of size minus one', [okTar, { name: 'g', type: 'g', size: '\xff'.repeat(12) }, blockTar], /size/),
  tar('a GNU long name of negative size', [okTar, { name: 'L', type: 'L', size: `${'\xff'.repeat(11)}\xf0` }, blockTar], /size/),
  tar('a size of another kind', [okTar, { name: 'a', size: `\xc0${'\0'.repeat(11)}` }], /size/),
  tar('a negative size', [okTar, { name: 'a', size: `\xff${'\xff'.repeat(10)}\xf0` }], /damaged|truncated/),
  tar('a wrong checksum', [okTar, { name: 'a', data: 'x', bad_checksum: true }], /damaged/),
  tar('an entry that is cut off', [{ name: 'a', data: 'x', size: 100_000 }], /damaged|truncated/),
  raw('tar.gz: cut off', () => createTarGz([{ name: 'a', data: incompressibleText(50_000) }]).subarray(0, 5_000), /damaged|truncated/),
  raw('tar.gz: broken in the middle', () => corruptMiddle(createTarGz([{ name: 'a', data: incompressibleText(50_000) }])), /damaged|truncated/),
  raw('tar.gz: no tar in it', () => gzipSync(incompressibleText(5_000)), /not a valid tar archive/),

  raw('nothing', () => Buffer.alloc(0), /empty/),
  raw('one byte', () => Buffer.from('P'), /neither/),
  raw('text', () => Buffer.from('#!/bin/sh\necho evil\n'), /neither/),
  raw('a tar that is not packed', () => createTar([okTar]), /neither/),
  raw('an empty zip', () => createZip([]), /no files/),
  raw('an empty tar.gz', () => createTarGz([]), /no files/),
]

/** Archives whose check takes seconds. */
export const hugeArchives: HostileArchive[] = [
  raw('zip: more than 1 GiB', () => gigabyteZip(), /1073741824 bytes/),
  raw('tar.gz: more than 1 GiB', () => gigabyteTar(), /1073741824 bytes/),
  raw(
    'zip: 100,001 entries',
    () => createZip(Array.from({ length: 100_001 }, (_, n) => ({ name: `f${n}`, data: String(n), method: 0 }))),
    /100000 entries/,
  ),
  raw(
    'tar.gz: 100,001 entries',
    () => createTarGz(Array.from({ length: 100_001 }, (_, n) => ({ name: `f${n}`, data: '' }))),
    /100000 entries|200 times/,
  ),
]

/** Text that is hardly compressible, identical each time. */
function incompressibleText(length: number): string {
  let seed = 7
  let text = ''
  while (text.length < length) text += ((seed = (seed * 1103515245 + 12345) >>> 0) >>> 3).toString(36)
  return text.slice(0, length)
}

function corruptMiddle(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy.fill(0x55, copy.length >> 1, (copy.length >> 1) + 64)
  return copy
}

function zipWithSharedBytes(): Buffer {
  const bytes = createZip([
    { name: 'a', data: 'one' },
    { name: 'b', data: 'two' },
  ])
  // The first entry claims to extend over the header of the second.
  const at = bytes.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]))
  const stored = createZip([
    { name: 'a', data: bytes.subarray(0, at), method: 0 },
    { name: 'b', data: 'x', method: 0 },
  ])
  const directory = stored.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]), at + 31)
  const second = stored.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]), directory + 4)
  // The second entry points into the content of the first, which contains a complete entry named b.
  stored.writeUInt32LE(31 + bytes.indexOf(Buffer.from([0x50, 0x4b, 0x03, 0x04]), 4), second + 42)
  bytes.copy(
    stored,
    second + 16,
    bytes.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]), at + 4) + 16,
    bytes.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]), at + 4) + 28,
  )
  stored.writeUInt16LE(8, second + 10)
  return stored
}

/** Readers that stop at the first end record see the outer archive; Homeport's reader finds the inner one. */
function zipWithArchiveInComment(): Buffer {
  const outer = createZip([ok])
  const inner = createZip([{ ...ok, data: 'evil' }])
  outer.writeUInt16LE(inner.length, outer.length - 2)
  return Buffer.concat([outer, inner])
}

/** The second directory lists the entry of the first archive and one of its own, so that a directory-based reader sees one archive. */
function zipWithAddedArchive(): Buffer {
  const first = createZip([ok])
  const entry = { name: 'evil.txt', data: 'evil', mode: file }
  const added = createZip([{ ...entry }])
  const local = added.subarray(0, added.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02])))
  const both = createZip([ok, { ...entry, says: { offset: first.length } }])
  const directory = both.subarray(both.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02])))
  directory.writeUInt32LE(first.length + local.length, directory.length - 6)
  return Buffer.concat([first, local, directory])
}

function gigabyteTar(): Buffer {
  const header = createTar([{ name: 'a', size: 17 * 64 * 2 ** 20 }]).subarray(0, 512)
  const piece = gzipSync(hardlyCompressible(), { level: 1 })
  return Buffer.concat([gzipSync(header), ...Array.from({ length: 17 }, () => piece)])
}

function gigabyteZip(): Buffer {
  const bytes = hardlyCompressible()
  const packed = deflateRawSync(bytes, { level: 1 })
  // Written as stored, then marked as compressed, so that the 64 MiB are compressed once.
  const sum = crc32(bytes)
  const entries = Array.from({ length: 17 }, (_, n) => ({ name: `f${n}`, data: packed, method: 0, says: { size: bytes.length, crc: sum } }))
  const zipped = createZip(entries)
  for (const mark of [0x04034b50, 0x02014b50]) markDeflated(zipped, mark, entries.length, packed.length)
  return zipped
}

function markDeflated(bytes: Buffer, mark: number, count: number, packed: number): void {
  const sign = Buffer.alloc(4)
  sign.writeUInt32LE(mark)
  let at = mark === 0x04034b50 ? 0 : bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]))
  for (let n = 0; n < count; n++) {
    at = mark === 0x04034b50 ? (n === 0 ? 0 : bytes.indexOf(sign, at + packed)) : bytes.lastIndexOf(sign, at - 1)
    bytes.writeUInt16LE(8, at + (mark === 0x04034b50 ? 8 : 10))
  }
}
