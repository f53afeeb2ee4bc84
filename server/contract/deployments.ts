import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { runtimeNames } from './runtimes.ts'
import { dateTime, empty, okResponse, pageQuery, projectIdParams, projectParams } from './shared.ts'

export const deploymentStatus = z.enum(['queued', 'building', 'deploying', 'ready', 'failed', 'canceled'])
export const deploymentTarget = z.enum(['production', 'preview'])
export const deploymentTrigger = z.enum(['manual', 'push', 'retry', 'rollback', 'env_change', 'upload', 'hook'])
export const sourceKind = z.enum(['git', 'upload', 'folder'])
export const runtimeName = z.enum(runtimeNames)
export const stepName = z.enum(['clone', 'detect', 'install', 'build', 'start', 'health_check', 'route'])
export const stepStatus = z.enum(['pending', 'running', 'done', 'failed', 'skipped', 'canceled'])
export const failureCode = z.enum([
  'clone_failed',
  'detect_failed',
  'install_failed',
  'build_failed',
  'start_failed',
  'port_not_detected',
  'health_check_failed',
  'out_of_memory',
  'timeout',
  'runtime_unavailable',
  'storage_full',
  'interrupted',
])

export const deploymentFailure = z.object({ code: failureCode, message: z.string(), hint: z.string() })

export const deployment = z.object({
  id: z.string(),
  project_id: z.string(),
  number: z.number().int().optional().describe('Position among all deployments of the project, from 1 (our reading).'),
  status: deploymentStatus,
  target: deploymentTarget,
  trigger: deploymentTrigger,
  source: sourceKind,
  branch: z.string().nullable(),
  commit_sha: z.string().nullable(),
  commit_message: z.string().nullable(),
  commit_author: z.string().nullable(),
  is_dirty: z.boolean().describe('The folder had uncommitted changes.'),
  source_name: z.string().nullable().optional().describe('The name of the deployed folder, archive or image (our reading).'),
  source_bytes: z.number().int().nullable().optional().describe('The total size of the files of a folder or an archive (our reading).'),
  files_changed: z
    .number()
    .int()
    .nullable()
    .optional()
    .describe('How many files of a folder or an archive differ from the folder or archive before it; null for the first (our reading).'),
  parent_id: z.string().nullable().describe('The deployment that was retried or rolled back to.'),
  is_current: z.boolean().describe('Whether this is the current deployment of its target.'),
  can_rollback: z.boolean(),
  url: z.string().nullable().describe('Set once ready.'),
  queue_position: z.number().int().nullable().describe('1 is next; null when not queued.'),
  error: deploymentFailure.nullable(),
  framework: z.string().nullable(),
  runtime: runtimeName,
  image_bytes: z.number().int().nullable(),
  queued_ms: z.number().int().nullable(),
  build_ms: z.number().int().nullable(),
  deploy_ms: z.number().int().nullable(),
  screenshots: z.object({ desktop: z.boolean(), mobile: z.boolean() }),
  created_at: dateTime,
  started_at: dateTime.nullable(),
  finished_at: dateTime.nullable(),
})

export const deploymentStep = z.object({
  name: stepName,
  status: stepStatus,
  started_at: dateTime.nullable(),
  finished_at: dateTime.nullable(),
})

export const deploymentDetail = deployment.extend({
  build_log: z.string().describe('At most the last 1 MiB.'),
  build_log_truncated: z.boolean(),
  build_log_lines: z.number().int(),
  steps: z.array(deploymentStep),
})

export type Deployment = z.output<typeof deployment>
export type DeploymentDetail = z.output<typeof deploymentDetail>
export type DeploymentStatus = z.output<typeof deploymentStatus>
export type DeploymentTarget = z.output<typeof deploymentTarget>
export type DeploymentTrigger = z.output<typeof deploymentTrigger>
export type SourceKind = z.output<typeof sourceKind>
export type StepName = z.output<typeof stepName>
export type StepStatus = z.output<typeof stepStatus>
export type DeploymentStep = z.output<typeof deploymentStep>
export type DeploymentFailure = z.output<typeof deploymentFailure>
export type FailureCode = z.output<typeof failureCode>

export const terminalStatuses = ['ready', 'failed', 'canceled'] as const satisfies readonly DeploymentStatus[]

export const buildEvents = {
  log: z.object({ seq: z.number().int(), ts: dateTime, step: stepName, stream: z.enum(['stdout', 'stderr', 'system']), line: z.string() }),
  step: z.object({ name: stepName, status: stepStatus, ts: dateTime }),
  status: z.object({ status: deploymentStatus, error: deploymentFailure.nullable(), ts: dateTime }),
  end: z.object({ status: deploymentStatus }),
  lagged: z.object({ dropped: z.number().int() }),
}

export const runtimeState = z.enum(['starting', 'running', 'cold', 'exited', 'oom', 'stopped'])

/** Without `format=json`, a log line is an unnamed event with the raw text instead of `log`. */
export const runtimeEvents = {
  log: z.object({
    seq: z.number().int(),
    ts: dateTime,
    stream: z.enum(['stdout', 'stderr']),
    line: z.string(),
    deployment_id: z.string().nullable(),
  }),
  state: z.object({ state: runtimeState, ts: dateTime, exit_code: z.number().int().nullable(), deployment_id: z.string().nullable() }),
  lagged: z.object({ dropped: z.number().int() }),
}

export type BuildLogLine = z.output<typeof buildEvents.log>
export type RuntimeLogLine = z.output<typeof runtimeEvents.log>
export type RuntimeState = z.output<typeof runtimeState>
export type RuntimeStateEvent = z.output<typeof runtimeEvents.state>

export const lastEventId = z.string().max(200).optional()
const enqueuedResponse = z.object({ deployment_id: z.string(), status: deploymentStatus, deployment })

export const deploymentOperations = {
  deployProject: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/deploy',
    resource: 'project',
    group: 'Deployments',
    summary: 'Deploy the latest commit of the linked repository',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    success: { status: 201, json: enqueuedResponse },
    errors: ['project_not_connected', 'project_not_found', 'runtime_not_isolated'],
    is_atomic: true,
  }),
  retryDeployment: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/deployments/{id}/retry',
    resource: 'deployment',
    group: 'Deployments',
    summary: 'Build the same commit again',
    access: 'caller',
    scope: 'deploy',
    params: projectIdParams,
    query: empty,
    success: { status: 201, json: enqueuedResponse },
    errors: ['project_not_found', 'deployment_not_found', 'runtime_not_isolated'],
    is_atomic: true,
  }),
  cancelDeployment: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/deployments/{id}/cancel',
    resource: 'deployment',
    group: 'Deployments',
    summary: 'Cancel a queued or running deployment',
    access: 'caller',
    scope: 'deploy',
    params: projectIdParams,
    query: empty,
    success: { status: 200, json: okResponse },
    errors: ['project_not_found', 'deployment_not_found', 'deployment_terminal'],
  }),
  rollbackDeployment: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/deployments/{id}/rollback',
    resource: 'deployment',
    group: 'Deployments',
    summary: 'Roll back to an earlier production deployment',
    access: 'caller',
    scope: 'deploy',
    params: projectIdParams,
    query: empty,
    success: { status: 201, json: enqueuedResponse },
    errors: ['project_not_found', 'deployment_not_found', 'rollback_not_allowed', 'runtime_not_isolated'],
    is_atomic: true,
  }),
  listDeployments: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/deployments',
    resource: 'project',
    group: 'Deployments',
    summary: 'List deployments, newest first',
    access: 'caller',
    params: projectParams,
    query: pageQuery.extend({
      target: deploymentTarget.optional(),
      branch: z.string().max(limits.branch.max).optional(),
      status: deploymentStatus.optional(),
    }),
    success: { status: 200, json: z.object({ deployments: z.array(deployment), next_cursor: z.string().nullable() }) },
    errors: ['invalid_input', 'project_not_found'],
  }),
  getDeployment: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/deployments/{id}',
    resource: 'deployment',
    group: 'Deployments',
    summary: 'Get a deployment with its build log',
    access: 'caller',
    params: projectIdParams,
    query: z.object({
      build_log: z.literal('false').optional().describe('Leaves `build_log` empty, for a reader that follows the stream.'),
    }),
    success: { status: 200, json: z.object({ deployment: deploymentDetail }) },
    errors: ['project_not_found', 'deployment_not_found'],
  }),
  streamBuildLog: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/deployments/{id}/logs',
    resource: 'deployment',
    group: 'Deployments',
    summary: 'Follow the build log',
    description:
      'Sends the status, then the whole history, then live lines. After the terminal status it sends `end` and closes the stream. `Last-Event-ID` (or `last_event_id`) resumes without gaps or repeats.',
    access: 'caller',
    params: projectIdParams,
    query: z.object({ last_event_id: lastEventId }),
    success: { status: 200, events: buildEvents },
    errors: ['project_not_found', 'deployment_not_found'],
  }),
  streamRuntimeLog: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/runtime-logs',
    resource: 'project',
    group: 'Deployments',
    summary: 'Follow the runtime log',
    description: 'Unnamed events have the raw line; with `?format=json` they are `log` events. `state` events report starts, exits and stops.',
    access: 'caller',
    params: projectParams,
    query: z.object({
      lines: z
        .string()
        .regex(/^\d{1,9}$/, 'Use a whole number from 20 to 2000.')
        .transform(Number)
        .pipe(z.number().int().min(limits.runtime_log_lines.min).max(limits.runtime_log_lines.max))
        .optional()
        .meta({ default: limits.runtime_log_lines.default }),
      format: z.enum(['text', 'json']).optional().meta({ default: 'text' }),
      branch: z
        .string()
        .min(limits.branch.min)
        .max(limits.branch.max)
        .optional()
        .describe('Follow the preview of this branch instead of production.'),
      last_event_id: lastEventId,
    }),
    success: { status: 200, events: runtimeEvents, raw: true },
    errors: ['invalid_input', 'project_not_found'],
  }),
}

/** The maximum number of projects per request: more rows than a screen shows. */
const maxGlances = 60

/** For the project list of the dashboard; not one of the 45 operations. */
export const glanceOperations = {
  listGlances: operation({
    method: 'GET',
    path: '/instance/glances',
    group: 'Instance',
    summary: 'Get the latest and the current deployment of several projects',
    description: `At most ${maxGlances} comma-separated slugs. Projects that do not exist or that you may not see are omitted.`,
    access: 'caller',
    is_limited_to_project: true,
    params: empty,
    query: z.object({
      slugs: z
        .string()
        .min(1)
        .max(maxGlances * 51)
        .transform((text) => [...new Set(text.split(',').filter(Boolean))])
        .refine((slugs) => slugs.length <= maxGlances, `Use at most ${maxGlances} slugs.`),
    }),
    success: {
      status: 200,
      json: z.object({
        glances: z.array(
          z.object({
            slug: z.string(),
            latest: deployment.nullable(),
            serving: deployment.nullable().describe('The current production deployment.'),
          }),
        ),
      }),
    },
    errors: ['invalid_input'],
  }),
}
