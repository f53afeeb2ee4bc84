import type { Generated } from 'kysely'
import type { NotificationEventName, NotificationTarget } from '../contract/notifications.ts'

/** The rows of notifications and deploy hooks. */

export interface NotificationTargetTable extends Omit<NotificationTargetRow, 'seq'> {
  seq: Generated<number>
}

export interface NotificationTargetRow {
  seq: number
  id: string
  account_id: string
  /** Null: about all projects of the account, or those in `project_ids`, and about the instance. */
  project_id: string | null
  type: NotificationTarget['type']
  name: string
  sealed_address: Uint8Array
  /** Signs the requests of a webhook. */
  sealed_secret: Uint8Array | null
  /** The instance owner added it, so it may be at a private address. */
  is_trusted: 0 | 1
  /** JSON of `NotificationRules`. */
  rules: string
  /** A JSON list; null for all projects. */
  project_ids: string | null
  is_enabled: 0 | 1
  created_at: string
}

export interface NotificationDeliveryTable extends Omit<NotificationDeliveryRow, 'seq'> {
  seq: Generated<number>
}

/** A notification for one target: the outbox. */
export interface NotificationDeliveryRow {
  seq: number
  id: string
  target_id: string
  project_id: string | null
  event: NotificationEventName
  /** What happened. A target gets one notification of each event and subject. */
  subject: string
  /** JSON of `NotificationPayload`. */
  payload: string
  status: 'pending' | 'delivered' | 'failed'
  attempts: number
  tries_left: number
  /** Null once it is not pending. */
  next_attempt_at: string | null
  created_at: string
}

export interface NotificationAttemptRow {
  delivery_id: string
  number: number
  at: string
  status: number | null
  duration_ms: number
  error: string | null
}

/** Something that lasts, such as a crash. */
export interface NotificationIncidentRow {
  target_id: string
  event: NotificationEventName
  subject: string
  is_open: 0 | 1
  /** False while it is open: it began too soon after the last notification. */
  is_notified: 0 | 1
  notified_at: string | null
}

export interface DeployHookTable extends Omit<DeployHookRow, 'seq'> {
  seq: Generated<number>
}

export interface DeployHookRow {
  seq: number
  id: string
  project_id: string
  name: string
  branch: string | null
  hash: string
  last4: string
  last_used_at: string | null
  created_at: string
}
