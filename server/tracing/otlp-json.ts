import type { ReceivedSpan } from './otlp-schema.ts'

/** The spans of an ExportTraceServiceRequest in OTLP/JSON. Throws for a text that is no JSON object. */
export function* readJsonSpans(body: Uint8Array): Generator<ReceivedSpan> {
  const request: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'))
  if (!isObject(request)) throw new TypeError('The body is not a JSON object.')
  for (const resourceSpans of objectsOf(request.resourceSpans)) {
    const resource = isObject(resourceSpans.resource) ? resourceSpans.resource.attributes : undefined
    for (const scopeSpans of objectsOf(resourceSpans.scopeSpans)) {
      const name = isObject(scopeSpans.scope) ? scopeSpans.scope.name : undefined
      const scope = typeof name === 'string' ? name : null
      for (const span of objectsOf(scopeSpans.spans)) yield { span, scope, resource }
    }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const objectsOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isObject) : [])
