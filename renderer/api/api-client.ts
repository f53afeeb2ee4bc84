import type { z } from 'zod'
import type { Operations } from '../../server/contract/index.ts'
import { type StreamHandlers, type StreamOptions, followEventStream } from './event-stream.ts'
import { ApiProblem, readProblem, unreachableProblem } from '../lib/api-problem.ts'
import { sessionHeaders } from './session.ts'
import { type RoutedOperationId, operationRoutes } from './operation-routes.ts'
import { type SendFileOptions, sendFile } from './send-file.ts'

type Operation<Id extends RoutedOperationId> = Operations[Id]
type Params<Id extends RoutedOperationId> = z.input<Operation<Id>['params']>
type Query<Id extends RoutedOperationId> = Partial<z.input<Operation<Id>['query']>>
type Body<Id extends RoutedOperationId> = Operation<Id> extends { body: infer Schema extends z.ZodType } ? z.input<Schema> : undefined

/** The response body of an operation; undefined for an operation without one. */
export type ApiResponse<Id extends RoutedOperationId> =
  Operation<Id> extends { success: { json: infer Schema extends z.ZodType } } ? z.output<Schema> : undefined

/** Input of a call: path parameters and body as the contract defines them, plus an optional query. */
/** `idempotency_key`: repeating a POST with the same key does not execute it twice. */
export type ApiRequest<Id extends RoutedOperationId> = {
  query?: Query<Id>
  signal?: AbortSignal
  idempotency_key?: string
} & (Params<Id> extends Record<string, never> ? { params?: undefined } : { params: Params<Id> }) &
  (Body<Id> extends undefined ? { body?: undefined } : { body: Body<Id> })

/** Operations that take a file as their request body. */
export type UploadOperationId = { [Id in RoutedOperationId]: Operation<Id> extends { upload: object } ? Id : never }[RoutedOperationId]
/** Operations that respond with a file. */
export type DownloadOperationId = {
  [Id in RoutedOperationId]: Operation<Id> extends { success: { content_type: string } } ? Id : never
}[RoutedOperationId]

export type StreamOperationId = { [Id in RoutedOperationId]: Operation<Id> extends { success: { events: unknown } } ? Id : never }[RoutedOperationId]

type EventSchemas<Id extends StreamOperationId> =
  Operation<Id> extends { success: { events: infer Schemas extends Record<string, z.ZodType> } } ? Schemas : never

/** One event of a stream, discriminated by its name. */
export type StreamEvent<Id extends StreamOperationId> = {
  [Name in keyof EventSchemas<Id>]: { event: Name; id: string | null; data: z.output<EventSchemas<Id>[Name]> }
}[keyof EventSchemas<Id>]

export interface ApiClient {
  /** Calls an operation. Throws an ApiProblem on failure. */
  call<Id extends RoutedOperationId>(id: Id, input: ApiRequest<Id>): Promise<ApiResponse<Id>>
  /** Uploads a file and reports progress. Throws an ApiProblem, or the abort reason of the signal. */
  upload<Id extends UploadOperationId>(id: Id, input: ApiRequest<Id>, file: Blob, sendOptions: SendFileOptions): Promise<ApiResponse<Id>>
  /** URL of a file of the instance, for `fetchFile`. */
  urlOf<Id extends DownloadOperationId>(id: Id, input: ApiRequest<Id>): string
  /** Follows a stream until the signal aborts or the stream ends. Reconnects and resumes at the last event. Never throws. */
  follow<Id extends StreamOperationId>(id: Id, input: ApiRequest<Id>, handlers: StreamHandlers<StreamEvent<Id>>, options: StreamOptions): void
}

interface ApiClientOptions {
  base_url: string
  /** Called when the session at the instance that served the page has ended. */
  onSignedOut: () => void
  /** Called when the instance of this client rejects the token saved for it. */
  onTokenRefused: () => void
}

/**
 * API client of one instance. `base_url` is empty for the instance that served this page; requests to other instances go through its proxy
 * (/remote/{id}). The page holds no token: it has a session (session.ts), and the platform adds the token of the other instance while proxying.
 */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const common = { redirect: 'error', credentials: 'same-origin' } as const
  const reportProblem = (problem: ApiProblem) => {
    if (problem.status === 401) options.onSignedOut()
    if (problem.code === 'remote_token_refused') options.onTokenRefused()
    return problem
  }

  return {
    async call(id, input) {
      const { method, url } = buildRequestUrl(options.base_url, id, input)
      const response = await fetch(url, {
        ...common,
        method,
        // The platform requires this content type on session requests, because an HTML form cannot send it (CSRF protection).
        headers: {
          ...sessionHeaders(),
          ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
          ...(input.idempotency_key === undefined ? {} : { 'idempotency-key': input.idempotency_key }),
        },
        body: input.body === undefined ? null : JSON.stringify(input.body),
        signal: input.signal ?? null,
      }).catch((error: unknown) => {
        if (input.signal?.aborted) throw error
        throw unreachableProblem(error)
      })
      if (!response.ok) throw reportProblem(await readProblem(response))
      return response.status === 204 ? undefined : await response.json()
    },
    async upload(id, input, file, sendOptions) {
      const { url } = buildRequestUrl(options.base_url, id, input)
      const { status, text } = await sendFile(url, file, sendOptions).catch((error: unknown) => {
        throw error instanceof ApiProblem ? reportProblem(error) : error
      })
      return status === 204 ? undefined : JSON.parse(text)
    },
    urlOf: (id, input) => buildRequestUrl(options.base_url, id, input).url,
    follow(id, input, handlers, followOptions) {
      const { url } = buildRequestUrl(options.base_url, id, input)
      void followEventStream(url, common, { ...handlers, onProblem: reportProblem }, followOptions)
    },
  }
}

function buildRequestUrl(base: string, id: RoutedOperationId, input: { params?: unknown; query?: Record<string, unknown> | undefined }) {
  const [method = 'GET', template = '/'] = operationRoutes[id].split(' ')
  const params = new Map<string, unknown>(Object.entries(input.params ?? {}))
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodePathSegment(String(params.get(name))))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input.query ?? {})) if (value !== undefined) query.set(name, String(value))
  return { method, url: `${base}${path}${query.size > 0 ? `?${query}` : ''}` }
}

/** Encodes one path segment. Rejects `.` and `..`, which the URL parser would resolve. */
function encodePathSegment(text: string): string {
  if (/^\.{1,2}$/.test(text)) throw new ApiProblem('bad_answer', `“${text}” is not a valid name.`)
  return encodeURIComponent(text)
}
