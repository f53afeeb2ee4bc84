import type { IncomingMessage, ServerResponse } from 'node:http'
import { allOperations } from '../contract/index.ts'
import type { OperationId } from '../contract/index.ts'
import type { OperationSpec } from '../contract/operation.ts'
import { Problem } from '../contract/errors.ts'
import type { OperationContext } from '../features/context.ts'
import type { RemoteForwarder, RemoteResponse } from '../features/remotes.ts'
import type { Clock } from '../lib/clock.ts'
import { parseQuery } from './parse-input.ts'
import { fileResponse, jsonResponse, noContent, textResponse } from './response.ts'
import type { ApiResponse } from './response.ts'
import { streamHeaders } from './sse.ts'
import type { StreamAccess, Streams } from './sse.ts'
import { headerValues } from './http-request.ts'
import { drainRequestBody, openBody } from './upload.ts'

/** Responses of other instances are served from our origin, so these headers prevent them from being a page or running scripts. */
const sandboxHeaders = {
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

interface ProxiedRequest {
  remote: string
  operation: OperationId
  params: Record<string, string>
  query: string
  body: Buffer
  context: OperationContext
  access: StreamAccess
  onEnd(): void
}

export type ProxyToRemote = (req: IncomingMessage, res: ServerResponse, proxied: ProxiedRequest) => Promise<ApiResponse>

/** Forwards a request to another instance and returns its response. */
export function createRemoteProxy({ callRemote, streams, clock }: { callRemote: RemoteForwarder; streams: Streams; clock: Clock }): ProxyToRemote {
  return async function proxyToRemote(req, res, proxied) {
    const { context, operation } = proxied
    const spec: OperationSpec = allOperations[operation]
    parseQuery(spec.query, proxied.query)
    const query = new URLSearchParams([...new URLSearchParams(proxied.query)].filter(([name]) => Object.hasOwn(spec.query.shape, name)))
    const type = req.headers['content-type']
    const hasJson = spec.body !== undefined && proxied.body.length > 0
    const remoteResponse = await callRemote(context, proxied.remote, {
      operation,
      params: proxied.params,
      query,
      headers: {
        type: spec.upload ? type : hasJson ? 'application/json' : undefined,
        length: spec.upload ? req.headers['content-length'] : undefined,
        last_event_id: headerValues(req, 'last-event-id')[0],
        idempotency_key: req.method === 'POST' ? headerValues(req, 'idempotency-key')[0] : undefined,
      },
      body: spec.upload ? openBody(req, res, clock, spec.upload) : hasJson ? proxied.body : undefined,
      signal: context.signal,
    }).catch((error: unknown) => {
      // The client has disconnected, so this is not logged as a failure.
      throw context.signal.aborted && !(error instanceof Problem) ? new Problem('bad_request', 'The client disconnected.') : error
    })
    const response = toResponse(remoteResponse, spec, { access: proxied.access, request_id: context.request_id, onEnd: proxied.onEnd })
    // The other instance may have rejected the upload before its end.
    const closing: Record<string, string> = spec.upload && (await drainRequestBody(req, res, clock)).close ? { connection: 'close' } : {}
    return { ...response, headers: { ...response.headers, ...remoteResponse.headers, ...sandboxHeaders, ...closing } }
  }

  function toResponse(
    { status, body }: RemoteResponse,
    { success }: OperationSpec,
    owner: { access: StreamAccess; request_id: string; onEnd: () => void },
  ): ApiResponse {
    switch (body.kind) {
      case 'json':
        return jsonResponse(status, body.value)
      case 'none':
        return noContent()
      case 'picture':
        return textResponse(200, body.type, body.bytes, 'max_age_s' in success ? { 'cache-control': `private, max-age=${success.max_age_s}` } : {})
      case 'file': {
        const response = fileResponse(body.type, streams.fileStream(body.chunks, owner.access))
        const length: Record<string, string> = body.length === undefined ? {} : { 'content-length': body.length }
        return { ...response, headers: { ...response.headers, ...length, 'content-disposition': 'attachment' } }
      }
      case 'events':
        return { status: 200, headers: { ...streamHeaders }, body: streams.eventStream(body.events, owner) }
    }
  }
}
