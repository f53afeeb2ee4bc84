import { z } from 'zod'
import { purgeResult, purgeWebhookBody } from '../../contract/cache.ts'
import { deployment, deploymentDetail } from '../../contract/deployments.ts'
import { errorStatus } from '../../contract/errors.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import { operations } from '../../contract/index.ts'
import { limits } from '../../contract/limits.ts'
import { type OperationGroup, type OperationSpec, requiredScope } from '../../contract/operation.ts'
import { project } from '../../contract/projects.ts'
import { addExamples } from './examples.ts'
import type { OpenApiResponse, OpenApiOperation, JsonSchema } from './types.ts'
import type { OpenApiParameter } from './types.ts'

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const errorEnvelope = z.object({
  error: z.enum(Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]]).describe('A stable error code for programs.'),
  message: z.string().describe('A message for people: what failed and what to do next.'),
  issues: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .optional()
    .describe('Problems per field, for 400 `invalid_input`.'),
  request_id: z.string().describe('`req_` and an id; the same as the header X-Request-Id.'),
})

/**
 * The OpenAPI 3.1 document of the /v1 operations. It is generated from the same records that route and validate requests, so it always
 * matches the API.
 */
export function openApiDocument() {
  const names = nameSchemas()
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  for (const [id, spec] of Object.entries(operations) as [string, OperationSpec][]) {
    paths[spec.path] = { ...paths[spec.path], [spec.method.toLowerCase()]: describeOperation(id, spec, names) }
  }
  return addExamples({
    openapi: '3.1.0',
    info: { title: 'Homeport', version: '1.0.0', description: introduction, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'This instance' }],
    security: [{ bearer: [] }, { session: [] }, { session_cookie: [] }],
    tags: groups.filter(({ name }) => Object.values(operations).some((spec) => spec.group === name)),
    paths,
    webhooks: { cachePurge: { post: describePurgeWebhook(names) }, stripe: { post: describeBillingWebhook() } },
    components: {
      schemas: { ...schemasOf(names.requests, 'input'), ...schemasOf(names.responses, 'output') },
      headers,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API token, `svc_…`.' },
        purge_token: { type: 'http', scheme: 'bearer', description: 'The purge token of one project, `hpp_…`.' },
        purge_token_header: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Purge-Token',
          description: 'The purge token, for a CMS that cannot set Authorization.',
        },
        purge_token_query: { type: 'apiKey', in: 'query', name: 'token', description: 'The purge token, for a CMS that cannot set headers.' },
        stripe_signature: {
          type: 'apiKey',
          in: 'header',
          name: 'Stripe-Signature',
          description: 'A timestamp at most five minutes old, and an HMAC of timestamp and body.',
        },
        session: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Homeport-Session',
          description: 'The session of the dashboard. State-changing requests must be same-origin JSON.',
        },
        session_cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: 'homeport_session',
          description:
            'The session cookie of a script, or of a browser on the local network without HTTPS. Its name differs between instances. State-changing requests must be same-origin JSON.',
        },
      },
    },
  })
}

export type OpenApiDocument = ReturnType<typeof openApiDocument>

interface SchemaNames {
  requests: Map<z.ZodType, string>
  responses: Map<z.ZodType, string>
}

/** Names every body, so that generated clients have named types. Operations that share a schema share its name. */
function nameSchemas(): SchemaNames {
  const requests = new Map<z.ZodType, string>()
  const responses = new Map<z.ZodType, string>([
    [project, 'Project'],
    [deployment, 'Deployment'],
    [deploymentDetail, 'DeploymentDetail'],
    [errorEnvelope, 'Error'],
  ])
  requests.set(purgeWebhookBody, 'CachePurgeRequest')
  responses.set(purgeResult, 'CachePurgeResponse')
  for (const [id, { body, success }] of Object.entries(operations) as [string, OperationSpec][]) {
    const name = `${id[0]?.toUpperCase()}${id.slice(1)}`
    if (body && !requests.has(body)) requests.set(body, `${name}Request`)
    if ('json' in success && !responses.has(success.json)) responses.set(success.json, `${name}Response`)
  }
  return { requests, responses }
}

function schemasOf(names: Map<z.ZodType, string>, io: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [schema, id] of names) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { target: 'draft-2020-12', io, uri: (id) => `#/components/schemas/${id}`, override: cleanSchema(io) })
  for (const schema of Object.values(schemas)) {
    delete schema.$schema
    delete schema.$id
  }
  return schemas as Record<string, JsonSchema>
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io, override: cleanSchema(io) })
  return rest as JsonSchema
}

/** Responses may get new fields, except a project, for which the API description rules that out. */
const cleanSchema =
  (io: 'input' | 'output') =>
  ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
    if (io === 'output' && zodSchema !== project) delete jsonSchema.additionalProperties
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  }

function describeOperation(operationId: string, spec: OperationSpec, names: SchemaNames): OpenApiOperation {
  const operation: OpenApiOperation = { operationId, tags: [spec.group], summary: spec.summary, 'x-token-scope': requiredScope(spec), responses: {} }
  if (spec.description) operation.description = spec.description
  const parameters = [
    ...parametersIn('path', spec.params),
    ...parametersIn('query', spec.query),
    ...resumeParameters(spec),
    ...idempotencyParameters(spec),
  ]
  if (parameters.length > 0) operation.parameters = parameters
  if (spec.body)
    operation.requestBody = {
      required: !spec.body.safeParse(undefined).success,
      content: { 'application/json': { schema: ref(names.requests.get(spec.body) ?? '') } },
    }
  if (spec.upload) operation.requestBody = { required: true, content: describeUpload(spec.upload.types) }
  operation.responses[String(spec.success.status)] = describeSuccess(spec, names)
  for (const [status, codes] of codesByStatus(spec)) {
    operation.responses[status] = {
      description: codes.map((code) => `\`${code}\``).join(', '),
      headers: status === '429' ? { ...commonHeaders, 'Retry-After': { $ref: '#/components/headers/Retry-After' } } : commonHeaders,
      content: { 'application/json': { schema: codes.includes('env_vars_exist') ? errorWithFieldsOf(spec) : ref('Error') } },
    }
  }
  return operation
}

/** The error envelope with the fields of the success response: the variables that were skipped. */
function errorWithFieldsOf({ success }: OperationSpec): JsonSchema {
  const { created, skipped } = ('json' in success && schemaOf(success.json, 'output').properties) || {}
  return { allOf: [ref('Error'), { type: 'object', properties: { ...(created && { created }), ...(skipped && { skipped }) } }] }
}

/** A file as the request body, or as the only field of a form. */
function describeUpload(types: readonly string[]): Record<string, { schema: JsonSchema }> {
  const form: JsonSchema = {
    type: 'object',
    properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' } },
    required: ['file'],
  }
  const raw = types.map((type) => [type, { schema: { type: 'string', contentMediaType: type } }] as const)
  // The form comes first, because generated clients should use it.
  return { 'multipart/form-data': { schema: form }, ...Object.fromEntries(raw) }
}

const describeErrors = (codes: ErrorCode[]): OpenApiResponse => ({
  description: codes.map((code) => `\`${code}\``).join(', '),
  headers: codes.includes('rate_limited') ? { ...commonHeaders, 'Retry-After': { $ref: '#/components/headers/Retry-After' } } : commonHeaders,
  content: { 'application/json': { schema: ref('Error') } },
})

/** The webhook that the payment processor calls. The events are described by the processor. */
function describeBillingWebhook(): OpenApiOperation {
  const received: JsonSchema = { type: 'object', properties: { received: { type: 'boolean', const: true } }, required: ['received'] }
  return {
    operationId: 'stripe',
    tags: ['Billing'],
    summary: 'Receive an event of the payment processor',
    description:
      'Sent by Stripe to `/hooks/stripe`, signed with the secret of the endpoint. Events may arrive in any order and more than once, because the state at Stripe is fetched. When a subscription ends, the account returns to `starter`.',
    security: [{ stripe_signature: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: { type: 'object', description: 'An event of Stripe.' } } } },
    responses: {
      200: { description: 'Received.', headers: commonHeaders, content: { 'application/json': { schema: received } } },
      400: describeErrors(['bad_request']),
      405: describeErrors(['method_not_allowed']),
      413: describeErrors(['payload_too_large']),
      429: describeErrors(['rate_limited']),
      500: describeErrors(['billing_error', 'internal_error']),
      503: describeErrors(['billing_not_configured']),
    },
  }
}

/** The webhook that a CMS calls, at the `webhook_url` of `createPurgeToken`. */
function describePurgeWebhook(names: SchemaNames): OpenApiOperation {
  return {
    operationId: 'cachePurge',
    tags: ['Projects'],
    summary: 'Purge from a CMS with the purge token',
    description:
      'Sent to `webhook_url`, which is `/hooks/cache/{slug}` of this instance. Without a body, or with `{}`, the whole cache of the project is purged. The rate limit of unauthenticated requests applies per IP address.',
    security: [{ purge_token: [] }, { purge_token_header: [] }, { purge_token_query: [] }],
    requestBody: { required: false, content: { 'application/json': { schema: ref(names.requests.get(purgeWebhookBody) ?? '') } } },
    responses: {
      200: {
        description: 'The purge is complete.',
        headers: commonHeaders,
        content: { 'application/json': { schema: ref('CachePurgeResponse') } },
      },
      400: describeErrors(['invalid_input', 'invalid_json']),
      401: describeErrors(['unauthorized']),
      405: describeErrors(['method_not_allowed']),
      413: describeErrors(['payload_too_large']),
      415: describeErrors(['unsupported_media_type']),
      429: describeErrors(['rate_limited']),
      500: describeErrors(['internal_error']),
      502: describeErrors(['cache_purge_failed']),
    },
  }
}

/** Parameters with their parsed types: a number is described as a number, although a query contains text. */
function parametersIn(where: 'path' | 'query', schema: z.ZodObject): OpenApiParameter[] {
  const { properties = {}, required = [] } = schemaOf(schema, 'output')
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    ...(parameterDescriptions[name] ? { description: parameterDescriptions[name] } : {}),
    schema: property,
  }))
}

const resumeParameters = ({ success }: OperationSpec): OpenApiParameter[] =>
  'events' in success
    ? [
        {
          name: 'Last-Event-ID',
          in: 'header',
          required: false,
          description: 'Resumes after this event without gaps or repeats. An unknown ID returns the whole history.',
          schema: { type: 'string' },
        },
      ]
    : []

const idempotencyParameters = ({ method }: OperationSpec): OpenApiParameter[] =>
  method === 'POST'
    ? [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'A request with the same key within 24 hours gets the first response again.',
          schema: { type: 'string', minLength: limits.idempotency.key.min, maxLength: limits.idempotency.key.max, pattern: '^[ -~]+$' },
        },
      ]
    : []

function describeSuccess({ success, method }: OperationSpec, names: SchemaNames): OpenApiResponse {
  const mayRepeat =
    method === 'POST' ? { ...commonHeaders, 'Idempotency-Replayed': { $ref: '#/components/headers/Idempotency-Replayed' } } : commonHeaders
  if ('json' in success)
    return { description: 'Success.', headers: mayRepeat, content: { 'application/json': { schema: ref(names.responses.get(success.json) ?? '') } } }
  if ('content_type' in success)
    return { description: 'The file.', headers: commonHeaders, content: { [success.content_type]: { schema: { type: 'string' } } } }
  if (!('events' in success)) return { description: 'Success, without a body.', headers: commonHeaders }
  const events = Object.fromEntries(Object.entries(success.events).map(([name, schema]) => [name, schemaOf(schema, 'output')]))
  const list = Object.keys(events).map((name) => `\`${name}\``)
  const raw = success.raw ? ' Without `format=json`, a log line is an unnamed event with the raw text.' : ''
  return {
    description: `A stream of Server-Sent Events: ${list.join(', ')}. The data of each is one line of JSON, described in \`x-events\`.${raw} A comment is sent every ${limits.stream_comment_ms / 1000} s.`,
    headers: commonHeaders,
    content: { 'text/event-stream': { schema: { type: 'string' }, 'x-events': events } },
  }
}

function codesByStatus(spec: OperationSpec): [string, ErrorCode[]][] {
  // Every operation rejects repeated query parameters, including unknown ones.
  const codes = new Set<ErrorCode>([...spec.errors, 'invalid_input', 'unauthorized', 'insufficient_scope', 'rate_limited', 'internal_error'])
  if (spec.method === 'POST') codes.add('idempotency_conflict')
  if (spec.method !== 'GET') codes.add('origin_not_allowed').add('payload_too_large').add('unsupported_media_type')
  if (spec.body) codes.add('invalid_json')
  const grouped = new Map<string, ErrorCode[]>()
  for (const code of codes) grouped.set(String(errorStatus[code]), [...(grouped.get(String(errorStatus[code])) ?? []), code])
  return [...grouped].toSorted(([a], [b]) => Number(a) - Number(b))
}

const parameterDescriptions: Record<string, string> = {
  slug: 'The slug of the project.',
  id: 'The ID of the resource.',
  limit: `Items per page; default ${limits.page.default}.`,
  cursor: 'The `next_cursor` of the previous page.',
  lines: `Number of recent lines to send first; default ${limits.runtime_log_lines.default}.`,
  format: 'Default `text`.',
  last_event_id: 'Like the header Last-Event-ID, for clients that cannot set headers.',
}

const groups: { name: OperationGroup; description: string }[] = [
  { name: 'Projects', description: 'Apps and their settings.' },
  { name: 'Deployments', description: 'Versions of an app, build logs and runtime logs.' },
  { name: 'Domains', description: 'Custom domains.' },
  { name: 'Environment variables', description: 'Variables of an app per environment.' },
  { name: 'Billing', description: 'Plan, trial and card.' },
  { name: 'Databases', description: 'One PostgreSQL database per project.' },
  { name: 'API tokens', description: 'Credentials for programs.' },
  { name: 'Uploads', description: 'Source archives.' },
]

const headers = {
  'X-Request-Id': { description: 'ID of the request, for support.', schema: { type: 'string' } },
  'X-RateLimit-Limit': { description: 'Requests allowed in the current window.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left before a 429.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'Unix time in seconds when the window ends.', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  'Idempotency-Replayed': {
    description: '`true` if this is a replayed response to the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
}

const commonHeaders = Object.fromEntries(
  Object.keys(headers)
    .filter((name) => name.startsWith('X-'))
    .map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

const introduction = `The API of a deployment platform: projects, deployments, logs, domains and databases.

Send \`Authorization: Bearer svc_…\` with every request. ${limits.rate.authenticated} requests per minute are allowed per account and ${limits.rate.anonymous} per minute without authentication, unless the instance is configured otherwise. A token may be limited to a scope (\`read\`, \`deploy\`, \`admin\`) and to a project; what it does not include is a 403 \`insufficient_scope\`, and \`x-token-scope\` of an operation says what it needs. Every error has the same envelope; every response has an \`X-Request-Id\`. Lists are sorted newest first and paginated with \`limit\` and \`cursor\`.

Any POST may have an \`Idempotency-Key\`. A request with the same key of the same account within 24 hours gets the first response again, marked by \`Idempotency-Replayed: true\`, and nothing is done twice. A different request with the key is a 409 \`idempotency_conflict\`. Responses with 2xx, 402 and 409 are stored; all others leave the key free. A second request waits while the first is in progress. After a crash, a retry that creates a project, a deployment, a token, variables or a domain gets the stored response if the work was done, and does the work if not. For other requests the outcome is unknown, and the response is a 409 until the key expires. A caller who has lost access to the resource in the path gets its 404 (our reading).

Every path also works without \`/v1\`, marked by \`Deprecation: true\`. New clients should use \`/v1\`.

Where the API description leaves gaps, this is our reading. An unknown body field is rejected with 400. An unknown query parameter is ignored, a repeated one rejected. Checks run in this order: host 421, rate limit 429, authentication 401, origin 403, scope 403, resource 404, input 400, configuration 503, plan 402, state 409. A resource that you may not see is indistinguishable from one that does not exist.`
