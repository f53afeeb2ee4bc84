import { operationRoutes } from '../../server/contract/routes.ts'
import { ApiError } from '../../server/client/api-error.ts'
import { createOperationClient } from '../../server/client/client.ts'
import type {
  ApiEvent,
  CallInput,
  CallOutput,
  DownloadOperationId,
  StreamOperationId,
  UploadOperationId,
} from '../../server/client/operation-types.ts'
import type { OperationId } from '../../server/contract/index.ts'
import { unreachableError } from '../lib/api-error.ts'
import { createIdempotencyKey } from '../lib/idempotency-key.ts'
import { type StreamHandlers, type StreamOptions, followEventStream } from './event-stream.ts'
import { type SendFileOptions, sendFile } from './send-file.ts'
import { sessionHeaders } from './session.ts'

export interface ApiClient {
  /** Calls an operation. Throws an ApiError on failure. */
  call<Id extends OperationId>(id: Id, input: CallInput<Id>): Promise<CallOutput<Id>>
  /** Uploads a file and reports progress. Throws an ApiError, or the abort reason of the signal. */
  upload<Id extends UploadOperationId>(id: Id, input: CallInput<Id>, file: Blob, sendOptions: SendFileOptions): Promise<CallOutput<Id>>
  /** Streams the response of an operation. */
  download<Id extends DownloadOperationId>(id: Id, input: CallInput<Id>): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>
  /** URL of a file of the instance, for `fetchFile`. */
  urlOf<Id extends DownloadOperationId>(id: Id, input: CallInput<Id>): string
  /** Follows a stream until the signal aborts or the stream ends. Reconnects and resumes at the last event. Never throws. */
  follow<Id extends StreamOperationId>(id: Id, input: CallInput<Id>, handlers: StreamHandlers<ApiEvent<Id>>, options: StreamOptions): void
}

interface ApiClientOptions {
  base_url: string
  /** Called when the session at the instance that served the page has ended. */
  onSignedOut: () => void
  /** Called when the instance of this client rejects the token saved for it. */
  onTokenRefused: () => void
}

/**
 * Sends a change again when its connection was lost, because Chromium ends all requests in progress when a network of Docker is created or removed
 * (ERR_NETWORK_CHANGED). A repeated POST has the same idempotency key, so that it is not executed twice. Queries retry by themselves.
 */
async function retryOnce(send: () => Promise<Response>, signal: AbortSignal | undefined): Promise<Response> {
  try {
    return await send()
  } catch (error) {
    if (signal?.aborted) throw error
    return send()
  }
}

/**
 * API client of one instance. `base_url` is empty for the instance that served this page; requests to other instances go through its proxy
 * (/remote/{id}). The page holds no token: it has a session (session.ts), and the platform adds the token of the other instance while proxying.
 */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const onError = (error: ApiError) => {
    if (error.status === 401) options.onSignedOut()
    if (error.code === 'remote_token_refused') options.onTokenRefused()
  }
  const client = createOperationClient({
    routes: operationRoutes,
    send: ({ method, path, headers, body, signal }) => {
      const key: Record<string, string> = method === 'POST' ? { 'idempotency-key': createIdempotencyKey() } : {}
      const send = () =>
        fetch(`${options.base_url}${path}`, {
          redirect: 'error',
          credentials: 'same-origin',
          cache: headers.accept === 'text/event-stream' ? 'no-store' : 'default',
          headers: { ...sessionHeaders(), ...key, ...headers },
          signal: signal ?? null,
          ...(method === 'GET' ? { method } : { method, body: typeof body === 'string' ? body : null }),
        })
      return method === 'POST' || method === 'PATCH' ? retryOnce(send, signal) : send()
    },
    toUnreachable: unreachableError,
    onError,
  })

  return {
    call: (id, input) => client.call(id, input),
    async upload(id, input, file, sendOptions) {
      const { status, text } = await sendFile(`${options.base_url}${client.pathOf(id, input)}`, file, sendOptions).catch((error: unknown) => {
        if (error instanceof ApiError) onError(error)
        throw error
      })
      return status === 204 ? undefined : JSON.parse(text)
    },
    async download(id, input) {
      const { body } = await client.open(id, input)
      if (!body) throw new ApiError('bad_answer', 'Homeport responded without content. Try again.')
      return body
    },
    urlOf: (id, input) => `${options.base_url}${client.pathOf(id, input)}`,
    follow(id, input, handlers, followOptions) {
      void followEventStream((headers, signal) => client.open(id, { ...input, signal }, { headers }), handlers, followOptions)
    },
  }
}
