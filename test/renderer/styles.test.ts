import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../renderer')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const stylesheets = globSync('**/*.css', { cwd: root })
const modules = stylesheets.filter((file) => file.endsWith('.module.css'))
const globalFiles = stylesheets.filter((file) => !file.endsWith('.module.css'))
const sources = globSync('**/*.tsx', { cwd: root })

/** The classes that a style sheet defines; for a module, its own. */
function classesOf(file: string): Set<string> {
  const text = read(file).replace(/\/\*[\s\S]*?\*\/|:global\([^)]*\)/g, '')
  const selectors = [...text.matchAll(/([^{};]*)\{/g)].map(([, selector = '']) => selector).filter((selector) => !/^\s*@/.test(selector))
  return new Set(selectors.flatMap((selector) => [...selector.matchAll(/\.(-?[a-z][\w-]*)/g)].map(([, name = '']) => name)))
}

const camelCase = (name: string) => name.replace(/-+(\w)/g, (_, character: string) => character.toUpperCase())

describe('modules', () => {
  const moduleImport = /^import (\w+) from '(\.[^']+\.module\.css)'$/gm
  const uses = sources.flatMap((file) => {
    const text = read(file)
    return [...text.matchAll(moduleImport)].map(([, name = '', path = '']) => ({
      file,
      path: join(dirname(file), path),
      names: [...text.matchAll(new RegExp(`(?<![\\w.])${name}\\.(\\w+)`, 'g'))].map(([, used = '']) => used),
      /** Class prefixes that are completed with a value. */
      beginnings: [...text.matchAll(new RegExp(`(?<![\\w.])${name}\\[\`([\\w-]+)`, 'g'))].map(([, used = '']) => used),
    }))
  })

  test.each(modules)('%s defines exactly the classes that its components use', (module) => {
    const described = classesOf(module)
    const users = uses.filter(({ path }) => path === module)
    const names = new Set([...described].map(camelCase))
    expect(users.flatMap(({ file, names: used }) => used.filter((name) => !names.has(name)).map((name) => `${file}: ${name}`))).toEqual([])
    const isUsed = (name: string) =>
      users.some(({ names: used, beginnings }) => used.includes(camelCase(name)) || beginnings.some((beginning) => name.startsWith(beginning)))
    expect([...described].filter((name) => !isUsed(name))).toEqual([])
  })

  test('each is next to its components', () => {
    expect(uses.filter(({ file, path }) => dirname(file) !== dirname(path))).toEqual([])
  })
})

describe('global classes', () => {
  const described = new Map<string, Set<string>>()
  for (const file of globalFiles.filter((one) => !one.endsWith('forced-colors.css')))
    for (const [, name = ''] of read(file).matchAll(/^ {0,2}\.([a-z][\w-]*) *[,{]/gm))
      described.set(name, (described.get(name) ?? new Set()).add(file))

  /** Every style sheet is loaded in the end, whichever page requires it, so two with the same class override each other. */
  test('a class is defined in one file; contrast themes may add to it', () => {
    expect([...described].filter(([, where]) => where.size > 1).map(([name, where]) => `${name}: ${[...where].join(', ')}`)).toEqual([])
  })

  test('a feature defines none, except the text styles of terminals', () => {
    expect(globalFiles.filter((file) => file.startsWith('features/'))).toEqual([join('features', 'logs', 'ansi.css')])
  })

  test('every class that a component names in a string is defined', () => {
    const known = new Set(globalFiles.flatMap((file) => [...classesOf(file)]))
    const unknown = sources.flatMap((file) =>
      [...read(file).matchAll(/className="([^"]*)"/g)].flatMap(([, names = '']) =>
        names
          .split(/\s+/)
          .filter((name) => name !== '' && !known.has(name))
          .map((name) => `${file}: ${name}`),
      ),
    )
    expect(unknown).toEqual([])
  })
})

test('spacing that has a token uses it', () => {
  const tokens = new Set([...read(join('components', 'tokens.css')).matchAll(/--space-[\d-]+: (\d+px)/g)].map(([, value = '']) => value))
  expect(tokens.size).toBeGreaterThan(9)
  const raw = stylesheets
    .flatMap((file) =>
      [...read(file).matchAll(/^\s*((?:gap|row-gap|column-gap|padding|margin)[a-z-]*: [^;]+)/gm)].map(([, rule = '']) => `${file}: ${rule}`),
    )
    .filter((rule) => (rule.match(/(?<![\w.-])\d+px/g) ?? []).some((value) => tokens.has(value)))
  expect(raw).toEqual([])
})
