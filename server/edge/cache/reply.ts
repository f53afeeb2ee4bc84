import type { Answer } from '../answer.ts'
import { rangeOf } from '../static-headers.ts'
import type { Entry } from './entry.ts'
import { readDate, valueOf, without } from './fields.ts'
import { within, type Part } from './part.ts'
import type { CacheVisit } from './reader.ts'

export type XCache = 'HIT' | 'STALE' | 'MISS' | 'BYPASS'

/** What the cache says of an answer, for people and for RFC 9211. */
export const cacheLines = (word: XCache, status: string): string => `X-Cache: ${word}\r\nCache-Status: Homeport; ${status}\r\n`

/** The answer to a request from what is stored: whole, in part, or "you have it already". */
export function reply(visit: CacheVisit, entry: Entry, now: number, word: XCache, status: string): Answer {
  const lines = `${entry.lines}${cacheLines(word, status)}Age: ${entry.age(now)}\r\n`
  const size = entry.body_length
  if (entry.part !== null) return partReply(visit, entry, entry.part, lines)
  if (entry.status === 200 && isUnchanged(visit, entry, now)) return { status: 304, lines, body: null, length: -1, dated: true }
  if (entry.status === 200 && visit.method === 'GET' && visit.header('range') !== undefined) {
    const { etag, last_modified } = entry.terms
    const range = rangeOf(visit, size, etag.startsWith('W/') ? '' : etag, readDate(last_modified, now) ?? Number.NaN)
    if (range === 'none') {
      const kept = without(lines, (name) => name.startsWith('content-'))
      return { status: 416, lines: `${kept}Content-Range: bytes */${size}\r\n`, body: null, length: 0, dated: true }
    }
    if (range) {
      const { start, end } = range
      const body = entry.body.subarray(start, end)
      return { status: 206, lines: `${lines}Content-Range: bytes ${start}-${end - 1}/${size}\r\n`, body, length: end - start, dated: true }
    }
  }
  const body = size > 0 && visit.method !== 'HEAD' ? entry.body : null
  return { status: entry.status, lines, body, length: entry.status === 204 ? -1 : size, dated: true }
}

/** A stored part, or a part of it. */
function partReply(visit: CacheVisit, entry: Entry, part: Part, lines: string): Answer {
  const inner = visit.header('range') === part.range ? undefined : within(part, entry.body_length, visit.header('range') ?? '')
  if (inner === undefined) return { status: 206, lines, body: entry.body, length: entry.body_length, dated: true }
  const { start, end } = inner
  const kept = without(lines, (name) => name === 'content-range')
  const body = entry.body.subarray(start - part.start, end - part.start)
  return { status: 206, lines: `${kept}Content-Range: bytes ${start}-${end - 1}/${part.total}\r\n`, body, length: end - start, dated: true }
}

/** Whether the client holds this very version (RFC 9111, 4.3.2). */
function isUnchanged(visit: CacheVisit, entry: Entry, now: number): boolean {
  const tags = visit.fields('if-none-match')
  if (tags !== undefined) {
    if (tags.trim() === '*') return true
    const { etag } = entry.terms
    return etag !== '' && (tags.match(/(?:W\/)?"[^"]*"|[^\s,]+/g) ?? []).some((tag) => weak(tag) === weak(etag))
  }
  const since = readDate(visit.header('if-modified-since'), now)
  if (since === undefined) return false
  // Without Last-Modified the date of the answer stands for it.
  const changed = readDate(entry.terms.last_modified, now) ?? readDate(valueOf(entry.lines, 'date'), now)
  return changed !== undefined && changed <= since
}

const weak = (tag: string): string => tag.replace(/^W\//, '')

/** Answers to `only-if-cached` when there is nothing. */
export const nothingStored: Answer = {
  status: 504,
  lines: `Cache-Control: no-store\r\n${cacheLines('MISS', 'fwd=request; detail="only-if-cached"')}`,
  body: null,
  length: 0,
}
