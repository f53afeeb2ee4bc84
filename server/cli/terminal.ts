import { stripVTControlCharacters } from 'node:util'

/** The output of a command, line by line: results go to `out`, messages and errors to `err`. */
export interface Terminal {
  out(line: string): void
  err(line: string): void
  /** Resolves when the output has taken all lines. Lines that a stalled output does not take in time are dropped. */
  flush(): Promise<void>
  /** Input and output are a terminal, so the command may ask questions. */
  is_interactive: boolean
  has_colour: boolean
}

const ansiCodes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const

export function colorize(terminal: Terminal, colour: keyof typeof ansiCodes, text: string): string {
  return terminal.has_colour ? `\x1b[${ansiCodes[colour]}m${text}\x1b[0m` : text
}

/**
 * Makes the output of an app or a tool safe for this terminal. Colours stay if the terminal has them; every other control sequence
 * (titles, cursor moves, clipboard, links) is removed. Of a line redrawn with CR, the last state is kept.
 */
export function sanitizeLine(terminal: Terminal, line: string): string {
  const last = line.slice(line.lastIndexOf('\r', line.length - 2) + 1).replace(/\r$/, '')
  // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
  const colours = terminal.has_colour ? [...last.matchAll(/\x1b\[[0-9;]*m/g)] : []
  if (colours.length === 0) return stripControlCharacters(last)
  let text = ''
  let at = 0
  for (const match of colours) {
    text += stripControlCharacters(last.slice(at, match.index)) + match[0]
    at = match.index + match[0].length
  }
  return `${text}${stripControlCharacters(last.slice(at))}\x1b[0m`
}

// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const stripControlCharacters = (text: string) => stripVTControlCharacters(text).replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '')

/** Pads each column except the last to its widest cell. */
export function formatTable(terminal: Terminal, head: string[], rows: string[][]): string[] {
  const cells = rows.map((row) => row.map((cell) => stripControlCharacters(cell)))
  const widths = head.map((title, i) => Math.max(title.length, ...cells.map((row) => (row[i] ?? '').length)))
  const alignRow = (row: string[]) => row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0))).join('  ')
  return [colorize(terminal, 'dim', alignRow(head)), ...cells.map(alignRow)]
}

/** Such as `3 min ago`; `now` in milliseconds. */
export function formatRelativeTime(iso: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(iso)) / 1000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} days ago`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? '1 byte' : `${bytes} bytes`
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`
  return bytes < 1_000_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1_000_000_000).toFixed(1)} GB`
}
