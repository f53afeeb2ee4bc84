import { lineLevel } from './log-level.ts'
import { stripAnsi } from '../../lib/ansi.ts'
import { isStructured, summarizeLine } from './log-fields.ts'
import type { LogLine, LogSource } from './log-line.ts'

/** Lines of one stream, or of this level and above. */
export type LogOutputFilter = LogSource | 'warn' | 'error'

export interface LogFilter {
  /** Lowercase; empty matches all. */
  needle: string
  output: LogOutputFilter | null
  group: string | null
}

/** Lines in arrival order. Subscribers are notified at most once per frame. */
export interface LogStore {
  readonly lines: readonly LogLine[]
  /** Changes whenever lines are removed, so that readers start over. */
  readonly epoch: number
  append(lines: Omit<LogLine, 'number'>[]): void
  clear(): void
  subscribe(listener: () => void): () => void
  /** Version number that changes with every change. */
  version(): number
}

// Maximum number of lines in memory; the platform keeps the full log.
const capacity = 250_000
const trimBatch = 25_000

export function createLogStore(): LogStore {
  const listeners = new Set<() => void>()
  let lines: LogLine[] = []
  let epoch = 0
  let version = 0
  let last = 0
  let frame: number | null = null
  const lastUnindented: Partial<Record<LogSource, LogLine>> = {}

  const notify = () => {
    version++
    frame ??= requestAnimationFrame(() => {
      frame = null
      for (const listener of listeners) listener()
    })
  }
  return {
    get lines() {
      return lines
    },
    get epoch() {
      return epoch
    },
    append(added) {
      // All fields are initialized, so that all lines share one hidden class.
      for (const one of added) {
        const isIndented = one.text[0] === ' ' || one.text[0] === '\t'
        const line: LogLine = {
          ...one,
          number: ++last,
          width: undefined,
          summary: undefined,
          lower: undefined,
          level: undefined,
          continues: undefined,
        }
        if (isIndented) line.continues = lastUnindented[line.source]
        else lastUnindented[line.source] = line
        lines.push(line)
      }
      if (lines.length > capacity) {
        lines = lines.slice(lines.length - capacity + trimBatch)
        epoch++
      }
      notify()
    },
    clear() {
      lines = []
      last = 0
      epoch++
      notify()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    version: () => version,
  }
}

/** Limits the displayed length, so that a line of several megabytes does not block the page. Copy and download contain the full line. */
export const maxShownColumns = 16_384

/** The width of the button after a structured line. */
const fieldsButtonColumns = 2

/** Columns of a line. Characters outside Latin count as two, because too much height is better than clipped text. */
export function lineColumns(line: LogLine): number {
  let width = line.width
  if (width === undefined) {
    line.summary = summarizeLine(line)
    const text = line.summary ?? stripAnsi(line.text)
    width = text.length
    if (/[\u1100-\uffff]/.test(text)) for (const character of text) if (/[\u1100-\u{10ffff}]/u.test(character)) width += 1
    line.width = width = Math.min(width, maxShownColumns) + (isStructured(line) ? fieldsButtonColumns : 0)
  }
  return width
}

export function matchesFilter(line: LogLine, { needle, output, group }: LogFilter): boolean {
  if (output !== null && !matchesOutput(line, output)) return false
  if (group !== null && line.group !== group) return false
  return needle === '' || (line.lower ??= `${stripAnsi(line.text)}\n${summarizeLine(line) ?? ''}`.toLowerCase()).includes(needle)
}

function matchesOutput(line: LogLine, output: LogOutputFilter): boolean {
  if (output !== 'error' && output !== 'warn') return line.source === output
  if (line.source === 'system') return false
  const level = lineLevel(line)
  return level === 'error' || level === output
}

/** The line in a file or on the clipboard. */
export function formatLines(lines: readonly LogLine[], withTime: boolean): string {
  return lines.map((line) => `${withTime && line.ts ? `${line.ts}  ` : ''}${stripAnsi(line.text)}\n`).join('')
}
