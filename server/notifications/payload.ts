import type { PublicCertificate } from '../contract/network.ts'
import type { DeploymentFailure } from '../contract/deployments.ts'
import type { NotificationEventName } from '../contract/notifications.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'

/** What a webhook receives as JSON. Other targets get the title, the text and the URL. */
export interface NotificationPayload {
  /** The ID of the delivery: the same for every attempt. */
  id: string
  type: NotificationEventName
  created_at: string
  title: string
  text: string
  /** The page of the dashboard. */
  url: string
  project: { id: string; slug: string; name: string } | null
  data: Record<string, unknown>
}

/** A message about an event, before it is addressed to a target. */
export interface NotificationMessage extends Pick<NotificationPayload, 'title' | 'text' | 'data'> {
  event: NotificationEventName
  project: ProjectRow | null
  /** Of the dashboard. */
  path: string
}

const describeEnvironment = (project: ProjectRow, { target, branch }: DeploymentRow): string =>
  target === 'preview' ? `${project.name} (preview of ${branch ?? 'a branch'})` : project.name

export function deploymentMessage(
  event: 'deployment.failed' | 'deployment.ready' | 'deployment.recovered',
  project: ProjectRow,
  row: DeploymentRow,
): NotificationMessage {
  const subject = describeEnvironment(project, row)
  const failure = row.error === null ? null : (JSON.parse(row.error) as DeploymentFailure)
  const commit = [row.commit_sha?.slice(0, 7), row.commit_message?.split('\n')[0]].filter(Boolean).join(' ')
  const text = [failure?.message, failure?.hint, commit === '' ? undefined : `Commit: ${commit}`].filter(Boolean).join('\n')
  return {
    event,
    project,
    title:
      event === 'deployment.failed'
        ? `Deployment of ${subject} failed`
        : event === 'deployment.ready'
          ? `${subject} is deployed`
          : `${subject} deploys again`,
    text,
    path: `projects/${project.slug}/deployments/${row.id}`,
    data: {
      deployment_id: row.id,
      target: row.target,
      branch: row.branch,
      trigger: row.trigger,
      commit_sha: row.commit_sha,
      commit_message: row.commit_message,
      app_url: row.url,
      error: failure,
    },
  }
}

export const crashMessage = (event: 'app.crashed' | 'app.recovered', project: ProjectRow): NotificationMessage => ({
  event,
  project,
  title: event === 'app.crashed' ? `${project.name} crashed` : `${project.name} is running again`,
  text: event === 'app.crashed' ? 'It keeps exiting and is no longer restarted. Its log shows why.' : '',
  path: `projects/${project.slug}/logs`,
  data: { crashed_at: project.crashed_at },
})

/** `crashed_at` as for an app; there is no message when it runs again, because it was restarted on purpose. */
export const serviceCrashMessage = (project: ProjectRow, service: string, crashed_at: string): NotificationMessage => ({
  event: 'app.crashed',
  project,
  title: `${service} of ${project.name} crashed`,
  text: 'The service keeps exiting and is no longer restarted. Its log shows why.',
  path: `projects/${project.slug}/services`,
  data: { crashed_at, service },
})

export function errorRateMessage(
  event: 'error_rate.exceeded' | 'error_rate.recovered',
  project: ProjectRow,
  { percent, minutes, requests, errors }: { percent: number; minutes: number; requests: number; errors: number },
): NotificationMessage {
  const rate = requests === 0 ? 0 : Math.round((errors / requests) * 1000) / 10
  return {
    event,
    project,
    title: event === 'error_rate.exceeded' ? `${project.name}: ${rate} % of requests fail` : `${project.name}: the error rate is back to normal`,
    text: `In the last ${minutes === 1 ? 'minute' : `${minutes} minutes`} ${errors} of ${requests} requests got a status of 500 or above. The limit is ${percent} %.`,
    path: `projects/${project.slug}/logs/requests?status=5xx`,
    data: { percent, minutes, requests, errors, error_percent: rate },
  }
}

export const diskMessage = (event: 'disk.low' | 'disk.recovered', free_bytes: number): NotificationMessage => ({
  event,
  project: null,
  title: event === 'disk.low' ? 'The disk of this instance is nearly full' : 'The disk of this instance has space again',
  text: `${(free_bytes / 1e9).toFixed(1)} GB are free.${event === 'disk.low' ? ' homeport disk shows what uses the space.' : ''}`,
  path: 'instance/disk',
  data: { free_bytes },
})

export const certificateMessage = (event: 'certificate.expiring' | 'certificate.renewed', replaced_at: string): NotificationMessage => ({
  event,
  project: null,
  title: event === 'certificate.expiring' ? 'The certificate authority of this instance expires soon' : 'The certificate authority was replaced',
  text:
    event === 'certificate.expiring'
      ? `A new one replaces it on ${replaced_at.slice(0, 10)}. Browsers on this machine then have to trust the new one: homeport trust.`
      : 'Let the browsers on this machine trust the new one: homeport trust.',
  path: 'instance/network',
  data: { replaced_at },
})

export const publicCertificateMessage = (
  event: 'certificate.expiring' | 'certificate.renewed',
  { name, expires_at, last_error }: PublicCertificate,
): NotificationMessage => ({
  event,
  project: null,
  title:
    event === 'certificate.renewed'
      ? `${name} has a new certificate`
      : expires_at === null
        ? `${name} gets no certificate`
        : `The certificate of ${name} cannot be renewed`,
  text: last_error ?? '',
  path: 'instance/network?at=public-names',
  data: { name, expires_at, last_error },
})

export const testMessage = (project: ProjectRow | null): NotificationMessage => ({
  event: 'test',
  project,
  title: 'Test notification from Homeport',
  text: project ? `This target gets the notifications of ${project.name}.` : 'This target gets the notifications of your account.',
  path: project ? `projects/${project.slug}/notifications` : 'account/notifications',
  data: {},
})
