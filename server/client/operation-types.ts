import type { z } from 'zod'
import type { OperationId, Operations } from '../contract/index.ts'

type Operation<Id extends OperationId> = Operations[Id]
type Query<Id extends OperationId> = Partial<z.input<Operation<Id>['query']>>
type Params<Id extends OperationId> = z.input<Operation<Id>['params']>
type Body<Id extends OperationId> = Operation<Id> extends { body: infer Schema extends z.ZodType } ? z.input<Schema> : undefined

/** Input of a call: path parameters and body as the contract defines them, plus an optional query. */
export type CallInput<Id extends OperationId> = {
  query?: Query<Id>
  signal?: AbortSignal
  /** Repeating a POST with the same key does not execute it twice. */
  idempotency_key?: string
} & (Params<Id> extends Record<string, never> ? { params?: undefined } : { params: Params<Id> }) &
  (Body<Id> extends undefined ? { body?: undefined } : undefined extends Body<Id> ? { body?: Body<Id> } : { body: Body<Id> })

/** The response body of an operation; undefined for an operation without one. */
export type CallOutput<Id extends OperationId> =
  Operation<Id> extends { success: { json: infer Schema extends z.ZodType } } ? z.output<Schema> : undefined

/** Operations that take a file as their request body. */
export type UploadOperationId = { [Id in OperationId]: Operation<Id> extends { upload: object } ? Id : never }[OperationId]
/** Operations that respond with a file. */
export type DownloadOperationId = { [Id in OperationId]: Operation<Id> extends { success: { content_type: string } } ? Id : never }[OperationId]
export type StreamOperationId = { [Id in OperationId]: Operation<Id> extends { success: { events: unknown } } ? Id : never }[OperationId]

type EventSchemas<Id extends StreamOperationId> =
  Operation<Id> extends { success: { events: infer Schemas extends Record<string, z.ZodType> } } ? Schemas : never

/** One event of a stream, discriminated by its name. */
export type ApiEvent<Id extends StreamOperationId> = {
  [Name in keyof EventSchemas<Id>]: { event: Name; id: string | null; data: z.output<EventSchemas<Id>[Name]> }
}[keyof EventSchemas<Id>]

/** Method and path of each operation, such as `GET /v1/projects/{slug}`. */
export type OperationRoutes = Readonly<Record<OperationId, string>>
