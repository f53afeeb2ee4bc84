import { detectLevel, type LogLevel } from '../../../server/contract/log-level.ts'
import { stripAnsi } from '../../lib/ansi.ts'
import type { LogLine } from './log-line.ts'

/** Level of a line, in this order: its own, that of the line it continues, the default of its stream. */
export function lineLevel(line: LogLine): LogLevel {
  line.level ??= detectLevel(stripAnsi(line.text)) ?? (line.continues ? lineLevel(line.continues) : line.source === 'stderr' ? 'error' : 'info')
  return line.level
}
