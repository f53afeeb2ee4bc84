import { screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { FieldsDialog } from '../../../renderer/features/logs/fields-dialog.tsx'
import { createLogStore } from '../../../renderer/features/logs/index.ts'
import { JumpDialog } from '../../../renderer/features/logs/jump-dialog.tsx'
import { summarizeLine } from '../../../renderer/features/logs/log-fields.ts'
import type { LogLine } from '../../../renderer/features/logs/log-line.ts'
import { formatLines, lineColumns } from '../../../renderer/features/logs/log-store.ts'
import { renderPart } from '../../support/dashboard.tsx'

type NewLine = Omit<LogLine, 'number'>
const createLine = (text: string, own: Partial<NewLine> = {}): NewLine => ({
  text,
  source: 'stdout',
  ts: '2026-01-31T12:00:00.500Z',
  group: null,
  ...own,
})
const withoutTimes = (text: string | null | undefined) => text?.replace(/,? ?\d\d:\d\d:\d\d(\.\d+)?/g, '')

afterEach(() => vi.useRealTimers())

test.each<[string, Partial<LogLine>, string]>([
  ['without a time', { ts: null }, 'Line 7 level warn [Copy level] [Close]'],
  ['with a time', {}, 'Line of Jan 31, 2026 level warn [Copy level] [Close]'],
  ['that is no JSON', { ts: null, text: '{"level"}' }, 'Line 7 This line is no valid JSON. [Close]'],
])('the fields of a line %s', (_, own, expected) => {
  const line: LogLine = { ...createLine('{"level":"warn"}'), number: 7, ...own }
  expect(withoutTimes(renderPart(<FieldsDialog line={line} onClose={vi.fn()} />).text())).toBe(expected)
})

test('a log is opened at a time', async () => {
  const [onJump, onClose] = [vi.fn(), vi.fn()]
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-31T12:00:07.500Z') })
  const { user } = renderPart(<JumpDialog onJump={onJump} onClose={onClose} />)
  vi.useRealTimers()
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  await user.click(screen.getByRole('button', { name: 'Jump' }))
  expect([onClose.mock.calls.length, onJump.mock.calls]).toEqual([1, [['2026-01-31T12:00:07.000Z']]])
  await user.clear(screen.getByLabelText('Time'))
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Jump' }).disabled).toBe(true)
})

test.each([
  [4_086, 'x'.repeat(4_086)],
  [4_087, undefined],
])('a structured line with a message of %d characters is summarized unless it is too long', (length, expected) => {
  expect(summarizeLine({ text: `{"msg":"${'x'.repeat(length)}"}` })).toBe(expected)
})

test('lines are formatted with their times for a file, and without colors', () => {
  const shown: LogLine[] = [
    { ...createLine('\u001b[31mred\u001b[0m'), number: 1 },
    { ...createLine('late', { ts: null }), number: 2 },
  ]
  expect(formatLines(shown, true)).toBe('2026-01-31T12:00:00.500Z  red\nlate\n')
  expect(formatLines(shown, false)).toBe('red\nlate\n')
})

test.each([
  ['abc', 3],
  ['{"msg":"abc"}', 5],
  ['x'.repeat(16_385), 16_384],
])('%s is shown in some columns', (text, columns) => expect(lineColumns({ ...createLine(text), number: 1 })).toBe(columns))

test('an indented line continues the last line of its stream, and lines are numbered from 1 after clearing', () => {
  const store = createLogStore()
  store.append([createLine('a'), createLine('b', { source: 'stderr' }), createLine(' c'), createLine('\td', { source: 'stderr' })])
  expect(store.lines.map(({ number, continues }) => [number, continues?.text])).toEqual([
    [1, undefined],
    [2, undefined],
    [3, 'a'],
    [4, 'b'],
  ])
  const { epoch } = store
  store.clear()
  store.append([createLine('e')])
  expect([store.lines.map(({ number }) => number), store.epoch - epoch]).toEqual([[1], 1])
})

test('a store keeps the newest lines', () => {
  const store = createLogStore()
  const one = createLine('one')
  const added = Array.from({ length: 250_000 }, () => one)
  store.append(added)
  expect([store.lines.length, store.epoch]).toEqual([250_000, 0])
  store.append([one])
  expect([store.lines.length, store.lines[0]?.number, store.epoch]).toEqual([225_000, 25_002, 1])
})

test('a store tells its readers about changes once for each frame', async () => {
  const store = createLogStore()
  const [kept, removed] = [vi.fn(), vi.fn()]
  store.subscribe(kept)
  store.subscribe(removed)()
  const version = store.version()
  store.append([createLine('one')])
  store.clear()
  expect(store.version()).toBe(version + 2)
  await waitFor(() => expect(kept).toHaveBeenCalledOnce())
  store.append([createLine('two')])
  await waitFor(() => expect(kept).toHaveBeenCalledTimes(2))
  expect(removed).not.toHaveBeenCalled()
})
