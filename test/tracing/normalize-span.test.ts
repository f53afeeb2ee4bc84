import { describe, expect, test } from 'vitest'
import { createSecretMask } from '../../server/deployments/secret-mask.ts'
import { limits } from '../../server/contract/limits.ts'
import { normalizeSpan, type SpanDetails } from '../../server/tracing/normalize-span.ts'
import { readJsonSpans } from '../../server/tracing/otlp-json.ts'
import { readProtobufSpans } from '../../server/tracing/otlp-protobuf.ts'
import { jsonBody, protobufBody, type SentSpan, sentSpan, text } from './otlp-body.ts'

const context = { mask: createSecretMask(['s3cret-value']), branch: null, now: 1 }
const asJson = (spans: readonly SentSpan[]) => [...readJsonSpans(Buffer.from(JSON.stringify(jsonBody(spans))))]
const normalize = (span: Partial<SentSpan>) => {
  const [received] = asJson([sentSpan(1, span)])
  return received && normalizeSpan(received, context)
}
const detailsOf = (span: Partial<SentSpan>) => JSON.parse(normalize(span)?.details ?? '{}') as SpanDetails

describe('a received span', () => {
  const sent = sentSpan(7, {
    kind: 2,
    parentSpanId: 'b'.repeat(16),
    attributes: [
      text('http.request.method', 'GET'),
      text('http.route', '/orders/:id'),
      { key: 'http.response.status_code', value: { intValue: '503' } },
      { key: 'big', value: { intValue: '9223372036854775807' } },
      { key: 'ratio', value: { doubleValue: 0.5 } },
      { key: 'cached', value: { boolValue: false } },
      { key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }, { intValue: '-2' }] } } },
      { key: 'map', value: { kvlistValue: { values: [text('a', 'b')] } } },
    ],
    events: [{ name: 'exception', timeUnixNano: '1790000000007500000', attributes: [text('exception.type', 'Error')] }],
    status: { code: 2, message: 'failed' },
  })

  test('is the same from JSON and from Protobuf', () => {
    const [fromJson] = asJson([sent]).map((one) => normalizeSpan(one, context))
    const [fromProtobuf] = [...readProtobufSpans(protobufBody([sent]))].map((one) => normalizeSpan(one, context))
    expect(fromProtobuf).toEqual(fromJson)
    expect(fromJson).toMatchObject({
      trace_id: 'a'.repeat(32),
      span_id: '0000000000000007',
      parent_id: 'b'.repeat(16),
      service: 'shop',
      duration_us: 1000,
      is_error: 1,
      summary: 'GET /orders/:id 503',
      entry: { entry_rank: 0, method: 'GET', route: '/orders/:id', status: 503, branch: null },
    })
    expect(JSON.parse(fromJson?.details ?? '')).toEqual({
      status_message: 'failed',
      scope: 'test',
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/orders/:id',
        'http.response.status_code': 503,
        big: '9223372036854775807',
        ratio: 0.5,
        cached: false,
        list: ['a', -2],
        map: '{"a":"b"}',
      },
      events: [{ name: 'exception', start_us: 500, attributes: { 'exception.type': 'Error' } }],
    })
  })

  test.each([
    { traceId: '0'.repeat(32) },
    { traceId: 'abc' },
    { spanId: 'x'.repeat(16) },
    { startTimeUnixNano: 'soon' },
    { endTimeUnixNano: '0' },
    { startTimeUnixNano: {} as never },
  ])('is dropped with %o', (span) => {
    expect(normalize(span)).toBeUndefined()
  })

  test('has no secrets of the project, and no credentials in queries and captured headers', () => {
    const found = detailsOf({
      attributes: [
        text('db.query.text', "SELECT 's3cret-value'"),
        text('url.full', 'http://shop/?token=abc&page=2'),
        text('http.request.header.authorization', 'Bearer abc'),
        { key: 'deep', value: { arrayValue: { values: [{ kvlistValue: { values: [text('a', 's3cret-value')] } }] } } },
      ],
      status: { code: 2, message: 's3cret-value' },
      events: [{ name: 's3cret-value', attributes: [text('s3cret-value', 's3cret-value')] }],
    })
    expect(JSON.stringify(found)).not.toContain('s3cret-value')
    expect(found.attributes).toMatchObject({ 'url.full': 'http://shop/?token=***&page=2', 'http.request.header.authorization': '***' })
  })

  test('is bounded: attributes, values, events, depth', () => {
    const many = Array.from({ length: 500 }, (_, i) => text(`key ${i}`, 'x'.repeat(10_000)))
    const span = normalize({
      name: 'n'.repeat(10_000),
      attributes: many,
      events: many.slice(0, 50).map(({ key }) => ({ name: key, attributes: many.slice(0, 20) })),
    })
    expect(span?.name).toHaveLength(limits.tracing.name)
    expect(span?.details.length).toBeLessThanOrEqual(limits.tracing.span_bytes)
    expect(Object.keys((JSON.parse(span?.details ?? '') as SpanDetails).attributes)).toHaveLength(limits.tracing.attributes)
    const deep = Array.from({ length: 50 }).reduce<object>((value) => ({ arrayValue: { values: [value] } }), { stringValue: 'deep' })
    expect(detailsOf({ attributes: [{ key: 'deep', value: deep }, text('__proto__', 'own')] }).attributes).toEqual({
      deep: '[[[[[""]]]]]',
      ['__proto__']: 'own',
    })
  })

  test('JSON of any shape is no crash', () => {
    for (const body of [
      [],
      1,
      { resourceSpans: 3 },
      { resourceSpans: [null, { scopeSpans: [{ spans: [null, 1, { attributes: {}, events: [null] }] }] }] },
    ])
      expect(() => [...readJsonSpans(Buffer.from(JSON.stringify(body)))].map((one) => normalizeSpan(one, context))).not.toThrow(RangeError)
  })
})
