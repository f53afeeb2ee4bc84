import type { ResponseHead } from '../response-head.ts'
import { valueOf } from './fields.ts'

/** The part that a 206 is, when it says so in a way that can be trusted. It is stored as the part that it is, never as the whole. */
export function readPart(head: ResponseHead, range: string): Part | null {
  const found = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(valueOf(head.lines, 'content-range') ?? '')
  if (!found || head.length <= 0 || Number(found[2]) < Number(found[1])) return null
  return { start: Number(found[1]), range, total: found[3] ?? '*' }
}

export interface Part {
  start: number
  /** As it was asked for. */
  range: string
  /** Bytes of the whole, or `*`. */
  total: string
}

/** `[start, end)` of the whole, when a range with both its ends lies within what is there of a part. */
export function within(part: Part, length: number, range: string): { start: number; end: number } | undefined {
  const found = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(range)
  if (!found) return undefined
  const start = Number(found[1])
  const end = Number(found[2]) + 1
  return start >= part.start && end > start && end <= part.start + length ? { start, end } : undefined
}
