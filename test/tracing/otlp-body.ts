import protobuf from 'protobufjs/light.js'
import { otlpSchema } from '../../server/tracing/otlp-schema.ts'

export interface SentSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind?: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes?: { key: string; value: object }[]
  events?: object[]
  status?: { code: number; message?: string }
}

const start_ns = 1_790_000_000_000_000_000n

/** A span of a trace, 1 ms long, which starts as many milliseconds after a fixed time as its number says. */
export const sentSpan = (number: number, more: Partial<SentSpan> = {}): SentSpan => ({
  traceId: 'a'.repeat(32),
  spanId: number.toString(16).padStart(16, '0'),
  name: `span ${number}`,
  startTimeUnixNano: String(start_ns + BigInt(number) * 1_000_000n),
  endTimeUnixNano: String(start_ns + BigInt(number + 1) * 1_000_000n),
  ...more,
})

export const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })

/** An ExportTraceServiceRequest in OTLP/JSON. */
export const jsonBody = (spans: readonly SentSpan[], service = 'shop') => ({
  resourceSpans: [{ resource: { attributes: [text('service.name', service)] }, scopeSpans: [{ scope: { name: 'test' }, spans }] }],
})

/** The messages above those that the receiver decodes as wholes. */
const root = protobuf.Root.fromJSON({
  nested: {
    ...otlpSchema.nested,
    Request: { fields: { resourceSpans: { rule: 'repeated', type: 'ResourceSpans', id: 1 } } },
    ResourceSpans: { fields: { resource: { type: 'Resource', id: 1 }, scopeSpans: { rule: 'repeated', type: 'ScopeSpans', id: 2 } } },
    ScopeSpans: { fields: { scope: { type: 'Scope', id: 1 }, spans: { rule: 'repeated', type: 'Span', id: 2 } } },
  },
})
const hex = (id: string) => Buffer.from(id, 'hex')

/** The same in Protobuf. */
export function protobufBody(spans: readonly SentSpan[], service = 'shop'): Buffer {
  const binary = spans.map(({ traceId, spanId, parentSpanId = '', ...span }) => ({
    ...span,
    traceId: hex(traceId),
    spanId: hex(spanId),
    parentSpanId: hex(parentSpanId),
  }))
  const type = root.lookupType('Request')
  return Buffer.from(type.encode(type.fromObject(jsonBody(binary as never, service))).finish())
}

/** The message of an error, and how many spans were rejected, in an answer in Protobuf. */
export const readAnswer = (
  status: number,
  body: Uint8Array,
): { message?: string; partialSuccess?: { rejectedSpans: unknown; errorMessage: string } } =>
  root
    .lookupType(status === 200 ? 'ExportResponse' : 'ErrorStatus')
    .decode(body)
    .toJSON()
