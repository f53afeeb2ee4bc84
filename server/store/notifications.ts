import type { NotificationEventName } from '../contract/notifications.ts'
import { all, exists, first, insert, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { NotificationAttemptRow, NotificationDeliveryRow, NotificationIncidentRow, NotificationTargetRow } from './notification-tables.ts'

const targetColumns = [
  'id',
  'account_id',
  'project_id',
  'type',
  'name',
  'sealed_address',
  'sealed_secret',
  'is_trusted',
  'rules',
  'project_ids',
  'is_enabled',
  'created_at',
] as const
export const insertNotificationTarget = insert<Omit<NotificationTargetRow, 'seq'>>(targetColumns, (row) =>
  tables.insertInto('notification_targets').values(row),
)

const listOfProject = all((projectId: string) =>
  tables.selectFrom('notification_targets').selectAll().where('project_id', '=', projectId).orderBy('seq'),
)
const listOfAccount = all((accountId: string) =>
  tables.selectFrom('notification_targets').selectAll().where('account_id', '=', accountId).where('project_id', 'is', null).orderBy('seq'),
)

/** Where targets belong: a project, or an account as a whole. */
export interface NotificationScope {
  account_id: string
  project_id: string | null
}

export const listNotificationTargets = (tx: Tx, { account_id, project_id }: NotificationScope): NotificationTargetRow[] =>
  project_id === null ? listOfAccount(tx, account_id) : listOfProject(tx, project_id)

const findTargetById = first((id: string) => tables.selectFrom('notification_targets').selectAll().where('id', '=', id))

const isInScope = (row: NotificationTargetRow, { account_id, project_id }: NotificationScope): boolean =>
  project_id === null ? row.project_id === null && row.account_id === account_id : row.project_id === project_id

export function findNotificationTarget(tx: Tx, scope: NotificationScope, id: string): NotificationTargetRow | undefined {
  const row = findTargetById(tx, id)
  return row && isInScope(row, scope) ? row : undefined
}

/** Enabled targets that are about a project of an account. */
export const listTargetsOfProject = (tx: Tx, { account_id, id }: { account_id: string; id: string }): NotificationTargetRow[] =>
  [...listOfAccount(tx, account_id), ...listOfProject(tx, id)].filter(
    (row) => row.is_enabled === 1 && (row.project_ids === null || (JSON.parse(row.project_ids) as string[]).includes(id)),
  )

/** Enabled targets that are about the instance: those of its owner’s account. */
export const listInstanceTargets = (tx: Tx, ownerAccountId: string): NotificationTargetRow[] =>
  listOfAccount(tx, ownerAccountId).filter((row) => row.is_enabled === 1)

export const listEnabledTargets = all(() => tables.selectFrom('notification_targets').selectAll().where('is_enabled', '=', 1))

export function updateNotificationTarget(
  tx: Tx,
  id: string,
  change: Partial<Pick<NotificationTargetRow, 'name' | 'rules' | 'project_ids' | 'is_enabled'>>,
): void {
  if (Object.keys(change).length > 0) tx.run(tables.updateTable('notification_targets').set(change).where('id', '=', id))
}

export const deleteNotificationTarget = run((id: string) => tables.deleteFrom('notification_targets').where('id', '=', id))

export const hasDelivery = exists((targetId: string, event: NotificationEventName, subject: string) =>
  tables
    .selectFrom('notification_deliveries')
    .select('id')
    .where('target_id', '=', targetId)
    .where('event', '=', event)
    .where('subject', '=', subject),
)

export function insertDelivery(tx: Tx, row: Omit<NotificationDeliveryRow, 'seq'>): void {
  tx.run(tables.insertInto('notification_deliveries').values(row))
}

const listDeliveries = (scope: NotificationScope) => {
  const query = tables
    .selectFrom('notification_deliveries as d')
    .innerJoin('notification_targets as t', 't.id', 'd.target_id')
    .leftJoin('projects as p', 'p.id', 'd.project_id')
    .selectAll('d')
    .select('p.slug as project_slug')
  return scope.project_id === null
    ? query.where('t.account_id', '=', scope.account_id).where('t.project_id', 'is', null)
    : query.where('t.project_id', '=', scope.project_id)
}

export type DeliveryView = NotificationDeliveryRow & { project_slug: string | null }

/** Newest first, from before `before` (a sequence number). */
export const listNotificationDeliveries = (
  tx: Tx,
  scope: NotificationScope,
  options: { before: number | undefined; limit: number },
): DeliveryView[] =>
  tx.all(
    listDeliveries(scope)
      .where('d.seq', '<', options.before ?? Number.MAX_SAFE_INTEGER)
      .orderBy('d.seq', 'desc')
      .limit(options.limit),
  )

export const findNotificationDelivery = (tx: Tx, scope: NotificationScope, id: string): DeliveryView | undefined =>
  tx.first(listDeliveries(scope).where('d.id', '=', id))

export const findLastDelivery = first((targetId: string) =>
  tables.selectFrom('notification_deliveries').select(['status', 'created_at']).where('target_id', '=', targetId).orderBy('seq', 'desc').limit(1),
)

/** Sends it again, as often as a new one. */
export const requeueDelivery = run((id: string, now: string, tries: number) =>
  tables.updateTable('notification_deliveries').set({ status: 'pending', next_attempt_at: now, tries_left: tries }).where('id', '=', id),
)

export type DueDelivery = NotificationDeliveryRow &
  Pick<NotificationTargetRow, 'account_id' | 'type' | 'sealed_address' | 'sealed_secret' | 'is_trusted'>

/** Pending deliveries whose time has come, the oldest of each target first. */
export const listDueDeliveries = all((now: string, limit: number) =>
  tables
    .selectFrom('notification_deliveries as d')
    .innerJoin('notification_targets as t', 't.id', 'd.target_id')
    .selectAll('d')
    .select(['t.account_id', 't.type', 't.sealed_address', 't.sealed_secret', 't.is_trusted'])
    .where('d.next_attempt_at', '<=', now)
    .orderBy('d.next_attempt_at')
    .orderBy('d.seq')
    .limit(limit),
)

export const findNextDelivery = first(() =>
  tables.selectFrom('notification_deliveries').select('next_attempt_at').where('next_attempt_at', 'is not', null).orderBy('next_attempt_at').limit(1),
)

/** Stores an attempt and what follows from it. The target may have been deleted in the meantime. */
export function recordAttempt(
  tx: Tx,
  attempt: NotificationAttemptRow,
  change: Pick<NotificationDeliveryRow, 'status' | 'tries_left' | 'next_attempt_at'>,
): void {
  const updated = tx.run(
    tables
      .updateTable('notification_deliveries')
      .set({ ...change, attempts: attempt.number })
      .where('id', '=', attempt.delivery_id),
  )
  if (updated > 0) tx.run(tables.insertInto('notification_attempts').values(attempt))
}

export const listAttempts = all((deliveryId: string) =>
  tables.selectFrom('notification_attempts').selectAll().where('delivery_id', '=', deliveryId).orderBy('number'),
)

/** Finished ones alone: a pending delivery is not lost. */
export const deleteOldDeliveries = run((before: string) =>
  tables.deleteFrom('notification_deliveries').where('created_at', '<', before).where('next_attempt_at', 'is', null),
)

export const findIncident = first((targetId: string, event: NotificationEventName, subject: string) =>
  tables.selectFrom('notification_incidents').selectAll().where('target_id', '=', targetId).where('event', '=', event).where('subject', '=', subject),
)

export function saveIncident(tx: Tx, row: NotificationIncidentRow): void {
  const { is_open, is_notified, notified_at } = row
  tx.run(
    tables
      .insertInto('notification_incidents')
      .values(row)
      .onConflict((conflict) => conflict.columns(['target_id', 'event', 'subject']).doUpdateSet({ is_open, is_notified, notified_at })),
  )
}

/** Open incidents of which the target was not told yet. */
export const listUnnotifiedIncidents = all((event: NotificationEventName) =>
  tables.selectFrom('notification_incidents').selectAll().where('event', '=', event).where('is_open', '=', 1).where('is_notified', '=', 0),
)

/** When the rules change, what is still wrong counts as new. */
export const deleteIncidents = run((targetId: string) => tables.deleteFrom('notification_incidents').where('target_id', '=', targetId))
