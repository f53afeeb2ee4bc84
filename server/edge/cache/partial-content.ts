import type { ResponseHead } from '../upstream/response-head.ts'
import { fieldValue } from './header-fields.ts'

/** The range of a 206, if its Content-Range is reliable. The response is stored as that range, never as the whole. */
export function parseContentRange(head: ResponseHead, range: string): StoredRange | null {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(fieldValue(head.lines, 'content-range') ?? '')
  if (!match || head.length <= 0 || Number(match[2]) < Number(match[1])) return null
  const total = match[3] ?? '*'
  return { start: Number(match[1]), range, total, is_end: Number(match[2]) + 1 === Number(total) }
}

export interface StoredRange {
  start: number
  /** The Range header as requested. */
  range: string
  /** Size of the whole in bytes, or `*`. */
  total: string
  /** Whether the part reaches the end of the whole. */
  is_end: boolean
}

/** `[start, end)` of the whole if the range lies within the stored part. An open range must lie within the last part. */
export function resolveWithin(part: StoredRange, length: number, range: string): { start: number; end: number } | undefined {
  const [match, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? []
  const partEnd = part.start + length
  if (match === undefined || (first === '' && last === '') || ((first === '' || last === '') && !part.is_end)) return undefined
  const start = first === '' ? Number(part.total) - Number(last) : Number(first)
  const end = last === '' ? partEnd : first === '' ? Number(part.total) : Number(last) + 1
  return start >= part.start && end > start && end <= partEnd ? { start, end } : undefined
}
