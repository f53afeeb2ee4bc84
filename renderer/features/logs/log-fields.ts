import { stripAnsi } from '../../lib/ansi.ts'
import type { LogLine } from './log-line.ts'

export interface LogField {
  /** Parts of nested names are joined by dots. */
  name: string
  value: string
}

const maxFields = 200

/** Whether a line looks like a JSON object, without parsing it. */
export function isStructured({ text }: LogLine): boolean {
  if (!text.includes('{')) return false
  return /^\s*\{".*\}\s*$/.test(stripAnsi(text))
}

/** The fields of a line that is a JSON object; none of another line. */
export function parseLogFields(line: LogLine): LogField[] {
  try {
    const value: unknown = JSON.parse(stripAnsi(line.text))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? flatten('', value).slice(0, maxFields) : []
  } catch {
    return []
  }
}

function flatten(prefix: string, value: object): LogField[] {
  return Object.entries(value).flatMap(([key, field]: [string, unknown]): LogField[] => {
    const name = prefix + key
    if (typeof field === 'object' && field !== null && !Array.isArray(field) && Object.keys(field).length > 0) return flatten(`${name}.`, field)
    return [{ name, value: typeof field === 'string' ? field : JSON.stringify(field) }]
  })
}
