import { afterEach, describe, expect, test } from 'vitest'
import { indexLogs } from '../../server/features/log-index.ts'
import { parseLogTerms } from '../../server/features/log-terms.ts'
import { systemClock } from '../../server/lib/clock.ts'
import type { Store } from '../../server/store/store.ts'
import { openMemoryStore } from '../support/api-server.ts'

let store: Store
const ends = new Map<string, number>()
afterEach(async () => {
  ends.clear()
  await store.close()
})

function append(stream: string, ...lines: string[]) {
  const end = ends.get(stream) ?? 0
  const body = lines.map((line, index) => JSON.stringify({ seq: end + index + 1, ts: '2026-11-26T08:00:00.000Z', stream: 'stdout', line })).join('\n')
  store.logs.append({ stream, first: end + 1, records: lines.length, lines: lines.length, last_line: end + lines.length, bytes: body.length, body })
  ends.set(stream, end + lines.length)
}
const search = (query: string, limit = 10) =>
  store.logSearch.listCandidates(parseLogTerms(query).match, Number.MAX_SAFE_INTEGER, limit).map(({ stream }) => stream)
const index = () => indexLogs(store.logSearch, new AbortController().signal)

describe('the index of logs', () => {
  test('parts that are not indexed yet are candidates; of the others only those with all words', async () => {
    store = await openMemoryStore(systemClock)
    append('prj_a', 'Connection refused by db', 'retry')
    append('dpl_b', '\u001b[31merror\u001b[39m: connection lost', 'Größe: 4')
    append('prj_a', 'listening on 3000')
    expect(search('refused')).toEqual(['prj_a', 'dpl_b', 'prj_a'])
    await index()
    expect(search('refused')).toEqual(['prj_a'])
    expect(search('CONN')).toEqual(['dpl_b', 'prj_a'])
    expect(search('conn', 1)).toEqual(['dpl_b'])
    expect(search('error conn')).toEqual(['dpl_b'])
    expect(search('grosse')).toEqual([])
    expect(search('große')).toEqual(['dpl_b'])
    expect(search('GROSS Größe')).toEqual([])
    expect(search('onnection')).toEqual([])
    append('prj_c', 'nothing to see')
    expect(search('refused')).toEqual(['prj_c', 'prj_a'])
    expect(search('')).toEqual(['prj_c', 'prj_a', 'dpl_b', 'prj_a'])
  })

  test('a removed log is found no more, and what takes its place is found', async () => {
    store = await openMemoryStore(systemClock)
    append('prj_a', 'first words')
    append('prj_b', 'second words')
    await index()
    await store.logs.remove('prj_b')
    expect(search('words')).toEqual(['prj_a'])
    append('prj_c', 'third words')
    expect(search('words')).toEqual(['prj_c', 'prj_a'])
    await index()
    expect(search('third')).toEqual(['prj_c'])
    expect(search('second')).toEqual([])
  })
})

describe('terms of a search', () => {
  const finds = (query: string, line: string) => parseLogTerms(query).matches(line)

  test.each([
    ['conn ref', 'Connection refused', true],
    ['conn lost', 'Connection refused', false],
    ['"connection refused"', 'the Connection refused', true],
    ['"refused connection"', 'Connection refused', false],
    ['user.id', 'superuser.id=3', false],
    ['user.id', 'the user.id=3', true],
    ['/api/or', 'GET /api/orders 200', true],
    ['cafe', 'Café au lait', true],
    ['日誌', '今日の日誌です', true],
    ['[x', 'a [x] b', true],
    ['(.*)', 'anything', false],
  ])('%s in “%s”: %s', (query, line, expected) => {
    expect(finds(query, line)).toBe(expected)
  })

  test('the index is asked only for words that it has', () => {
    expect(parseLogTerms('"connection refused" /api/or').match).toBe('"connection" AND "refused"* AND "api" AND "or"*')
    expect(parseLogTerms('日誌 [').match).toBeNull()
    expect(parseLogTerms('').match).toBeNull()
  })
})
