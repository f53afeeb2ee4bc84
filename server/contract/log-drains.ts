import { z } from 'zod'
import { limits } from './limits.ts'
import { logDrainEnvironments, logDrainFormats, logDrainKinds, logDrainSources } from './log-drain-kinds.ts'
import { operation } from './operation.ts'
import { dateTime, empty, okResponse, projectIdParams, projectParams } from './shared.ts'

/** Headers that belong to the connection or to Homeport. */
const reservedHeader =
  /^(?:host|content-(?:length|type|encoding)|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|user-agent|proxy-.*|homeport-.*)$/i
export const logDrainHeader = z.strictObject({
  name: z
    .string()
    .max(limits.log_drains.header_name)
    .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'Use letters, digits and hyphens.')
    .refine((name) => !reservedHeader.test(name), 'Homeport sets this header itself.'),
  value: z
    .string()
    .max(limits.log_drains.header_value)
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'Use printable ASCII characters without spaces at the ends.'),
})

export const logDrain = z.object({
  id: z.string(),
  kind: z.enum(logDrainKinds),
  name: z.string(),
  address: z.string().describe('Of a URL only the host, because the rest is often a credential. Of a file its path below the folder `log-drains`.'),
  format: z.enum(logDrainFormats).describe('Of HTTP requests: a line of JSON for each log line, or one JSON array.'),
  header_names: z.array(z.string()).describe('Their values are never returned.'),
  sources: z.array(z.enum(logDrainSources)),
  environments: z.enum(logDrainEnvironments),
  is_enabled: z.boolean(),
  created_at: dateTime,
  state: z.object({
    status: z.enum(['off', 'waiting', 'delivering', 'failing']).describe('`waiting`: nothing was delivered yet.'),
    delivered: z.number().int().describe('Lines that were delivered.'),
    dropped: z.number().int().describe('Lines that the stored log no longer had when the drain came to them.'),
    last_success_at: dateTime.nullable(),
    last_dropped_at: dateTime.nullable(),
    last_error: z.object({ at: dateTime, message: z.string() }).nullable(),
  }),
})
export type LogDrain = z.output<typeof logDrain>

const drainName = z.string().trim().min(limits.name.min).max(limits.name.max)
const address = z.string().trim().min(1).max(limits.notification_address)
const headers = z.array(logDrainHeader).max(limits.log_drains.headers)
const sources = z.array(z.enum(logDrainSources)).min(1).max(logDrainSources.length)

const newDrain = z.strictObject({
  kind: z.enum(logDrainKinds),
  address: address.describe('A URL; `tls://`, `tcp://` or `udp://` with host and port for syslog; or the name of a file, such as `access`.'),
  name: drainName.optional().describe('By default the host, or the name of the file.'),
  format: z.enum(logDrainFormats).optional().describe('For HTTP. By default `ndjson`.'),
  headers: headers.optional().describe('For HTTP, such as Authorization. Stored encrypted and never returned.'),
  sources: sources.optional().describe('By default `app` and `build`.'),
  environments: z.enum(logDrainEnvironments).optional().describe('By default `all`.'),
})
export type NewLogDrain = z.output<typeof newDrain>

const drainChange = z.strictObject({
  name: drainName.optional(),
  address: address.optional().describe('Removes the headers, unless they are sent with it.'),
  format: z.enum(logDrainFormats).optional(),
  headers: headers.optional().describe('Replaces all headers.'),
  sources: sources.optional(),
  environments: z.enum(logDrainEnvironments).optional(),
  is_enabled: z.boolean().optional().describe('A drain that is turned on again starts with the next line.'),
})
export type LogDrainChange = z.output<typeof drainChange>

const oneDrain = z.object({ log_drain: logDrain })
const base = '/instance/projects/{slug}/log-drains'

/** Instance-only operations: where the logs of a project are sent. */
export const logDrainOperations = {
  listLogDrains: operation({
    method: 'GET',
    path: base,
    resource: 'project',
    group: 'Instance',
    summary: 'List the log drains of a project with their state',
    access: 'caller',
    scope: 'admin',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ log_drains: z.array(logDrain) }) },
    errors: ['project_not_found'],
  }),
  createLogDrain: operation({
    method: 'POST',
    path: base,
    resource: 'project',
    group: 'Instance',
    summary: 'Send the logs of a project to an HTTP endpoint, a syslog server or a file',
    description:
      'Starts with the next line. Lines are delivered at least once and in order for each log, as long as the stored log has them. Addresses are public ones with TLS, unless the instance owner adds the drain; only the instance owner can add a file.',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: newDrain,
    success: {
      status: 201,
      json: z.object({
        log_drain: logDrain,
        signing_secret: z.string().nullable().describe('Of HTTP, to verify `Homeport-Signature`. Only in this response.'),
      }),
    },
    errors: ['invalid_input', 'project_not_found', 'forbidden', 'too_many_log_drains'],
  }),
  updateLogDrain: operation({
    method: 'PATCH',
    path: `${base}/{id}`,
    resource: 'project',
    group: 'Instance',
    summary: 'Change a log drain, or turn it off',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    body: drainChange,
    success: { status: 200, json: oneDrain },
    errors: ['invalid_input', 'project_not_found', 'forbidden', 'log_drain_not_found'],
  }),
  deleteLogDrain: operation({
    method: 'DELETE',
    path: `${base}/{id}`,
    resource: 'project',
    group: 'Instance',
    summary: 'Delete a log drain, and the files that it wrote',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    success: { status: 200, json: okResponse },
    errors: ['project_not_found', 'log_drain_not_found'],
  }),
  testLogDrain: operation({
    method: 'POST',
    path: `${base}/{id}/test`,
    resource: 'project',
    group: 'Instance',
    summary: 'Send a test line now',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    success: {
      status: 200,
      json: z.object({
        log_drain: logDrain,
        error: z.string().nullable().describe('Why it was not delivered; null if it was. Contains nothing of the response.'),
        status: z.number().int().nullable().describe('The HTTP status of the response, if there was one.'),
        duration_ms: z.number().int(),
      }),
    },
    errors: ['project_not_found', 'log_drain_not_found'],
  }),
}
