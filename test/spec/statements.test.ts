import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

/*
 * The customer's document, line by line (platform-api.txt is its original text): every statement has a test that
 * verifies it. A renamed test, a new line or a missing one fails here.
 */

/** A statement, and the tests that verify it: `folder/file: beginning of the name`. In the order of the document. */
interface Statement {
  section: string
  text: string
  tests: string[]
}

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const statements = JSON.parse(read('statements.json')) as Statement[]
const lines = read('platform-api.txt').split('\n')
const isRule = (line: string | undefined) => /^\|[-| ]+\|$/.test(line ?? '')

/** Excludes headings, table headers, and the word that introduces a list. */
function stating(): { section: string; text: string }[] {
  let section = ''
  return lines.flatMap((text, i) => {
    if (text.startsWith('#')) section = text.replace(/^#+ /, '')
    const says = text.trim() !== '' && !text.startsWith('#') && !isRule(text) && !isRule(lines[i + 1]) && text !== 'Rules:'
    return says ? [{ section, text }] : []
  })
}

const sources = new Map<string, string>()
function sourceOf(file: string): string {
  let source = sources.get(file)
  if (source === undefined) {
    const path = ['test.ts', 'full.test.ts', 'spec.ts', 'full.spec.ts']
      .map((ending) => new URL(`../${file}.${ending}`, import.meta.url))
      .find((url) => existsSync(url))
    sources.set(file, (source = path ? readFileSync(path, 'utf8') : ''))
  }
  return source
}

describe('the statements of the customer’s document', () => {
  test('are all listed', () => {
    expect(statements.map(({ section, text }) => ({ section, text }))).toEqual(stating())
  })

  test('have existing tests', () => {
    const named = new Set(statements.flatMap(({ tests }) => tests))
    const missing = [...named].filter((one) => {
      const at = one.indexOf(': ')
      const name = one.slice(at + 2)
      return !["'", '`', '"'].some((quote) => sourceOf(one.slice(0, at)).includes(quote + name))
    })
    expect(missing).toEqual([])
    expect(statements.filter(({ tests }) => tests.length === 0)).toEqual([])
    console.log(`${statements.length} statements, ${named.size} tests named for them`)
  })
})
