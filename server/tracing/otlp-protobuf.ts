import protobuf, { type Type } from 'protobufjs/light.js'
import { otlpSchema, type OtlpSpan, type ReceivedSpan } from './otlp-schema.ts'

const root = protobuf.Root.fromJSON(otlpSchema)
const spanType = root.lookupType('Span')
const scopeType = root.lookupType('Scope')
const resourceType = root.lookupType('Resource')

/** The wire type of messages, texts and bytes. */
const lengthDelimited = 2

/**
 * The spans of an ExportTraceServiceRequest, decoded one at a time, so that a body of many tiny messages costs neither memory nor a long block of the
 * event loop. Throws for bytes that are no such message.
 */
export function* readProtobufSpans(body: Uint8Array): Generator<ReceivedSpan> {
  for (const resourceSpans of readMessages(body, 1)) {
    let resource: unknown
    for (const message of readMessages(resourceSpans, 1)) resource = (resourceType.decode(message) as { attributes?: unknown }).attributes
    for (const scopeSpans of readMessages(resourceSpans, 2)) {
      let scope: string | null = null
      for (const message of readMessages(scopeSpans, 1)) scope = (scopeType.decode(message) as { name?: string }).name ?? null
      for (const message of readMessages(scopeSpans, 2)) yield { span: spanType.decode(message) as OtlpSpan, scope, resource }
    }
  }
}

/** The messages in a repeated field, without a copy. */
function* readMessages(bytes: Uint8Array, field: number): Generator<Uint8Array> {
  const reader = protobuf.Reader.create(bytes)
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    if (tag >>> 3 !== field || (tag & 7) !== lengthDelimited) {
      reader.skipType(tag & 7)
      continue
    }
    const end = reader.uint32() + reader.pos
    if (end > reader.len) throw new RangeError('A message is longer than the body.')
    yield bytes.subarray(reader.pos, end)
    reader.pos = end
  }
}

const encode = (type: Type, value: object): Uint8Array => type.encode(type.fromObject(value)).finish()

export const encodeResponse = (response: object): Uint8Array => encode(root.lookupType('ExportResponse'), response)
export const encodeError = (status: { code: number; message: string }): Uint8Array => encode(root.lookupType('ErrorStatus'), status)
