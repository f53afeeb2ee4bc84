import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { columnWidths, cellText, isNumberType, prettyText, shortCellText } from '../../../renderer/features/database-browser/cell-text.ts'
import { addToHistory, clearHistory, readHistory } from '../../../renderer/features/database-browser/query-history.ts'
import type { DatabaseCell } from '../../../server/contract/database-browser.ts'

beforeEach(() => localStorage.removeItem('homeport.sql.shop'))
afterEach(() => {
  localStorage.removeItem('homeport.sql.shop')
  vi.restoreAllMocks()
})

test.each<[string, DatabaseCell, string, string | null, string]>([
  ['NULL', null, 'text', null, 'NULL'],
  ['a boolean', false, 'boolean', 'false', 'false'],
  ['a number', 0, 'integer', '0', '0'],
  ['text', 'a  b\n c', 'text', 'a  b\n c', 'a b c'],
  ['text of 200 characters', 'x'.repeat(200), 'text', 'x'.repeat(200), 'x'.repeat(200)],
  ['longer text', 'x'.repeat(201), 'text', 'x'.repeat(201), `${'x'.repeat(200)}…`],
  ['a large value', { text: 'abc', size_bytes: 2000 }, 'text', 'abc', 'abc (2 kB)'],
  ['bytes', '\\x0a0b', 'bytea', '\\x0a0b', '\\x0a0b (2 B)'],
  ['bytes in another format', 'abc', 'bytea', 'abc', 'abc'],
  ['text that looks like bytes', '\\x0a0b', 'text', '\\x0a0b', '\\x0a0b'],
])('the text of a cell: %s', (_, cell, type, text, short) => {
  expect(cellText(cell)).toBe(text)
  expect(shortCellText(cell, type)).toBe(short)
})

test.each([
  ['{"a":1}', 'json', '{\n  "a": 1\n}'],
  ['{"a":1}', 'jsonb', '{\n  "a": 1\n}'],
  ['{"a":1}', 'text', '{"a":1}'],
  ['{"a":', 'json', '{"a":'],
])('%s of type %s is shown in lines if it is JSON', (text, type, expected) => expect(prettyText(text, type)).toBe(expected))

test.each([
  ['smallint', true],
  ['numeric(10,2)', true],
  ['double precision', true],
  ['text', false],
  ['my integer', false],
])('numbers are aligned to the right: %s', (type, expected) => expect(isNumberType(type)).toBe(expected))

test('columns are as wide as their first rows, within limits', () => {
  const columns = [
    { name: 'a', type: 'text' },
    { name: 'name', type: 'character varying' },
    { name: 'b', type: 'text' },
    { name: 'c', type: 'text' },
    { name: 'd', type: 'text' },
  ]
  const rows = [['x', 'x', 'x'.repeat(20), 'x'.repeat(100)], ...Array.from({ length: 39 }, () => ['x']), ['x'.repeat(30)]]
  expect(columnWidths(columns, rows)).toEqual([79, 163, 178, 320, 79])
})

test('the last statements are kept, newest first and once', () => {
  addToHistory('shop', ' SELECT 1 ')
  addToHistory('shop', 'SELECT 2')
  expect(addToHistory('shop', 'SELECT 1').map(({ sql }) => sql)).toEqual(['SELECT 1', 'SELECT 2'])
  expect(readHistory('shop').map(({ sql }) => sql)).toEqual(['SELECT 1', 'SELECT 2'])
  expect(readHistory('blog')).toEqual([])
  clearHistory('shop')
  expect(readHistory('shop')).toEqual([])
})

test.each([
  ['an empty statement', ' ', 0],
  ['the longest statement', 'x'.repeat(20_000), 1],
  ['a longer statement', 'x'.repeat(20_001), 0],
])('the history of %s', (_, sql, count) => {
  expect(addToHistory('shop', sql)).toHaveLength(count)
  expect(readHistory('shop')).toHaveLength(count)
})

test('the history has at most 50 statements', () => {
  for (let index = 0; index < 51; index++) addToHistory('shop', `SELECT ${index}`)
  expect(readHistory('shop')).toHaveLength(50)
})

test.each(['x', '{}', '[1,null,{"sql":"a"},{"at":"b"},{"sql":1,"at":"b"},{"sql":"a","at":2}]'])('%s is no history', (text) => {
  localStorage.setItem('homeport.sql.shop', text)
  expect(readHistory('shop')).toEqual([])
})
