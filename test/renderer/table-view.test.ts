import { expect, test } from 'vitest'
import { formatFilters, parseTableView } from '../../renderer/features/database-browser/table-view.ts'

const column = { name: 'price', type: 'integer', is_nullable: false, default: null, is_generated: false, references: null }
const table = { columns: [column, { ...column, name: 'id' }] } as unknown as Parameters<typeof parseTableView>[1]
const parse = (values: { filter?: string; order?: string }) => parseTableView(new URLSearchParams(Object.entries(values)), table)

test('filters and order survive in the address', () => {
  const filters = [
    { column: 'price', op: 'gte' as const, value: '["a",1]' },
    { column: 'id', op: 'is_null' as const },
  ]
  expect(parse({ filter: formatFilters(filters), order: '-price' })).toEqual({ filters, order: '-price' })
  expect(formatFilters([])).toBe('')
})

test.each([
  {},
  { filter: 'x' },
  { filter: '{}' },
  { filter: '[1,["price"],["price","drop"],["price","eq",1],[["price"],"eq","1"],["gone","eq","1"]]', order: 'gone' },
])('ignores what is no filter of the table: %j', (values) => expect(parse(values)).toEqual({ filters: [], order: null }))
