import { screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { QueryResults } from '../../../renderer/features/database-browser/query-results.tsx'
import type { QueryRun } from '../../../renderer/features/database-browser/use-query-run.ts'
import { ApiError } from '../../../server/client/api-error.ts'
import type { QueryError } from '../../../server/contract/database-browser.ts'
import { databaseDump } from '../../../server/contract/databases.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

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
const failed = (own: Partial<QueryError> = {}): End => ({
  type: 'error',
  error: { code: '42P01', message: 'No such table.', detail: null, hint: null, position: null, line: null, column: null, ...own },
  duration_ms: 12,
  notices: [],
})
const columns = [{ name: 'id', type: 'integer' }]
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
const dump = createExample(databaseDump)
const button = (name: string) => screen.getByRole('button', { name })

beforeEach(() => localStorage.removeItem('homeport.sql.shop'))
afterEach(() => localStorage.removeItem('homeport.sql.shop'))

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
