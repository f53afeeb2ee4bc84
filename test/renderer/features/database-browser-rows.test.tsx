import { screen, waitFor } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { RowDialog } from '../../../renderer/features/database-browser/row-dialog.tsx'
import type { CallOutput } from '../../../server/client/operation-types.ts'
import type { DatabaseCell, DatabaseTable, TableColumn } from '../../../server/contract/database-browser.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createColumn = (own: Partial<TableColumn>): TableColumn => ({
  name: 'id',
  type: 'text',
  is_nullable: false,
  default: null,
  is_generated: false,
  enum_values: null,
  ...own,
})
const createTable = (own: Partial<DatabaseTable> = {}): DatabaseTable => ({
  schema: 'public',
  name: 'items',
  kind: 'table',
  columns: [createColumn({ name: 'id', type: 'integer', is_generated: true }), createColumn({ name: 'name', is_nullable: true, default: "'new'" })],
  primary_key: ['id'],
  row_key: ['id'],
  foreign_keys: [],
  indexes: [],
  row_estimate: 5000,
  size_bytes: null,
  ...own,
})
type RowPage = CallOutput<'listDatabaseRows'>
const createPage = (rows: DatabaseCell[][], own: Partial<RowPage> = {}): RowPage => ({
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'name', type: 'text' },
  ],
  row_key: ['id'],
  rows: rows.map((values) => ({ key: [String(values[0])], values })),
  next_cursor: null,
  ...own,
})
function renderDialog(
  options: {
    table?: DatabaseTable
    row_key?: string[] | null
    column?: string
    values?: DatabaseCell[] | null
    answers?: PartOptions['answers']
  } = {},
) {
  const { table = createTable(), row_key = ['1'], column, values = [1, 'Lamp'], answers = {} } = options
  answers.listDatabaseRows ??= createPage(values === null ? [] : [values])
  const onClose = vi.fn()
  const part = renderPart(<RowDialog slug="shop" table={table} row_key={row_key} column={column} onClose={onClose} />, {
    answers,
  })
  return { ...part, onClose }
}
const answer = (applied: boolean): CallOutput<'changeDatabaseRows'> => ({ statements: ['UPDATE a', 'UPDATE b'], applied })
const field = (name: string) => screen.getByLabelText(name)
const loaded = (name = 'name') => screen.findByLabelText(name)
const button = (name: string) => screen.getByRole('button', { name })
const target = { schema: 'public', table: 'items' }
const change = (body: object) => ({ operation: 'changeDatabaseRows', params: { slug: 'shop' }, body })

test('a row loads', () => {
  expect(renderPart(<RowDialog slug="shop" table={createTable()} row_key={['1']} column={undefined} onClose={() => {}} />).text()).toBe(
    'Row of items Loading [Close]',
  )
})

test('a row that cannot be loaded says why', async () => {
  const { text } = renderDialog({ answers: { listDatabaseRows: problemResponse('query_failed', 'No access.') } })
  expect(await screen.findByText('No access.')).toBeTruthy()
  expect(text()).not.toContain('Show SQL')
})

test('a row that is gone says so', async () => {
  const { text } = renderDialog({ values: null })
  expect(await screen.findByText('This row no longer exists.')).toBeTruthy()
  expect(text()).toBe('Row of items This row no longer exists. [Close]')
})

test('a row is changed after its SQL is shown', async () => {
  const { user, sent, text, onClose } = renderDialog({ answers: { changeDatabaseRows: answer(false) } })
  await loaded()
  expect(text()).toBe('Row of items id integer [id] 1 name text [name is NULL] NULL [name] Lamp Delete… Show SQL… [Close]')
  expect(field('id')).toHaveProperty('disabled', true)
  expect(button('Show SQL…')).toHaveProperty('disabled', true)
  await user.type(field('name'), '!')
  await user.click(button('Show SQL…'))
  const update = { kind: 'update', ...target, key: { id: '1' }, values: { name: 'Lamp!' }, expected: { name: 'Lamp' } }
  expect(sent).toEqual([change({ changes: [update], preview: true })])
  expect(await screen.findByLabelText('SQL')).toBeTruthy()
  expect(text()).toBe('Row of items This statement runs, and has to change exactly one row. [SQL] UPDATE a; UPDATE b Back Apply change [Close]')
  expect(button('Apply change').className).toContain('button-primary')
  await user.click(button('Apply change'))
  expect(sent.slice(1)).toEqual([change({ changes: [update] })])
  await waitFor(() => expect(onClose.mock.calls).toHaveLength(1))
})

test('a change that fails says why until the user goes back', async () => {
  const answers: PartOptions['answers'] = { changeDatabaseRows: answer(false) }
  const { user, text, onClose } = renderDialog({ answers })
  await user.type(await loaded(), '!')
  await user.click(button('Show SQL…'))
  answers.changeDatabaseRows = problemResponse('row_changed', 'Another program changed it.')
  await user.click(await screen.findByRole('button', { name: 'Apply change' }))
  expect(await screen.findByText('Another program changed it.')).toBeTruthy()
  await user.click(button('Back'))
  expect(field('name')).toHaveProperty('value', 'Lamp!')
  expect(text()).not.toContain('Another program')
  expect(onClose.mock.calls).toEqual([])
})

test('SQL that cannot be shown says why', async () => {
  const { user } = renderDialog({ answers: { changeDatabaseRows: problemResponse('query_failed', 'No access.') } })
  await user.type(await loaded(), '!')
  await user.click(button('Show SQL…'))
  expect(await screen.findByText('No access.')).toBeTruthy()
  expect(field('name')).toHaveProperty('value', 'Lamp!')
})

test('a row is deleted after its SQL is shown', async () => {
  const { user, sent } = renderDialog({ answers: { changeDatabaseRows: answer(false) } })
  await loaded()
  await user.click(button('Delete…'))
  const changes = [{ kind: 'delete', ...target, key: { id: '1' } }]
  expect(sent).toEqual([change({ changes, preview: true })])
  await user.click(await screen.findByRole('button', { name: 'Delete row' }))
  expect(button('Delete row').className).toContain('button-danger')
  expect(sent.slice(1)).toEqual([change({ changes })])
})

test('a value becomes NULL and is a text again', async () => {
  const { user, sent } = renderDialog({ answers: { changeDatabaseRows: answer(false) } })
  await loaded()
  const box = screen.getByRole('checkbox', { name: 'name is NULL' })
  await user.click(box)
  expect(box).toHaveProperty('checked', true)
  expect(field('name')).toHaveProperty('placeholder', 'NULL')
  await user.click(box)
  expect(box).toHaveProperty('checked', false)
  expect(field('name')).toHaveProperty('placeholder', '')
  await user.click(box)
  await user.click(button('Show SQL…'))
  expect(sent.map(({ body }) => body)).toEqual([
    { changes: [{ kind: 'update', ...target, key: { id: '1' }, values: { name: null }, expected: { name: 'Lamp' } }], preview: true },
  ])
})

test('a row with NULL shows it', async () => {
  renderDialog({ values: [1, null] })
  await loaded()
  expect(screen.getByRole('checkbox', { name: 'name is NULL' })).toHaveProperty('checked', true)
})

test('a row of a table without a key can only be read', async () => {
  const { text } = renderDialog({ table: createTable({ row_key: [] }) })
  await loaded()
  expect(text()).toBe('Row of items id integer [id] 1 name text [name] Lamp Show SQL… [Close]')
  expect(field('name')).toHaveProperty('disabled', true)
})

test('the column that was clicked has the focus, if it can be changed', async () => {
  renderDialog({ column: 'name' })
  const name = await loaded()
  expect(document.activeElement).toBe(name)
})

test('a new row has the values that were entered', async () => {
  const columns = [
    createColumn({ name: 'id', is_generated: true }),
    createColumn({ name: 'name', default: "'new'" }),
    createColumn({ name: 'note', is_nullable: true }),
  ]
  const { user, sent, text } = renderDialog({ row_key: null, table: createTable({ columns, row_key: [] }) })
  await loaded()
  expect(text()).toBe('New row in items id text [id] name text [name] note text [note is NULL] NULL [note] Show SQL… [Close]')
  expect(['id', 'name', 'note'].map((name) => field(name).getAttribute('placeholder'))).toEqual(['generated', "'new'", ''])
  expect([field('id'), field('name')].map((one) => one.hasAttribute('disabled'))).toEqual([true, false])
  expect(button('Show SQL…')).toHaveProperty('disabled', false)
  await user.type(field('name'), 'Lamp')
  await user.click(screen.getByRole('checkbox', { name: 'note is NULL' }))
  await user.click(button('Show SQL…'))
  expect(sent).toEqual([change({ changes: [{ kind: 'insert', ...target, values: { name: 'Lamp', note: null } }], preview: true })])
})

test.each<[string, boolean, string[] | null, string[]]>([
  ['a row', false, ['1'], ['S', 'M']],
  ['a row that may be NULL', true, ['1'], ['', 'S', 'M']],
  ['a new row', false, null, ["'S'", 'S', 'M']],
])('%s offers the values of an enum', async (_, is_nullable, row_key, expected) => {
  const columns = [createColumn({ name: 'id' }), createColumn({ name: 'size', is_nullable, default: "'S'", enum_values: ['S', 'M'] })]
  const { user } = renderDialog({ row_key, values: ['1', 'M'], table: createTable({ columns }) })
  const select = await loaded('size')
  expect([...select.querySelectorAll('option')].map(({ textContent }) => textContent)).toEqual(expected)
  expect(select).toHaveProperty('value', row_key === null ? '' : 'M')
  await user.selectOptions(select, expected[0] ?? '')
  expect(select).toHaveProperty('value', expected.length === 3 ? '' : 'S')
})

test.each<[string, string, number]>([
  ['one line', 'Lamp', 1],
  ['lines', 'a\nb\nc', 3],
  ['a long line', 'x'.repeat(121), 3],
  ['many lines', 'a\n'.repeat(20), 12],
])('a field with %s is as high as its text', async (_, value, rows) => {
  renderDialog({ values: [1, value] })
  expect((await loaded()).getAttribute('rows')).toBe(String(rows))
})
