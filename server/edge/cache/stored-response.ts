import type { EdgeResponse } from '../response.ts'
import { parseRange } from '../static/headers.ts'
import { cacheStatusLines, type XCache } from './cache-status.ts'
import type { CacheEntry } from './entry.ts'
import { parseHttpDate, fieldValue, omitFields } from './header-fields.ts'
import { resolveWithin, type StoredRange } from './partial-content.ts'
import type { CacheRequestContext } from './reader.ts'

/** A response from a stored entry: complete, partial, or 304. */
export function createStoredResponse(context: CacheRequestContext, entry: CacheEntry, now: number, outcome: XCache, status: string): EdgeResponse {
  const lines = `${entry.lines}${cacheStatusLines(outcome, status)}Age: ${entry.ageAt(now)}\r\n`
  const size = entry.body_length
  if (entry.part !== null) return createPartialResponse(context, entry, entry.part, lines)
  if (entry.status === 200 && isNotModified(context, entry, now)) return { status: 304, lines, body: null, length: -1, hasDate: true }
  if (entry.status === 200 && context.method === 'GET' && context.header('range') !== undefined) {
    const { etag, last_modified } = entry.policy
    const range = parseRange(context, size, etag.startsWith('W/') ? '' : etag, parseHttpDate(last_modified, now) ?? Number.NaN)
    if (range === 'none') {
      const remaining = omitFields(lines, (name) => name.startsWith('content-'))
      return { status: 416, lines: `${remaining}Content-Range: bytes */${size}\r\n`, body: null, length: 0, hasDate: true }
    }
    if (range) {
      const { start, end } = range
      const body = entry.body.subarray(start, end)
      return { status: 206, lines: `${lines}Content-Range: bytes ${start}-${end - 1}/${size}\r\n`, body, length: end - start, hasDate: true }
    }
  }
  const body = size > 0 && context.method !== 'HEAD' ? entry.body : null
  return { status: entry.status, lines, body, length: entry.status === 204 ? -1 : size, hasDate: true }
}

/** A stored range, or a part of it. */
function createPartialResponse(context: CacheRequestContext, entry: CacheEntry, part: StoredRange, lines: string): EdgeResponse {
  const subrange = context.header('range') === part.range ? undefined : resolveWithin(part, entry.body_length, context.header('range') ?? '')
  if (subrange === undefined) return { status: 206, lines, body: entry.body, length: entry.body_length, hasDate: true }
  const { start, end } = subrange
  const remaining = omitFields(lines, (name) => name === 'content-range')
  const body = entry.body.subarray(start - part.start, end - part.start)
  return { status: 206, lines: `${remaining}Content-Range: bytes ${start}-${end - 1}/${part.total}\r\n`, body, length: end - start, hasDate: true }
}

/** Whether the client has this version (RFC 9111 §4.3.2). */
function isNotModified(context: CacheRequestContext, entry: CacheEntry, now: number): boolean {
  const tags = context.fields('if-none-match')
  if (tags !== undefined) {
    if (tags.trim() === '*') return true
    const { etag } = entry.policy
    return etag !== '' && (tags.match(/(?:W\/)?"[^"]*"|[^\s,]+/g) ?? []).some((tag) => stripWeakPrefix(tag) === stripWeakPrefix(etag))
  }
  const since = parseHttpDate(context.header('if-modified-since'), now)
  if (since === undefined) return false
  // Without Last-Modified, Date is used.
  const changed = parseHttpDate(entry.policy.last_modified, now) ?? parseHttpDate(fieldValue(entry.lines, 'date'), now)
  return changed !== undefined && changed <= since
}

const stripWeakPrefix = (tag: string): string => tag.replace(/^W\//, '')

export const onlyIfCachedStatus = 'fwd=request; detail="only-if-cached"'
/** The response to `only-if-cached` when nothing is stored. */
export const onlyIfCachedMiss: EdgeResponse = {
  status: 504,
  lines: `Cache-Control: no-store\r\n${cacheStatusLines('MISS', onlyIfCachedStatus)}`,
  body: null,
  length: 0,
}
