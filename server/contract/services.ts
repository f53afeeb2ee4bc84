import { z } from 'zod'
import { autoscaling } from './autoscaling.ts'
import { lastEventId, runtimeEvents } from './deployments.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dateTime, okResponse, pageQuery, projectParams } from './shared.ts'

export const serviceKind = z.enum(['web', 'worker', 'cron', 'image'])
export const serviceStatus = z.enum(['starting', 'running', 'completed', 'crashed', 'stopped', 'asleep', 'scheduled'])
export type ServiceStatusName = z.output<typeof serviceStatus>

export const cronRunStatus = z.enum(['running', 'succeeded', 'failed', 'skipped', 'missed', 'interrupted'])

export const cronRun = z.object({
  id: z.string(),
  service: z.string(),
  trigger: z.enum(['schedule', 'manual']),
  status: cronRunStatus,
  scheduled_at: dateTime.describe('When it was due; for a manual run, when it was requested.'),
  started_at: dateTime.nullable(),
  finished_at: dateTime.nullable(),
  exit_code: z.number().int().nullable(),
  message: z.string().nullable().describe('Why it was skipped, missed or failed.'),
  deployment_id: z.string().nullable().describe('The version that it ran in.'),
})
export type CronRun = z.output<typeof cronRun>

const serviceReplica = z.object({
  replica: z.number().int().describe('From 1. Lines in the log of the service have it as `replica`, except those of the first.'),
  status: serviceStatus,
  restarts: z.number().int().describe('Restarts after an unexpected exit since the service was started.'),
  last_exit_code: z.number().int().nullable(),
  in_flight: z.number().int().nullable().describe('Open requests, WebSockets included. Null if it has no address, and for a single replica.'),
  node: z.string().nullable().describe('The node of the cluster on which it runs; null where apps run on one machine.'),
  is_ejected: z.boolean().describe('It failed and gets no requests for a moment.'),
  cpu_percent: z.number().nullable().describe('Of one core. Null while it is unknown.'),
  memory_mb: z.number().nullable(),
})
export type ServiceReplica = z.output<typeof serviceReplica>

export const service = z.object({
  name: z.string(),
  kind: serviceKind,
  status: serviceStatus,
  is_main: z.boolean().describe('Whether it has the address of the project.'),
  url: z.string().nullable().describe('Null for a service without its own address.'),
  internal_url: z.string().nullable().describe('The address for the other services of the environment.'),
  image: z.string().nullable().describe('The name of a prebuilt image; null for a service that is built.'),
  command: z.string().nullable(),
  port: z.number().int().nullable(),
  ports: z
    .array(
      z.object({
        port: z.number().int(),
        url: z.string().nullable().describe('Null when a preview or another service has the name.'),
        variable: z.string().describe('The variable with the port on which the service listens for it.'),
      }),
    )
    .describe('Additional ports with their own addresses.'),
  health_check: z
    .object({ path: z.string().nullable(), command: z.string().nullable(), timeout_s: z.number() })
    .nullable()
    .describe('The check that the service must pass to count as started, and how long it may take. Null without a check.'),
  schedule: z.string().nullable().describe('A cron expression.'),
  time_zone: z.string().nullable(),
  next_run_at: dateTime.nullable().describe('Null in previews, where cron services do not run.'),
  last_run: cronRun.nullable(),
  volumes: z.array(z.object({ name: z.string(), path: z.string(), is_read_only: z.boolean() })),
  depends_on: z.array(z.string()),
  restarts: z.number().int().describe('Restarts after an unexpected exit since the service was started.'),
  last_exit_code: z.number().int().nullable(),
  replicas: z.array(serviceReplica).describe('The replicas of a service that has several; empty otherwise.'),
  autoscaling: autoscaling.nullable().describe('The range of autoscaling, by the settings or the configuration file; null: off.'),
})
export type Service = z.output<typeof service>

const serviceParams = projectParams.extend({ name: z.string() })
const branch = z.string().min(limits.branch.min).max(limits.branch.max).optional().describe('The preview of this branch instead of production.')

const replicaNumber = z.number().int().optional().describe('Absent for the first replica.')
const serviceLogEvents = {
  ...runtimeEvents,
  log: runtimeEvents.log.extend({ replica: replicaNumber }),
  state: runtimeEvents.state.extend({ replica: replicaNumber }),
}

/** Instance-only operations: the services of a project other than the main one. */
export const serviceOperations = {
  listServices: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/services',
    resource: 'project',
    group: 'Instance',
    summary: 'List the services of an environment',
    description:
      'The services of the live version, as its configuration file lists them. Empty for a project that is one app with one replica and without additional ports, and without a live version.',
    access: 'caller',
    params: projectParams,
    query: z.object({ branch }),
    success: {
      status: 200,
      json: z.object({
        services: z.array(service),
        release_command: z.string().nullable(),
        deployment_id: z.string().nullable().describe('The live version.'),
      }),
    },
    errors: ['invalid_input', 'project_not_found'],
  }),
  restartService: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/services/{name}/restart',
    resource: 'project',
    group: 'Instance',
    summary: 'Restart a service',
    description: 'Responds once it runs again. The main service is restarted by a deployment.',
    access: 'caller',
    scope: 'deploy',
    params: serviceParams,
    query: z.object({ branch }),
    success: { status: 200, json: okResponse },
    errors: ['invalid_input', 'project_not_found', 'service_not_found', 'service_not_started'],
  }),
  streamServiceLog: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/services/{name}/logs',
    resource: 'project',
    group: 'Instance',
    summary: 'Follow the log of a service',
    description: 'The events of the runtime log with `format=json`. The log of the main service is the runtime log.',
    access: 'caller',
    params: serviceParams,
    query: z.object({
      branch,
      lines: z
        .string()
        .regex(/^\d{1,9}$/, 'Use a whole number from 20 to 2000.')
        .transform(Number)
        .pipe(z.number().int().min(limits.runtime_log_lines.min).max(limits.runtime_log_lines.max))
        .optional()
        .meta({ default: limits.runtime_log_lines.default }),
      replica: z
        .string()
        .regex(/^\d{1,2}$/, 'Use the number of a replica, such as 2.')
        .transform(Number)
        .optional()
        .meta({ description: 'Only the lines of this replica.' }),
      last_event_id: lastEventId,
    }),
    success: { status: 200, events: serviceLogEvents, raw: true },
    errors: ['invalid_input', 'project_not_found', 'service_not_found'],
  }),
  listCronRuns: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/services/{name}/runs',
    resource: 'project',
    group: 'Instance',
    summary: 'List the runs of a cron service, newest first',
    description:
      'A run that is due while the previous one still runs is `skipped`. Runs that were due while Homeport or the project was stopped are one `missed` run; they are not run later. The last 200 runs of each service are kept.',
    access: 'caller',
    params: serviceParams,
    query: pageQuery,
    success: { status: 200, json: z.object({ runs: z.array(cronRun), next_cursor: z.string().nullable() }) },
    errors: ['invalid_input', 'project_not_found'],
  }),
  runCronService: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/services/{name}/runs',
    resource: 'project',
    group: 'Instance',
    summary: 'Run a cron service now',
    description: 'Responds when the run has started.',
    access: 'caller',
    scope: 'deploy',
    params: serviceParams,
    query: z.object({}),
    success: { status: 201, json: z.object({ run: cronRun }) },
    errors: ['project_not_found', 'service_not_found', 'service_not_started'],
  }),
}
