import type { ResponseHead } from '../response-head.ts'
import { valueOf } from './fields.ts'

/** The part that a 206 is, when it says so in a way that can be trusted. It is stored as the part that it is, never as the whole. */
export function readPart(head: ResponseHead, range: string): Part | null {
  const found = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(valueOf(head.lines, 'content-range') ?? '')
  if (!found || head.length <= 0 || Number(found[2]) < Number(found[1])) return null
  const total = found[3] ?? '*'
  return { start: Number(found[1]), range, total, is_end: Number(found[2]) + 1 === Number(total) }
}

export interface Part {
  start: number
  /** As it was asked for. */
  range: string
  /** Bytes of the whole, or `*`. */
  total: string
  /** Whether the app called it the last part. */
  is_end: boolean
}

/** `[start, end)` of the whole, when a range lies within what is there of a part; an open one within the last part. */
export function within(part: Part, length: number, range: string): { start: number; end: number } | undefined {
  const [found, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? []
  const held = part.start + length
  if (found === undefined || (first === '' && last === '') || ((first === '' || last === '') && !part.is_end)) return undefined
  const start = first === '' ? Number(part.total) - Number(last) : Number(first)
  const end = last === '' ? held : first === '' ? Number(part.total) : Number(last) + 1
  return start >= part.start && end > start && end <= held ? { start, end } : undefined
}
