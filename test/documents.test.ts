import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './runner/command.ts'
import { isCode, listFiles } from './runner/imports.ts'

const files = listFiles()
const documents = files.filter((file) => file.endsWith('.md') && !file.startsWith('test/apps/'))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
/** A file, or a folder that holds one. */
const exists = (path: string) => files.some((file) => file === path || file.startsWith(`${path}/`))

describe.each(documents)('%s', (document) => {
  test('links to what is there', () => {
    const links = [...read(document).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, link]) => link!)
    const local = links.filter((link) => !/^(https?|mailto):/.test(link))
    expect(local.filter((link) => !exists(join(dirname(document), link)))).toEqual([])
  })
})

test('the README has at most 200 lines', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(200)
})

test('every test that SECURITY.md names is there', () => {
  const named = [...read('server/SECURITY.md').matchAll(/`([\w-]+\/[\w.-]+)`/g)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'application/json')
  expect(named.length).toBeGreaterThan(60)
  const isTest = (name: string) => ['.test.ts', '.spec.ts', '.ts'].some((ending) => existsSync(join(root, 'test', name + ending)))
  expect([...new Set(named)].filter((name) => !isTest(name))).toEqual([])
})

test('comments cite no document that is not in the repository', () => {
  const cited = files
    .filter(isCode)
    .flatMap((file) => [...read(file).matchAll(/^\s*(?:\/?\*|\/\/).*?\b([\w-]+\.md)\b/gm)].map(([, name]) => ({ file, name: name! })))
  expect(cited.filter(({ name }) => !documents.some((document) => document.endsWith(`/${name}`) || document === name))).toEqual([])
})
