import { parse } from 'dotenv'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDotenv, parseDotenv, parseDotenvLines } from '../../server/contract/dotenv.ts'
import { forEachSeed } from '../support/seeds.ts'

const corpus = new URL('corpus/seeds.json', import.meta.url)

/* Homeport parses .env files like the npm package dotenv, for which most of them are written. */

const ours = (text: string) => Object.fromEntries(parseDotenv(text).map(({ key, value }) => [key, value]))

const file = [
  'PLAIN=text',
  'EMPTY=',
  "EMPTY_QUOTED=''",
  'SPACES =  around  ',
  'HASH=before # a comment',
  'HASH_QUOTED="before # no comment"',
  "SINGLE='it is \\n not expanded'",
  'DOUBLE="two\\nlines"',
  'MULTI="first',
  'second"',
  'BACKTICK=`both \' and "`',
  'JSON={"foo": "bar"}',
  'export EXPORTED=yes',
  'COLON: value',
  'URL=https://example.com/?a=b#frag',
  '# COMMENT=no',
  'not an assignment',
  'DOT.TED-NAME=1',
  'UNCLOSED="half',
  'TRAILING="x" # why',
  'TWICE=1',
  'TWICE=2',
].join('\n')

describe('parsing', () => {
  test('follows every rule of the format', () => expect(ours(file)).toEqual(parse(file)))
  test('accepts Windows line endings', () => expect(ours(file.replaceAll('\n', '\r\n'))).toEqual(parse(file.replaceAll('\n', '\r\n'))))

  const piece = fc.constantFrom('A', 'B=', 'KEY=', ' ', '\t', '\n', '\r\n', "'", '"', '`', '\\n', '\\', '#', 'export ', ':', '=', 'x', 'é', '$', '{')
  test('accepts any file content', async () => {
    await forEachSeed(corpus, async (seed) =>
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
          expect(ours(pieces.join(''))).toEqual(parse(pieces.join('')))
        }),
        { seed, numRuns: 2_000 },
      ),
    )
  })
})

describe('writing', () => {
  test('reads back as the same values, or reports what was left out', async () => {
    const value = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.array(fc.constantFrom('a', ' ', "'", '"', '`', '\n', '\r', '\\n', '#', '\\', '='), { maxLength: 12 }).map((all) => all.join('')),
    )
    await forEachSeed(corpus, async (seed) =>
      fc.assert(
        fc.property(fc.array(value, { minLength: 1, maxLength: 6 }), (values) => {
          const variables = values.map((one, i) => ({ key: `KEY_${i}`, value: one.replaceAll('\0', '') }))
          const { text, left_out } = formatDotenv(variables)
          const kept = variables.filter(({ key }) => !left_out.includes(key))
          expect(parse(text)).toEqual(Object.fromEntries(kept.map(({ key, value: kept_value }) => [key, kept_value])))
          for (const { key, value: lost } of variables) if (left_out.includes(key)) expect(lost).toMatch(/['"`\r]|\\[nr]|\\$/)
        }),
        { seed, numRuns: 1_000 },
      ),
    )
  })

  test('a private key, JSON and a URL', () => {
    const variables = [
      { key: 'PEM', value: '-----BEGIN KEY-----\nabc\n-----END KEY-----\n' },
      { key: 'JSON', value: '{"a": "it\'s #1"}' },
      { key: 'URL', value: 'postgresql://u:p@h/db?x=1#y' },
    ]
    const { text, left_out } = formatDotenv(variables)
    expect(left_out).toEqual([])
    expect(parse(text)).toEqual(Object.fromEntries(variables.map(({ key, value }) => [key, value])))
  })
})

test('each assignment has its line number, and so does each invalid line', () => {
  const text = ['\uFEFF', '# ours', '', 'A=1', "B='x", "y'", 'just words', '   ', 'export C=2 # two', 'D', '', 'A=3'].join('\r\n')
  const { entries, invalidLines } = parseDotenvLines(text)
  expect(entries).toEqual([
    { key: 'A', value: '1', line: 4 },
    { key: 'B', value: 'x\ny', line: 5 },
    { key: 'C', value: '2', line: 9 },
    { key: 'A', value: '3', line: 12 },
  ])
  expect(invalidLines).toEqual([7, 10])
})
