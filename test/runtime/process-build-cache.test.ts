import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type BuildCache, createBuildCache } from '../../server/runtime/process/build-cache.ts'

let root: string
let cache: BuildCache
let closing: AbortController
const { signal } = new AbortController()
const module = 'node_modules/left-pad/index.js'
const folderOf = (name: string) => join(root, name)
const inodeOf = (path: string) => statSync(path).ino

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'homeport-cache-'))
  closing = new AbortController()
  cache = createBuildCache(join(root, 'cache'), closing.signal)
  mkdirSync(join(folderOf('first'), 'node_modules/left-pad'), { recursive: true })
  writeFileSync(join(folderOf('first'), module), 'original')
  await cache.saveDependencies('prj_1', 'key', folderOf('first'), ['node_modules'], { signal, replaces: false })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const take = async (name: string) => {
  mkdirSync(folderOf(name))
  expect(await cache.restoreDependencies('prj_1', 'key', folderOf(name), signal)).toBe(true)
  return join(folderOf(name), module)
}

test('the spare copy is moved into the next build, and a new copy is made for the one after it', async () => {
  await cache.prepareSpareCopy('prj_1', 'key')
  const aside = inodeOf(join(root, 'cache/dependencies/prj_1/.spare-key', module))
  expect(inodeOf(await take('second'))).toBe(aside)
  expect(readFileSync(await take('third'), 'utf8')).toBe('original')
  expect(readdirSync(join(root, 'cache/dependencies/prj_1'))).toEqual(['key'])
})

test('no two builds share a file: writes of an app to its dependencies are in no other build', async () => {
  await cache.prepareSpareCopy('prj_1', 'key')
  const apps = [await take('second'), await take('third')]
  await cache.prepareSpareCopy('prj_1', 'key')
  writeFileSync(apps[0] ?? '', 'changed')
  apps.push(await take('fourth'), await take('fifth'))
  expect(apps.map((path) => readFileSync(path, 'utf8'))).toEqual(['changed', 'original', 'original', 'original'])
  expect(new Set([...apps, join(folderOf('first'), module)].map(inodeOf)).size).toBe(5)
})

test('a spare copy for other dependencies is removed, and none is made while the platform closes', async () => {
  await cache.prepareSpareCopy('prj_1', 'key')
  await cache.saveDependencies('prj_1', 'other', folderOf('first'), ['node_modules'], { signal, replaces: false })
  await cache.prepareSpareCopy('prj_1', 'other')
  expect(readdirSync(join(root, 'cache/dependencies/prj_1')).toSorted()).toEqual(['.spare-other', 'key', 'other'])
  await take('second')
  closing.abort()
  await cache.prepareSpareCopy('prj_1', 'key')
  expect(readdirSync(join(root, 'cache/dependencies/prj_1')).toSorted()).toEqual(['.spare-other', 'key', 'other'])
})

test('deleting a project while its spare copy is made leaves nothing', async () => {
  const aside = cache.prepareSpareCopy('prj_1', 'key')
  await cache.removeProject('prj_1')
  await aside
  expect(readdirSync(join(root, 'cache/dependencies'))).toEqual([])
})

test('a failed spare copy leaves nothing incomplete', async () => {
  writeFileSync(join(root, 'cache/dependencies/prj_1/.spare-key'), 'in the way')
  await cache.prepareSpareCopy('prj_1', 'key')
  expect(readdirSync(join(root, 'cache/dependencies/prj_1')).toSorted()).toEqual(['.spare-key', 'key'])
})
