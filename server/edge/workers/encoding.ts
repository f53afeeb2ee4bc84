import { createHistogram } from '../../lib/histogram.ts'
import { createCaptureRule } from '../capture-rule.ts'
import type { MetricsBucket } from '../metrics.ts'
import { CaptureBudget, type CapturedBody, RequestCapture } from '../request-capture.ts'
import type { RequestRecord } from '../request-log.ts'
import type { EncodedBody, EncodedBucket, EncodedCapture, EncodedRecord } from './protocol.ts'

/** Cold starts are counted by the platform, which wakes the apps. */
export const encodeBucket = (bucket: MetricsBucket): EncodedBucket => ({
  project_id: bucket.project_id,
  ts: bucket.ts,
  requests: bucket.requests,
  status_2xx: bucket.status_2xx,
  status_3xx: bucket.status_3xx,
  status_4xx: bucket.status_4xx,
  status_5xx: bucket.status_5xx,
  bytes_out: bucket.bytes_out,
  cache_hits: bucket.cache_hits,
  cache_misses: bucket.cache_misses,
  cache_bypass: bucket.cache_bypass,
  latencies: Buffer.from(bucket.latencies.encode()).toString('base64'),
  cold_starts: 0,
  last_cold_start_at: null,
})

export const decodeBucket = (bucket: EncodedBucket): MetricsBucket => ({
  ...bucket,
  latencies: createHistogram(Buffer.from(bucket.latencies, 'base64')),
  cold_latencies: null,
})

/** Frees the capture, whose bytes are in the message. */
export function encodeRecord({ capture, ...record }: RequestRecord): EncodedRecord {
  const encoded = capture && encodeCapture(capture)
  capture?.release()
  return { ...record, capture: encoded }
}

export const decodeRecord = ({ capture, ...record }: EncodedRecord): RequestRecord => ({ ...record, capture: capture && decodeCapture(capture) })

const encodeCapture = (capture: RequestCapture): EncodedCapture => ({
  masked_fields: capture.rule.masked_fields,
  request_headers: capture.requestHeaders,
  request_body: encodeBody(capture.requestBody),
  response_lines: capture.responseLines,
  response_body: encodeBody(capture.responseBody),
})

const encodeBody = ({ parts, isTruncated, isChunked, isIgnored }: CapturedBody): EncodedBody => ({
  parts: parts.map((part) => part.toString('base64')),
  is_truncated: isTruncated,
  is_chunked: isChunked,
  is_ignored: isIgnored,
})

function decodeCapture({ masked_fields, request_headers, request_body, response_lines, response_body }: EncodedCapture): RequestCapture {
  const rule = createCaptureRule({ until_ms: 0, path: null, method: null, status: null, masked_fields })
  const capture = new RequestCapture(rule, new CaptureBudget())
  capture.requestHeaders = request_headers
  capture.responseLines = response_lines
  decodeBody(request_body, capture.requestBody)
  decodeBody(response_body, capture.responseBody)
  return capture
}

function decodeBody({ parts, is_truncated, is_chunked, is_ignored }: EncodedBody, body: CapturedBody): void {
  body.isChunked = is_chunked
  for (const part of parts) body.add(Buffer.from(part, 'base64'))
  body.isTruncated = is_truncated
  body.isIgnored = is_ignored
}
