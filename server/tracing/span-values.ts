import type { SpanAttributes } from '../contract/traces.ts'
import { limits } from '../contract/limits.ts'
import type { OtlpAttribute, OtlpValue } from './otlp-schema.ts'

/** Masks the secrets of a project in a text. */
export type MaskText = (text: string) => string

const { tracing } = limits
/** Lists and maps within each other. */
const maxDepth = 4
const maxItems = 100

/** Masked before it is shortened, so that no part of a secret remains. */
export const cutText = (value: unknown, mask: MaskText, length: number): string => (typeof value === 'string' ? mask(value).slice(0, length) : '')

/** Lower-case hexadecimal digits of an ID; in JSON it is written so, in Protobuf it is bytes. Undefined if it has another length or is all zeros. */
export function readId(value: unknown, bytes: number): string | undefined {
  const text = value instanceof Uint8Array ? Buffer.from(value).toString('hex') : typeof value === 'string' ? value.toLowerCase() : ''
  return text.length === 2 * bytes && /^[0-9a-f]+$/.test(text) && !/^0+$/.test(text) ? text : undefined
}

/** Nanoseconds since 1970 as microseconds. */
export function readTime(value: unknown): number | undefined {
  if (typeof value === 'string' && !/^\d{1,20}$/.test(value)) return undefined
  const us = isLong(value) ? ((value.high >>> 0) * 2 ** 32 + (value.low >>> 0)) / 1000 : typeof value === 'object' ? Number.NaN : Number(value) / 1000
  return us > 0 && us < maxTime_us ? Math.round(us) : undefined
}

/** The last time that a date can represent. */
const maxTime_us = 8.64e18

const isLong = (value: unknown): value is { low: number; high: number } =>
  typeof value === 'object' && value !== null && 'low' in value && typeof value.low === 'number' && 'high' in value && typeof value.high === 'number'

/** The attributes of a span by their keys, with as many and as long ones as are kept. */
export function readAttributes(list: unknown, mask: MaskText, count: number = tracing.attributes): SpanAttributes {
  if (!Array.isArray(list)) return {}
  const entries = (list as (OtlpAttribute | null)[]).slice(0, count).flatMap((attribute): [string, SpanAttributes[string]][] => {
    const key = cutText(attribute?.key, mask, tracing.key)
    const value = readValue(attribute?.value, mask, 0)
    return key === '' || value === undefined ? [] : [[key, toAttribute(value)]]
  })
  return Object.fromEntries(entries)
}

type Plain = string | number | boolean | Plain[] | { [key: string]: Plain }

function readValue(sent: OtlpValue | null | undefined, mask: MaskText, depth: number): Plain | undefined {
  if (typeof sent !== 'object' || sent === null || depth > maxDepth) return undefined
  // A message of protobufjs inherits the defaults of the fields that it does not have.
  const value: OtlpValue = { ...sent }
  if (typeof value.stringValue === 'string') return cutText(value.stringValue, mask, tracing.value)
  if (typeof value.boolValue === 'boolean') return value.boolValue
  if (value.intValue !== undefined && value.intValue !== null) return readInteger(value.intValue)
  if (typeof value.doubleValue === 'number') return Number.isFinite(value.doubleValue) ? value.doubleValue : String(value.doubleValue)
  if (value.bytesValue instanceof Uint8Array) return Buffer.from(value.bytesValue.subarray(0, tracing.value)).toString('base64')
  if (typeof value.bytesValue === 'string') return cutText(value.bytesValue, mask, tracing.value)
  const items: unknown = value.arrayValue?.values
  if (Array.isArray(items)) return (items as OtlpValue[]).slice(0, maxItems).map((item) => readValue(item, mask, depth + 1) ?? '')
  const entries: unknown = value.kvlistValue?.values
  if (!Array.isArray(entries)) return undefined
  return Object.fromEntries(
    (entries as (OtlpAttribute | null)[]).slice(0, maxItems).flatMap((entry) => {
      const read = readValue(entry?.value, mask, depth + 1)
      return read === undefined ? [] : [[cutText(entry?.key, mask, tracing.key), read]]
    }),
  )
}

/** Text for a value that a number cannot represent. */
function readInteger(value: unknown): number | string | undefined {
  const text = isLong(value) ? ((BigInt(value.high) << 32n) | BigInt(value.low >>> 0)).toString() : typeof value === 'object' ? '' : String(value)
  if (!/^-?\d{1,20}$/.test(text)) return undefined
  return Number.isSafeInteger(Number(text)) ? Number(text) : text
}

const isScalar = (value: Plain): value is string | number | boolean => typeof value !== 'object'

function toAttribute(value: Plain): SpanAttributes[string] {
  if (isScalar(value)) return value
  if (Array.isArray(value) && value.every(isScalar)) return value
  return JSON.stringify(value).slice(0, tracing.value)
}
