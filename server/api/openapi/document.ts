import { z } from 'zod'
import { purgeResult, purgeWebhookBody } from '../../contract/cache.ts'
import { deployment, deploymentDetail } from '../../contract/deployments.ts'
import { errorStatus } from '../../contract/errors.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import { operations } from '../../contract/index.ts'
import { limits } from '../../contract/limits.ts'
import type { OperationGroup, OperationSpec } from '../../contract/operation.ts'
import { project } from '../../contract/projects.ts'
import { addExamples } from './examples.ts'
import type { OpenApiResponse, OpenApiOperation, JsonSchema } from './types.ts'
import type { OpenApiParameter } from './types.ts'

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const errorEnvelope = z.object({
  error: z.enum(Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]]).describe('A stable code for programs.'),
  message: z.string().describe('What failed and what to do next, for people.'),
  issues: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .optional()
    .describe('Field by field, on 400 `invalid_input`.'),
  request_id: z.string().describe('`req_` and an id; the same as the header X-Request-Id.'),
})

/**
 * The OpenAPI 3.1 description of the customer's operations, made from the record that also routes and validates: it cannot
 * say anything else than what the gate does.
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
          description: 'The same, for a CMS that cannot choose Authorization.',
        },
        purge_token_query: { type: 'apiKey', in: 'query', name: 'token', description: 'The same, for a CMS that sends no headers of yours.' },
        stripe_signature: {
          type: 'apiKey',
          in: 'header',
          name: 'Stripe-Signature',
          description: 'A time and an HMAC of time and body, at most five minutes old.',
        },
        session: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Homeport-Session',
          description: 'The session of the dashboard. A request that changes something has to be JSON from the same origin.',
        },
        session_cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: 'homeport_session',
          description:
            'The cookie of a script that signed in, or of a browser on the network without HTTPS. Its name differs from instance to instance. A request that changes something has to be JSON from the same origin.',
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

/** Every body gets a name, so that generated clients have types to show. Operations that share a schema share its name. */
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

/** Answers may grow new fields, but for a project, of which the customer's document says that no others appear. */
const cleanSchema =
  (io: 'input' | 'output') =>
  ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
    if (io === 'output' && zodSchema !== project) delete jsonSchema.additionalProperties
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  }

function describeOperation(operationId: string, spec: OperationSpec, names: SchemaNames): OpenApiOperation {
  const operation: OpenApiOperation = { operationId, tags: [spec.group], summary: spec.summary, responses: {} }
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

/** The envelope with the fields of the good answer beside it: what was skipped, where nothing was left to create. */
function errorWithFieldsOf({ success }: OperationSpec): JsonSchema {
  const { created, skipped } = ('json' in success && schemaOf(success.json, 'output').properties) || {}
  return { allOf: [ref('Error'), { type: 'object', properties: { ...(created && { created }), ...(skipped && { skipped }) } }] }
}

/** A file as the body itself, or as the one field of a form. */
function describeUpload(types: readonly string[]): Record<string, { schema: JsonSchema }> {
  const form: JsonSchema = {
    type: 'object',
    properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' } },
    required: ['file'],
  }
  const raw = types.map((type) => [type, { schema: { type: 'string', contentMediaType: type } }] as const)
  // First what generated clients should use: they send a form's file as it is.
  return { 'multipart/form-data': { schema: form }, ...Object.fromEntries(raw) }
}

const describeErrors = (codes: ErrorCode[]): OpenApiResponse => ({
  description: codes.map((code) => `\`${code}\``).join(', '),
  headers: codes.includes('rate_limited') ? { ...commonHeaders, 'Retry-After': { $ref: '#/components/headers/Retry-After' } } : commonHeaders,
  content: { 'application/json': { schema: ref('Error') } },
})

/** What the payment processor calls. Its events are its own: only their signature and what they do are ours. */
function describeBillingWebhook(): OpenApiOperation {
  const received: JsonSchema = { type: 'object', properties: { received: { type: 'boolean', const: true } }, required: ['received'] }
  return {
    operationId: 'stripe',
    tags: ['Billing'],
    summary: 'Hear of a change at the payment processor',
    description:
      'Sent by Stripe to `/hooks/stripe` of this instance, signed with the secret of the endpoint. Events may come in any order and more than once: the state at Stripe counts. The end of a subscription puts the account back to `starter`.',
    security: [{ stripe_signature: [] }],
    requestBody: { required: true, content: { 'application/json': { schema: { type: 'object', description: 'An event of Stripe.' } } } },
    responses: {
      200: { description: 'Heard.', headers: commonHeaders, content: { 'application/json': { schema: received } } },
      400: describeErrors(['bad_request']),
      405: describeErrors(['method_not_allowed']),
      413: describeErrors(['payload_too_large']),
      429: describeErrors(['rate_limited']),
      500: describeErrors(['billing_error', 'internal_error']),
      503: describeErrors(['billing_not_configured']),
    },
  }
}

/** What a CMS calls: the address is `webhook_url` of `createPurgeToken`. */
function describePurgeWebhook(names: SchemaNames): OpenApiOperation {
  return {
    operationId: 'cachePurge',
    tags: ['Projects'],
    summary: 'Purge from a CMS, by the purge token',
    description:
      'Sent to `webhook_url`, which is `/hooks/cache/{slug}` of this instance. Without a body, or with `{}`, everything of the project is purged. The limit of requests without sign-in applies, by the address of the sender.',
    security: [{ purge_token: [] }, { purge_token_header: [] }, { purge_token_query: [] }],
    requestBody: { required: false, content: { 'application/json': { schema: ref(names.requests.get(purgeWebhookBody) ?? '') } } },
    responses: {
      200: {
        description: 'Done; complete when it is sent.',
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

/** Parameters as they are after reading: a number is described as a number, although a query carries text. */
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
          description: 'Resumes after this event, without a gap or a repeat. An unknown id gives everything.',
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
          description: 'The same key within 24 hours gets the first answer once more.',
          schema: { type: 'string', minLength: limits.idempotency.key.min, maxLength: limits.idempotency.key.max, pattern: '^[ -~]+$' },
        },
      ]
    : []

function describeSuccess({ success, method }: OperationSpec, names: SchemaNames): OpenApiResponse {
  const mayRepeat =
    method === 'POST' ? { ...commonHeaders, 'Idempotency-Replayed': { $ref: '#/components/headers/Idempotency-Replayed' } } : commonHeaders
  if ('json' in success)
    return { description: 'Done.', headers: mayRepeat, content: { 'application/json': { schema: ref(names.responses.get(success.json) ?? '') } } }
  if ('content_type' in success)
    return { description: 'The file.', headers: commonHeaders, content: { [success.content_type]: { schema: { type: 'string' } } } }
  if (!('events' in success)) return { description: 'Done; there is no body.', headers: commonHeaders }
  const events = Object.fromEntries(Object.entries(success.events).map(([name, schema]) => [name, schemaOf(schema, 'output')]))
  const list = Object.keys(events).map((name) => `\`${name}\``)
  const raw = success.raw ? ' Without `format=json` a line is an unnamed event whose data is the text itself.' : ''
  return {
    description: `A stream of Server-Sent Events: ${list.join(', ')}; the data of each is one line of JSON, described in \`x-events\`.${raw} A comment goes out every ${limits.stream_comment_ms / 1000} s.`,
    headers: commonHeaders,
    content: { 'text/event-stream': { schema: { type: 'string' }, 'x-events': events } },
  }
}

function codesByStatus(spec: OperationSpec): [string, ErrorCode[]][] {
  // Any query may repeat a parameter, also one that means nothing here.
  const codes = new Set<ErrorCode>([...spec.errors, 'invalid_input', 'unauthorized', 'rate_limited', 'internal_error'])
  if (spec.method === 'POST') codes.add('idempotency_conflict')
  if (spec.method !== 'GET') codes.add('origin_not_allowed').add('payload_too_large').add('unsupported_media_type')
  if (spec.body) codes.add('invalid_json')
  const grouped = new Map<string, ErrorCode[]>()
  for (const code of codes) grouped.set(String(errorStatus[code]), [...(grouped.get(String(errorStatus[code])) ?? []), code])
  return [...grouped].toSorted(([a], [b]) => Number(a) - Number(b))
}

const parameterDescriptions: Record<string, string> = {
  slug: 'The slug of the project.',
  id: 'The id of the resource within the project.',
  limit: `How many per page; ${limits.page.default} when absent.`,
  cursor: 'The `next_cursor` of the page before.',
  lines: `How many of the last lines come first; ${limits.runtime_log_lines.default} when absent.`,
  format: '`text` when absent.',
  last_event_id: 'As the header Last-Event-ID, for clients that cannot set one.',
}

const groups: { name: OperationGroup; description: string }[] = [
  { name: 'Projects', description: 'What is deployed, and from where.' },
  { name: 'Deployments', description: 'Builds on their way to a live address, their logs, and what the app prints.' },
  { name: 'Domains', description: 'Names of your own.' },
  { name: 'Environment variables', description: 'Values that an app gets, per environment.' },
  { name: 'Billing', description: 'Plan, trial and card.' },
  { name: 'Databases', description: 'One relational database per project.' },
  { name: 'API tokens', description: 'Credentials for programs.' },
  { name: 'Uploads', description: 'Source as an archive.' },
]

const headers = {
  'X-Request-Id': { description: 'Quote it when you ask for help.', schema: { type: 'string' } },
  'X-RateLimit-Limit': { description: 'Requests allowed in the window that runs.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left before a 429.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'Unix time in seconds at which the window ends.', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  'Idempotency-Replayed': {
    description: '`true` when this is the first answer to the same Idempotency-Key once more.',
    schema: { type: 'string', const: 'true' },
  },
}

const commonHeaders = Object.fromEntries(
  Object.keys(headers)
    .filter((name) => name.startsWith('X-'))
    .map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

const introduction = `The API of a deployment platform: projects, their deployments, and what they print.

Send \`Authorization: Bearer svc_…\` with every request. ${limits.rate.authenticated} requests a minute per account, ${limits.rate.anonymous} a minute without sign-in, unless the instance is set otherwise. Every error has the same envelope; every answer has an \`X-Request-Id\`. Lists come newest first, a page at a time: \`limit\` and \`cursor\`.

Any POST may carry an \`Idempotency-Key\`: the same key of the same account within 24 hours gets the first answer once more, marked by \`Idempotency-Replayed: true\`, and nothing is done twice; with another request it is 409 \`idempotency_conflict\`. Kept are answers of 2xx, 402 and 409; any other leaves the key free. Who comes second while the first is under way waits for it. After a crash a retry of what makes a project, a deployment, a token, variables or a domain gets the answer if it was done, and does it if it was not; of any other request this is not known, and it is 409 until the key is forgotten. Who may no longer see what the path names gets its 404 (our reading).

Every path also answers without \`/v1\`, marked by \`Deprecation: true\`; new clients use \`/v1\`.

Where the service's own document is silent, this is our reading: a body with an unknown field is refused with 400; an unknown query parameter is ignored, a repeated one refused; checks are made in this order: host 421, rate 429, sign-in 401, origin 403, resource 404, input 400, configuration 503, plan 402, state 409; a resource that you may not see answers exactly as one that does not exist.`
