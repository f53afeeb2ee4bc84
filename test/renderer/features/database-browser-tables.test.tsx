import { screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import TablesPage from '../../../renderer/features/database-browser/tables-page.tsx'
import type { CallOutput } from '../../../server/client/operation-types.ts'
import type { DatabaseCell, DatabaseTable, RowFilter, TableColumn } from '../../../server/contract/database-browser.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

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

beforeEach(() => {
  history.replaceState(null, '', '/app/projects/shop/database/tables')
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(400)
})
afterEach(() => vi.restoreAllMocks())

test('the page loads', () => {
  expect(renderPart(<TablesPage slug="shop" />, { data: [[queryKeys.project('shop'), createExample(project, { name: 'Shop' })]] }).text()).toBe(
    'Loading',
  )
  expect(document.title).toBe('Tables · Shop · Homeport')
})

test('a page without a project is called by its slug', () => {
  renderTables()
  expect(document.title).toBe('Tables · shop · Homeport')
})

test('a schema that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { findDatabase: problemResponse('project_not_found', 'It is gone.') }
  const { user, text } = renderPart(<TablesPage slug="shop" />, { answers })
  expect(await screen.findByText('It is gone.')).toBeTruthy()
  answers.findDatabase = { database: null, unavailable: null }
  await user.click(button('Try again'))
  await waitFor(() => expect(text()).toBe('No database Its tables and rows appear here once the project has one. Create a database'))
})

test('an empty database has no tables', () => {
  expect(renderTables({ tables: [] }).text()).toBe(
    'No tables The database is empty. Tables appear here when the app or a statement creates them. Open SQL',
  )
})

test('rows load', () => expect(renderTables().text()).toMatch(/\[Reload rows\] Add row Loading$/))

test.each<[string, TableOptions, string]>([
  ['without rows', { page: createPage([]) }, 'Add row No rows Rows appear here when the app writes them. 0 rows About the browser'],
  ['with one row', { page: createPage([[1, 'Lamp']]) }, '1 row About the browser'],
  [
    'with rows',
    {
      page: createPage([
        [1, 'Lamp'],
        [2, null],
      ]),
    },
    '2 rows About the browser',
  ],
  ['with more rows', { page: createPage([[1, 'Lamp']], 'next') }, '1 row; scroll to load more of about 5,000 About the browser'],
  [
    'with more rows and no estimate',
    { tables: [createTable({ row_estimate: null })], page: createPage([[1, 'Lamp']], 'next') },
    '1 row; scroll to load more About the browser',
  ],
  [
    'without a key',
    { tables: [createTable({ row_key: [] })], page: createPage([[1, 'Lamp']]) },
    '1 row · Rows cannot be edited here, because there is no primary key. About the browser',
  ],
])('a table %s says how many it has', (_, options, expected) => {
  expect(renderTables(options).text().endsWith(expected)).toBe(true)
})

test('a filter that matches nothing can be removed', () => {
  const filters: RowFilter[] = [{ column: 'id', op: 'eq', value: '3' }]
  history.replaceState(null, '', `?filter=${encodeURIComponent('[["id","eq","3"]]')}`)
  expect(renderTables({ filters, page: createPage([]) }).text()).toContain('No rows match Remove a filter to see more rows.')
})

test('rows that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { listDatabaseRows: problemResponse('query_failed', 'No access.') }
  const { user, text } = renderTables({ answers })
  expect(await screen.findByText('No access.')).toBeTruthy()
  expect(text()).not.toContain('Loading')
  answers.listDatabaseRows = createPage([[1, 'Lamp']])
  await user.click(button('Try again'))
  expect(await screen.findByText('Lamp')).toBeTruthy()
})

test.each([
  ['table', true],
  ['partitioned_table', true],
  ['foreign_table', true],
  ['view', false],
  ['materialized_view', false],
] as const)('rows can be added to a %s: %s', (kind, expected) => {
  renderTables({ tables: [createTable({ kind })] })
  expect(screen.queryByRole('button', { name: 'Add row' }) !== null).toBe(expected)
})

test('a filter is written to the address', async () => {
  const { user } = renderTables()
  await user.type(screen.getByLabelText('Value'), '3')
  await user.click(button('Add filter'))
  expect(params()).toEqual({ filter: '[["id","eq","3"]]' })
  await user.click(button('Remove filter id'))
  expect(params()).toEqual({})
})

test('another table replaces the view of the first one', async () => {
  history.replaceState(null, '', '?order=id')
  const { user } = renderTables({ tables: [createTable(), createTable({ name: 'orders' })] })
  await user.click(button('orders'))
  expect(params()).toEqual({ table: '["public","orders"]' })
  expect(screen.getByRole('region', { name: 'orders' })).toBeTruthy()
})

test('the address selects a table', () => {
  history.replaceState(null, '', `?table=${encodeURIComponent('["public","orders"]')}`)
  renderTables({ tables: [createTable(), createTable({ name: 'orders' })] })
  expect(button('orders').getAttribute('aria-current')).toBe('true')
})
const headers = () => screen.getAllByRole('columnheader')

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
