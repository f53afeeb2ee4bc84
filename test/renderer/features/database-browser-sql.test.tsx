import { fireEvent, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { addToHistory, readHistory } from '../../../renderer/features/database-browser/query-history.ts'
import SqlPage from '../../../renderer/features/database-browser/sql-page.tsx'
import type { QueryRun } from '../../../renderer/features/database-browser/use-query-run.ts'
import { toApiError } from '../../../renderer/lib/api-error.ts'
import type { PlanNode, QueryRecord, QueryError } from '../../../server/contract/database-browser.ts'
import { databaseDump } from '../../../server/contract/databases.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'
import { QueryResults } from '../../../renderer/features/database-browser/query-results.tsx'
import { ApiError } from '../../../server/client/api-error.ts'

type End = NonNullable<QueryRun['end']>
const done = (own: Partial<Extract<End, { type: 'done' }>> = {}): End => ({
  type: 'done',
  command: 'UPDATE',
  row_count: 3,
  truncated: null,
  duration_ms: 12,
  notices: [],
  ...own,
})
const columns = [{ name: 'id', type: 'integer' }]
const dump = createExample(databaseDump)
const plan: PlanNode = {
  type: 'Seq Scan',
  relation: null,
  details: {},
  startup_cost: 0,
  total_cost: 7,
  plan_rows: 1,
  actual_ms: null,
  actual_rows: null,
  loops: null,
  children: [],
}
const records = (...lines: QueryRecord[]) => new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
/** The page with a statement in its history, so that the editor has it from the start. */
function renderSql(answers: PartOptions['answers'] = {}, sql = 'SELECT 1') {
  if (sql !== '') addToHistory('shop', sql)
  return renderPart(<SqlPage slug="shop" />, { data: [[queryKeys.databaseSchema('shop'), { tables: [], is_truncated: false }]], answers })
}
const button = (name: string) => screen.getByRole('button', { name })
const isDisabled = (name: string) => button(name).hasAttribute('disabled')
const type = (value: string) => fireEvent.change(screen.getByLabelText('SQL'), { target: { value } })
const withoutIds = (sent: { body?: unknown }[]) => sent.map(({ body }) => ({ ...(body as object), id: null }))

beforeEach(() => localStorage.removeItem('homeport.sql.shop'))
afterEach(() => localStorage.removeItem('homeport.sql.shop'))

test('the console needs a statement', () => {
  const { text } = renderSql({}, '')
  expect(text()).toBe(
    '[Statement] [SQL] Run Explain Explain and run Allow changes Statements run in a read-only transaction, as the role of the app. About statements and their limits',
  )
  expect(document.title).toBe('SQL · shop · Homeport')
  type(' ')
  expect(['Run', 'Explain', 'Explain and run'].map(isDisabled)).toEqual([true, true, true])
  type('SELECT 1')
  expect(['Run', 'Explain', 'Explain and run'].map(isDisabled)).toEqual([false, false, false])
})

test('the console waits for its database', () => {
  expect(renderPart(<SqlPage slug="shop" />, { data: [[queryKeys.project('shop'), createExample(project, { name: 'Shop' })]] }).text()).toBe(
    'Loading',
  )
  expect(document.title).toBe('SQL · Shop · Homeport')
})

test('a database that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { findDatabase: problemResponse('project_not_found', 'It is gone.') }
  const { user } = renderPart(<SqlPage slug="shop" />, { answers })
  expect(await screen.findByText('It is gone.')).toBeTruthy()
  answers.findDatabase = { database: null, unavailable: null }
  await user.click(button('Try again'))
  expect(await screen.findByText('No database')).toBeTruthy()
})

test('a statement is run and its result is shown', async () => {
  const { user, sent, text } = renderSql({ queryDatabase: records({ type: 'columns', columns }, { type: 'rows', rows: [[1], [2]] }, done()) })
  await user.click(button('Run'))
  expect(withoutIds(sent)).toEqual([{ sql: 'SELECT 1', id: null, read_only: true, max_rows: 100_000, timeout_ms: 600_000 }])
  expect(await screen.findByText('2 rows in 12 ms')).toBeTruthy()
  expect(text()).toContain('Explain and run [History]')
  expect(button('Run')).toBeTruthy()
})

test('a statement that changes data is marked', async () => {
  const { user, sent, text } = renderSql({ queryDatabase: records({ type: 'snapshot', dump }, done()) })
  expect(button('Run').className).toContain('button-primary')
  await user.click(screen.getByRole('switch', { name: 'Allow changes' }))
  expect(text()).toContain(
    'Statements change the data of the running app. A small database is dumped before a statement that deletes or replaces data.',
  )
  expect(button('Run and change data').className).toContain('button-danger')
  await user.click(button('Run and change data'))
  expect(sent.map(({ body }) => body)).toEqual([expect.objectContaining({ read_only: false })])
  expect(await screen.findByText('UPDATE: 3 rows in 12 ms')).toBeTruthy()
  expect(text()).toContain('The data from before is in a new dump.')
})

test('a running statement is canceled', async () => {
  const { user, sent, text } = renderSql()
  await user.click(button('Run'))
  expect(text()).toContain('The statement is running.')
  expect(['Explain', 'Explain and run'].map(isDisabled)).toEqual([true, true])
  await user.click(button('Cancel'))
  const [query, cancel] = sent
  expect(cancel).toEqual({ operation: 'cancelDatabaseQuery', params: { slug: 'shop', id: expect.any(String) } })
  expect(query?.body).toMatchObject({ id: cancel?.params.id })
})

test('a statement that cannot be sent says why', async () => {
  const { user } = renderSql({ queryDatabase: problemResponse('too_many_queries', 'Wait for the others.') })
  await user.click(button('Run'))
  expect(await screen.findByText('Wait for the others.')).toBeTruthy()
  expect(button('Run')).toBeTruthy()
})

test('a result that is no JSON is an error', async () => {
  const { user } = renderSql({ queryDatabase: new Response('no\n') })
  await user.click(button('Run'))
  expect(await screen.findByText(toApiError(null).message)).toBeTruthy()
})

test.each([
  ['Explain', false],
  ['Explain and run', true],
])('%s shows the plan instead of the result', async (name, analyze) => {
  const { user, sent, text } = renderSql({
    explainDatabaseQuery: { plan, planning_ms: null, execution_ms: null },
    queryDatabase: records(done()),
  })
  await user.click(button(name))
  expect(sent.map(({ body }) => body)).toEqual([{ sql: 'SELECT 1', analyze, read_only: true }])
  expect(await screen.findByText('Estimated cost 7. The statement was not run.')).toBeTruthy()
  await user.click(button('Run'))
  expect(await screen.findByText('UPDATE: 3 rows in 12 ms')).toBeTruthy()
  expect(text()).not.toContain('Estimated cost')
  await user.click(button(name))
  expect(text()).not.toContain('UPDATE: 3 rows')
})

test('a plan of a change is made with permission to change', async () => {
  const { user, sent } = renderSql({ explainDatabaseQuery: problemResponse('query_failed', 'No such table.') })
  await user.click(screen.getByRole('switch', { name: 'Allow changes' }))
  await user.click(button('Explain and run'))
  expect(sent.map(({ body }) => body)).toEqual([{ sql: 'SELECT 1', analyze: true, read_only: false }])
  expect(await screen.findByText('No such table.')).toBeTruthy()
})

test('the history gives earlier statements back', async () => {
  addToHistory('shop', 'SELECT\n  2')
  const { user, sent } = renderSql()
  const history = screen.getByLabelText('History')
  expect([...history.querySelectorAll('option')].map(({ textContent }) => textContent)).toEqual(['History', 'SELECT 1', 'SELECT 2'])
  await user.selectOptions(history, 'SELECT 2')
  await user.click(button('Run'))
  expect(sent.map(({ body }) => body)).toEqual([expect.objectContaining({ sql: 'SELECT\n  2' })])
  expect(readHistory('shop').map(({ sql }) => sql)).toEqual(['SELECT\n  2', 'SELECT 1'])
  await user.click(button('Clear history'))
  expect(screen.queryByLabelText('History')).toBeNull()
  expect(readHistory('shop')).toEqual([])
})

test.each([
  ['Ctrl and Enter', { key: 'Enter', ctrlKey: true }, 1],
  ['Command and Enter', { key: 'Enter', metaKey: true }, 1],
  ['Enter', { key: 'Enter' }, 0],
  ['Ctrl and another key', { key: 'a', ctrlKey: true }, 0],
])('in the plain editor, %s', (_, event, count) => {
  const { sent } = renderSql()
  fireEvent.keyDown(screen.getByLabelText('SQL'), event)
  expect(sent).toHaveLength(count)
})
const failed = (own: Partial<QueryError> = {}): End => ({
  type: 'error',
  error: { code: '42P01', message: 'No such table.', detail: null, hint: null, position: null, line: null, column: null, ...own },
  duration_ms: 12,
  notices: [],
})
const createRun = (own: Partial<QueryRun> = {}): QueryRun => ({
  sql: 'SELECT 1',
  columns: [],
  rows: [],
  row_count: 0,
  snapshot: null,
  end: null,
  problem: null,
  is_running: false,
  ...own,
})
const renderRun = (own: Partial<QueryRun>, onShowPosition = () => {}) =>
  renderPart(<QueryResults slug="shop" run={createRun(own)} onShowPosition={onShowPosition} />)

test.each<[string, Partial<QueryRun>, string]>([
  ['runs', { is_running: true }, 'The statement is running. [The statement is running.]'],
  [
    'runs and has a row',
    { is_running: true, columns, rows: [[1]], row_count: 1 },
    '[Rows of the result] [Rows of the result] id integer 1 row so far',
  ],
  [
    'runs and has rows',
    { is_running: true, columns, rows: [[1]], row_count: 1200 },
    '[Rows of the result] [Rows of the result] id integer 1,200 rows so far',
  ],
  ['returned a row', { columns, rows: [[1]], row_count: 1, end: done() }, '[Rows of the result] [Rows of the result] id integer 1 row in 12 ms'],
  ['returned no rows', { columns, end: done({ row_count: 0 }) }, '0 rows in 12 ms'],
  ['changed rows', { end: done() }, 'UPDATE: 3 rows in 12 ms'],
  ['changed nothing', { end: done({ command: 'CREATE TABLE', row_count: null }) }, 'CREATE TABLE in 12 ms'],
  ['has more rows', { columns, end: done({ truncated: 'rows' }) }, '0 rows in 12 ms; there are more rows'],
  ['is too large', { columns, end: done({ truncated: 'bytes' }) }, '0 rows in 12 ms; the result is too large and was cut'],
  ['was canceled', { end: failed({ code: '57014', message: 'canceling statement due to user request' }) }, 'Canceled.'],
  ['took too long', { end: failed({ code: '57014', message: 'statement timeout' }) }, 'statement timeout 57014'],
  ['has another error by the user', { end: failed({ message: 'bad user request' }) }, 'bad user request 42P01'],
  ['failed', { end: failed() }, 'No such table. 42P01'],
  [
    'failed with details',
    { end: failed({ detail: 'Detail.', hint: 'Hint.', position: 8, line: 1, column: 8 }) },
    'No such table. Detail. Hint. 42P01 Line 1, column 8',
  ],
  [
    'may not change data',
    { end: failed({ code: '25006' }) },
    'No such table. Statements are read-only here. Turn on “Allow changes” above, then run it again. 25006',
  ],
  ['may not change data and has a hint', { end: failed({ code: '25006', hint: 'Hint.' }) }, 'No such table. Hint. 25006'],
  ['saved the data from before', { snapshot: dump, end: done() }, 'The data from before is in a new dump. Open dumps UPDATE: 3 rows in 12 ms'],
  ['has notices', { end: done({ notices: ['one', 'two'] }) }, 'one two UPDATE: 3 rows in 12 ms'],
  ['lost its connection', { problem: new ApiError('unreachable', 'It is down.') }, 'It is down. unreachable'],
  ['stopped without an end', {}, ''],
])('a statement that %s', (_, own, expected) => {
  expect(
    renderRun(own)
      .text()
      .replace(/How to fix it$/, '')
      .trim(),
  ).toBe(`[Result] ${expected}`.trim())
})

test('the position of an error is shown in the editor', async () => {
  const onShowPosition = vi.fn()
  const { user } = renderRun({ end: failed({ position: 8, line: 1, column: 8 }) }, onShowPosition)
  await user.click(button('Line 1, column 8'))
  expect(onShowPosition.mock.calls).toEqual([[8]])
})
