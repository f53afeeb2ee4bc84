import { describe, expect, it } from 'vitest'
import { inspectFiles, projectNameFromArchive } from '../../renderer/lib/dropped-source.ts'
import { slugify } from '../../renderer/lib/format.ts'
import { createTar, createTarGz, createZip } from '../support/archives.ts'

const file = (name: string, content: Uint8Array<ArrayBuffer> | string) => new File([content], name)
const bytes = (buffer: Buffer) => new Uint8Array(buffer)

describe('a dropped file', () => {
  it('is an archive by its first bytes, whatever its name', async () => {
    expect(await inspectFiles([file('a.zip', bytes(createZip([{ name: 'a' }])))])).toMatchObject({ kind: 'archive', type: 'application/zip' })
    expect(await inspectFiles([file('a.bin', bytes(createTarGz([{ name: 'a' }])))])).toMatchObject({ kind: 'archive', type: 'application/gzip' })
  })

  it.each([
    ['nothing', [], 'No file'],
    ['two files', [file('a.zip', 'PK'), file('b.zip', 'PK')], '2 files'],
    ['an empty file', [file('a.zip', '')], '“a.zip” is empty'],
    ['a text', [file('a.zip', 'hello')], '“a.zip” is neither a .zip nor a .tar.gz'],
    ['a plain tar', [file('a.tar', bytes(createTar([{ name: 'a', data: 'x' }])))], 'uncompressed'],
  ])('is refused with a message: %s', async (_, files, words) => {
    const dropped = await inspectFiles(files)
    expect(dropped).toMatchObject({ kind: 'fault', text: expect.stringContaining(words) })
  })

  it('over the size limit is refused before a byte is read', async () => {
    const large = file('large.zip', 'PK')
    Object.defineProperty(large, 'size', { value: 250 * 2 ** 20 + 1 })
    expect(await inspectFiles([large])).toMatchObject({ kind: 'fault', text: expect.stringContaining('larger than 250 MiB') })
  })
})

it.each([
  ['My App.zip', 'My App', 'my-app'],
  ['shop-1.2.tar.gz', 'shop-1.2', 'shop-1-2'],
  ['SITE.TGZ', 'SITE', 'site'],
  ['Übersicht.tar.gz', 'Übersicht', 'ubersicht'],
])('%s is named %s', (archive, name, slug) => {
  expect(projectNameFromArchive(archive)).toBe(name)
  expect(slugify(projectNameFromArchive(archive))).toBe(slug)
})
