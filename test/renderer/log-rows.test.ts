import { describe, expect, it } from 'vitest'
import { detectLevel } from '../../server/contract/log-level.ts'
import { createLogRows, lineHeight } from '../../renderer/features/logs/log-rows.ts'
import type { LogStore } from '../../renderer/features/logs/log-store.ts'
import type { LogSource, LogLine } from '../../renderer/features/logs/log-line.ts'

const all = { needle: '', output: null, group: null }

describe('rows of a log', () => {
  it('are positioned by their wrapped height', () => {
    const list = createLogRows(storeOf(['short', 'x'.repeat(25), '', 'y'.repeat(10)]), all, 10)
    list.update()
    expect([0, 1, 2, 3, 4].map((index) => list.rowTop(index) / lineHeight)).toEqual([0, 1, 4, 5, 6])
    expect(list.height).toBe(6 * lineHeight)
    expect([0, 19, 20, 79, 80, 100, 5_000].map((top) => list.rowAt(top))).toEqual([0, 0, 1, 1, 2, 3, 3])
  })

  it('grow with the store, filtered', () => {
    const store = storeOf(['one apple', 'two'])
    const list = createLogRows(store, { ...all, needle: 'apple' }, null)
    list.update()
    expect(list.rows.map(({ text }) => text)).toEqual(['one apple'])
    store.lines.push(line('an APPLE more', 3), line('\u001b[31map\u001b[0mple in two colours', 4))
    list.update()
    expect(list.rows.map(({ number }) => number)).toEqual([1, 3, 4])
  })

  it('filter by stream and part', () => {
    const store = storeOf([])
    store.lines.push(line('out', 1, 'stdout', 'build'), line('err', 2, 'stderr', 'build'), line('other', 3, 'stderr', 'start'))
    const list = createLogRows(store, { needle: '', output: 'stderr', group: 'build' }, null)
    list.update()
    expect(list.rows.map(({ text }) => text)).toEqual(['err'])
  })

  it('are errors by their text, and by their stream only without a level', () => {
    const store = storeOf([])
    const warning = line('WARN  disk nearly full', 1, 'stderr')
    const thrown = line('TypeError: x is not a function', 4)
    store.lines.push(warning, { ...line('    at warn (a.js:1)', 2, 'stderr'), continues: warning }, line('no level', 3, 'stderr'), thrown)
    store.lines.push({ ...line('    at f (a.js:1)', 5), continues: thrown }, line('plain', 6), line('error: ours', 7, 'system'))
    const numbers = (output: 'error' | 'warn') => {
      const list = createLogRows(store, { ...all, output }, null)
      list.update()
      return list.rows.map(({ number }) => number)
    }
    expect([numbers('error'), numbers('warn')]).toEqual([
      [3, 4, 5],
      [1, 2, 3, 4, 5],
    ])
  })

  it.each([
    ['{"level":"error","msg":"x"}', 'error'],
    ['{"time":1,"level":50,"msg":"x"}', 'error'],
    ['{"level":40}', 'warn'],
    ['{"severity":"INFO"}', 'info'],
    ['ts=1 level=warning msg="an error"', 'warn'],
    ['2026-01-31T12:00:00.000Z ERROR failed', 'error'],
    ['[2026-01-31 12:00:00,123] [WARN] slow', 'warn'],
    ['12:00:00 [error] 7#7: refused', 'error'],
    ['\u26a0 warning: x', 'warn'],
    ['npm warn deprecated x', 'warn'],
    ['npm error code 1', 'error'],
    ['(node:7) [DEP0040] DeprecationWarning: x', 'warn'],
    ['Uncaught RangeError: x', 'error'],
    ['pg.DatabaseError: x', 'error'],
    ['src/a.ts(3,1): error TS2304: x', 'error'],
    ['INFO no errors found', 'info'],
    ['errors: 0', undefined],
    ['the water level: high', undefined],
    ['1'.repeat(5_000), undefined],
  ])('detects the level in %j', (text, level) => expect(detectLevel(text)).toBe(level))

  it('start over when the store has dropped lines', () => {
    const store = storeOf(['a', 'b', 'c'])
    const list = createLogRows(store, all, null)
    list.update()
    store.lines.splice(0, 2)
    store.epoch++
    list.update()
    expect(list.rows.map(({ text }) => text)).toEqual(['c'])
  })

  it('count wide characters as two columns', () => {
    const list = createLogRows(storeOf(['港'.repeat(10)]), all, 10)
    list.update()
    expect(list.height).toBe(2 * lineHeight)
  })
})

function line(text: string, number: number, source: LogSource = 'stdout', group: string | null = null): LogLine {
  return { text, number, source, group, ts: null }
}

/** Only what rows read of a store, because the batching of updates requires a browser. */
function storeOf(texts: string[]): Omit<LogStore, 'lines' | 'epoch'> & { lines: LogLine[]; epoch: number } {
  return {
    lines: texts.map((text, index) => line(text, index + 1)),
    epoch: 0,
    append: () => undefined,
    clear: () => undefined,
    subscribe: () => () => undefined,
    version: () => 0,
  }
}
