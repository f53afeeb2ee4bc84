import { screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import TablesPage from '../../../renderer/features/database-browser/tables-page.tsx'
import type { CallOutput } from '../../../server/client/operation-types.ts'
import type { DatabaseCell, DatabaseTable, RowFilter, TableColumn } from '../../../server/contract/database-browser.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'

const createColumn = (name: string, type: string): TableColumn => ({
  name,
  type,
  is_nullable: true,
  default: null,
  is_generated: false,
  enum_values: null,
})
const createTable = (own: Partial<DatabaseTable> = {}): DatabaseTable => ({
  schema: 'public',
  name: 'items',
  kind: 'table',
  columns: [createColumn('id', 'integer'), createColumn('name', 'text')],
  primary_key: ['id'],
  row_key: ['id'],
  foreign_keys: [],
  indexes: [],
  row_estimate: 5000,
  size_bytes: null,
  ...own,
})
type RowPage = CallOutput<'listDatabaseRows'>
const createPage = (rows: DatabaseCell[][], next_cursor: string | null = null): RowPage => ({
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'name', type: 'text' },
  ],
  row_key: ['id'],
  rows: rows.map((values) => ({ key: [String(values[0])], values })),
  next_cursor,
})
const schemaOf = (tables: DatabaseTable[]) => ({ tables, is_truncated: false })
interface TableOptions {
  tables?: DatabaseTable[]
  page?: RowPage
  filters?: RowFilter[]
  order?: string | null
  answers?: PartOptions['answers']
}
/** The rows of the first table. The schema is asked for again with each visit. */
function renderTables({ tables = [createTable()], page, filters = [], order = null, answers = {} }: TableOptions = {}) {
  const [first] = tables
  const data: [readonly unknown[], unknown][] = [[queryKeys.databaseSchema('shop'), schemaOf(tables)]]
  if (first && page)
    data.push([queryKeys.databaseRows('shop', { schema: first.schema, table: first.name, filters, order }), { pages: [page], pageParams: [null] }])
  return renderPart(<TablesPage slug="shop" />, { data, answers })
}
const button = (name: string | RegExp) => screen.getByRole('button', { name })
const params = () => Object.fromEntries(new URLSearchParams(location.search))
const headers = () => screen.getAllByRole('columnheader')

beforeEach(() => {
  history.replaceState(null, '', '/app/projects/shop/database/tables')
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(400)
})
afterEach(() => {
  vi.restoreAllMocks()
  history.replaceState(null, '', '/app/')
})

test.each<[string, string | null, (string | null)[], object]>([
  ['by nothing', null, [null, null], { order: 'id' }],
  ['by the column', 'id', ['ascending', null], { order: '-id' }],
  ['by the column, descending', '-id', ['descending', null], {}],
  ['by another column', 'name', [null, 'ascending'], { order: 'id' }],
])('rows ordered %s are sorted by the next click', async (_, order, shown, expected) => {
  if (order !== null) history.replaceState(null, '', `?order=${order}`)
  const { user } = renderTables({ order, page: createPage([[1, 'Lamp']]) })
  expect(headers().map((one) => one.getAttribute('aria-sort'))).toEqual(shown)
  await user.click(button(/^id/))
  expect(params()).toEqual(expected)
})

test('a cell opens its row', async () => {
  const { user, text } = renderTables({
    page: createPage([
      [1, 'Lamp'],
      [2, null],
    ]),
  })
  expect(screen.getByRole('table').getAttribute('aria-rowcount')).toBe('3')
  expect(screen.getAllByRole('cell').map(({ textContent }) => textContent)).toEqual(['1', 'Lamp', '2', 'NULL'])
  expect(button('Edit row 2: 2').tabIndex).toBe(0)
  expect(button('NULL').tabIndex).toBe(-1)
  await user.click(button('NULL'))
  expect(text()).toContain('Row of items Loading')
  await user.click(button('Close'))
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('cells of a table without a key open nothing', () => {
  renderTables({ tables: [createTable({ row_key: [] })], page: createPage([[1, 'Lamp']]) })
  expect(screen.getAllByRole('cell').flatMap((cell) => [...cell.querySelectorAll('button')])).toEqual([])
})

test('a new row is added', async () => {
  const { user, text } = renderTables()
  await user.click(button('Add row'))
  expect(await screen.findByText('Show SQL…')).toBeTruthy()
  expect(text()).toMatch(/^New row in items/)
})

test('the end of the rows loads more', async () => {
  renderTables({ page: createPage([[1, 'Lamp']], 'next'), answers: { listDatabaseRows: createPage([[2, 'Chair']]) } })
  expect(await screen.findByText('Chair')).toBeTruthy()
})

test('rows are reloaded', async () => {
  const { user } = renderTables({ page: createPage([[1, 'Lamp']]), answers: { listDatabaseRows: createPage([[1, 'Chair']]) } })
  await user.click(button('Reload rows'))
  expect(await screen.findByText('Chair')).toBeTruthy()
})
