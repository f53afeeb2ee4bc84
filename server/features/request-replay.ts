import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { CapturedExchange, CapturedMessage, OriginalResponse, ReplayedResponse, requestCaptureOperations } from '../contract/request-captures.ts'
import type { HandlerInput } from '../contract/operation.ts'
import { timeoutSignal } from '../lib/clock.ts'
import { createFieldMask, maskedValue } from '../lib/field-mask.ts'
import { findRequestCapture } from '../store/request-captures.ts'
import type { StoredRequest } from '../store/request-store.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { FeatureDeps } from './deps.ts'
import { maskMessage, type ReadBody } from './mask-capture.ts'
import { openReplayDestination } from './replay-target.ts'

interface ReplayInput {
  project: ProjectRow
  request: StoredRequest
  captured: CapturedExchange | null
  replay: HandlerInput<(typeof requestCaptureOperations)['replayRequest']>['body']
  signal: AbortSignal
}

/** Sends a captured request again, through the edge like any other request, and returns both responses. */
export async function replayCapturedRequest(
  deps: FeatureDeps,
  { project, request, captured, replay, signal }: ReplayInput,
): Promise<{ original: OriginalResponse; replayed: ReplayedResponse }> {
  if (captured === null)
    throw new Problem('replay_not_possible', 'Headers and body of this request were not captured. Turn on capture, and send the request once more.')
  const body = readRequestBody(captured.request, replay.body)
  const headers = (replay.headers ?? captured.request.headers).filter(([name, value]) => isReplayed(name) && value !== maskedValue)
  const destination = await openReplayDestination(deps, project, request, replay.target, signal)
  try {
    const { host } = destination
    const sent = {
      host,
      method: replay.method ?? request.method,
      path: replay.path ?? request.path + (request.query === null ? '' : `?${request.query}`),
      headers: [...headers, ['X-Homeport-Replay', request.id]] satisfies [string, string][],
      body,
      is_encrypted: request.is_encrypted === 1,
      signal,
    }
    const startedAt_ms = deps.clock.monotonic()
    const { response, read } = await send(deps, sent)
    const duration_ms = Math.round((deps.clock.monotonic() - startedAt_ms) * 100) / 100
    const deployment_id = deps.findRoute(host)?.deployment_id ?? null
    return {
      original: { status: request.status, duration_ms: request.duration_ms, deployment_id: request.deployment_id, ...captured.response },
      replayed: { host, deployment_id, duration_ms, ...(await presentResponse(deps, project, response, read)) },
    }
  } finally {
    await destination.release()
  }
}

async function presentResponse({ store }: FeatureDeps, { id }: ProjectRow, { headers, rawHeaders, statusCode = 0 }: IncomingMessage, read: ReadBody) {
  const settings = await store.db.read((tx) => findRequestCapture(tx, id))
  const isMasked = createFieldMask(JSON.parse(settings?.masked_fields ?? '[]') as string[])
  const pairs = rawHeaders.flatMap((name, i): [string, string][] => (i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? '']] : []))
  const requestId = headers['x-request-id']
  return { request_id: typeof requestId === 'string' ? requestId : null, status: statusCode, ...(await maskMessage(pairs, read, isMasked)) }
}

/** Headers that this connection, the edge or the target sets. The body is sent as it was decoded. */
const unsentHeaders = new Set(
  'host connection content-length content-encoding transfer-encoding te trailer upgrade expect keep-alive proxy-connection proxy-authorization http2-settings forwarded x-request-id traceparent tracestate x-homeport-replay x-homeport-probe'.split(
    ' ',
  ),
)
const isReplayed = (name: string): boolean => !unsentHeaders.has(name.toLowerCase()) && !/^(?:x-forwarded|:)/i.test(name)

function readRequestBody(captured: CapturedMessage, given: string | null | undefined): Buffer | null {
  if (given !== undefined) return given === null ? null : Buffer.from(given)
  if (captured.is_truncated || captured.omitted !== null)
    throw new Problem('replay_not_possible', 'Only a part of this request’s body was captured. Send a body with the replay.')
  return captured.body === null ? null : Buffer.from(captured.body, captured.encoding === 'base64' ? 'base64' : 'utf8')
}

interface Outgoing {
  host: string
  method: string
  path: string
  headers: [string, string][]
  body: Buffer | null
  is_encrypted: boolean
  signal: AbortSignal
}

/** Always to this instance's own edge: only the name of the host differs. */
async function send(
  deps: FeatureDeps,
  { host, method, path, headers, body, is_encrypted, signal }: Outgoing,
): Promise<{ response: IncomingMessage; read: ReadBody }> {
  const edge = deps.edgeAddress(is_encrypted)
  const name = edge.port === (edge.is_secure ? 443 : 80) ? host : `${host}:${edge.port}`
  const list = [...headers.filter(([header]) => header.toLowerCase() !== 'accept-encoding'), ['Host', name], ['Connection', 'close']]
  if (headers.some(([header]) => header.toLowerCase() === 'accept-encoding')) list.push(['Accept-Encoding', 'gzip, br'])
  if (body !== null) list.push(['Content-Length', String(body.length)])
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const clientRequest = (edge.is_secure ? httpsRequest : httpRequest)(
        {
          host: edge.host,
          port: edge.port,
          method,
          path,
          headers: list.flat(),
          agent: false,
          setHost: false,
          signal: AbortSignal.any([signal, timeoutSignal(deps.clock, limits.replay.ms)]),
          // This platform's own listener, whose authority need not be trusted.
          ...(edge.is_secure ? { servername: host, rejectUnauthorized: false } : {}),
        },
        resolve,
      )
      clientRequest.on('error', reject)
      clientRequest.end(body ?? undefined)
    })
    return { response, read: await readResponseBody(response) }
  } catch (cause) {
    if (signal.aborted) throw cause
    throw new Problem('replay_failed', `The app did not answer within ${limits.replay.ms / 1000} s, or its connection failed. Read its log.`, {
      cause,
    })
  }
}

async function readResponseBody(response: IncomingMessage): Promise<ReadBody> {
  if (/^text\/event-stream/i.test(response.headers['content-type'] ?? '')) {
    response.destroy()
    return { bytes: null, is_truncated: false }
  }
  const { body_bytes } = limits.request_capture
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part)
    length += part.length
    // Leaving the loop closes the connection.
    if (length > body_bytes) break
  }
  return { bytes: Buffer.concat(parts).subarray(0, body_bytes), is_truncated: length > body_bytes }
}
