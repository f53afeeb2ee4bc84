import { lineLevel } from './log-level.ts'
import { stripAnsi } from './ansi.ts'
import type { LogLine } from './log-line.ts'
import type { LogSource } from './log-line.ts'

/** Lines of one stream, or of this level and above. */
export type LogOutputFilter = LogSource | 'warn' | 'error'

export interface LogFilter {
  /** In lower case; empty: all. */
  needle: string
  output: LogOutputFilter | null
  group: string | null
}

/** Lines as they arrive. Readers are told at most once per frame. */
export interface LogStore {
  readonly lines: readonly LogLine[]
  /** Changes whenever lines are taken away, so that readers start over. */
  readonly epoch: number
  append(lines: Omit<LogLine, 'number'>[]): void
  clear(): void
  subscribe(listener: () => void): () => void
  /** A number that changes with every change. */
  version(): number
}

// What a window keeps; the platform keeps the rest.
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
      // Fields that come later have their place from the start: lines stay of one shape.
      for (const one of added) {
        const isIndented = one.text[0] === ' ' || one.text[0] === '\t'
        const line: LogLine = { ...one, number: ++last, width: undefined, lower: undefined, level: undefined, continues: undefined }
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

/** A hostile line of a megabyte must not stop the page: this much of a line is shown. Copy and download have it whole. */
export const maxShownColumns = 16_384

/** How many columns a line takes. Beyond Latin a character may take two: better a line too tall than cut. */
export function lineColumns(line: LogLine): number {
  let width = line.width
  if (width === undefined) {
    const text = stripAnsi(line.text)
    line.lower = text.toLowerCase()
    width = text.length
    if (/[\u1100-\uffff]/.test(text)) for (const character of text) if (/[\u1100-\u{10ffff}]/u.test(character)) width += 1
    line.width = width = Math.min(width, maxShownColumns)
  }
  return width
}

export function matchesFilter(line: LogLine, { needle, output, group }: LogFilter): boolean {
  if (output !== null && !matchesOutput(line, output)) return false
  if (group !== null && line.group !== group) return false
  return needle === '' || (line.lower ??= stripAnsi(line.text).toLowerCase()).includes(needle)
}

function matchesOutput(line: LogLine, output: LogOutputFilter): boolean {
  if (output !== 'error' && output !== 'warn') return line.source === output
  if (line.source === 'system') return false
  const level = lineLevel(line)
  return level === 'error' || level === output
}

/** As a file or the clipboard gets it. */
export function formatLines(lines: readonly LogLine[], withTime: boolean): string {
  return lines.map((line) => `${withTime && line.ts ? `${line.ts}  ` : ''}${stripAnsi(line.text)}\n`).join('')
}
