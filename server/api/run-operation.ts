import { allOperations } from '../contract/index.ts'
import type { OperationId, Operations } from '../contract/index.ts'
import type { EventStream, HandlerInput, OperationSpec } from '../contract/operation.ts'
import type { BeginChange, ChangeRequest, PendingChange } from '../features/activity-recorder.ts'
import type { OperationContext, OperationHandlers } from '../features/context.ts'
import type { BeforeHandler } from './idempotency.ts'
import { parseBody, parseParams, parseQuery } from './parse-input.ts'
import { fileResponse, jsonResponse, noContent, textResponse } from './response.ts'
import type { ApiResponse } from './response.ts'
import { streamHeaders } from './sse.ts'
import type { StreamAccess, Streams } from './sse.ts'
import type { UploadSpec } from './upload.ts'

/** Parses the rest of the request, calls the handler and converts the result to a response. */
export type OperationRunner = (context: OperationContext, request: OperationRequest) => Promise<ApiResponse>

export interface OperationRequest {
  params: Record<string, string>
  query: string
  body: Buffer
  /** The uploaded file. Nothing is read before this is called. */
  upload(spec: UploadSpec): AsyncIterable<Uint8Array>
  headers: { type: string | undefined; encoding: string | undefined; last_event_id: string | undefined }
  is_head: boolean
  /** The access under which a stream is opened. */
  access: StreamAccess
  /** Called when a stream of this request has ended. */
  onEnd(): void
  /** Called after validation, right before the handler. A returned response is a replay and is sent instead. */
  beforeHandler?: BeforeHandler
  /** For the activity log. */
  change: ChangeRequest
}

export function bindOperation<Id extends OperationId>(
  id: Id,
  handlers: OperationHandlers,
  streams: Streams,
  { beginChange, assertWritable }: { beginChange?: BeginChange | undefined; assertWritable?: (() => void) | undefined } = {},
): OperationRunner {
  const spec: OperationSpec = allOperations[id]
  const handler = handlers[id]
  const { success } = spec
  return async (context, request) => {
    if (spec.method !== 'GET') assertWritable?.()
    const params = parseParams(spec.params, request.params)
    const query = parseQuery(spec.query, request.query)
    // A reconnecting browser sends the header, which is newer than the query parameter in its URL.
    if ('events' in success && request.headers.last_event_id) query.last_event_id = request.headers.last_event_id
    const body = spec.body ? parseBody(spec.body, request.body, request.headers) : undefined
    const upload = spec.upload ? request.upload(spec.upload) : undefined
    const replayed = await request.beforeHandler?.()
    if (replayed) return replayed
    const input: unknown = { params, query, body, upload }
    const change = await beginChange?.(request.change, context, { params, query, body })
    if (change && spec.is_atomic) recordInTransaction(context, change)
    // The operation handler has added the resource of the operation.
    const output: unknown = await handler(context as Parameters<typeof handler>[0], input as HandlerInput<Operations[Id]>)
    await change?.finish(output)

    if ('json' in success) return jsonResponse(success.status, output)
    if ('content_type' in success) {
      const cacheHeaders: Record<string, string> = success.max_age_s === undefined ? {} : { 'cache-control': `private, max-age=${success.max_age_s}` }
      if (!success.is_stream) return textResponse(200, success.content_type, output as Uint8Array<ArrayBuffer>, cacheHeaders)
      return fileResponse(success.content_type, streams.fileStream(output as AsyncIterable<Uint8Array>, request.access))
    }
    if (!('events' in success)) return noContent()
    const events = output as EventStream
    if (!request.is_head) {
      const owner = { access: request.access, request_id: context.request_id, onEnd: request.onEnd }
      return { status: 200, headers: { ...streamHeaders }, body: streams.eventStream(events, owner) }
    }
    await events[Symbol.asyncIterator]().return?.()
    return { status: 200, headers: { ...streamHeaders }, body: null }
  }
}

/** An atomic operation calls `saveResponse` in the transaction of its work. */
function recordInTransaction(context: OperationContext, change: PendingChange): void {
  const { saveResponse } = context
  context.saveResponse = (tx, output) => {
    saveResponse?.(tx, output)
    change.record(tx, output)
  }
}
