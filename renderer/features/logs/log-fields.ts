import { stripAnsi } from '../../lib/ansi.ts'
import { replaceInvisible } from '../../lib/sanitize-for-display.ts'
import type { LogLine } from './log-line.ts'

export interface LogField {
  /** Parts of nested names are joined by dots. */
  name: string
  value: string
}

const maxFields = 200
/** Longer lines are shown as they are. */
const maxSummarized = 4_096
/** Shown before the message, and as the time of the row. */
const levelNames = /^(?:level|lvl|severity)$/
const timeNames = /^@?(?:time|ts|timestamp)$/
const numberedLevels: Partial<Record<string, string>> = { 10: 'TRACE', 20: 'DEBUG', 30: 'INFO', 40: 'WARN', 50: 'ERROR', 60: 'FATAL' }

/** Whether a line looks like a JSON object, without parsing it. */
export function isStructured({ text }: Pick<LogLine, 'text'>): boolean {
  if (!text.includes('{')) return false
  return /^\s*\{".*\}\s*$/.test(stripAnsi(text))
}

/** The fields of a line that is a JSON object; none of another line. */
export function parseLogFields(line: Pick<LogLine, 'text'>): LogField[] {
  try {
    const value: unknown = JSON.parse(stripAnsi(line.text))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? flatten('', value).slice(0, maxFields) : []
  } catch {
    return []
  }
}

/** A JSON line with a message as text: `WARN stock is low  sku=LAMP-1 left=2`. Undefined for any other line. */
export function summarizeLine(line: Pick<LogLine, 'text'>): string | undefined {
  if (line.text.length > maxSummarized || !isStructured(line)) return undefined
  const fields = parseLogFields(line)
  const message = fields.find(({ name }) => name === 'msg' || name === 'message')
  if (!message) return undefined
  const level = fields.find(({ name }) => levelNames.test(name))?.value ?? ''
  const others = fields.filter((field) => field !== message && !levelNames.test(field.name) && !timeNames.test(field.name))
  const start = [numberedLevels[level] ?? level.toUpperCase(), message.value].filter(Boolean).join(' ')
  return replaceInvisible([start, others.map(({ name, value }) => `${name}=${value}`).join(' ')].filter(Boolean).join('  ')).replaceAll('\n', ' ')
}

function flatten(prefix: string, value: object): LogField[] {
  return Object.entries(value).flatMap(([key, field]: [string, unknown]): LogField[] => {
    const name = prefix + key
    if (typeof field === 'object' && field !== null && !Array.isArray(field) && Object.keys(field).length > 0) return flatten(`${name}.`, field)
    return [{ name, value: typeof field === 'string' ? field : JSON.stringify(field) }]
  })
}
