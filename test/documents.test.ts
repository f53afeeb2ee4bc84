import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './runner/command.ts'
import { isCode, listFiles } from './runner/imports.ts'

const files = listFiles()
const documents = files.filter((file) => file.endsWith('.md') && !file.startsWith('test/apps/'))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
/** Whether the path is a file, or a folder that contains one. */
const exists = (path: string) => files.some((file) => file === path || file.startsWith(`${path}/`))

/** Folders whose README tells a newcomer what is in there: the parts of the repository, and every folder of server/ with ten files. */
const explained = ['main', 'renderer', 'test', 'test/bench', 'resources/package', 'server', ...largeServerFolders()].map(
  (folder) => `${folder}/README.md`,
)
const parts = ['Contents', 'Data flow', 'Recipes', 'Decisions', 'Dependencies']

/** The folders of server/. server/README.md explains index.ts and bootstrap/ together; the files of lib/ have nothing in common. */
function largeServerFolders(): string[] {
  const counts = new Map<string, number>()
  for (const file of files.filter(isCode)) {
    const [folder] = /^server\/[^/]+(?=\/)/.exec(file) ?? []
    if (folder !== undefined) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  const small = ['server/billing', 'server/client', 'server/dns', 'server/network', 'server/remotes', 'server/screenshots']
  return [...counts.keys()].filter(
    (folder) => small.includes(folder) || ((counts.get(folder) ?? 0) >= 10 && folder !== 'server/lib' && folder !== 'server/bootstrap'),
  )
}

/** As GitHub derives them from the text of a heading. */
const anchorsOf = (document: string) =>
  [...read(document).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
const headings = (document: string) => [...read(document).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)

test.each(explained)('%s has all five parts', (document) => {
  expect(parts.filter((part) => !headings(document).includes(part))).toEqual([])
})

test('the README has its sections, a picture and the licence', () => {
  expect(headings('README.md')).toEqual([
    'Two commands',
    'Five minutes',
    'Running an instance',
    'Where to read on',
    'When something goes wrong',
    'Map',
    'For developers',
  ])
  expect(read('README.md')).toMatch(/!\[[^\]]+\]\(resources\/screenshots\//)
  expect(read('README.md').trimEnd().split('\n').at(-1)).toBe('MIT licence.')
})

describe.each(documents)('%s', (document) => {
  test('names files that exist', () => {
    // Code spans, and the first words of the lines of a listing, which may name several files.
    const text = read(document)
    const listings = [...text.matchAll(/^```\n([\s\S]*?)^```$/gm)].flatMap(([, listing = '']) =>
      listing.split('\n').map((line) => line.split('   ')[0]!),
    )
    const named = [...text.matchAll(/`([^`\n]+)`/g), ...listings.join(' ').matchAll(/(\S+)/g)].map(([, name]) => name!)
    const wanted = named.filter((name) => /^[\w./-]+\.(ts|tsx|mjs|css|svg|txt)$/.test(name) && !/^\.|\.d\.ts$|^lib\/browser\//.test(name))
    expect(wanted.filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([])
  })

  test('links to files that exist', () => {
    const links = [...read(document).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, link]) => link!)
    const local = links.filter((link) => !/^(https?|mailto):/.test(link))
    expect(local.filter((link) => !exists(join(dirname(document), link)))).toEqual([])
  })

  test('links to headings that exist', () => {
    const links = [...read(document).matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g)].map(([, path = '', anchor = '']) => ({
      target: path === '' ? document : join(dirname(document), path),
      anchor,
    }))
    expect(links.filter(({ target, anchor }) => target.endsWith('.md') && !anchorsOf(target).includes(anchor))).toEqual([])
  })
})

test('the README has at most 200 lines', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(200)
})

test('every test that SECURITY.md names exists', () => {
  const named = [...read('server/SECURITY.md').matchAll(/`([\w-]+\/[\w.-]+)`/g)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'application/json')
  expect(named.length).toBeGreaterThan(60)
  const isTest = (name: string) => ['.test.ts', '.spec.ts', '.ts'].some((ending) => existsSync(join(root, 'test', name + ending)))
  expect([...new Set(named)].filter((name) => !isTest(name))).toEqual([])
})

test('comments cite only documents of this repository', () => {
  const cited = files
    .filter(isCode)
    .flatMap((file) => [...read(file).matchAll(/^\s*(?:\/?\*|\/\/).*?\b([\w-]+\.md)\b/gm)].map(([, name]) => ({ file, name: name! })))
  expect(cited.filter(({ name }) => !documents.some((document) => document.endsWith(`/${name}`) || document === name))).toEqual([])
})

test('comments cite only threats of SECURITY.md', () => {
  const threats = new Set([...read('server/SECURITY.md').matchAll(/^\| (T\d+) \|/gm)].map(([, number]) => number))
  const cited = files.filter(isCode).flatMap((file) => [...read(file).matchAll(/\bthreats? (T\d+)\b|^\/\* (T\d+)\b/gm)].map(([, a, b]) => a ?? b))
  expect(cited.length).toBeGreaterThan(5)
  expect(cited.filter((number) => !threats.has(number))).toEqual([])
})
