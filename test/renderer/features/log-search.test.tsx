import { screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import type { LogSearchQuery } from '../../../renderer/api/log-search.ts'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { FoundLines } from '../../../renderer/features/log-search/found-lines.tsx'
import { highlightWords } from '../../../renderer/features/log-search/highlight-words.ts'
import LogSearchPage from '../../../renderer/features/log-search/page.tsx'
import { type FoundLogLine, logSearchOperations } from '../../../server/contract/log-search.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const [example] = createExample(logSearchOperations.searchLogs.success.json).lines
const createLine = (own: Partial<FoundLogLine> = {}): FoundLogLine => ({
  ...example!,
  record: 7,
  time: '2026-01-31T12:00:00.000Z',
  level: 'info',
  line: 'listening on 8080',
  log: 'runtime',
  project: { id: 'prj_1', slug: 'my-shop', name: 'My shop' },
  target: 'production',
  branch: null,
  service: null,
  deployment_id: 'dpl_1',
  ...own,
})
const withoutTimes = (text: string | null | undefined) => text?.replace(/, \d\d:\d\d:\d\d/g, '')

afterEach(() => vi.useRealTimers())

const matches = (text: string, search: string) =>
  highlightWords(text, search)
    .map(({ text: part, is_match }) => (is_match ? `[${part}]` : part))
    .join('')

test.each([
  ['GET /cart 200', '', 'GET /cart 200'],
  ['GET /cart 200', 'cart', 'GET /[cart] 200'],
  ['Cart in cart', 'cart', '[Cart] in [cart]'],
  ['GET /cart 200', 'get 200', '[GET] /cart [200]'],
  ['to be or not', '"be or"', 'to [be or] not'],
  ['to be or not', '"be or" not', 'to [be or] [not]'],
  ['carts', 'cart carts', '[carts]'],
  ['a.b axb', 'a.b', '[a.b] axb'],
  ['GET /a', '/a', 'GET [/a]'],
  ['cart', 'shop', 'cart'],
])('in “%s”, the search %j is marked: %s', (text, search, expected) => expect(matches(text, search)).toBe(expected))

test.each<[string, Partial<FoundLogLine>, string, string]>([
  ['production', {}, 'Jan 31, 2026 · My shop', '?around=7'],
  ['a build', { log: 'build', level: 'error' }, 'Jan 31, 2026 · My shop · Build · Error', '?around=7&deployment=dpl_1'],
  ['a build without an ID', { log: 'build', deployment_id: null }, 'Jan 31, 2026 · My shop · Build', '?around=7&deployment='],
  ['a preview', { target: 'preview', branch: 'docs', level: 'warn' }, 'Jan 31, 2026 · My shop · docs · Warning', '?around=7&branch=docs'],
  ['a closed preview', { target: 'preview' }, 'Jan 31, 2026 · My shop · Closed preview', '?around=7'],
  ['a service', { service: 'worker' }, 'Jan 31, 2026 · My shop · worker', '?around=7&service=worker'],
])('a line of %s leads to its place in its log', (_, own, facts, query) => {
  renderPart(<FoundLines lines={[createLine({ line: '\u001b[31mlistening\u001b[0m on 8080', ...own })]} words="on" />)
  const link = screen.getByRole('link')
  expect([...link.children].map((part) => withoutTimes(part.textContent))).toEqual(['listening on 8080', facts])
  expect(link.querySelector('mark')?.textContent).toBe('on')
  expect(link.getAttribute('href')).toBe(`/projects/my-shop/logs${query}`)
})

test('a long line is cut after 600 characters', () => {
  renderPart(<FoundLines lines={[createLine({ line: `${'a'.repeat(595)} here there` })]} words="here" />)
  expect(screen.getByRole('link').firstElementChild?.textContent).toBe(`${'a'.repeat(595)} here`)
  expect(document.querySelector('mark')?.textContent).toBe('here')
})

const showPage = (
  search: string,
  filters: LogSearchQuery,
  lines: FoundLogLine[] | null,
  { next_cursor = null as string | null, answers = {} } = {},
) => {
  history.replaceState(null, '', `/app/${search}`)
  return renderPart(<LogSearchPage />, {
    data: [
      [queryKeys.logSearch(filters), lines === null ? undefined : { pages: [{ lines, next_cursor }], pageParams: [null] }],
      [queryKeys.projects, { pages: [{ projects: [createExample(project)], next_cursor: null }], pageParams: [null] }],
    ],
    answers,
  })
}
const results = () => document.querySelector<HTMLElement>('section[aria-label=Lines]')

test.each<[string, string, LogSearchQuery, FoundLogLine[] | null, string | null, string]>([
  ['nothing yet', '', {}, [], null, 'No output yetThe output of your apps and builds appears here.'],
  ['no match', '?q=cart', { query: 'cart' }, [], null, 'No lines matchA word is found at its start. Try fewer words, or clear a filter.'],
  [
    'no match of a filter',
    '?level=error',
    { level: 'error' },
    [],
    null,
    'No lines matchA word is found at its start. Try fewer words, or clear a filter.',
  ],
  [
    'no match so far',
    '?q=cart',
    { query: 'cart' },
    [],
    'next',
    'No line so farOlder parts of the logs have not been searched yet.Search older lines',
  ],
  ['lines', '', {}, [createLine()], null, 'listening on 8080Jan 31, 2026 · My shop'],
  ['the newest lines', '', {}, [createLine()], 'next', 'listening on 8080Jan 31, 2026 · My shopSearch older lines'],
  ['a search that loads', '', {}, null, null, 'Loading'],
])('the logs have %s', (_, search, filters, lines, next_cursor, expected) => {
  showPage(search, filters, lines, { next_cursor })
  expect(withoutTimes(results()?.textContent)).toBe(expected)
  expect(results()?.hidden).toBe(false)
})

test.each<[string, LogSearchQuery]>([
  ['?q=%20cart%20', { query: 'cart' }],
  ['?level=warn', { level: 'warn' }],
  ['?level=info', {}],
  ['?log=build', { log: 'build' }],
  ['?log=all', {}],
  ['?project=my-shop', { project: 'my-shop' }],
  ['?hours=24', { since: '2026-01-30T12:00:00.000Z' }],
  ['?hours=2', {}],
  [
    '?q=a&level=error&log=runtime&hours=1&project=my-shop',
    { query: 'a', level: 'error', log: 'runtime', since: '2026-01-31T11:00:00.000Z', project: 'my-shop' },
  ],
])('the address %s is a search', (search, filters) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-31T12:00:00.000Z') })
  showPage(search, filters, [createLine({ line: 'found it' })])
  expect(screen.getByText('found it')).toBeTruthy()
})

test('filters change the address', async () => {
  const { user } = showPage('', {}, [])
  await user.selectOptions(screen.getByRole('combobox', { name: 'Project' }), 'my-shop')
  await user.selectOptions(screen.getByRole('combobox', { name: 'Log' }), 'build')
  await user.selectOptions(screen.getByRole('combobox', { name: 'Level' }), 'warn')
  await user.selectOptions(screen.getByRole('combobox', { name: 'Time' }), '24')
  await user.type(screen.getByRole('searchbox'), ' cart ')
  expect(location.search).toBe('?project=my-shop&log=build&level=warn&hours=24&q=cart')
  expect(screen.getAllByRole<HTMLSelectElement>('combobox').map(({ value }) => value)).toEqual(['my-shop', 'build', 'warn', '24'])
})

test('what is typed is searched after a pause', async () => {
  const { user } = showPage('', {}, [createLine()], {
    answers: { searchLogs: { lines: [createLine({ line: 'cart is empty' })], next_cursor: null } },
  })
  await user.type(screen.getByRole('searchbox'), 'cart')
  expect((await screen.findByText('cart')).tagName).toBe('MARK')
})

test('older lines are searched', async () => {
  const answers = { searchLogs: { lines: [createLine({ record: 3, line: 'an older line' })], next_cursor: null } }
  const { user } = showPage('', {}, [createLine()], { next_cursor: 'next', answers })
  await user.click(screen.getByRole('button', { name: 'Search older lines' }))
  expect(await screen.findByText('an older line')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Search older lines' })).toBeNull()
})

test('a search that fails is explained', async () => {
  showPage('', {}, null, { answers: { searchLogs: problemResponse('invalid_input', 'Close the quotes.') } })
  expect((await screen.findByRole('alert')).textContent).toContain('Close the quotes.')
  await waitFor(() => expect(results()?.hidden).toBe(true))
})
