import { expect, test } from 'vitest'
import { parseAnsi } from '../../renderer/lib/ansi.ts'
import { splitAtRequestIds } from '../../renderer/features/logs/request-ids.ts'

const id = 'req_01m84kvc1a6jds9qv8r0rb8g9k'
const idsIn = (line: string) => parseAnsi(line).flatMap(({ text }) => splitAtRequestIds(text).flatMap((part) => (part.is_id ? [part.text] : [])))

test('finds the IDs of requests in a line, with colors or without', () => {
  expect(splitAtRequestIds(`GET / ${id}: 500`)).toEqual([
    { text: 'GET / ', is_id: false },
    { text: id, is_id: true },
    { text: ': 500', is_id: false },
  ])
  expect(idsIn(`{"request_id":"${id}"}`)).toEqual([id])
  expect(idsIn(`\u001b[31mfailed\u001b[0m [\u001b[36m${id}\u001b[39m] id=${id}`)).toEqual([id, id])
})

test('leaves what is only similar', () => {
  for (const line of ['', 'req_', 'req_01', `x${id}`, `${id}0`, `${id}-a`, id.toUpperCase()]) expect([line, idsIn(line)]).toEqual([line, []])
})

test('keeps the text of every line', () => {
  for (const line of ['', `${id}${id}`, `${id} ${id}`, `a ${id}`]) {
    expect(
      splitAtRequestIds(line)
        .map(({ text }) => text)
        .join(''),
    ).toBe(line)
  }
})
