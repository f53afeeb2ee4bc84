import type { DomainEvent } from '../contract/domain-events.ts'
import type { NotificationRules } from '../contract/notifications.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { findActivity } from '../store/activity.ts'
import { findDeploymentById } from '../store/deployments.ts'
import type { NotificationTargetRow } from '../store/notification-tables.ts'
import { findIncident, hasDelivery, listTargetsOfProject, saveIncident } from '../store/notifications.ts'
import { findProject } from '../store/projects.ts'
import type { Tx } from '../store/store.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'
import { type OutboxContext, queueNotification, reportIncident } from './outbox.ts'
import { crashMessage, deploymentMessage, serviceCrashMessage } from './payload.ts'

/** A deployment that ended longer ago is no news: its row changes for other reasons. */
const newsAge_ms = 24 * 3_600_000

export const rulesOf = ({ rules }: Pick<NotificationTargetRow, 'rules'>): NotificationRules => JSON.parse(rules) as NotificationRules

/**
 * Stores the notifications about an event in the transaction that publishes it, so that none is lost. Only an error of the database fails the
 * transaction, which is about more than its notifications.
 */
export function createEventRecorder(clock: Clock, log: Log, dashboardUrl: () => string) {
  return (tx: Tx, event: DomainEvent): void => {
    try {
      record(tx, event)
    } catch (error) {
      if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE')) throw error
      log.error('notification_not_queued', { event: event.type, error })
    }
  }

  function record(tx: Tx, event: DomainEvent): void {
    if (event.type !== 'deployment_changed' && event.type !== 'project_changed' && event.type !== 'activity_recorded') return
    const context: OutboxContext = { now: clock.now(), dashboard_url: dashboardUrl() }
    if (event.type === 'activity_recorded') return recordServiceCrash(tx, event.id, context)
    if (event.type === 'project_changed') {
      const project = findProject(tx, event.id)
      if (project) for (const target of listTargetsOfProject(tx, project)) recordCrashState(tx, target, project, context)
      return
    }
    const row = findDeploymentById(tx, event.id)
    if ((row?.status !== 'failed' && row?.status !== 'ready') || row.finished_at === null) return
    if (context.now - Date.parse(row.finished_at) > newsAge_ms) return
    const project = findProject(tx, row.project_id)
    if (!project) return
    for (const target of listTargetsOfProject(tx, project))
      if (row.finished_at >= target.created_at) recordDeployment(tx, target, project, row, row.finished_at, context)
  }
}

export function recordCrashState(tx: Tx, target: NotificationTargetRow, project: ProjectRow, context: OutboxContext): void {
  if (!rulesOf(target).app_crashed) return
  const { crashed_at } = project
  if (crashed_at !== null && crashed_at < target.created_at) return
  reportIncident(
    tx,
    target,
    {
      event: 'app.crashed',
      subject: project.id,
      is_open: crashed_at !== null,
      begin: () => crashMessage('app.crashed', project),
      end: () => (project.status === 'live' ? crashMessage('app.recovered', project) : undefined),
    },
    context,
  )
}

/** The entry of the activity log is all that is stored of it. */
function recordServiceCrash(tx: Tx, id: string, context: OutboxContext): void {
  const entry = findActivity(tx, id)
  if (entry?.action !== 'service.crashed' || entry.project_id === null || entry.target_name === null) return
  const project = findProject(tx, entry.project_id)
  if (!project) return
  for (const target of listTargetsOfProject(tx, project))
    if (rulesOf(target).app_crashed) queueNotification(tx, target, serviceCrashMessage(project, entry.target_name, entry.time), entry.id, context)
}

function recordDeployment(
  tx: Tx,
  target: NotificationTargetRow,
  project: ProjectRow,
  row: DeploymentRow,
  finished_at: string,
  context: OutboxContext,
): void {
  const rules = rulesOf(target)
  const environment = row.target === 'production' ? `${project.id} production` : `${project.id} preview ${row.branch ?? ''}`
  const incident = { target_id: target.id, event: 'deployment.failed' as const, subject: environment }
  if (row.status === 'failed') {
    if (rules.deployment_failed && queueNotification(tx, target, deploymentMessage('deployment.failed', project, row), row.id, context))
      saveIncident(tx, { ...incident, is_open: 1, is_notified: 1, notified_at: finished_at })
    return
  }
  const failed = findIncident(tx, target.id, incident.event, environment)
  // An earlier deployment that changes, such as by its screenshot, does not end a later failure.
  const isRecovery = failed?.is_open === 1 && finished_at > (failed.notified_at ?? '')
  if (isRecovery) saveIncident(tx, { ...failed, is_open: 0 })
  // One notification about a deployment is enough.
  if (rules.deployment_ready && !hasDelivery(tx, target.id, 'deployment.recovered', row.id))
    queueNotification(tx, target, deploymentMessage('deployment.ready', project, row), row.id, context)
  else if (isRecovery && rules.deployment_failed)
    queueNotification(tx, target, deploymentMessage('deployment.recovered', project, row), row.id, context)
}
