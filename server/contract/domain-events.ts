/**
 * What changed in the store. A transaction publishes events with `tx.publish`; they are delivered once it is committed.
 * An event names the row that changed and carries no data: a subscriber reads the store.
 */
export type DomainEvent =
  /** A project, or anything that is shown with it: its domains, variables, database, dumps, previews or cache events. */
  | { type: 'project_changed'; id: string }
  | { type: 'deployment_changed'; id: string }
  /** A deployment waits to be claimed. */
  | { type: 'deployment_queued'; id: string }
  /** The plan or the payment method of an account. */
  | { type: 'account_changed'; id: string }
  /** Lines were stored; `id` names the log: a deployment, a project, or a preview of a project. */
  | { type: 'log_appended'; id: string }
  /** An entry of the activity log. */
  | { type: 'activity_recorded'; id: string }
  /** Projects have newer values of `last_request_at`. */
  | { type: 'requests_recorded' }
  /** A notification waits to be sent. */
  | { type: 'notification_queued' }
  /** A clean-up task is due. */
  | { type: 'cleanup_due' }
