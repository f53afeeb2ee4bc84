import { describe, expect, it } from 'vitest'
import { createLogRows, lineHeight } from '../../renderer/features/logs/log-rows.ts'
import type { LogLine, LogSource, LogStore } from '../../renderer/features/logs/log-store.ts'

const all = { words: '', source: null, group: null }

describe('rows of a log', () => {
  it('lie where their width puts them', () => {
    const list = createLogRows(storeOf(['short', 'x'.repeat(25), '', 'y'.repeat(10)]), all, 10)
    list.update()
    expect([0, 1, 2, 3, 4].map((index) => list.top(index) / lineHeight)).toEqual([0, 1, 4, 5, 6])
    expect(list.height).toBe(6 * lineHeight)
    expect([0, 19, 20, 79, 80, 100, 5_000].map((top) => list.at(top))).toEqual([0, 0, 1, 1, 2, 3, 3])
  })

  it('grow with the store, through the filter', () => {
    const store = storeOf(['one apple', 'two'])
    const list = createLogRows(store, { ...all, words: 'apple' }, null)
    list.update()
    expect(list.rows.map(({ text }) => text)).toEqual(['one apple'])
    store.lines.push(line('an APPLE more', 3), line('\u001b[31map\u001b[0mple in two colours', 4))
    list.update()
    expect(list.rows.map(({ number }) => number)).toEqual([1, 3, 4])
  })

  it('tell streams and parts apart', () => {
    const store = storeOf([])
    store.lines.push(line('out', 1, 'stdout', 'build'), line('err', 2, 'stderr', 'build'), line('other', 3, 'stderr', 'start'))
    const list = createLogRows(store, { words: '', source: 'stderr', group: 'build' }, null)
    list.update()
    expect(list.rows.map(({ text }) => text)).toEqual(['err'])
  })

  it('start over when the store has dropped lines', () => {
    const store = storeOf(['a', 'b', 'c'])
    const list = createLogRows(store, all, null)
    list.update()
    store.lines.splice(0, 2)
    store.epoch++
    list.update()
    expect(list.rows.map(({ text }) => text)).toEqual(['c'])
  })

  it('take wide characters for two columns', () => {
    const list = createLogRows(storeOf(['港'.repeat(10)]), all, 10)
    list.update()
    expect(list.height).toBe(2 * lineHeight)
  })
})

function line(text: string, number: number, source: LogSource = 'stdout', group: string | null = null): LogLine {
  return { text, number, source, group, ts: null }
}

/** Only what rows read of a store; the frame that batches its news needs a browser. */
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
