import { z } from 'zod'
import { lastEventId } from './deployments.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dateTime, pageQuery, projectParams } from './shared.ts'

const { rows, days, per_second, burst } = limits.request_log

const requestCacheResult = z.enum(['hit', 'stale', 'miss', 'bypass'])
/** `refused` to `cut`: the app failed; `crashed`: it keeps exiting and no replica runs; `client_closed`: the client left before the response was complete. */
const requestFailure = z.enum(['refused', 'rerouted', 'closed', 'malformed', 'timeout', 'cut', 'crashed', 'client_closed'])
export type RequestFailure = z.output<typeof requestFailure>

const duration = z.number().describe('Milliseconds.')

export const loggedRequest = z.object({
  id: z.string().describe('The request ID that app and client received as `X-Request-Id`.'),
  time: dateTime.describe('When the request arrived.'),
  method: z.string(),
  host: z.string(),
  path: z.string(),
  query: z.string().nullable().describe('Without the question mark. Values of parameters that look like secrets are replaced by `***`.'),
  scheme: z.enum(['http', 'https']),
  protocol: z.string().describe('`HTTP/1.1` or `HTTP/2`.'),
  status: z.number().int().describe('499: the client left before a response began.'),
  duration_ms: duration,
  wake_ms: duration.describe('Milliseconds until the app was awake.'),
  queue_ms: duration.nullable().describe('Milliseconds from then until the request was sent to the app; null if it was not sent.'),
  app_ms: duration.nullable().describe('Milliseconds from then until the response began.'),
  transfer_ms: duration.describe('Milliseconds from then until the response was sent.'),
  bytes: z.number().int().describe('Bytes of the response body.'),
  cache: requestCacheResult.nullable(),
  cache_status: z
    .string()
    .nullable()
    .describe('The parameters of the response header `Cache-Status`, such as `fwd=uri-miss; fwd-status=200; stored`.'),
  deployment_id: z.string().nullable(),
  replica: z.number().int().nullable().describe('The replica that the request was sent to. Null if the app has one, and if it was not sent.'),
  client_ip: z.string().describe('Shortened to the network: /24 of IPv4, /48 of IPv6.'),
  user_agent: z.string().nullable(),
  trace_id: z.string().describe('The W3C trace ID that the app received in `traceparent`.'),
  span_id: z.string(),
  failure: requestFailure.nullable(),
  is_captured: z.boolean().describe('Whether its headers and bodies are kept.'),
  skipped_before: z
    .number()
    .int()
    .describe(
      `Requests since the previous one that were not logged, because there were more than ${burst} at once, or ${per_second} in each second.`,
    ),
})
export type LoggedRequest = z.output<typeof loggedRequest>

const numberQuery = z
  .string()
  .regex(/^\d{1,9}$/, 'Use a whole number.')
  .transform(Number)
  .pipe(z.number().int())

const requestFilters = z.object({
  status: z
    .string()
    .regex(/^(?:[1-5]xx|[1-5]\d\d)$/i, 'Use a status such as 404, or a class such as 5xx.')
    .optional(),
  method: z.string().max(20).optional(),
  query: z.string().max(200).optional().describe('Text within the query.'),
  path: z.string().max(200).optional().describe('The start of the path, or a pattern with `*` for any characters, such as `*.png`.'),
  route: z.string().max(200).optional().describe('A route as `listRoutes` names it, such as `/users/:id`.'),
  host: z.string().max(253).optional(),
  deployment: z.string().max(100).optional().describe('The ID of a deployment.'),
  replica: z
    .string()
    .regex(/^\d{1,2}$/, 'Use the number of a replica, such as 2.')
    .transform(Number)
    .pipe(z.number().int())
    .optional(),
  cache: requestCacheResult.optional(),
  cache_status: z.string().max(200).optional().describe('Text within the reason of the cache, such as `fwd=uri-miss`.'),
  client_ip: z.string().max(50).optional().describe('Any address of the network.'),
  user_agent: z.string().max(200).optional().describe('Text within the user agent.'),
  failure: requestFailure.optional(),
  min_duration_ms: numberQuery.optional(),
  min_wake_ms: numberQuery.optional().describe('Requests that waited at least this long for the app to wake.'),
  min_bytes: numberQuery.optional(),
  trace_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/, 'Use a W3C trace ID: 32 hexadecimal digits.')
    .optional(),
  id: z.string().max(100).optional(),
  since: dateTime.optional().describe('Requests that ended at this time or later.'),
  until: dateTime.optional().describe('Requests that ended before this time.'),
})
export type RequestFilters = z.output<typeof requestFilters>

const requestEvents = {
  request: loggedRequest,
  lagged: z.object({ dropped: z.number().int() }),
}

/** Not among the 45 operations: the request log of a project. */
export const requestOperations = {
  listRequests: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/requests',
    resource: 'project',
    group: 'Instance',
    summary: 'List the requests of a project, the one that ended last first',
    description: `The last ${rows} requests of ${days} days are kept.`,
    access: 'caller',
    params: projectParams,
    query: pageQuery.extend(requestFilters.shape),
    success: {
      status: 200,
      json: z.object({
        requests: z.array(loggedRequest),
        next_cursor: z.string().nullable(),
        last_event_id: z.string().describe('Pass it to the stream to continue without a gap.'),
        is_recording: z.boolean().describe('Whether the request log of this instance is on.'),
      }),
    },
    errors: ['invalid_input', 'project_not_found'],
  }),
  streamRequests: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/request-stream',
    resource: 'project',
    group: 'Instance',
    summary: 'Follow the requests of a project',
    description: 'Starts with the next request, or after `Last-Event-ID` (or `last_event_id`).',
    access: 'caller',
    params: projectParams,
    query: requestFilters.omit({ since: true, until: true }).extend({ last_event_id: lastEventId }),
    success: { status: 200, events: requestEvents },
    errors: ['invalid_input', 'project_not_found'],
  }),
  getRequest: operation({
    method: 'GET',
    path: '/instance/requests/{id}',
    group: 'Instance',
    summary: 'Get a request by its ID',
    access: 'caller',
    params: z.object({ id: z.string() }),
    query: z.object({}),
    success: { status: 200, json: z.object({ request: loggedRequest, project: z.string().describe('The slug of its project.') }) },
    errors: ['request_not_found'],
  }),
}
