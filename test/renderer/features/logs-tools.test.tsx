import { screen } from '@testing-library/react'
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

afterEach(() => {
  history.replaceState(null, '', '/app/')
  localStorage.clear()
  vi.restoreAllMocks()
})

const showLog = (lines: NewLine[], own: Partial<Parameters<typeof LogPanel>[0]> = {}) => {
  const store = createLogStore()
  store.append(lines)
  return { store, ...renderPart(<LogPanel store={store} label="Log" file="shop.log" empty="No output yet." state="Live" {...own} />) }
}
const pressed = () => screen.getAllByRole('button', { pressed: true }).map((button) => button.getAttribute('aria-label'))

const lines = [
  createLine('plain output'),
  createLine('WARN slow query', { group: 'dpl_1' }),
  createLine('no level', { source: 'stderr', group: 'dpl_2' }),
  createLine('  at main.js', { source: 'stderr' }),
  createLine('ERROR failed'),
  createLine('error: ours', { source: 'system' }),
]

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
