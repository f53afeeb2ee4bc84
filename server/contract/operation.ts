import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'
import type { TokenScope } from './token-scopes.ts'

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

/** The kinds of resources in a path. */
export type ResourceKind = 'project' | 'deployment' | 'domain' | 'env_var' | 'database_dump'

/**
 * One operation of the API, as data. Routing, validation, OpenAPI, the typed clients and the tests are derived from it.
 *
 * `path` has parameters in braces (`/v1/projects/{slug}`); each is a key of `params`.
 * `access`: `caller` is any signed-in user; `owner` is only the owner of this instance.
 */
export interface OperationSpec {
  method: HttpMethod
  path: string
  group: OperationGroup
  summary: string
  description?: string
  access: 'caller' | 'owner'
  /** The scope that an API token needs. Absent: `read` for a GET that every user may call, `admin` otherwise (`requiredScope`). */
  scope?: TokenScope
  /** No project is in its path, and it shows only the project that the caller's token is limited to. Others refuse a token that is limited to a project. */
  is_limited_to_project?: true
  /** The resource in the path, loaded before the rest is validated: a 404 for a caller without access. The handler finds it in its context. */
  resource?: ResourceKind
  params: z.ZodObject
  query: z.ZodObject
  /** Absent: a request body is ignored. */
  body?: z.ZodType
  /** Instead of `body`: a file, either as the request body with one of these types or as the field `file` of a form. It is streamed to the handler. */
  upload?: { types: readonly string[]; max_bytes: number }
  /** It may take minutes for much data, so that clients wait longer. */
  is_slow?: true
  success: SuccessResponse
  errors: readonly ErrorCode[]
  /**
   * All work is one transaction, which also stores the response (`saveResponse` of the context). A repeated request with the same idempotency key
   * either replays the stored response or does the work now, even after a crash.
   */
  is_atomic?: true
}

export type SuccessResponse =
  | { status: 200 | 201; json: z.ZodType }
  | { status: 204 }
  | { status: 200; events: Record<string, z.ZodType>; raw?: boolean }
  | { status: 200; content_type: string; is_stream?: boolean; max_age_s?: number }

/** The scope that an API token needs for an operation. */
export const requiredScope = ({ scope, method, access }: OperationSpec): TokenScope =>
  scope ?? (method === 'GET' && access === 'caller' ? 'read' : 'admin')

/** Whether a token that is limited to a project may call an operation at all. */
export const isOpenToProjectTokens = ({ path, resource, is_limited_to_project }: OperationSpec): boolean =>
  resource === 'domain' || path.includes('{slug}') || is_limited_to_project === true

/** Identity function that preserves the literal types of a specification. */
export function operation<const T extends OperationSpec>(spec: T): T {
  return spec
}

/** One Server-Sent Event. A string in `data` is written as is, anything else as one line of JSON. */
export interface StreamEvent {
  event?: string
  id?: string
  data: unknown
}

/** A stream of events, pulled at the pace of the client. `return()` stops it. */
export type EventStream = AsyncIterable<StreamEvent>

type SchemaOutput<S> = S extends z.ZodType ? z.output<S> : Record<never, never>

/** The input of a handler: the parsed parameters, query and body, and an upload as a byte stream. */
export type HandlerInput<T extends OperationSpec> = {
  params: SchemaOutput<T['params']>
  query: SchemaOutput<T['query']>
  body: T['body'] extends z.ZodType ? z.output<T['body']> : undefined
} & (T extends { upload: object } ? { upload: AsyncIterable<Uint8Array> } : unknown)

/** The result of a handler. */
export type HandlerOutput<T extends OperationSpec> = T['success'] extends { json: infer S extends z.ZodType }
  ? z.input<S>
  : T['success'] extends { events: unknown }
    ? EventStream
    : T['success'] extends { content_type: string; is_stream: true }
      ? AsyncIterable<Uint8Array>
      : T['success'] extends { content_type: string }
        ? Uint8Array
        : void

/** The input as a client writes it, before parsing. */
export interface OperationClientInput<T extends OperationSpec> {
  params: z.input<T['params']>
  query: Partial<z.input<T['query']>>
  body: T['body'] extends z.ZodType ? z.input<T['body']> : undefined
}

/** A handler for every operation, with its resource in the context. A missing handler is a type error. */
export type HandlersOf<Operations extends Record<string, OperationSpec>, Context, Resources extends Record<ResourceKind, object>> = {
  [Id in keyof Operations]: (
    context: Context & (Operations[Id] extends { resource: infer Kind extends ResourceKind } ? Resources[Kind] : unknown),
    input: HandlerInput<Operations[Id]>,
  ) => Promise<HandlerOutput<Operations[Id]>>
}
