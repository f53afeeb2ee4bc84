import { describe, expect, test } from 'vitest'
import { highlightWords } from '../../renderer/features/log-search/highlight-words.ts'
import { isStructured, parseLogFields, summarizeLine } from '../../renderer/features/logs/log-fields.ts'
import type { LogLine } from '../../renderer/features/logs/log-line.ts'

const line = (text: string): LogLine => ({ text, source: 'stdout', ts: null, group: null, number: 1 })

describe('fields of a line', () => {
  test('of JSON, with nested names; also when it is colored', () => {
    const fields = parseLogFields(line('\u001b[2m{"level":"warn","order":{"id":7,"tags":["a"]},"none":null,"empty":{}}\u001b[22m'))
    expect(fields.map(({ name, value }) => `${name}=${value}`)).toEqual(['level=warn', 'order.id=7', 'order.tags=["a"]', 'none=null', 'empty={}'])
  })

  test.each([
    ['{"a":1}', true],
    [' {"a":1} ', true],
    ['\u001b[2m{"a":1}\u001b[22m', true],
    ['{ a: 1 }', false],
    ['text {"a":1}', false],
    ['["a"]', false],
  ])('%j looks structured: %s', (text, expected) => {
    expect(isStructured(line(text))).toBe(expected)
  })

  test('none of what only looks like JSON', () => {
    expect(parseLogFields(line('{"a":}'))).toEqual([])
    expect(parseLogFields(line('["a"]'))).toEqual([])
  })
})

describe('a JSON line as text', () => {
  test.each([
    [
      '{"level":"warn","time":"2026-11-26T16:29:25.980Z","msg":"stock is low","sku":"LAMP-1","order":{"id":7}}',
      'WARN stock is low  sku=LAMP-1 order.id=7',
    ],
    ['{"level":30,"message":"ready"}', 'INFO ready'],
    ['\u001b[2m{"msg":"two\\nlines"}\u001b[22m', 'two lines'],
    ['{"msg":"a\\u202eb"}', 'a\uFFFDb'],
    ['{"event":"without a message"}', undefined],
    [`{"msg":"${'x'.repeat(5_000)}"}`, undefined],
    ['plain', undefined],
  ])('%j', (text, expected) => {
    expect(summarizeLine(line(text))).toBe(expected)
  })
})

describe('marks in a found line', () => {
  const marked = (text: string, search: string) =>
    highlightWords(text, search)
      .map((part) => (part.is_match ? `[${part.text}]` : part.text))
      .join('')

  test.each([
    ['Order 7 accepted', 'order acc', '[Order] 7 [acc]epted'],
    ['a refused by b', '"refused by"', 'a [refused by] b'],
    ['price (total)', '(total)', 'price [(total)]'],
    ['anything', '', 'anything'],
  ])('%s, searched for %s', (text, search, expected) => {
    expect(marked(text, search)).toBe(expected)
  })
})
