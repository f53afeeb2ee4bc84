import { z } from 'zod'
import { limits } from './limits.ts'
import { notificationTargetTypes } from './notification-defaults.ts'
import { operation } from './operation.ts'
import { dateTime, empty, okResponse, pageQuery, projectIdParams, projectParams } from './shared.ts'

/** What a notification is about. `test` is sent on request. */
export const notificationEventNames = [
  'deployment.failed',
  'deployment.recovered',
  'deployment.ready',
  'app.crashed',
  'app.recovered',
  'error_rate.exceeded',
  'error_rate.recovered',
  'disk.low',
  'disk.recovered',
  'certificate.expiring',
  'certificate.renewed',
  'test',
] as const
export type NotificationEventName = (typeof notificationEventNames)[number]

const errorRateRule = z.strictObject({
  percent: z.number().min(limits.error_rate.percent.min).max(limits.error_rate.percent.max),
  minutes: z.number().int().min(limits.error_rate.minutes.min).max(limits.error_rate.minutes.max),
})

export const notificationRules = z.strictObject({
  deployment_failed: z.boolean().describe('A deployment failed; and the next one that is ready.'),
  deployment_ready: z.boolean().describe('Every deployment that is ready.'),
  app_crashed: z.boolean().describe('An app or a service of it keeps exiting and is no longer restarted; and that an app runs again.'),
  error_rate: errorRateRule
    .nullable()
    .describe(
      `More than \`percent\` of the requests of the last \`minutes\` got a status of 500 or above, of at least ${limits.error_rate.requests} requests.`,
    ),
  disk: z.boolean().describe('The disk of the instance is nearly full. For targets of the instance owner’s account.'),
  certificate: z
    .boolean()
    .describe(
      'The certificate authority of the instance expires within 30 days, or a certificate of a public name could not be issued or renewed three times. For targets of the instance owner’s account.',
    ),
})
export type NotificationRules = z.output<typeof notificationRules>

export const deliveryStatus = z.enum(['pending', 'delivered', 'failed'])

export const notificationAttempt = z.object({
  number: z.number().int().describe('1 is the first attempt. A redelivery continues the count.'),
  at: dateTime,
  status: z.number().int().nullable().describe('The HTTP status of the response; null for email, and where there was no response.'),
  duration_ms: z.number().int(),
  error: z.string().nullable().describe('Why it failed; null if it was delivered. Contains nothing of the response.'),
})

export const notificationDelivery = z.object({
  id: z.string().describe('Also the `id` of the payload, and the same for every attempt.'),
  target_id: z.string(),
  event: z.enum(notificationEventNames),
  project: z.string().nullable().describe('Slug of the project; null for events of the instance.'),
  title: z.string(),
  status: deliveryStatus,
  attempts: z.array(notificationAttempt),
  next_attempt_at: dateTime.nullable(),
  created_at: dateTime,
})
export type NotificationDelivery = z.output<typeof notificationDelivery>

export const notificationTarget = z.object({
  id: z.string(),
  type: z.enum(notificationTargetTypes),
  name: z.string(),
  address: z.string().describe('The email address or the webhook URL. Of a Slack URL only the host, because the URL is a credential.'),
  rules: notificationRules,
  projects: z
    .array(z.string())
    .nullable()
    .describe('Slugs of the only projects that it is about; null for all. Always null for a target of a project.'),
  is_enabled: z.boolean(),
  created_at: dateTime,
  last_delivery: z.object({ status: deliveryStatus, created_at: dateTime }).nullable(),
})
export type NotificationTarget = z.output<typeof notificationTarget>

const targetName = z.string().trim().min(limits.name.min).max(limits.name.max)
const newTarget = z.strictObject({
  type: z.enum(notificationTargetTypes),
  address: z.string().trim().min(1).max(limits.notification_address).describe('An email address, or a URL.'),
  name: targetName.optional().describe('By default the address, or the host of the URL.'),
  rules: notificationRules.partial().optional().describe('By default failed deployments and crashes.'),
})
const targetChange = z.strictObject({
  name: targetName.optional(),
  rules: notificationRules.partial().optional(),
  is_enabled: z.boolean().optional(),
})
const projectSlugs = z.array(z.string()).min(1).max(limits.notification_projects).nullable().optional()

const targetList = z.object({
  targets: z.array(notificationTarget),
  can_send_email: z.boolean().describe('Whether the instance has a mail server.'),
})
const createdTarget = z.object({
  target: notificationTarget,
  signing_secret: z.string().nullable().describe('Of a webhook, to verify `Homeport-Signature`. Only in this response.'),
  warning: z.string().nullable().describe('Why the target gets nothing yet, such as a missing mail server.'),
})
const deliveryPage = z.object({ deliveries: z.array(notificationDelivery), next_cursor: z.string().nullable() })
const oneTarget = z.object({ target: notificationTarget })
const oneDelivery = z.object({ delivery: notificationDelivery })

const base = '/instance/projects/{slug}/notifications'
const accountBase = '/instance/notifications'
const idParams = z.object({ id: z.string() })

/** Instance-only operations: the notification targets of a project. */
export const notificationOperations = {
  listNotificationTargets: operation({
    method: 'GET',
    path: `${base}/targets`,
    resource: 'project',
    group: 'Instance',
    summary: 'List the notification targets of a project',
    access: 'caller',
    scope: 'admin',
    params: projectParams,
    query: empty,
    success: { status: 200, json: targetList },
    errors: ['project_not_found'],
  }),
  createNotificationTarget: operation({
    method: 'POST',
    path: `${base}/targets`,
    resource: 'project',
    group: 'Instance',
    summary: 'Add a notification target to a project',
    description:
      'URLs are stored encrypted. Requests go to public addresses only, unless the instance owner added the target; redirects are not followed.',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: newTarget,
    success: { status: 201, json: createdTarget },
    errors: ['invalid_input', 'project_not_found', 'too_many_targets'],
  }),
  updateNotificationTarget: operation({
    method: 'PATCH',
    path: `${base}/targets/{id}`,
    resource: 'project',
    group: 'Instance',
    summary: 'Change the name or the rules of a notification target, or turn it off',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    body: targetChange,
    success: { status: 200, json: oneTarget },
    errors: ['invalid_input', 'project_not_found', 'notification_target_not_found'],
  }),
  deleteNotificationTarget: operation({
    method: 'DELETE',
    path: `${base}/targets/{id}`,
    resource: 'project',
    group: 'Instance',
    summary: 'Delete a notification target with its deliveries',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    success: { status: 200, json: okResponse },
    errors: ['project_not_found', 'notification_target_not_found'],
  }),
  testNotificationTarget: operation({
    method: 'POST',
    path: `${base}/targets/{id}/test`,
    resource: 'project',
    group: 'Instance',
    summary: 'Send a test notification',
    description: 'It is queued; its delivery shows the result.',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    success: { status: 201, json: oneDelivery },
    errors: ['project_not_found', 'notification_target_not_found'],
  }),
  listNotificationDeliveries: operation({
    method: 'GET',
    path: `${base}/deliveries`,
    resource: 'project',
    group: 'Instance',
    summary: 'List the notifications of a project’s targets with their attempts, newest first',
    access: 'caller',
    params: projectParams,
    query: pageQuery,
    success: { status: 200, json: deliveryPage },
    errors: ['invalid_input', 'project_not_found'],
  }),
  redeliverNotification: operation({
    method: 'POST',
    path: `${base}/deliveries/{id}/redeliver`,
    resource: 'project',
    group: 'Instance',
    summary: 'Send a notification again, with the same ID',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    success: { status: 200, json: oneDelivery },
    errors: ['project_not_found', 'notification_delivery_not_found'],
  }),
}

/** The same for targets of the caller’s account, which are about all of its projects or some, and about the instance. */
export const accountNotificationOperations = {
  listAccountNotificationTargets: operation({
    method: 'GET',
    path: `${accountBase}/targets`,
    group: 'Instance',
    summary: 'List the notification targets of my account',
    access: 'caller',
    scope: 'admin',
    params: empty,
    query: empty,
    success: { status: 200, json: targetList },
    errors: [],
  }),
  createAccountNotificationTarget: operation({
    method: 'POST',
    path: `${accountBase}/targets`,
    group: 'Instance',
    summary: 'Add a notification target to my account',
    access: 'caller',
    params: empty,
    query: empty,
    body: newTarget.extend({ projects: projectSlugs }),
    success: { status: 201, json: createdTarget },
    errors: ['invalid_input', 'project_not_found', 'too_many_targets'],
  }),
  updateAccountNotificationTarget: operation({
    method: 'PATCH',
    path: `${accountBase}/targets/{id}`,
    group: 'Instance',
    summary: 'Change a notification target of my account, or turn it off',
    access: 'caller',
    params: idParams,
    query: empty,
    body: targetChange.extend({ projects: projectSlugs }),
    success: { status: 200, json: oneTarget },
    errors: ['invalid_input', 'project_not_found', 'notification_target_not_found'],
  }),
  deleteAccountNotificationTarget: operation({
    method: 'DELETE',
    path: `${accountBase}/targets/{id}`,
    group: 'Instance',
    summary: 'Delete a notification target of my account with its deliveries',
    access: 'caller',
    params: idParams,
    query: empty,
    success: { status: 200, json: okResponse },
    errors: ['notification_target_not_found'],
  }),
  testAccountNotificationTarget: operation({
    method: 'POST',
    path: `${accountBase}/targets/{id}/test`,
    group: 'Instance',
    summary: 'Send a test notification to a target of my account',
    access: 'caller',
    params: idParams,
    query: empty,
    success: { status: 201, json: oneDelivery },
    errors: ['notification_target_not_found'],
  }),
  listAccountNotificationDeliveries: operation({
    method: 'GET',
    path: `${accountBase}/deliveries`,
    group: 'Instance',
    summary: 'List the notifications of my account’s targets with their attempts, newest first',
    access: 'caller',
    params: empty,
    query: pageQuery,
    success: { status: 200, json: deliveryPage },
    errors: ['invalid_input'],
  }),
  redeliverAccountNotification: operation({
    method: 'POST',
    path: `${accountBase}/deliveries/{id}/redeliver`,
    group: 'Instance',
    summary: 'Send a notification of my account again, with the same ID',
    access: 'caller',
    params: idParams,
    query: empty,
    success: { status: 200, json: oneDelivery },
    errors: ['notification_delivery_not_found'],
  }),
}
