import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { createLogStore, LogPanel } from '../../../renderer/features/logs/index.ts'
import type { LogLine } from '../../../renderer/features/logs/log-line.ts'
import { renderPart } from '../../support/dashboard.tsx'

type NewLine = Omit<LogLine, 'number'>
const createLine = (text: string, own: Partial<NewLine> = {}): NewLine => ({
  text,
  source: 'stdout',
  ts: '2026-01-31T12:00:00.500Z',
  group: null,
  ...own,
})

afterEach(() => vi.restoreAllMocks())

const showLog = (lines: NewLine[], own: Partial<Parameters<typeof LogPanel>[0]> = {}) => {
  const store = createLogStore()
  store.append(lines)
  return { store, ...renderPart(<LogPanel store={store} label="Log" file="shop.log" empty="No output yet." state="Live" {...own} />) }
}
const readLines = () => screen.queryAllByTestId('log-text').map(({ textContent }) => textContent)
const foot = () => screen.getByTestId('log-foot').textContent

const lines = [
  createLine('plain output'),
  createLine('WARN slow query', { group: 'dpl_1' }),
  createLine('no level', { source: 'stderr', group: 'dpl_2' }),
  createLine('  at main.js', { source: 'stderr' }),
  createLine('ERROR failed'),
  createLine('error: ours', { source: 'system' }),
]

test.each([
  [[], 'Live0 lines', 'No output yet.'],
  [[createLine('one')], 'Live1 line', null],
  [lines, 'Live6 lines', null],
])('a log of %j', (shown, count, empty) => {
  const { text } = showLog(shown)
  expect(foot()).toBe(count)
  expect(readLines()).toEqual(shown.map((line) => line.text))
  expect(text().includes('No output yet.')).toBe(empty !== null)
})

test.each([
  ['error', ['no level', '  at main.js', 'ERROR failed']],
  ['warn', ['WARN slow query', 'no level', '  at main.js', 'ERROR failed']],
  ['stdout', ['plain output', 'WARN slow query', 'ERROR failed']],
  ['stderr', ['no level', '  at main.js']],
  ['system', ['error: ours']],
  ['all', lines.map((line) => line.text)],
])('the output “%s” in the address filters lines', (output, expected) => {
  history.replaceState(null, '', `/app/?output=${output}`)
  showLog(lines)
  expect(readLines()).toEqual(expected)
  expect(foot()).toBe(output === 'all' ? 'Live6 lines' : `Live${expected.length} of 6 lines`)
})

test('a search marks its text, and the address has it after a pause', async () => {
  const { user } = showLog([createLine('A cart is in the CART'), createLine('other')])
  await user.type(screen.getByRole('searchbox'), 'Cart')
  expect(readLines()).toEqual(['A cart is in the CART'])
  expect([...document.querySelectorAll('mark')].map(({ textContent }) => textContent)).toEqual(['cart', 'CART'])
  expect(foot()).toBe('Live1 of 2 lines')
  await waitFor(() => expect(location.search).toBe('?search=Cart'))
})

test('the address holds the level, and all output clears it', async () => {
  const { user } = showLog(lines)
  const select = screen.getByRole('combobox', { name: 'Log level' })
  await user.selectOptions(select, 'error')
  expect([location.search, readLines().length]).toEqual(['?output=error', 3])
  await user.selectOptions(select, '')
  expect([location.search, readLines().length]).toEqual(['', 6])
})

test.each([
  [[{ value: 'dpl_1', text: 'First' }], false],
  [
    [
      { value: 'dpl_1', text: 'First' },
      { value: 'dpl_2', text: 'Second' },
    ],
    true,
  ],
])('the sections %j are offered: %s', async (groups, isOffered) => {
  const { user } = showLog(lines, { groups })
  const select = screen.queryByRole('combobox', { name: 'Log section' })
  expect(select !== null).toBe(isOffered)
  if (!select) return
  await user.selectOptions(select, 'dpl_2')
  expect([readLines(), foot()]).toEqual([['no level'], 'Live1 of 6 lines'])
  await user.selectOptions(select, '')
  expect(readLines().length).toBe(6)
})

test('a live log is followed until it is stopped', async () => {
  const { user } = showLog(lines)
  expect(screen.queryByRole('button', { name: 'Jump to latest' })).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Stop following', pressed: true }))
  await user.click(screen.getByRole('button', { name: 'Jump to latest' }))
  expect(screen.getByRole('button', { name: 'Stop following', pressed: true })).toBeTruthy()
})

test.each([
  [1, '1 new line'],
  [2, '2 new lines'],
])('%d lines that were not followed are counted', async (count, label) => {
  const { user, store } = showLog(lines)
  await user.click(screen.getByRole('button', { name: 'Stop following' }))
  store.append(Array.from({ length: count }, () => createLine('new')))
  expect(await screen.findByRole('button', { name: label })).toBeTruthy()
})

test('a log that has ended is not followed', () => {
  showLog(lines, { is_live: false, startAtEnd: false })
  expect(screen.queryByRole('button', { name: /ollow/ })).toBeNull()
  expect(screen.queryByRole('button', { name: 'Jump to latest' })).toBeNull()
})

test('the IDs of requests lead to them in a log that has a project', () => {
  const id = `req_${'0'.repeat(26)}`
  showLog([createLine(`done ${id}`)], { requestsOf: 'my-shop' })
  expect(screen.getByRole('link', { name: id }).getAttribute('href')).toBe(`/projects/my-shop/logs/requests?request=${id}`)
})

test('the IDs of requests are text elsewhere', () => {
  showLog([createLine(`done req_${'0'.repeat(26)}`)])
  expect(screen.queryByRole('link')).toBeNull()
})

test('a structured line is a summary, and its fields are shown on request', async () => {
  const { user } = showLog([createLine('{"level":"warn","msg":"slow","ms":12}'), createLine('{"open": true}'), createLine('{ no json }')])
  expect(readLines()).toEqual(['WARN slow  ms=12 ⋯', '{"open": true} ⋯', '{ no json }'])
  await user.click(screen.getByRole('button', { name: 'Fields of line 2' }))
  expect(within(screen.getByRole('dialog')).getByText('open').nextElementSibling?.textContent).toBe('true')
  await user.click(screen.getByRole('button', { name: 'Close' }))
  expect(screen.queryByRole('dialog')).toBeNull()
})
const pressed = () => screen.getAllByRole('button', { pressed: true }).map((button) => button.getAttribute('aria-label'))

test.each([
  ['', 'Copy log', 'Download log'],
  ['ERROR', 'Copy filtered lines', 'Download filtered lines'],
])('with the search “%s”, the buttons are “%s” and “%s”', async (search, copy, download) => {
  const { user } = showLog(lines)
  if (search !== '') await user.type(screen.getByRole('searchbox'), search)
  expect(screen.getByRole('button', { name: copy })).toBeTruthy()
  expect(screen.getByRole('button', { name: download })).toBeTruthy()
})

test.each([
  ['Wrap long lines', 'homeport.logs.wrap', 'no', true],
  ['Show timestamps', 'homeport.logs.time', 'yes', false],
])('“%s” is remembered', async (name, key, stored, before) => {
  const { user } = showLog(lines)
  expect(pressed().includes(name)).toBe(before)
  await user.click(screen.getByRole('button', { name }))
  expect([pressed().includes(name), localStorage.getItem(key)]).toEqual([!before, stored])
  await user.click(screen.getByRole('button', { name }))
  expect([pressed().includes(name), localStorage.getItem(key)]).toEqual([before, stored === 'no' ? 'yes' : 'no'])
})

test('what was remembered is used', () => {
  localStorage.setItem('homeport.logs.wrap', 'no')
  localStorage.setItem('homeport.logs.time', 'yes')
  showLog([createLine('one'), createLine('two', { ts: null })])
  expect(pressed()).toEqual(['Stop following', 'Show timestamps'])
  expect(
    screen.getAllByTestId('log-line').map(({ children }) => [children.length, /^\d\d:\d\d:\d\d\.500$/.test(children[1]?.textContent ?? '')]),
  ).toEqual([
    [3, true],
    [3, false],
  ])
})

const wide = (isWide: boolean) => vi.stubGlobal('matchMedia', () => ({ matches: isWide }))
test.each([
  ['a wide window', true, true, true],
  ['a narrow window', true, false, false],
  ['a log without them', false, true, false],
])('timestamps are on in %s', (_, showsTimes, isWide, expected) => {
  wide(isWide)
  showLog(lines, { showsTimes })
  expect(pressed().includes('Show timestamps')).toBe(expected)
})

test.each([
  ['text', 'Full log as text', 'shop.log'],
  ['ndjson', 'Full log as NDJSON', 'shop.ndjson'],
])('the whole log is saved as %s', async (format, name, file) => {
  const saved: string[] = []
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function save(this: HTMLAnchorElement) {
    saved.push(this.download)
  })
  const answer = Promise.withResolvers<Blob | null>()
  const formats: string[] = []
  const download = (chosen: string) => (onProgress: (bytes: number) => void) => {
    formats.push(chosen)
    onProgress(5_000)
    return answer.promise
  }
  const { user } = showLog(lines, { download })
  await user.click(screen.getByRole('button', { name: 'Download full log' }))
  await user.click(screen.getByRole('menuitem', { name }))
  await user.click(screen.getByRole('button', { name: 'Downloading, 5 kB' }))
  expect(screen.getAllByRole('menuitem').map((item) => item.getAttribute('aria-disabled'))).toEqual(['true', 'true'])
  answer.resolve(new Blob(['one']))
  expect(await screen.findByRole('button', { name: 'Download full log' })).toBeTruthy()
  expect([formats, saved]).toEqual([[format], [file]])
})

test('a log that cannot be downloaded is not saved', async () => {
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click')
  const { user } = showLog(lines, { download: () => () => Promise.resolve(null) })
  await user.click(screen.getByRole('button', { name: 'Download full log' }))
  await user.click(screen.getByRole('menuitem', { name: 'Full log as text' }))
  expect(await screen.findByRole('button', { name: 'Download full log' })).toBeTruthy()
  expect(click).not.toHaveBeenCalled()
})
