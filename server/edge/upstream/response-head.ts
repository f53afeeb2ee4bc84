import { isTokenChar, isFieldValueChar, matchesIgnoreCase } from '../header-characters.ts'
import { edgeLimits } from '../limits.ts'

/** The head of an app's response, as far as a proxy needs it. */
export interface ResponseHead {
  status: number
  reason: string
  /**
   * The headers to forward, `name: value\r\n` each, without hop-by-hop headers. Includes `Content-Length` (except for 204), excludes
   * `Transfer-Encoding`.
   */
  lines: string
  /** Body size in bytes; -1 if chunked or until the connection closes. */
  length: number
  chunked: boolean
  /** Whether the app accepts another request on this connection. */
  keepAlive: boolean
  /** How long the app keeps an idle connection, in ms; 0 if it does not say. */
  keepAlive_ms: number
  upgrade: string
  /** The values of `Surrogate-Key` and `Cache-Tag`, which only the cache uses. */
  tags: string
  /** Whether the response has a Date. */
  hasDate: boolean
  /** The offset at which the body begins. */
  body_start: number
}

const handledHeaders = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'te',
  'content-length',
  'x-request-id',
  'date',
  'surrogate-key',
  'cache-tag',
  'x-cache',
] as const
type HandledHeader = (typeof handledHeaders)[number]

const handledByLength: readonly (readonly HandledHeader[] | undefined)[] = Array.from({ length: 18 }, (_, length) =>
  handledHeaders.filter((header) => header.length === length),
)

/** Parses a response head strictly. `undefined`: incomplete; `'malformed'`: not an HTTP/1 response, or one whose end is ambiguous. */
export function parseResponseHead(bytes: Buffer, start: number, end: number): ResponseHead | 'malformed' | undefined {
  // `HTTP/1.x NNN reason`
  if (end - start < 13) return undefined
  if (bytes[start] !== 72 || bytes.toString('latin1', start, start + 7) !== 'HTTP/1.') return 'malformed'
  const minor = (bytes[start + 7] ?? 0) - 48
  const status = Number(bytes.toString('latin1', start + 9, start + 12))
  if ((minor !== 0 && minor !== 1) || bytes[start + 8] !== 32 || !(status >= 100 && status <= 999)) return 'malformed'
  let at = start + 12
  while (at < end && isFieldValueChar[bytes[at] ?? 0]) at++
  if (at >= end) return incompleteOrTooLong(start, end)
  const reason = bytes.toString('latin1', start + 13, at)
  if (bytes[at] !== 13 || (at > start + 12 && bytes[start + 12] !== 32)) return 'malformed'
  if (++at >= end) return undefined
  if (bytes[at++] !== 10) return 'malformed'

  const head: ResponseHead = {
    status,
    reason,
    lines: '',
    length: -1,
    chunked: false,
    keepAlive: minor === 1,
    keepAlive_ms: 0,
    upgrade: '',
    tags: '',
    hasDate: false,
    body_start: 0,
  }
  let connectionNames = ''
  let copiedTo = at
  for (;;) {
    if (at >= end) return incompleteOrTooLong(start, end)
    if (bytes[at] === 13) {
      if (at + 1 >= end) return undefined
      if (bytes[at + 1] !== 10) return 'malformed'
      break
    }
    const nameStart = at
    while (at < end && isTokenChar[bytes[at] ?? 0]) at++
    if (at >= end) return incompleteOrTooLong(start, end)
    if (bytes[at] !== 58 || at === nameStart) return 'malformed'
    const nameLength = at - nameStart
    let valueStart = ++at
    while (at < end && isFieldValueChar[bytes[at] ?? 0]) at++
    if (at + 1 >= end) return incompleteOrTooLong(start, end)
    if (bytes[at] !== 13 || bytes[at + 1] !== 10) return 'malformed'
    const header = handledHeaderAt(bytes, nameStart, nameLength)
    at += 2
    if (header === undefined) continue
    if (header === 'date') {
      head.hasDate = true
      continue
    }
    while (bytes[valueStart] === 32 || bytes[valueStart] === 9) valueStart++
    const value = bytes.toString('latin1', valueStart, at - 2).trim()
    if (header === 'content-length') {
      if (head.length !== -1 || !/^\d{1,15}$/.test(value)) return 'malformed'
      head.length = Number(value)
      if (status !== 204) continue
    }
    if (nameStart > copiedTo) head.lines += bytes.toString('latin1', copiedTo, nameStart)
    copiedTo = at
    if (header === 'transfer-encoding') {
      if (head.chunked || value.toLowerCase() !== 'chunked') return 'malformed'
      head.chunked = true
    } else if (header === 'connection') {
      const option = value.toLowerCase()
      if (option === 'close') head.keepAlive = false
      else if (option !== 'keep-alive') connectionNames += `${option},`
    } else if (header === 'keep-alive') {
      const seconds = /timeout=(\d{1,5})/.exec(value)
      if (seconds) head.keepAlive_ms = Number(seconds[1]) * 1000
    } else if (header === 'upgrade') head.upgrade = value
    else if (header === 'surrogate-key') head.tags += `${value.replace(/\s+/g, '\n')}\n`
    else if (header === 'cache-tag') head.tags += `${value.replace(/\s*,\s*/g, '\n')}\n`
  }
  if (at > copiedTo) head.lines += bytes.toString('latin1', copiedTo, at)
  if (head.chunked && (head.length !== -1 || minor === 0)) return 'malformed'
  if (connectionNames !== '') removeConnectionHeaders(head, connectionNames)
  head.body_start = at + 2
  return head
}

const incompleteOrTooLong = (start: number, end: number): 'malformed' | undefined =>
  end - start > edgeLimits.upstream_head_bytes ? 'malformed' : undefined

function handledHeaderAt(bytes: Buffer, start: number, length: number): HandledHeader | undefined {
  const candidates = handledByLength[length]
  if (candidates === undefined) return undefined
  for (const header of candidates) if (matchesIgnoreCase(bytes, start, header)) return header
  return undefined
}

/** Removes the headers that `Connection` declares as hop-by-hop. */
function removeConnectionHeaders(head: ResponseHead, connectionNames: string): void {
  const names = new Set(connectionNames.split(',').map((name) => name.trim()))
  if (names.has('close')) head.keepAlive = false
  // Content-Length frames the body and is kept, even if the app declares it as hop-by-hop.
  names.delete('content-length')
  head.lines = head.lines
    .split('\r\n')
    .filter((line) => line !== '' && !names.has(line.slice(0, line.indexOf(':')).toLowerCase()))
    .map((line) => `${line}\r\n`)
    .join('')
}
