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

/** What an operation answers with; undefined where it answers without a body. */
export type ApiResponse<Id extends RoutedOperationId> =
  Operation<Id> extends { success: { json: infer Schema extends z.ZodType } } ? z.output<Schema> : undefined

/** What a call needs: path parameters and a body where the contract has them, a query where one is wanted. */
/** `idempotency_key`: asked again with the same one, a POST is not done twice. */
export type ApiRequest<Id extends RoutedOperationId> = {
  query?: Query<Id>
  signal?: AbortSignal
  idempotency_key?: string
} & (Params<Id> extends Record<string, never> ? { params?: undefined } : { params: Params<Id> }) &
  (Body<Id> extends undefined ? { body?: undefined } : { body: Body<Id> })

/** Operations that take a file as their body. */
export type UploadOperationId = { [Id in RoutedOperationId]: Operation<Id> extends { upload: object } ? Id : never }[RoutedOperationId]
/** Operations that answer with a file. */
export type DownloadOperationId = {
  [Id in RoutedOperationId]: Operation<Id> extends { success: { content_type: string } } ? Id : never
}[RoutedOperationId]

export type StreamOperationId = { [Id in RoutedOperationId]: Operation<Id> extends { success: { events: unknown } } ? Id : never }[RoutedOperationId]

type EventSchemas<Id extends StreamOperationId> =
  Operation<Id> extends { success: { events: infer Schemas extends Record<string, z.ZodType> } } ? Schemas : never

/** One event of a stream, told apart by its name. */
export type StreamEvent<Id extends StreamOperationId> = {
  [Name in keyof EventSchemas<Id>]: { event: Name; id: string | null; data: z.output<EventSchemas<Id>[Name]> }
}[keyof EventSchemas<Id>]

export interface ApiClient {
  /** Calls an operation; throws an ApiProblem when it does not succeed. */
  call<Id extends RoutedOperationId>(id: Id, input: ApiRequest<Id>): Promise<ApiResponse<Id>>
  /** Sends a file, and tells how far it is on its way; throws an ApiProblem, or the reason of the signal. */
  upload<Id extends UploadOperationId>(id: Id, input: ApiRequest<Id>, file: Blob, sendOptions: SendFileOptions): Promise<ApiResponse<Id>>
  /** Where a file of the instance lies, for `fetchFile`. */
  urlOf<Id extends DownloadOperationId>(id: Id, input: ApiRequest<Id>): string
  /** Follows a stream until the signal or its end; reconnects, and resumes where it was. Never throws. */
  follow<Id extends StreamOperationId>(id: Id, input: ApiRequest<Id>, handlers: StreamHandlers<StreamEvent<Id>>, options: StreamOptions): void
}

interface ApiClientOptions {
  base_url: string
  /** The session at the instance that served the page is over. */
  onSignedOut: () => void
  /** The instance that this client is of takes no token that is held for it. */
  onTokenRefused: () => void
}

/**
 * A client of one instance. `base_url` is empty for the instance that served this page; others are reached through it (/remote/{id}).
 * The page holds no token: it has its session (session.ts), and the platform puts the token of another instance in on the way.
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
        // The platform asks every change that rides on a session for this content type: no plain form can send it.
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

/** One step of a path. Two dots would be a step upwards, however they are written. */
function encodePathSegment(text: string): string {
  if (/^\.{1,2}$/.test(text)) throw new ApiProblem('bad_answer', `“${text}” is not a valid name.`)
  return encodeURIComponent(text)
}
