import { z } from 'zod'
import { allOperations, type OperationId } from '../contract/index.ts'
import { isOpenToProjectTokens, type OperationSpec, requiredScope } from '../contract/operation.ts'
import { includesScope, type TokenScope } from '../contract/token-scopes.ts'
import type { ToolClient } from './tool-client.ts'

export type ToolArguments = Record<string, unknown>
type JsonObject = Record<string, unknown>

/** A tool of an agent. Its main operation decides who sees it, and what it says about itself. */
export interface Tool {
  name: string
  operation: OperationId
  /** It only reads, although its operation could also change something. */
  is_read_only?: true
  description: string
  input: JsonObject
  run(client: ToolClient, args: ToolArguments, signal: AbortSignal): Promise<unknown>
}

/** What the caller may do, so that only usable tools are listed. The API checks each call again. */
export interface ToolCaller {
  scope: TokenScope | null
  is_limited_to_project: boolean
  is_instance_owner: boolean
}

/** Operations may take minutes for much data. */
const slowCall_ms = 30 * 60_000

export const specOfTool = ({ operation }: Pick<Tool, 'operation'>): OperationSpec => allOperations[operation]

export function isToolOpenTo(tool: Tool, { scope, is_limited_to_project, is_instance_owner }: ToolCaller): boolean {
  const spec = specOfTool(tool)
  return (
    (scope === null || includesScope(scope, requiredScope(spec))) &&
    (!is_limited_to_project || isOpenToProjectTokens(spec)) &&
    (is_instance_owner || spec.access !== 'owner')
  )
}

/** `destructiveHint`: it may delete or replace something. Homeport takes a snapshot before. */
export function annotationsOf(tool: Tool) {
  const spec = specOfTool(tool)
  const readOnlyHint = tool.is_read_only === true || requiredScope(spec) === 'read'
  return {
    readOnlyHint,
    destructiveHint: !readOnlyHint && requiredScope(spec) === 'admin',
    idempotentHint: spec.method === 'GET',
    openWorldHint: false,
  }
}

/** A tool that is an operation: its parameters, query and body in one object. `query`: fixed values. `select`: what of the output is shown. */
export function operationTool(
  name: string,
  operation: OperationId,
  { query = {}, select = (output) => output }: { query?: Record<string, string>; select?: (output: never) => unknown } = {},
): Tool {
  const spec: OperationSpec = allOperations[operation]
  const body = spec.body instanceof z.ZodObject ? spec.body : undefined
  const params = Object.keys(spec.params.shape)
  const queries = Object.keys(spec.query.shape).filter((key) => !(key in query))
  const schemas = [toSchema(spec.params, 'output'), toSchema(spec.query, 'output'), ...(body ? [toSchema(body, 'input')] : [])]
  const names = new Set([...params, ...queries, ...Object.keys(body?.shape ?? {})])
  return {
    name,
    operation,
    description: [spec.summary, spec.description].filter(Boolean).join('. '),
    input: objectSchema(
      Object.fromEntries(schemas.flatMap(({ properties = {} }) => Object.entries(properties)).filter(([key]) => names.has(key))),
      schemas.flatMap(({ required = [] }) => required),
    ),
    async run(client, args) {
      const pick = (keys: string[], convert: (value: unknown) => unknown = (value) => value) =>
        Object.fromEntries(keys.filter((key) => args[key] !== undefined).map((key) => [key, convert(args[key])]))
      const input = {
        params: pick(params, String),
        query: { ...pick(queries, String), ...query },
        ...(body && { body: pick(Object.keys(body.shape)) }),
      }
      const output = await client.call(operation, input as never, spec.is_slow ? slowCall_ms : undefined)
      return select(output as never) ?? { ok: true }
    },
  }
}

interface PropertiesSchema {
  properties?: Record<string, unknown>
  required?: string[]
}

const toSchema = (schema: z.ZodType, io: 'input' | 'output') => z.toJSONSchema(schema, { io }) as PropertiesSchema

export const objectSchema = (properties: Record<string, unknown>, required: string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
