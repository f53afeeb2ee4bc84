import { type LogFilter, type LogStore, matchesFilter, lineColumns } from './log-store.ts'
import type { LogLine } from './log-line.ts'

export const lineHeight = 20

/** The lines of a store that match a filter, with their positions. Extends incrementally as the store grows. */
export interface LogRows {
  readonly rows: readonly LogLine[]
  /** Width of the widest row in columns. */
  readonly widest: number
  readonly height: number
  /** Adds lines that arrived since the last call. */
  update(): void
  rowTop(index: number): number
  /** The row at an offset in pixels from the top. */
  rowAt(rowTop: number): number
}

/** `columns` null: each line is one row. Otherwise a line wraps at that width. */
export function createLogRows(store: LogStore, filter: LogFilter, columns: number | null): LogRows {
  let rows: LogLine[] = []
  // ends[i]: number of wrapped text lines up to and including row i.
  let cumulativeLines: number[] = []
  let widest = 0
  let nextLine = 0
  let epoch = store.epoch

  const total = () => (columns === null ? rows.length : (cumulativeLines.at(-1) ?? 0))
  return {
    get rows() {
      return rows
    },
    get widest() {
      return widest
    },
    get height() {
      return total() * lineHeight
    },
    update() {
      if (epoch !== store.epoch) {
        rows = []
        cumulativeLines = []
        nextLine = 0
        epoch = store.epoch
      }
      for (; nextLine < store.lines.length; nextLine++) {
        const line = store.lines[nextLine]
        if (!line || !matchesFilter(line, filter)) continue
        const width = lineColumns(line)
        widest = Math.max(widest, width)
        if (columns !== null) cumulativeLines.push((cumulativeLines.at(-1) ?? 0) + Math.max(1, Math.ceil(width / columns)))
        rows.push(line)
      }
    },
    rowTop: (index) => (columns === null ? index : (cumulativeLines[index - 1] ?? 0)) * lineHeight,
    rowAt(top) {
      const line = Math.floor(top / lineHeight)
      if (columns === null) return Math.max(0, Math.min(line, rows.length - 1))
      let low = 0
      let high = cumulativeLines.length - 1
      while (low < high) {
        const middle = (low + high) >> 1
        if ((cumulativeLines[middle] ?? 0) <= line) low = middle + 1
        else high = middle
      }
      return Math.max(0, low)
    },
  }
}
