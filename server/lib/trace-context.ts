/** Trace IDs (W3C Trace Context). Those of a request are derived from its ID, so that neither is stored where the client sent none. */

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const digitByCode = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, alphabet.indexOf(String.fromCharCode(code))))

/** The 128 bits of a ULID with a prefix of four characters, as 32 hexadecimal digits. */
export function traceIdOf(requestId: string): string {
  let text = ''
  for (let at = requestId.length - 4; at >= 6; at -= 4) text = toHex(readDigits(requestId, at, 4), 5) + text
  return toHex(readDigits(requestId, 4, 2), 2) + text
}

/** The ID of the request whose trace ID this is, unless its client sent a trace ID. */
export function requestIdOf(traceId: string): string | undefined {
  if (!isTraceId(traceId)) return undefined
  let text = ''
  for (let rest = BigInt(`0x${traceId}`), i = 0; i < 26; i++, rest >>= 5n) text = alphabet.charAt(Number(rest & 31n)) + text
  return `req_${text}`
}

export const isTraceId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text) && !/^0+$/.test(text)
export const isSpanId = (text: string): boolean => /^[0-9a-f]{16}$/.test(text) && !/^0+$/.test(text)

/** The ID of the edge's own span in the trace of a request. */
export const spanIdOf = (requestId: string): string => traceIdOf(requestId).slice(16)

/** The time in the ID of a request, in milliseconds since 1970. */
export function timeOfId(requestId: string): number {
  return readDigits(requestId, 4, 5) * 2 ** 25 + readDigits(requestId, 9, 5)
}

interface TraceParent {
  trace_id: string
  flags: string
}

/** A received `traceparent`; undefined if it is missing or not valid, and then ignored. */
export function parseTraceParent(value: string | undefined): TraceParent | undefined {
  const [, version, trace_id = '', parent_id = '', flags = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(value ?? '') ?? []
  if (version === undefined || version === 'ff' || /^0+$/.test(trace_id) || /^0+$/.test(parent_id)) return undefined
  return { trace_id, flags }
}

/** The `traceparent` for the app: the edge's span, in the trace of the client or in a new one, which is recorded if `isRecorded`. */
export function formatTraceParent(requestId: string, received: TraceParent | undefined, isRecorded = true): string {
  const own = traceIdOf(requestId)
  return `00-${received?.trace_id ?? own}-${own.slice(16)}-${received?.flags ?? (isRecorded ? '01' : '00')}`
}

function readDigits(text: string, start: number, count: number): number {
  let value = 0
  for (let i = start; i < start + count; i++) value = value * 32 + (digitByCode[text.charCodeAt(i)] ?? 0)
  return value
}

const toHex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')
