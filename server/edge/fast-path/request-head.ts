import { isFastPathNameChar, isFastPathTargetChar, isFastPathValueChar, matchesIgnoreCase } from '../header-characters.ts'
import { reservedHeaders, methodOverrideHeaders } from '../upstream/request-headers.ts'
import { edgeLimits } from '../limits.ts'

/** A request that the fast path supports. */
export interface FastPathHead {
  method: string
  target: string
  /** The Host header as sent. */
  host: string
  /** Request line and headers to forward, each with its line end, without `traceparent`. */
  lines: string
  traceparent: string | undefined
  body_length: number
  /** The client asks to close the connection after the response. */
  wantsClose: boolean
  /** A GET without body, conditions or cache directives. */
  isSimpleGet: boolean
  /** The offset at which the body begins. */
  body_start: number
}

const httpVersion = Buffer.from(' HTTP/1.1\r\n')
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Headers that change how a request is read or where it appears to come from. A request with any of them is left to Node's parser. */
const unsupportedHeaders = [
  'transfer-encoding',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'http2-settings',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  ...reservedHeaders,
  ...methodOverrideHeaders,
]
/** Headers with which the response may differ from that of a plain GET. */
const conditionalHeaders = ['range', 'if-range', 'if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since', 'cache-control', 'pragma']
const inspectedHeaders = ['host', 'content-length', 'connection', 'keep-alive', 'traceparent', ...conditionalHeaders, ...unsupportedHeaders]
const inspectedByLength: readonly (readonly string[] | undefined)[] = Array.from({ length: 32 }, (_, length) => {
  const names = inspectedHeaders.filter((name) => name.length === length)
  return names.length > 0 ? names : undefined
})

/** A placeholder for a request whose head never arrived completely, so that it can be answered. */
export const createIncompleteHead = (bytes: Buffer | null): FastPathHead => ({
  method: 'GET',
  target: '/',
  host: '',
  lines: bytes?.toString('latin1') ?? '',
  traceparent: undefined,
  body_length: 0,
  wantsClose: true,
  isSimpleGet: false,
  body_start: 0,
})

/**
 * Reads the head of a simple request. `undefined`: the head is incomplete. `'unsupported'`: the request is invalid or uses an unsupported feature; nothing
 * has been consumed.
 */
export function parseFastPathHead(bytes: Buffer, length: number): FastPathHead | 'unsupported' | undefined {
  const method = parseMethod(bytes, length)
  if (method === undefined) return length < 8 ? undefined : 'unsupported'
  const targetStart = method.length + 1
  let at = targetStart
  if (at >= length) return undefined
  if (bytes[at] !== 47) return 'unsupported'
  while (at < length && isFastPathTargetChar[bytes[at] as number] === 1) at++
  const targetEnd = at
  for (let i = 0; i < httpVersion.length; i++, at++) {
    if (at >= length) return undefined
    if (bytes[at] !== httpVersion[i]) return 'unsupported'
  }

  let count = 0
  let lines = ''
  let copiedTo = 0
  let host = ''
  let bodyLength = -1
  let wantsClose = false
  let traceparent: string | undefined
  let isSimpleGet = method === 'GET'
  for (;;) {
    if (at + 1 >= length) return undefined
    if (bytes[at] === 13) {
      if (bytes[at + 1] !== 10) return 'unsupported'
      break
    }
    if (++count > edgeLimits.header_count) return 'unsupported'
    const nameStart = at
    while (at < length && isFastPathNameChar[bytes[at] as number] === 1) at++
    if (at >= length) return undefined
    const nameLength = at - nameStart
    if (bytes[at] !== 58 || nameLength === 0) return 'unsupported'
    let valueStart = ++at
    while (at < length && isFastPathValueChar[bytes[at] as number] === 1) at++
    if (at + 1 >= length) return undefined
    if (bytes[at] !== 13 || bytes[at + 1] !== 10) return 'unsupported'
    const valueEnd = at
    at += 2
    const candidates = inspectedByLength[nameLength]
    if (nameLength > 10 && matchesIgnoreCase(bytes, nameStart, 'x-forwarded')) return 'unsupported'
    if (candidates === undefined) continue
    for (let i = 0; i < candidates.length; i++) {
      const name = candidates[i] as string
      if (!matchesIgnoreCase(bytes, nameStart, name)) continue
      if (bytes[valueStart] === 32) valueStart++
      if (name === 'host') {
        if (host !== '' || valueStart === valueEnd || bytes[valueStart] === 32 || bytes[valueEnd - 1] === 32) return 'unsupported'
        host = bytes.toString('latin1', valueStart, valueEnd)
      } else if (name === 'content-length') {
        if (bodyLength !== -1) return 'unsupported'
        bodyLength = parseDecimal(bytes, valueStart, valueEnd)
        if (bodyLength < 0) return 'unsupported'
      } else if (name === 'connection') {
        if (valueEnd - valueStart === 5 && matchesIgnoreCase(bytes, valueStart, 'close')) wantsClose = true
        else if (valueEnd - valueStart !== 10 || !matchesIgnoreCase(bytes, valueStart, 'keep-alive')) return 'unsupported'
        lines += bytes.toString('latin1', copiedTo, nameStart)
        copiedTo = at
      } else if (name === 'traceparent') {
        // It appears once. A request with two starts a trace of its own.
        traceparent = traceparent === undefined ? bytes.toString('latin1', valueStart, valueEnd) : ''
        lines += bytes.toString('latin1', copiedTo, nameStart)
        copiedTo = at
      } else if (name === 'keep-alive') {
        lines += bytes.toString('latin1', copiedTo, nameStart)
        copiedTo = at
      } else if (conditionalHeaders.includes(name)) isSimpleGet = false
      else return 'unsupported'
      break
    }
  }
  if (host === '') return 'unsupported'
  lines += bytes.toString('latin1', copiedTo, at)
  return {
    method,
    target: bytes.toString('latin1', targetStart, targetEnd),
    host,
    lines,
    traceparent,
    body_length: bodyLength < 0 ? 0 : bodyLength,
    wantsClose,
    isSimpleGet: isSimpleGet && bodyLength <= 0,
    body_start: at + 2,
  }
}

function parseMethod(bytes: Buffer, length: number): string | undefined {
  for (const method of methods) {
    if (length <= method.length || bytes[0] !== method.charCodeAt(0) || bytes[method.length] !== 32) continue
    let i = 1
    while (i < method.length && bytes[i] === method.charCodeAt(i)) i++
    if (i === method.length) return method
  }
  return undefined
}

/** Decimal digits only; otherwise -1. */
function parseDecimal(bytes: Buffer, start: number, end: number): number {
  if (end === start || end - start > 15) return -1
  let value = 0
  for (let i = start; i < end; i++) {
    const digit = (bytes[i] as number) - 48
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}
