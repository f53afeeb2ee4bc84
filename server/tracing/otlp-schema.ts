import type { INamespace } from 'protobufjs'

/** What is read of opentelemetry-proto, `trace/v1` and `collector/trace/v1`. Unknown fields are skipped. Names are those of OTLP/JSON. */
export const otlpSchema: INamespace = {
  nested: {
    Resource: { fields: { attributes: { rule: 'repeated', type: 'KeyValue', id: 1 } } },
    Scope: { fields: { name: { type: 'string', id: 1 }, version: { type: 'string', id: 2 } } },
    Span: {
      fields: {
        traceId: { type: 'bytes', id: 1 },
        spanId: { type: 'bytes', id: 2 },
        parentSpanId: { type: 'bytes', id: 4 },
        name: { type: 'string', id: 5 },
        kind: { type: 'int32', id: 6 },
        startTimeUnixNano: { type: 'fixed64', id: 7 },
        endTimeUnixNano: { type: 'fixed64', id: 8 },
        attributes: { rule: 'repeated', type: 'KeyValue', id: 9 },
        events: { rule: 'repeated', type: 'Event', id: 11 },
        status: { type: 'SpanStatus', id: 15 },
      },
    },
    Event: {
      fields: {
        timeUnixNano: { type: 'fixed64', id: 1 },
        name: { type: 'string', id: 2 },
        attributes: { rule: 'repeated', type: 'KeyValue', id: 3 },
      },
    },
    SpanStatus: { fields: { message: { type: 'string', id: 2 }, code: { type: 'int32', id: 3 } } },
    KeyValue: { fields: { key: { type: 'string', id: 1 }, value: { type: 'AnyValue', id: 2 } } },
    KeyValueList: { fields: { values: { rule: 'repeated', type: 'KeyValue', id: 1 } } },
    ArrayValue: { fields: { values: { rule: 'repeated', type: 'AnyValue', id: 1 } } },
    AnyValue: {
      oneofs: { value: { oneof: ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue', 'kvlistValue', 'bytesValue'] } },
      fields: {
        stringValue: { type: 'string', id: 1 },
        boolValue: { type: 'bool', id: 2 },
        intValue: { type: 'int64', id: 3 },
        doubleValue: { type: 'double', id: 4 },
        arrayValue: { type: 'ArrayValue', id: 5 },
        kvlistValue: { type: 'KeyValueList', id: 6 },
        bytesValue: { type: 'bytes', id: 7 },
      },
    },
    PartialSuccess: { fields: { rejectedSpans: { type: 'int64', id: 1 }, errorMessage: { type: 'string', id: 2 } } },
    ExportResponse: { fields: { partialSuccess: { type: 'PartialSuccess', id: 1 } } },
    /** google.rpc.Status */
    ErrorStatus: { fields: { code: { type: 'int32', id: 1 }, message: { type: 'string', id: 2 } } },
  },
}

/** A 64-bit integer as protobufjs (`Long`) or JSON (text or number) represents it. */
export type OtlpInteger = { low: number; high: number } | string | number

export interface OtlpValue {
  stringValue?: unknown
  boolValue?: unknown
  intValue?: unknown
  doubleValue?: unknown
  arrayValue?: { values?: OtlpValue[] } | null
  kvlistValue?: { values?: OtlpAttribute[] } | null
  bytesValue?: unknown
}

export interface OtlpAttribute {
  key?: unknown
  value?: OtlpValue | null
}

/** A span as it arrives. Every field may be missing, and in JSON have any type. */
export interface OtlpSpan {
  traceId?: unknown
  spanId?: unknown
  parentSpanId?: unknown
  name?: unknown
  kind?: unknown
  startTimeUnixNano?: unknown
  endTimeUnixNano?: unknown
  attributes?: unknown
  events?: unknown
  status?: { message?: unknown; code?: unknown } | null
}

/** A span with what it belongs to. */
export interface ReceivedSpan {
  span: OtlpSpan
  scope: string | null
  resource: unknown
}
