import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { branchName, dateTime, empty, projectIdParams, projectParams } from './shared.ts'

const { hours, body_bytes, project_bytes, per_second, masked_fields } = limits.request_capture

const filters = {
  path: z.string().min(1).max(200).nullable().describe('The start of the path, or a pattern with `*`; null for all.'),
  method: z
    .string()
    .regex(/^[A-Za-z]{1,20}$/, 'Use a method such as POST.')
    .nullable()
    .describe('Null for all.'),
  status: z
    .string()
    .regex(/^(?:[1-5]xx|[1-5]\d\d)$/i, 'Use a status such as 404, or a class such as 5xx.')
    .nullable()
    .describe('A status such as 404, or a class such as 5xx; null for all.'),
}
const maskedFields = z
  .array(
    z
      .string()
      .min(1)
      .max(limits.request_capture.field_name)
      .regex(/^[\w $.-]+$/, 'Use letters, digits, hyphens, underscores and dots.'),
  )
  .max(masked_fields)
  .describe(
    'Names of headers, fields of JSON and forms, and query parameters whose values are not stored, in addition to Authorization, Cookie, Set-Cookie and names such as `password`, `secret`, `token` and `api_key`.',
  )

export const requestCapture = z.object({
  until: dateTime.nullable().describe('Requests are captured until then; null: capture is off.'),
  ...filters,
  masked_fields: maskedFields,
})
export type RequestCaptureSettings = z.output<typeof requestCapture>

const capturedBody = {
  headers: z.array(z.tuple([z.string(), z.string()])).describe('Masked values are `***`.'),
  body: z.string().nullable().describe('Null if there is none, or if it was not kept (`omitted`).'),
  encoding: z.enum(['text', 'base64']).describe('Of `body`: base64 if it is no text.'),
  is_truncated: z.boolean().describe(`Only the first ${body_bytes / 1024} kB of the body are kept.`),
  omitted: z
    .enum(['stream', 'unreadable'])
    .nullable()
    .describe('Why a body was not kept: it is an event stream, or it cannot be read and therefore not masked, such as an unknown Content-Encoding.'),
}
const capturedMessage = z.object(capturedBody)
export type CapturedMessage = z.output<typeof capturedMessage>

export const capturedExchange = z.object({ request: capturedMessage, response: capturedMessage })
export type CapturedExchange = z.output<typeof capturedExchange>

const replayTarget = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('production') }),
  z.strictObject({ kind: z.literal('preview'), branch: branchName }),
  z.strictObject({ kind: z.literal('deployment'), id: z.string().max(100).describe('A deployment whose build is kept.') }),
])
export type ReplayTarget = z.input<typeof replayTarget>

const { replay } = limits
/** A request target: visible ASCII, so that nothing can end the request line. */
const path = z
  .string()
  .max(replay.path)
  .regex(/^\/[\x21\x22\x24-\x7e]*$/, 'Use a path that starts with /, with spaces and other characters percent-encoded.')
const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'This is not a valid header name.')
const headerValue = z
  .string()
  .max(replay.header_value)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'A header must not contain control characters, or characters outside of Latin-1.')

const replayedResponse = z.object({
  request_id: z.string().nullable().describe('The ID of the new request in the request log.'),
  host: z.string(),
  deployment_id: z.string().nullable().describe('The deployment that the host belongs to.'),
  status: z.number().int(),
  duration_ms: z.number(),
  ...capturedBody,
})
export type ReplayedResponse = z.output<typeof replayedResponse>

const originalResponse = z.object({ status: z.number().int(), duration_ms: z.number(), deployment_id: z.string().nullable(), ...capturedBody })
export type OriginalResponse = z.output<typeof originalResponse>

/** Not among the 45 operations: headers and bodies of requests, and sending a request again. */
export const requestCaptureOperations = {
  getRequestCapture: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/request-capture',
    resource: 'project',
    group: 'Instance',
    summary: 'Get whether headers and bodies of requests are captured',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ capture: requestCapture }) },
    errors: ['project_not_found'],
  }),
  startRequestCapture: operation({
    method: 'PUT',
    path: '/instance/projects/{slug}/request-capture',
    resource: 'project',
    group: 'Instance',
    summary: 'Capture headers and bodies of requests',
    description: `For at most ${hours} hours, and at most ${per_second} requests in a second; the newest ${project_bytes / 2 ** 20} MB are kept. Bodies are kept up to ${body_bytes / 1024} kB. Secrets are masked before anything is stored, and what is stored is encrypted. \`until\` is one hour from now unless it is given; without \`masked_fields\` those of the last time apply.`,
    access: 'caller',
    params: projectParams,
    query: empty,
    body: z.strictObject({
      until: dateTime.optional(),
      path: filters.path.optional(),
      method: filters.method.optional(),
      status: filters.status.optional(),
      masked_fields: maskedFields.optional(),
    }),
    success: { status: 200, json: z.object({ capture: requestCapture }) },
    errors: ['invalid_input', 'project_not_found'],
  }),
  stopRequestCapture: operation({
    method: 'DELETE',
    path: '/instance/projects/{slug}/request-capture',
    resource: 'project',
    group: 'Instance',
    summary: 'Stop capturing requests',
    description: 'With `captured=delete` the headers and bodies that were captured are deleted too.',
    access: 'caller',
    params: projectParams,
    query: z.object({ captured: z.enum(['keep', 'delete']).optional() }),
    success: { status: 200, json: z.object({ capture: requestCapture }) },
    errors: ['invalid_input', 'project_not_found'],
  }),
  getCapturedRequest: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/requests/{id}/capture',
    resource: 'project',
    group: 'Instance',
    summary: 'Get the headers and bodies of a captured request',
    description: 'Null if the request was not captured.',
    access: 'caller',
    scope: 'admin',
    params: projectIdParams,
    query: empty,
    success: { status: 200, json: z.object({ captured: capturedExchange.nullable() }) },
    errors: ['project_not_found', 'request_not_found'],
  }),
  replayRequest: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/requests/{id}/replay',
    resource: 'project',
    group: 'Instance',
    summary: 'Send a captured request again',
    description:
      'To production, a preview, or a deployment whose build is kept. A deployment that serves nothing is started for the replay, with the variables and the database that its environment has now. Without other fields it is sent as captured, but without the headers whose values were masked. `headers` replaces all headers. The app receives `X-Homeport-Replay` with the ID of the captured request.',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    body: z.strictObject({
      target: replayTarget,
      method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).optional(),
      path: path.optional().describe('With the query. Its host is that of the target.'),
      headers: z
        .array(z.tuple([headerName, headerValue]))
        .max(replay.headers)
        .optional(),
      body: z.string().max(replay.body_characters).nullable().optional(),
    }),
    success: { status: 200, json: z.object({ original: originalResponse, replayed: replayedResponse }) },
    errors: ['invalid_input', 'project_not_found', 'request_not_found', 'replay_not_possible', 'replay_failed'],
  }),
}
