import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { extract, type Header } from 'tar-stream'
import { afterAll, describe, expect, test } from 'vitest'
import { createConcurrencyLimit } from '../../server/lib/concurrency-limit.ts'
import { readRootOwner, receiveFiles } from '../../server/source/volume-archive.ts'
import { ambiguousArchives } from '../support/ambiguous-archives.ts'
import { createTarGz, createZip, type TarEntry } from '../support/archives.ts'
import { hostileArchives } from '../support/hostile-archives.ts'
import { inPieces } from './archive-cases.ts'

const root = mkdtempSync(join(tmpdir(), 'homeport-volume-archive-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const signal = new AbortController().signal
const limitChecks = createConcurrencyLimit(2)
const receive = (bytes: Buffer) => receiveFiles(inPieces(bytes), join(mkdtempSync(join(root, 'archive-')), 'archive'), { signal, limitChecks })

/** Every entry as the runtime receives it. */
async function entriesOf(bytes: Buffer, owner?: { uid: number; gid: number }): Promise<(Header & { text: string })[]> {
  const received = await receive(bytes)
  const found: (Header & { text: string })[] = []
  for await (const entry of received.open(owner, signal).pipe(extract())) found.push({ ...entry.header, text: (await buffer(entry)).toString() })
  await received.discard()
  return found
}

/** What a volume may contain, unlike a source: only folders, generated folders, hard links within it, and highly compressible content under 1 GB. */
const allowed =
  /: (?:folders alone|nothing that is not left out|a link in place of the top|a link out of the top folder|a hard link|a bomb.*|a count of .*)$/
/** Linux file systems distinguish such names. */
const allowedOnLinux = /: (?:names alike: .*|(?:names|folders) that differ in .*|a link over a folder)$/
const isRefused = ({ name }: { name: string }) => !allowed.test(name) && !(process.platform === 'linux' && allowedOnLinux.test(name))

describe('hostile archives', () => {
  test.each([...hostileArchives, ...ambiguousArchives].filter(isRefused))('$name', async ({ bytes }) => {
    await expect(receive(bytes())).rejects.toMatchObject({ name: 'ArchiveError', code: 'invalid_archive' })
    for (const folder of readdirSync(root)) expect(readdirSync(join(root, folder))).toEqual([])
  })

  const hardLinks: [string, TarEntry[]][] = [
    [
      'to a system file',
      [
        { name: 'a', data: 'x' },
        { name: 'h', type: '1', link: '/etc/passwd' },
      ],
    ],
    [
      'that leaves the folder',
      [
        { name: 'a', data: 'x' },
        { name: 'h', type: '1', link: '../a' },
      ],
    ],
    [
      'to a file later in the archive',
      [
        { name: 'h', type: '1', link: 'a' },
        { name: 'a', data: 'x' },
      ],
    ],
    [
      'through a symbolic link',
      [
        { name: 'l', type: '2', link: '.' },
        { name: 'a', data: 'x' },
        { name: 'h', type: '1', link: 'l/a' },
      ],
    ],
    [
      'to a folder',
      [
        { name: 'd/', type: '5' },
        { name: 'h', type: '1', link: 'd' },
      ],
    ],
    [
      'to nothing',
      [
        { name: 'a', data: 'x' },
        { name: 'h', type: '1', link: '' },
      ],
    ],
  ]
  test.each(hardLinks)('a hard link %s', async (_name, entries) => {
    await expect(receive(createTarGz(entries))).rejects.toMatchObject({ code: 'invalid_archive' })
  })
})

test('files, folders and symlinks are unpacked unchanged, except for setuid and setgid bits', async () => {
  const entries = await entriesOf(
    createTarGz([
      { name: './', type: '5', mode: 0o1770 },
      { name: './node_modules/.git/x', data: 'kept', mode: 0o640 },
      { name: './program', data: '#!', mode: 0o6755 },
      { name: './latest', type: '2', link: 'node_modules/.git/x' },
      { name: './same', type: '1', link: './program' },
      { name: './empty/', type: '5', mode: 0o2755 },
    ]),
  )
  expect(entries.map(({ name, type, mode, linkname, text }) => [name, type, (mode ?? 0).toString(8), linkname, text])).toEqual([
    ['./', 'directory', '1770', null, ''],
    ['node_modules/.git/x', 'file', '640', null, 'kept'],
    ['program', 'file', '755', null, '#!'],
    ['latest', 'symlink', expect.any(String), 'node_modules/.git/x', ''],
    ['same', 'link', expect.any(String), 'program', ''],
    ['empty/', 'directory', '755', null, ''],
  ])
})

test('without an entry for the folder itself the archive gets the given owner', async () => {
  const bytes = createZip([{ name: 'photos/a.txt', data: 'a', mode: 0o100600 }])
  expect(await receive(bytes)).toMatchObject({ files: 1, bytes: 1, has_root: false })
  expect((await entriesOf(bytes, { uid: 7, gid: 8 })).map(({ name, uid, gid }) => [name, uid, gid])).toEqual([['photos/a.txt', 7, 8]])
})

test('the owner of a folder is read from the first entry of its tar stream', async () => {
  const received = await receive(
    createTarGz([
      { name: './', type: '5' },
      { name: './a', data: 'a' },
    ]),
  )
  expect(await readRootOwner(received.open({ uid: 70, gid: 71 }, signal))).toEqual({ uid: 70, gid: 71 })
  await received.discard()
  expect(await readRootOwner(Readable.from([Buffer.alloc(1024)]))).toBeUndefined()
})
