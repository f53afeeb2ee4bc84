import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
export type OperationGroup =
  | 'Projects'
  | 'Deployments'
  | 'Domains'
  | 'Environment variables'
  | 'Billing'
  | 'Databases'
  | 'API tokens'
  | 'Uploads'
  | 'Instance'

/**
 * One operation of the API, as data. Routing, validation, OpenAPI, the typed client and the tests
 * are all driven by it.
 *
 * `path` writes parameters in braces (`/v1/projects/{slug}`); each of them is a key of `params`.
 * `access`: `caller` is anybody who is signed in; `owner` is the owner of this instance alone.
 */
export interface OperationSpec {
  method: HttpMethod
  path: string
  group: OperationGroup
  summary: string
  description?: string
  access: 'caller' | 'owner'
  params: z.ZodObject
  query: z.ZodObject
  /** Absent: the operation takes no body and ignores one. */
  body?: z.ZodType
  /** In place of `body`: a file, as the body itself in one of these types or as the field `file` of a form. It is streamed to the handler. */
  upload?: { types: readonly string[]; max_bytes: number }
  success: SuccessResponse
  errors: readonly ErrorCode[]
  /**
   * All its work is one transaction, which keeps its answer too (`Context.keepAnswer`): with an idempotency key it was done and is
   * replayed, or was not done and is done now, also after a crash.
   */
  is_atomic?: true
}

export type SuccessResponse =
  | { status: 200 | 201; json: z.ZodType }
  | { status: 204 }
  | { status: 200; events: Record<string, z.ZodType>; raw?: boolean }
  | { status: 200; content_type: string; is_stream?: boolean; max_age_s?: number }

/** Keeps the literal types of a specification. */
export function operation<const T extends OperationSpec>(spec: T): T {
  return spec
}

/** One Server-Sent Event. `data` is written as it is when it is a string, else as one line of JSON. */
export interface StreamEvent {
  event?: string
  id?: string
  data: unknown
}

/** A stream of events, pulled by the client's own pace; the feature stops when `return()` is called. */
export type EventStream = AsyncIterable<StreamEvent>

type SchemaOutput<S> = S extends z.ZodType ? z.output<S> : Record<never, never>

/** What a handler gets: parameters, query and body, parsed, in one flat record per kind; a file as its bytes come in. */
export type HandlerInput<T extends OperationSpec> = {
  params: SchemaOutput<T['params']>
  query: SchemaOutput<T['query']>
  body: T['body'] extends z.ZodType ? z.output<T['body']> : undefined
} & (T extends { upload: object } ? { upload: AsyncIterable<Uint8Array> } : unknown)

/** What a handler returns. */
export type HandlerOutput<T extends OperationSpec> = T['success'] extends { json: infer S extends z.ZodType }
  ? z.input<S>
  : T['success'] extends { events: unknown }
    ? EventStream
    : T['success'] extends { content_type: string; is_stream: true }
      ? AsyncIterable<Uint8Array>
      : T['success'] extends { content_type: string }
        ? Uint8Array
        : void

/** The body, query and parameters as a client writes them. */
export interface OperationClientInput<T extends OperationSpec> {
  params: z.input<T['params']>
  query: Partial<z.input<T['query']>>
  body: T['body'] extends z.ZodType ? z.input<T['body']> : undefined
}

/** A handler for every operation of the record: a forgotten one does not compile. */
export type HandlersOf<Operations extends Record<string, OperationSpec>, Context> = {
  [Id in keyof Operations]: (context: Context, input: HandlerInput<Operations[Id]>) => Promise<HandlerOutput<Operations[Id]>>
}
