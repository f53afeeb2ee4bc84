import { screen, waitFor } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import type { LogLinesPage, LogName, LogPosition } from '../../../renderer/api/log-search.ts'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { LogHistory } from '../../../renderer/features/logs/log-history.tsx'
import LogsPage from '../../../renderer/features/logs/page.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { logSearchOperations } from '../../../server/contract/log-search.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const [example] = createExample(logSearchOperations.listLogLines.success.json).lines
const createPage = (records: number[], has_earlier = false, has_later = false): LogLinesPage => ({
  lines: records.map((record) => ({ ...example!, record, line: `line ${record}`, time: `2026-01-31T12:00:${String(record).padStart(2, '0')}.000Z` })),
  has_earlier,
  has_later,
})

const showHistory = (
  page: LogLinesPage | undefined,
  { position = { around: '5' }, name = {}, answers = {} }: { position?: LogPosition; name?: LogName; answers?: PartOptions['answers'] } = {},
) => {
  const onClose = vi.fn()
  const part = renderPart(<LogHistory slug="my-shop" name={name} position={position} file="shop.log" onClose={onClose} />, {
    data: [[queryKeys.logLines('my-shop', { ...name, ...position }), page]],
    answers,
  })
  return { onClose, ...part }
}
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })
const readLines = () =>
  screen
    .queryAllByTestId('log-text')
    .map(({ textContent }) => textContent?.replace('line ', ''))
    .join(' ')
const readMarked = () => document.querySelector('[data-marked] [data-testid=log-text]')?.textContent

test.each([
  ['before and after', true, true],
  ['before', true, false],
  ['after', false, true],
])('a part of a log with lines %s', (_, has_earlier, has_later) => {
  showHistory(createPage([4, 5, 6], has_earlier, has_later))
  expect([button('Earlier lines').disabled, button('Later lines').disabled]).toEqual([!has_earlier, !has_later])
  expect(readLines()).toBe('4 5 6')
})

test.each<[string, LogPosition, string]>([
  ['the line that was asked for', { around: '5' }, 'line 5'],
  ['the next line, if that is gone', { around: '3' }, 'line 4'],
  ['the last line, if there is no later one', { around: '9' }, 'line 6'],
  ['the first line of a time', { at: '2026-01-31T12:00:05.000Z' }, 'line 5'],
  ['the first line after a time', { at: '2026-01-31T12:00:05.001Z' }, 'line 6'],
])('%s is marked', (_, position, marked) => {
  showHistory(createPage([4, 5, 6]), { position })
  expect(readMarked()).toBe(marked)
})

test('the foot says which part of the log it is', () => {
  showHistory(createPage([4, 6]))
  expect(screen.getByRole('status').textContent.replace(/, \d\d:\d\d:\d\d/g, '')).toBe('Jan 31, 2026 to Jan 31, 2026')
})

test('a part without lines says so, and loads none', async () => {
  const { user, text } = showHistory(createPage([], true))
  expect(screen.getByRole('status').textContent).toBe('No lines')
  expect(text()).toContain('The log has no lines here. Go back, or choose another time.')
  await user.click(button('Earlier lines'))
  expect(button('Earlier lines').getAttribute('aria-busy')).toBeNull()
})

test.each([
  ['Earlier lines', [2, 3], true, '2 3 4 5 6', 'line 4', false],
  ['Earlier lines', [2, 3], false, '2 3 4 5 6', 'line 4', true],
  ['Earlier lines', [], true, '4 5 6', 'line 4', true],
  ['Later lines', [7, 8], true, '4 5 6 7 8', 'line 7', false],
  ['Later lines', [7, 8], false, '4 5 6 7 8', 'line 7', true],
  ['Later lines', [], true, '4 5 6', undefined, true],
])('“%s” adds the lines %j, and more are there: %s', async (name, records, hasMore, expected, marked, isDisabled) => {
  const { user } = showHistory(createPage([4, 5, 6], true, true), { answers: { listLogLines: createPage(records, hasMore, hasMore) } })
  await user.click(button(name))
  await waitFor(() => expect(readMarked()).toBe(marked))
  expect([readLines(), button(name).disabled, button(name).getAttribute('aria-busy')]).toEqual([expected, isDisabled, null])
})

test.each([
  ['Earlier lines', 'Later lines'],
  ['Later lines', 'Earlier lines'],
])('only “%s” is busy while its lines load', async (name, other) => {
  const { user } = showHistory(createPage([4, 5, 6], true, true))
  await user.click(button(name))
  expect([button(name), button(other)].map((one) => one.getAttribute('aria-busy'))).toEqual(['true', null])
})

test('lines that cannot be loaded are explained, and the others stay', async () => {
  const answers = { listLogLines: problemResponse('project_not_found', 'There is no such project.') }
  const { user } = showHistory(createPage([4, 5, 6], true, true), { answers })
  await user.click(button('Earlier lines'))
  await waitFor(() => expect(useUi.getState().toasts.map(({ kind, text }) => [kind, text])).toEqual([['failed', 'There is no such project.']]))
  expect([readLines(), button('Earlier lines').getAttribute('aria-busy')]).toEqual(['4 5 6', null])
})

test.each<[string, LogName, string]>([
  ['of an app', {}, 'Back to live output'],
  ['of a build', { deployment: 'dpl_1' }, 'Back to the deployment'],
])('a log %s leads back', async (_, name, label) => {
  const { user, onClose } = showHistory(createPage([5]), { name })
  await user.click(button(label))
  expect(onClose).toHaveBeenCalledOnce()
})

test.each([
  [{}, 1],
  [{ deployment: 'dpl_1' }, 0],
])('requests are linked in the log %j: %d', (name, count) => {
  const page = createPage([5])
  showHistory({ ...page, lines: page.lines.map((line) => ({ ...line, line: `req_${'0'.repeat(26)}` })) }, { name })
  expect(screen.queryAllByRole('link').length).toBe(count)
})

test('a part that cannot be loaded leads back, too', async () => {
  const { text, user, onClose } = showHistory(undefined, { answers: { listLogLines: problemResponse('invalid_input', 'The time is invalid.') } })
  expect(text()).toBe('Loading')
  expect((await screen.findByRole('alert')).textContent).toContain('The time is invalid.')
  await user.click(button('Back to live output'))
  expect(onClose).toHaveBeenCalledOnce()
})

test.each([
  ['?at=2026-01-31T12%3A00%3A05.000Z', {}, { at: '2026-01-31T12:00:05.000Z' }, '/app/', ''],
  ['?around=5&branch=docs&service=worker', { branch: 'docs', service: 'worker' }, { around: '5' }, '/app/', '?service=worker&branch=docs'],
  ['?around=5&deployment=dpl_1', { deployment: 'dpl_1' }, { around: '5' }, '/projects/my-shop/deployments/dpl_1', ''],
])('the address %s opens a part of a log and leads back', async (search, name, position, path, after) => {
  history.replaceState(null, '', `/app/${search}`)
  const { user } = renderPart(<LogsPage slug="my-shop" />, { data: [[queryKeys.logLines('my-shop', { ...name, ...position }), createPage([5])]] })
  expect(readLines()).toBe('5')
  await user.click(screen.getByRole('button', { name: /^Back/ }))
  expect([location.pathname, location.search]).toEqual([path, after])
})
