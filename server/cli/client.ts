import { ApiError } from '../client/api-error.ts'
import { createOperationClient } from '../client/client.ts'
import type { ServerSentEvent } from '../client/event-stream.ts'
import { followEvents } from '../client/follow-events.ts'
import type { CallInput, CallOutput, DownloadOperationId, StreamOperationId, UploadOperationId } from '../client/operation-types.ts'
import { type OperationId, version } from '../contract/index.ts'
import { operationRoutes } from '../contract/routes.ts'
import { sendHttpRequest } from './http-request.ts'

export interface ApiClient {
  readonly url: string
  /** The API of another instance in the list of this one, which adds the token for it. */
  through(remoteId: string): ApiClient
  /** Rejects after `timeout_ms`. */
  call<Id extends OperationId>(id: Id, input: CallInput<Id>, timeout_ms?: number): Promise<CallOutput<Id>>
  /** Streams a file to the instance. There is no timeout; `signal` aborts the upload. */
  upload<Id extends UploadOperationId>(
    id: Id,
    input: CallInput<Id>,
    file: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
    type?: string,
  ): Promise<CallOutput<Id>>
  /** Streams a file from the instance. There is no timeout; reading throws if the connection is lost. */
  download<Id extends DownloadOperationId>(id: Id, input: CallInput<Id>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /** Yields the events of a stream until `end` or `signal`. A lost connection is resumed with Last-Event-ID. `onOpen` runs on every (re)connect. */
  stream<Id extends StreamOperationId>(id: Id, input: CallInput<Id>, signal?: AbortSignal, onOpen?: () => void): AsyncGenerator<ServerSentEvent>
}

const defaultTimeout_ms = 30_000
/** A stream fails after this many attempts in a row without an event. */
const maxAttempts = 5

/** `agent`: how the activity log names the client. */
export function createApiClient(options: { url: string; token: string | undefined; agent?: 'cli' | 'mcp' }): ApiClient {
  const baseUrl = options.url.replace(/\/+$/, '')
  const authorization: Record<string, string> = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }
  const userAgent = { 'user-agent': `homeport-${options.agent ?? 'cli'}/${version}` }
  const never = new AbortController().signal
  const client = createOperationClient({
    routes: operationRoutes,
    send: ({ method, path, headers, body, signal = never }) =>
      sendHttpRequest(new URL(baseUrl + path), { method, headers: { ...headers, ...userAgent, ...authorization }, body: body ?? undefined, signal }),
    toUnreachable: (cause) =>
      new ApiError(
        'unreachable',
        `Homeport does not respond at ${baseUrl}${describeCause(cause)}. If it is not running, start it with: homeport serve`,
        {
          cause,
        },
      ),
  })

  return {
    url: baseUrl,

    through: (remoteId) => createApiClient({ ...options, url: `${baseUrl}/remote/${encodeURIComponent(remoteId)}` }),

    call: (id, input, timeout_ms = defaultTimeout_ms) => client.call(id, { ...input, signal: AbortSignal.timeout(timeout_ms) }),

    upload: (id, input, file, signal, type = id === 'importDatabase' ? 'application/octet-stream' : 'application/gzip') =>
      client.call(id, { ...input, signal }, { headers: { 'content-type': type }, body: file }),

    async download(id, input, signal) {
      const { body } = await client.open(id, { ...input, signal })
      if (!body) throw new ApiError('bad_answer', 'The instance responded without a file.')
      return body
    },

    async *stream(id, input, signal = never, onOpen) {
      let hasEvents = false
      const batches = followEvents({
        open: (lastEventId, attempt) => {
          const headers = { accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) }
          return client.open(id, { ...input, signal: attempt }, { headers })
        },
        signal,
        end_event: 'end',
        ...(onOpen && { onOpen }),
        async retry(error, failures) {
          // Only lost connections are retried: an error response would be the same again.
          if (error && (error.code !== 'unreachable' || !hasEvents)) throw error
          if (failures >= maxAttempts) throw new ApiError('unreachable', 'The connection was lost and could not be restored.')
          await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** failures))
          return true
        },
      })
      for await (const events of batches) {
        hasEvents = true
        yield* events
      }
    },
  }
}

function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if (error.name === 'TimeoutError') return ' in time'
  return 'code' in error ? ` (${String(error.code)})` : ''
}
