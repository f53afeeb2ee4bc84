import { limits } from '../contract/limits.ts'
import type { NotificationEventName } from '../contract/notifications.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { NotificationTargetRow } from '../store/notification-tables.ts'
import { findIncident, hasDelivery, insertDelivery, saveIncident } from '../store/notifications.ts'
import type { Tx } from '../store/store.ts'
import type { NotificationMessage, NotificationPayload } from './payload.ts'

export interface OutboxContext {
  now: number
  /** Ends in a slash. */
  dashboard_url: string
}

/** Stores a notification for a target, which the worker sends once the transaction is committed. False if the target has it already. */
export function queueNotification(
  tx: Tx,
  target: Pick<NotificationTargetRow, 'id'>,
  message: NotificationMessage,
  subject: string,
  { now, dashboard_url }: OutboxContext,
): boolean {
  const { event, project, title, text, path, data } = message
  if (hasDelivery(tx, target.id, event, subject)) return false
  const id = newId('ntf')
  const created_at = isoTime(now)
  const payload: NotificationPayload = {
    id,
    type: event,
    created_at,
    title,
    text,
    url: `${dashboard_url}${path}`,
    project: project && { id: project.id, slug: project.slug, name: project.name },
    data,
  }
  insertDelivery(tx, {
    id,
    target_id: target.id,
    project_id: project?.id ?? null,
    event,
    subject,
    payload: JSON.stringify(payload),
    status: 'pending',
    attempts: 0,
    tries_left: limits.notifications.attempts,
    next_attempt_at: created_at,
    created_at,
  })
  tx.publish({ type: 'notification_queued' })
  return true
}

/** Whether something is wrong now; the messages of its begin and its end. */
export interface IncidentReport {
  event: NotificationEventName
  subject: string
  is_open: boolean
  begin(): NotificationMessage
  /** Undefined: it ended without being solved, such as a crashed app that was stopped. */
  end(): NotificationMessage | undefined
}

/** A target is notified once when an incident begins and once when it is over, and about the same one again only after a while. */
export function reportIncident(tx: Tx, target: Pick<NotificationTargetRow, 'id'>, report: IncidentReport, context: OutboxContext): void {
  const { event, subject, is_open } = report
  const known = findIncident(tx, target.id, event, subject)
  const now = isoTime(context.now)
  if (is_open) {
    if (known?.is_open === 1 && known.is_notified === 1) return
    const waits = known?.notified_at != null && context.now - Date.parse(known.notified_at) < limits.notifications.cooldown_ms
    if (known?.is_open === 1 && waits) return
    saveIncident(tx, {
      target_id: target.id,
      event,
      subject,
      is_open: 1,
      is_notified: waits ? 0 : 1,
      notified_at: waits ? (known?.notified_at ?? null) : now,
    })
    if (!waits) queueNotification(tx, target, report.begin(), `${subject} ${now}`, context)
    return
  }
  if (known?.is_open !== 1) return
  const message = known.is_notified === 1 ? report.end() : undefined
  saveIncident(tx, { ...known, is_open: 0, is_notified: 0, notified_at: message ? now : known.notified_at })
  if (message) queueNotification(tx, target, message, `${subject} ${now}`, context)
}
