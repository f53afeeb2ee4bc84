import { fireEvent, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FilterBar } from '../../../renderer/features/database-browser/filter-bar.tsx'
import { DatabaseMissing } from '../../../renderer/features/database-browser/no-database.tsx'
import { PlanTree } from '../../../renderer/features/database-browser/plan-tree.tsx'
import { TableList } from '../../../renderer/features/database-browser/table-list.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { ApiError } from '../../../server/client/api-error.ts'
import type { DatabaseTable, PlanNode, RowFilter } from '../../../server/contract/database-browser.ts'
import { renderPart } from '../../support/dashboard.tsx'

const column = (name: string) => ({ name, type: 'text', is_nullable: true, default: null, is_generated: false, enum_values: null })
const createTable = (own: Partial<DatabaseTable> = {}): DatabaseTable => ({
  schema: 'public',
  name: 'items',
  kind: 'table',
  columns: [column('id'), column('name')],
  primary_key: ['id'],
  row_key: ['id'],
  foreign_keys: [],
  indexes: [],
  row_estimate: null,
  size_bytes: null,
  ...own,
})
const createNode = (own: Partial<PlanNode> = {}): PlanNode => ({
  type: 'Seq Scan',
  relation: null,
  details: {},
  startup_cost: 0,
  total_cost: 100,
  plan_rows: 1000,
  actual_ms: null,
  actual_rows: null,
  loops: null,
  children: [],
  ...own,
})
const becomeRemote = () => useConnection.setState({ current: { ...localConnection, id: 'rem_1' } })
const button = (name: string) => screen.getByRole('button', { name })

beforeEach(() => localStorage.removeItem('homeport.sql.shop'))
afterEach(() => {
  localStorage.removeItem('homeport.sql.shop')
  vi.restoreAllMocks()
})

test.each<[string, Parameters<typeof DatabaseMissing>[0]['error'], boolean, string]>([
  ['loads', null, false, 'Loading'],
  ['is missing', null, true, 'No database Its tables and rows appear here once the project has one. Create a database'],
  [
    'is on an older instance',
    new ApiError('route_not_found', 'No.'),
    false,
    'No database This instance runs an older Homeport, which has no database browser.',
  ],
  ['fails', new ApiError('database_unavailable', 'It is down.'), false, 'It is down. database_unavailableHow to fix it Try again'],
])('a database that %s', async (_, error, isMissing, expected) => {
  const onRetry = vi.fn()
  const { user, text } = renderPart(<DatabaseMissing slug="shop" isMissing={isMissing} error={error} onRetry={onRetry} />)
  expect(text()).toBe(expected)
  for (const retry of screen.queryAllByRole('button')) await user.click(retry)
  expect(onRetry.mock.calls).toHaveLength(expected.endsWith('Try again') ? 1 : 0)
})

test.each([
  ['is known', null, 'No database Hosted accounts have no database browser. Connect with psql instead.'],
  ['is not known yet', undefined, 'Loading'],
])('a hosted account that %s', (_, session, expected) => {
  becomeRemote()
  const data: [readonly unknown[], unknown][] = session === undefined ? [] : [[queryKeys.session, session]]
  expect(renderPart(<DatabaseMissing slug="shop" isMissing={false} error={null} onRetry={() => {}} />, { data }).text()).toBe(expected)
})

const tables = (count: number) => Array.from({ length: count }, (_, index) => createTable({ name: `Table${index}` }))
test('tables are listed by schema, with their kind and size', () => {
  const list = [
    createTable({ size_bytes: 2000 }),
    createTable({ schema: 'audit', name: 'entries', size_bytes: 0 }),
    createTable({ name: 'totals', kind: 'materialized_view' }),
  ]
  const { text } = renderPart(<TableList tables={list} selected={list[1]} onSelect={() => {}} />)
  expect(text().replace(/^.*?\[Tables\]/, '[Tables]')).toBe('[Tables] [public] public items2 kB [View] totals [audit] audit entries0 B')
  expect(screen.getAllByRole('button').map((one) => one.getAttribute('aria-current'))).toEqual([null, null, 'true'])
  expect(screen.getByLabelText('Table')).toHaveProperty('value', '["audit","entries"]')
})

test('a table is selected in the list or in the select', async () => {
  const [first, second] = [createTable(), createTable({ name: 'orders' })]
  const onSelect = vi.fn()
  const { user } = renderPart(<TableList tables={[first, second]} selected={undefined} onSelect={onSelect} />)
  expect(screen.getAllByRole('button').map((one) => one.getAttribute('aria-current'))).toEqual([null, null])
  await user.click(button('orders'))
  await user.selectOptions(screen.getByLabelText('Table'), 'items')
  fireEvent.change(screen.getByLabelText('Table'), { target: { value: 'gone' } })
  expect(onSelect.mock.calls).toEqual([[second], [first]])
})

test('nine tables can be searched, eight cannot', async () => {
  const { user } = renderPart(<TableList tables={tables(9)} selected={undefined} onSelect={() => {}} />)
  await user.type(screen.getByLabelText('Find table'), 'TABLE7')
  expect(screen.getAllByRole('button').map(({ textContent }) => textContent)).toEqual(['Table7'])
})

test('eight tables need no search', () => {
  renderPart(<TableList tables={tables(8)} selected={undefined} onSelect={() => {}} />)
  expect(screen.queryByLabelText('Find table')).toBeNull()
})

test.each<[string, string, string, RowFilter]>([
  ['a value', '≥', '3', { column: 'name', op: 'gte', value: '3' }],
  ['no value', 'is NULL', '', { column: 'name', op: 'is_null' }],
  ['no value either', 'is not NULL', '', { column: 'name', op: 'is_not_null' }],
])('a filter with %s is added', async (_, operator, value, expected) => {
  const onChange = vi.fn()
  const before: RowFilter = { column: 'id', op: 'eq', value: '1' }
  const { user } = renderPart(<FilterBar table={createTable()} filters={[before]} onChange={onChange} />)
  expect(screen.getByLabelText('Column')).toHaveProperty('value', 'id')
  await user.selectOptions(screen.getByLabelText('Column'), 'name')
  await user.selectOptions(screen.getByLabelText('Condition'), operator)
  expect(screen.queryByLabelText('Value') === null).toBe(value === '')
  if (value !== '') await user.type(screen.getByLabelText('Value'), value)
  await user.click(button('Add filter'))
  expect(onChange.mock.calls).toEqual([[[before, expected]]])
  expect(screen.queryByLabelText('Value')?.getAttribute('value') ?? '').toBe('')
})

test('a filter is removed', async () => {
  const filters: RowFilter[] = [
    { column: 'id', op: 'ne', value: '1' },
    { column: 'name', op: 'is_null' },
  ]
  const onChange = vi.fn()
  const { user, text } = renderPart(<FilterBar table={createTable()} filters={filters} onChange={onChange} />)
  expect(text()).toMatch(/Add filter \[Remove filter id\] id ≠ 1 \[Remove filter name\] name is NULL$/)
  await user.click(button('Remove filter id'))
  expect(onChange.mock.calls).toEqual([[[filters[1]]]])
})

test.each<[string, PlanNode, number | null, number | null, string]>([
  [
    'that was not run',
    createNode({ relation: 'items' }),
    null,
    null,
    'Estimated cost 100. The statement was not run. Seq Scan itemsabout 1,000 rows · cost 100 [100 % of the cost]',
  ],
  [
    'that ran',
    createNode({ actual_ms: 2, actual_rows: 3, loops: 4 }),
    1,
    5,
    'Ran in 5 ms, planned in 1 ms. Seq Scan12 rows · 2 ms [100 % of the time]',
  ],
  ['without loops', createNode({ actual_ms: 2, actual_rows: 3 }), null, 5, 'Ran in 5 ms, planned in 0 ms. Seq Scan3 rows · 2 ms [100 % of the time]'],
  [
    'without a cost',
    createNode({ total_cost: 0 }),
    null,
    null,
    'Estimated cost 0. The statement was not run. Seq Scanabout 1,000 rows · cost 0 [0 % of the cost]',
  ],
  [
    'with details',
    createNode({ details: { 'Index Cond': '(a = 1)', 'Sort Key': 'b', Output: 'c' } }),
    null,
    null,
    'Estimated cost 100. The statement was not run. Seq Scanabout 1,000 rows · cost 100 [100 % of the cost] Index Cond: (a = 1)Sort Key: b',
  ],
  [
    'with steps',
    createNode({
      type: 'Join',
      children: [createNode({ total_cost: 20 }), createNode({ type: 'Sort', total_cost: 30, children: [createNode({ total_cost: 40 })] })],
    }),
    null,
    null,
    'Estimated cost 100. The statement was not run. Joinabout 1,000 rows · cost 100 [50 % of the cost] Seq Scanabout 1,000 rows · cost 20 [20 % of the cost] ' +
      'Sortabout 1,000 rows · cost 30 [0 % of the cost] Seq Scanabout 1,000 rows · cost 40 [40 % of the cost]',
  ],
])('a plan %s', (_, plan, planning_ms, execution_ms, expected) => {
  expect(renderPart(<PlanTree plan={plan} planning_ms={planning_ms} execution_ms={execution_ms} />).text()).toBe(`[Plan] ${expected}`)
})

test('expensive steps of a plan stand out', () => {
  const children = [createNode({ total_cost: 39 }), createNode({ total_cost: 40 }), createNode({ total_cost: 0 })]
  renderPart(<PlanTree plan={createNode({ children })} planning_ms={null} execution_ms={null} />)
  const bars = screen.getAllByRole('img').map(({ firstElementChild: bar }) => bar instanceof HTMLElement && [bar.style.width, bar.className !== ''])
  expect(bars).toEqual([
    ['21%', false],
    ['39%', false],
    ['40%', true],
    ['1%', false],
  ])
})
