import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { limits } from '../contract/limits.ts'
import type { CapturedExchange, CapturedMessage } from '../contract/request-captures.ts'
import type { CapturedBody, RequestCapture } from '../edge/request-capture.ts'
import { createFieldMask, type FieldMask, maskForm, maskHeader, maskMultipart, maskText } from '../lib/field-mask.ts'

const { body_bytes } = limits.request_capture

/** Headers and bodies of a request as they are stored: decoded, and without secrets. */
export async function maskCapture({ rule, requestHeaders, requestBody, responseLines, responseBody }: RequestCapture): Promise<CapturedExchange> {
  const isMasked = createFieldMask(rule.masked_fields)
  const responseHeaders = responseLines.split('\r\n').flatMap((line): [string, string][] => {
    const colon = line.indexOf(':')
    return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1).trim()]] : []
  })
  return {
    request: await maskMessage(pairsOf(requestHeaders), bytesOf(requestBody), isMasked),
    response: await maskMessage(responseHeaders, bytesOf(responseBody), isMasked),
  }
}

/** `null`: an event stream, which is not kept. */
export interface ReadBody {
  bytes: Buffer | null
  is_truncated: boolean
}

export async function maskMessage(headers: readonly [string, string][], body: ReadBody, isMasked: FieldMask): Promise<CapturedMessage> {
  const shown = headers.map(([name, value]): [string, string] => [name, maskHeader(name, value, isMasked)])
  const { bytes, is_truncated } = body
  const kept = { headers: shown, body: null, encoding: 'text', is_truncated, omitted: null } as const
  if (bytes === null) return { ...kept, is_truncated: false, omitted: 'stream' }
  if (bytes.length === 0) return kept
  const decoded = await decodeBody(bytes, headerOf(headers, 'content-encoding'))
  if (decoded === undefined) return { ...kept, omitted: 'unreadable' }
  const masked = maskBytes(decoded.subarray(0, body_bytes), headerOf(headers, 'content-type'), isMasked)
  if (masked === undefined) return { ...kept, omitted: 'unreadable' }
  return { ...kept, ...masked, is_truncated: is_truncated || decoded.length > body_bytes }
}

/** Undefined: it may contain secrets that cannot be found. */
function maskBytes(bytes: Buffer, type: string, isMasked: FieldMask): Pick<CapturedMessage, 'body' | 'encoding'> | undefined {
  const boundary = /^multipart\/form-data\b.*?boundary="?([^";\s]+)/i.exec(type)?.[1]
  if (boundary !== undefined) return present(Buffer.from(maskMultipart(bytes.toString('latin1'), boundary, isMasked), 'latin1'))
  const isText = /^(?:text\/|[^;]*(?:json|xml|javascript|urlencoded|graphql|yaml))/i.test(type)
  if (isText && /charset="?(?!utf-?8|us-ascii|iso-8859-|windows-125)/i.test(type)) return undefined
  // A text with NUL is none, or one in UTF-16.
  if (bytes.includes(0)) return isText ? undefined : present(bytes)
  if (!isText && !isUtf8(bytes)) return present(bytes)
  const text = bytes.toString('utf8')
  return { body: /urlencoded/i.test(type) ? maskForm(text, isMasked) : maskText(text, isMasked), encoding: 'text' }
}

const present = (bytes: Buffer): Pick<CapturedMessage, 'body' | 'encoding'> =>
  isUtf8(bytes) && !bytes.includes(0) ? { body: bytes.toString('utf8'), encoding: 'text' } : { body: bytes.toString('base64'), encoding: 'base64' }

/** Whether it is UTF-8, except for a character that is cut at the end. */
function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

const decoders = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress }

/** At most a little more than the bytes that are kept, so that a small body cannot become a large one. */
async function decodeBody(bytes: Buffer, encoding: string): Promise<Buffer | undefined> {
  const name = encoding.trim().toLowerCase()
  if (name === '' || name === 'identity') return bytes
  if (!Object.hasOwn(decoders, name)) return undefined
  const decoder = decoders[name as keyof typeof decoders]()
  const parts: Buffer[] = []
  let length = 0
  try {
    decoder.end(bytes)
    for await (const part of decoder as AsyncIterable<Buffer>) {
      parts.push(part)
      length += part.length
      if (length > body_bytes) break
    }
  } catch {
    // The end of the body is missing, or it is not what its header says.
    if (length === 0) return undefined
  }
  return Buffer.concat(parts)
}

const headerOf = (headers: readonly [string, string][], wanted: string): string => headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? ''

const pairsOf = (list: readonly string[]): [string, string][] =>
  list.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, list[at + 1] ?? '']] : []))

function bytesOf({ parts, isChunked, isIgnored, isTruncated }: CapturedBody): ReadBody {
  if (isIgnored) return { bytes: null, is_truncated: false }
  const whole = Buffer.concat(parts)
  const bytes = isChunked ? removeChunkFraming(whole) : whole
  return { bytes: bytes.subarray(0, body_bytes), is_truncated: isTruncated || bytes.length > body_bytes }
}

/** The edge has checked the framing (RFC 9112 §7.1). The end may be missing. */
function removeChunkFraming(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf('\r\n', at)
    const size = end < 0 ? 0 : Number.parseInt(bytes.toString('latin1', at, end), 16)
    if (!(size > 0)) break
    parts.push(bytes.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
  return Buffer.concat(parts)
}
