import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { recipes } from './recipes.ts'
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

/** Folders of server/ with ten files, and smaller ones with decisions of their own. */
function largeServerFolders(): string[] {
  const counts = new Map<string, number>()
  for (const file of files.filter(isCode)) {
    const [folder] = /^server\/[^/]+(?=\/)/.exec(file) ?? []
    if (folder !== undefined) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  const small = ['billing', 'client', 'dns', 'mail-catcher', 'network', 'remotes', 'screenshots'].map((name) => `server/${name}`)
  return [...counts.keys()].filter((folder) => small.includes(folder) || (counts.get(folder) ?? 0) >= 10)
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
  const isTest = (name: string) => ['.test.ts', '.test.tsx', '.spec.ts', '.ts'].some((ending) => existsSync(join(root, 'test', name + ending)))
  expect([...new Set(named)].filter((name) => !isTest(name))).toEqual([])
})

describe('the paths through the code in server/README.md', () => {
  /** A code span with a file, and the functions that follow it without another word: `pool.ts` `createExchange`, `dispatch`. */
  const parsePath = (heading: string, base: string) => {
    const [, text = ''] = new RegExp(`^### ${heading}\\n([\\s\\S]*?)(?=^##)`, 'm').exec(read('server/README.md')) ?? []
    const steps = [...text.replace(/\s+/g, ' ').matchAll(/`([\w/.-]+\.ts)`((?:,? `#?\w+`)*)/g)].map(([, file, names = '']) => ({
      file: base + file!,
      functions: [...names.matchAll(/#?\w+/g)].map(([name]) => name),
    }))
    /** Functions further away from their file: `onData`, `#fetch`. */
    const others = [...text.matchAll(/`(#\w+|[a-z]+[A-Z]\w*)`/g)].map(([, name]) => name!)
    return { steps, others }
  }
  const defines = (file: string, name: string) =>
    new RegExp(`(?:function|const|class) ${name}\\b|^\\s*(?:(?:protected|readonly|async) )*${name}(?:<\\w+>)?(?:\\(| = |: )`, 'm').test(read(file))

  test.each([
    ['A deployment', 'server/'],
    ['A cache miss', 'server/edge/'],
  ])('%s: every file exists and defines its functions', (heading, base) => {
    const { steps, others } = parsePath(heading, base)
    expect(steps.length).toBeGreaterThan(10)
    expect(steps.filter(({ file }) => !exists(file))).toEqual([])
    expect(steps.flatMap(({ file, functions }) => functions.filter((name) => !defines(file, name)).map((name) => ({ file, name })))).toEqual([])
    expect(others.filter((name) => !steps.some(({ file }) => defines(file, name)))).toEqual([])
  })

  test('a deployment returns to no file, and names a function of all but types', () => {
    const { steps } = parsePath('A deployment', 'server/')
    expect(steps.filter(({ file }, index) => steps.findIndex((step) => step.file === file) !== index)).toEqual([])
    expect(steps.filter(({ functions }) => functions.length === 0).map(({ file }) => file)).toEqual([
      'server/contract/domain-events.ts',
      'server/runtime/runtime.ts',
      'server/deployments/create-service-supervisor.ts',
    ])
  })

  test('a cache miss passes fewer than 22 files, each with its functions', () => {
    const { steps } = parsePath('A cache miss', 'server/edge/')
    expect(new Set(steps.map(({ file }) => file)).size).toBeLessThan(22)
    expect(steps.filter(({ functions }) => functions.length === 0)).toEqual([])
  })
})

describe('recipes', () => {
  /** The maximum number of files of a recipe. */
  const budgets: Record<string, number> = {
    'Add an operation': 3,
    'Add a runtime': 3,
    'Add a tool of a language': 2,
    'Add a page': 2,
    'Add a command': 2,
    'Add a language': 2,
    'Add a Node framework': 2,
    'Add a development server': 1,
    'Read another configuration file': 2,
    'Add a public route': 2,
  }

  test('every recipe with a number of files has an example', () => {
    const counted = documents.flatMap((document) =>
      [...read(document).matchAll(/\*\*([^*]+)\*\* \(\d+ files?: /g)].map(([, title]) => `${document}: ${title}`),
    )
    expect(counted.toSorted()).toEqual(recipes.map(({ document, title }) => `${document}: ${title}`).toSorted())
  })

  test.each(recipes)('$title: $document names the files to touch', ({ document, title, changes }) => {
    const [, count, list = ''] = new RegExp(`\\*\\*${title}\\*\\* \\((\\d+) files?: ([^)]*)\\)`).exec(read(document)) ?? []
    const names = [...list.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    const patterns = names.map((name) => new RegExp(`^${name.replaceAll('.', '\\.').replace(/<\w+>/g, '[\\w-]+')}$`))
    const touched = Object.keys(changes)
    expect([Number(count), names.length, touched.length]).toEqual(Array(3).fill(budgets[title]))
    // Every listed file is touched, in the same order.
    expect(patterns.map((pattern) => touched.findIndex((file) => pattern.test(file)))).toEqual([...touched.keys()])
  })

  test.each(recipes)('$title: its changes fit the files', ({ changes }) => {
    for (const [file, change] of Object.entries(changes)) {
      expect([file, exists(file)]).toEqual([file, typeof change === 'function'])
      if (typeof change === 'function') expect(change(read(file))).not.toBe(read(file))
    }
  })

  test.each(recipes)('$title: its new files import names that exist', ({ changes }) => {
    for (const [file, text] of Object.entries(changes))
      for (const [, names = '', path = ''] of typeof text === 'string' ? text.matchAll(/import \{([^}]+)\} from '(\.[^']+)'/g) : []) {
        const target = join(dirname(file), path)
        const isExported = (name: string) => new RegExp(`^export .*\\b${name}\\b`, 'm').test(exists(target) ? read(target) : String(changes[target]))
        const missing = names.split(',').filter((name) => !isExported(name.replace('type ', '').trim()))
        expect([file, target, missing]).toEqual([file, target, []])
      }
  })
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
