import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ArchiveQuarantine, createArchiveQuarantine, unpackArchive } from '../../server/source/archive.ts'
import { createTarGz, createZip } from '../support/archives.ts'
import { hostileArchives } from '../support/hostile-archives.ts'
import { encodeDataDescriptor, ambiguousArchives, createStreamedZip } from '../support/ambiguous-archives.ts'
import { expectRefusal, inPieces } from './archive-cases.ts'
import { mutatedArchiveSuite } from './archive-faults.ts'

const root = mkdtempSync(join(tmpdir(), 'homeport-archive-'))
const quarantine = join(root, 'quarantine')
const signal = new AbortController().signal
let archives: ArchiveQuarantine
let count = 0

/** Receives and unpacks, like an upload and its deployment. */
async function unpacked(bytes: Buffer): Promise<{ folder: string; files: number; left_out: number }> {
  const archive = await archives.receive(inPieces(bytes), signal)
  const into = join(root, 'work', String(count++))
  mkdirSync(into, { recursive: true })
  try {
    return await unpackArchive(archive.file, into, signal)
  } finally {
    await archive.discard()
  }
}

beforeAll(async () => {
  mkdirSync(quarantine)
  writeFileSync(join(quarantine, 'left-by-the-last-run'), 'x')
  archives = await createArchiveQuarantine(quarantine)
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

test('leftovers of the last run in the quarantine are deleted', () => expect(readdirSync(quarantine)).toEqual([]))

describe('hostile archives', () => {
  test.each([...hostileArchives, ...ambiguousArchives])('$name', (hostile) => expectRefusal(archives, quarantine, hostile))
})

mutatedArchiveSuite(100, 20_261_121)

const sources = [
  [
    'zip',
    (entries: { name: string; data?: string; mode?: number; link?: string }[]) =>
      createZip(
        entries.map(({ name, data = '', mode = 0o644, link }) => ({
          name,
          data: link ?? data,
          mode: (link === undefined ? (name.endsWith('/') ? 0o040000 : 0o100000) : 0o120000) | mode,
        })),
      ),
  ],
  [
    'tar.gz',
    (entries: { name: string; data?: string; mode?: number; link?: string }[]) =>
      createTarGz(
        entries.map(({ name, data = '', mode = 0o644, link }) => ({
          name,
          data,
          mode,
          ...(link === undefined ? { type: name.endsWith('/') ? '5' : '0' } : { type: '2', link }),
        })),
      ),
  ],
] as const

describe.each(sources)('%s', (_format, archiveOf) => {
  test('files, folders and symlinks are unpacked unchanged, below a single top folder', async () => {
    const { folder, files } = await unpacked(
      archiveOf([
        { name: 'app/' },
        { name: 'app/package.json', data: '{}' },
        { name: 'app/src/deep/index.js', data: 'deep' },
        { name: 'app/current', link: 'src/deep' },
        { name: 'app/src/up', link: '../package.json' },
        { name: 'app/dangling', link: 'not/there' },
        { name: 'app/\u00fc \u{1f680}.txt', data: 'a name' },
      ]),
    )
    expect(files).toBe(3)
    expect(readdirSync(folder).toSorted()).toEqual(['current', 'dangling', 'package.json', 'src', '\u00fc \u{1f680}.txt'].toSorted())
    expect(readFileSync(join(folder, 'current/index.js'), 'utf8')).toBe('deep')
    expect(readFileSync(join(folder, 'src/up'), 'utf8')).toBe('{}')
    expect(readlinkSync(join(folder, 'current'))).toBe('src/deep')
  })

  test('of the file modes only the executable bit is kept', async () => {
    const { folder } = await unpacked(
      archiveOf([
        { name: 'run.sh', data: 'x', mode: 0o6777 },
        { name: 'text', data: 'x', mode: 0o1666 },
        { name: 'none', data: 'x', mode: 0 },
      ]),
    )
    expect(['run.sh', 'text', 'none'].map((name) => (statSync(join(folder, name)).mode & 0o7777).toString(8))).toEqual(['755', '644', '644'])
  })

  test('files that tools add are left out, and do not keep a top folder from being stripped', async () => {
    const { folder, left_out } = await unpacked(
      archiveOf([
        { name: './app/index.html', data: 'x' },
        { name: './app/.git/hooks/post-checkout', data: 'x', mode: 0o755 },
        { name: './app/node_modules/x/index.js', data: 'x' },
        { name: '__MACOSX/app/._index.html', data: 'x' },
        { name: './app/.DS_Store', data: 'x' },
      ]),
    )
    expect(left_out).toBe(4)
    expect(readdirSync(folder)).toEqual(['index.html'])
  })

  test('two entries at the top mean no top folder', async () => {
    const { folder } = await unpacked(
      archiveOf([
        { name: 'a/x', data: 'x' },
        { name: 'b', data: 'x' },
      ]),
    )
    expect(readdirSync(folder).toSorted()).toEqual(['a', 'b'])
  })

  test('a nested archive stays one, even a bomb', async () => {
    const bomb = createZip([{ name: 'b', data: Buffer.alloc(2 ** 22) }])
    const { folder } = await unpacked(
      archiveOf([
        { name: 'inner.zip', data: bomb.toString('latin1') },
        { name: 'x', data: '' },
      ]),
    )
    expect(lstatSync(join(folder, 'inner.zip')).isFile()).toBe(true)
    expect(existsSync(join(folder, 'b'))).toBe(false)
  })

  test('many files, and names such as __proto__', async () => {
    const names = [...Array.from({ length: 500 }, (_, n) => `src/${n % 60}/file-${n}.js`), '__proto__', 'constructor/toString']
    const { folder, files } = await unpacked(archiveOf(names.map((name) => ({ name, data: name }))))
    expect(files).toBe(names.length)
    for (const name of names) expect(readFileSync(join(folder, name), 'utf8')).toBe(name)
  })
})

describe('zip archives by writers that do not know sizes in advance', () => {
  test.each([
    { marked: true, wide: false },
    { marked: true, wide: true },
    { marked: false, wide: false },
    { marked: false, wide: true },
  ])('marked: $marked, wide: $wide', async (options) => {
    const { folder } = await unpacked(createStreamedZip((values) => encodeDataDescriptor(values, options)))
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('x'.repeat(50))
  })
})

test('an aborted upload leaves nothing', async () => {
  async function* breaking() {
    yield createTarGz([{ name: 'a', data: 'x' }]).subarray(0, 40)
    throw new Error('the client is gone')
  }
  await expect(archives.receive(breaking(), signal)).rejects.toThrow('the client is gone')
  expect(readdirSync(quarantine)).toEqual([])
})
