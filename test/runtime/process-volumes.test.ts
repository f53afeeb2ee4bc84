import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { packFiles } from '../../server/lib/pack-files.ts'
import { importLocalVolume, removeLocalVolume, removeLocalVolumes } from '../../server/runtime/process/volumes.ts'
import { until } from '../support/until.ts'

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

test('a volume is removed although the copy of a killed platform goes on', async () => {
  const part = join(folder, 'volumes/.vol.part')
  mkdirSync(part, { recursive: true })
  const copying = spawn('/bin/sh', ['-c', 'n=0; while echo "$n" >"$0/$n"; do n=$((n + 1)); done', part], { stdio: 'ignore' })
  const ended = once(copying, 'exit')
  await until(() => readdirSync(part).length > 100 || undefined, { what: 'the copy to begin' })
  expect(await removeLocalVolume(folder, 'vol')).toBe(true)
  await ended
  expect(readdirSync(join(folder, 'volumes'))).toEqual([])
})

test('removing the volumes of a project removes incomplete copies of them, and those of no other', async () => {
  for (const name of ['prj_a.data', '.prj_a.data.part', 'prj_b.data', '.prj_b.data.part'])
    mkdirSync(join(folder, 'volumes', name, 'files'), { recursive: true })
  await removeLocalVolumes(folder, 'prj_a.')
  expect(readdirSync(join(folder, 'volumes')).toSorted()).toEqual(['.prj_b.data.part', 'prj_b.data'])
})
