import { type LogLevel, levelOf } from './log-level.ts'
import { plainText } from './terminal-line.ts'

export type LogSource = 'stdout' | 'stderr' | 'system'
/** Lines of one stream, or of this level and above. */
export type LogPick = LogSource | 'warn' | 'error'

export interface LogLine {
  text: string
  source: LogSource
  ts: string | null
  /** The step of a build, or the deployment that a running app belongs to. */
  group: string | null
  /** Its number, from 1, for as long as the store lives. */
  number: number
  /** Made once, when first asked for: a hundred thousand lines are measured when the window changes, and searched at every key. */
  width?: number | undefined
  lower?: string | undefined
  level?: LogLevel | undefined
  /** An indented line belongs to the last one before it in its stream that is not. */
  continues?: LogLine | undefined
}

export interface LogFilter {
  /** In lower case; empty: all. */
  words: string
  pick: LogPick | null
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
const dropAtOnce = 25_000

export function createLogStore(): LogStore {
  const listeners = new Set<() => void>()
  let lines: LogLine[] = []
  let epoch = 0
  let version = 0
  let last = 0
  let frame: number | null = null
  const heads: Partial<Record<LogSource, LogLine>> = {}

  const changed = () => {
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
    append(more) {
      // Fields that come later have their place from the start: lines stay of one shape.
      for (const one of more) {
        const isIndented = one.text[0] === ' ' || one.text[0] === '\t'
        const line: LogLine = { ...one, number: ++last, width: undefined, lower: undefined, level: undefined, continues: undefined }
        if (isIndented) line.continues = heads[line.source]
        else heads[line.source] = line
        lines.push(line)
      }
      if (lines.length > capacity) {
        lines = lines.slice(lines.length - capacity + dropAtOnce)
        epoch++
      }
      changed()
    },
    clear() {
      lines = []
      last = 0
      epoch++
      changed()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    version: () => version,
  }
}

/** A hostile line of a megabyte must not stop the page: this much of a line is shown. Copy and download have it whole. */
export const shownColumns = 16_384

/** How many columns a line takes. Beyond Latin a character may take two: better a line too tall than cut. */
export function widthOf(line: LogLine): number {
  let width = line.width
  if (width === undefined) {
    const text = plainText(line.text)
    line.lower = text.toLowerCase()
    width = text.length
    if (/[\u1100-\uffff]/.test(text)) for (const character of text) if (/[\u1100-\u{10ffff}]/u.test(character)) width += 1
    line.width = width = Math.min(width, shownColumns)
  }
  return width
}

export function matches(line: LogLine, { words, pick, group }: LogFilter): boolean {
  if (pick !== null && !isPicked(line, pick)) return false
  if (group !== null && line.group !== group) return false
  return words === '' || (line.lower ??= plainText(line.text).toLowerCase()).includes(words)
}

function isPicked(line: LogLine, pick: LogPick): boolean {
  if (pick !== 'error' && pick !== 'warn') return line.source === pick
  if (line.source === 'system') return false
  const level = levelOf(line)
  return level === 'error' || level === pick
}

/** As a file or the clipboard gets it. */
export function textOf(lines: readonly LogLine[], withTime: boolean): string {
  return lines.map((line) => `${withTime && line.ts ? `${line.ts}  ` : ''}${plainText(line.text)}\n`).join('')
}
