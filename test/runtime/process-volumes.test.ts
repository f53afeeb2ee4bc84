import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { packFiles } from '../../server/lib/pack-files.ts'
import { importLocalVolume } from '../../server/runtime/process/volumes.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-volumes-'))
  writeFileSync(join(folder, 'note.txt'), 'hello')
})
afterEach(() => rmSync(folder, { recursive: true }))

const pack = () => buffer(packFiles(folder, ['./note.txt']))
const readVolume = () => readFileSync(join(folder, 'volumes/vol/note.txt'), 'utf8')

test('an archive with more padding than tar reads is imported', async () => {
  const chunks = [await pack(), ...Array.from({ length: 200 }, () => Buffer.alloc(64 * 1024))]
  await importLocalVolume(folder, 'vol', Readable.from(chunks))
  expect(readVolume()).toBe('hello')
})

test('an archive whose source fails, and one that is not an archive, are refused', async () => {
  const start = await pack()
  async function* readHalf(): AsyncIterable<Buffer> {
    yield start.subarray(0, 512)
    throw new Error('The disk failed.')
  }
  await expect(importLocalVolume(folder, 'vol', Readable.from(readHalf()))).rejects.toThrow('The disk failed.')
  await expect(importLocalVolume(folder, 'vol', Readable.from([Buffer.from('no archive'.repeat(200))]))).rejects.toThrow('tar ended with')
  expect(readdirSync(join(folder, 'volumes/vol'))).toEqual([])
})
