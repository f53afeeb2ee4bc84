import { z } from 'zod'
import { activityActors } from './activity-actors.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dateTime, empty, pageQuery, projectParams } from './shared.ts'

export const activityEntry = z.object({
  id: z.string(),
  time: dateTime,
  actor: z.object({
    kind: z.enum(activityActors),
    id: z.string().nullable().describe('The ID of the user, the token or the deploy hook.'),
    name: z.string().describe('The address of the user, or the name of the token or the hook.'),
    user_id: z.string().nullable().describe('The user, also behind a token.'),
    email: z.string().nullable(),
  }),
  via: z.enum(['dashboard', 'cli', 'agent', 'api']).nullable().describe('What the user or the token used; null for push, schedule and system.'),
  action: z.string().describe('A stable name, such as `project.created` or `env_vars.set`.'),
  project: z.object({ id: z.string(), slug: z.string() }).nullable().describe('The project, with its slug at that time; it may be deleted.'),
  target: z
    .object({ id: z.string().nullable(), name: z.string().nullable() })
    .nullable()
    .describe('What was changed, such as a domain or a deployment.'),
  details: z.object({
    names: z.array(z.string()).describe('The names of the variables, settings or parts that changed. Never their values.'),
    branch: z.string().nullable(),
    commit_sha: z.string().nullable(),
    failure: z.string().nullable().describe('The code of a failure, such as `build_failed`.'),
  }),
  client_ip: z.string().nullable().describe('Shortened to the network: /24 of IPv4, /48 of IPv6.'),
  request_id: z.string().nullable(),
})
export type ActivityEntry = z.output<typeof activityEntry>

const activityFilters = z.object({
  actor: z.enum(activityActors).optional(),
  action: z
    .string()
    .regex(/^[a-z_]{1,60}(?:\.[a-z_]{0,60})?$/, 'Use an action such as deployment.failed, or its start, such as deployment.')
    .optional()
    .describe('An action, or the start of one, such as `deployment.`.'),
  since: dateTime.optional(),
  until: dateTime.optional(),
})
export type ActivityFilters = z.output<typeof activityFilters>

const activityPage = z.object({ entries: z.array(activityEntry), next_cursor: z.string().nullable() })
const retention = `Entries are kept for ${limits.activity.days} days, at most ${limits.activity.rows} of them.`

/** Not among the 45 operations: what changed, and by whom. */
export const activityOperations = {
  listActivity: operation({
    method: 'GET',
    path: '/instance/activity',
    group: 'Instance',
    summary: 'List the changes of all my projects and my account, newest first',
    description: `The owner of the instance also sees its own changes. ${retention}`,
    access: 'caller',
    is_limited_to_project: true,
    params: empty,
    query: pageQuery.extend({
      project: z.string().max(50).optional().describe('The slug of a project, also of a deleted one.'),
      ...activityFilters.shape,
    }),
    success: { status: 200, json: activityPage },
    errors: ['invalid_input'],
  }),
  listProjectActivity: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/activity',
    resource: 'project',
    group: 'Instance',
    summary: 'List the changes of a project, newest first',
    description: retention,
    access: 'caller',
    params: projectParams,
    query: pageQuery.extend(activityFilters.shape),
    success: { status: 200, json: activityPage },
    errors: ['invalid_input', 'project_not_found'],
  }),
  getActivityInbox: operation({
    method: 'GET',
    path: '/instance/activity/inbox',
    group: 'Instance',
    summary: 'Get my notifications, newest first',
    description: `The last ${limits.activity.inbox} outcomes of background work, such as deployments, and changes by other people.`,
    access: 'caller',
    is_limited_to_project: true,
    params: empty,
    query: empty,
    success: {
      status: 200,
      json: z.object({ entries: z.array(activityEntry), unread: z.number().int().describe('How many of the first ones are unread.') }),
    },
    errors: [],
  }),
  markActivityRead: operation({
    method: 'POST',
    path: '/instance/activity/read',
    group: 'Instance',
    summary: 'Mark my notifications as read, up to one of them',
    description: 'For the user, in every browser.',
    access: 'caller',
    scope: 'read',
    params: empty,
    query: empty,
    body: z.strictObject({ id: z.string().max(100).describe('The newest entry that was read.') }),
    success: { status: 204 },
    errors: ['invalid_input'],
  }),
}
