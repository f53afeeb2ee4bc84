import type { ActivityAction } from '../contract/activity-actions.ts'
import type { ActivityActor } from '../contract/activity-actors.ts'
import type { ActivityEntry } from '../contract/activity.ts'
import { limits } from '../contract/limits.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { ActivityRow } from './activity-tables.ts'
import { first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { ProjectRow } from './tables.ts'

export interface NewActivity extends Partial<Omit<ActivityRow, 'seq' | 'id' | 'time' | 'details'>> {
  action: ActivityAction
  actor_kind: ActivityActor
  details?: Partial<ActivityEntry['details']>
}

/** Appends an entry in the transaction of the change. */
export function recordActivity(tx: Tx, now: string, { details = {}, ...entry }: NewActivity): void {
  const row: Omit<ActivityRow, 'seq'> = {
    id: newId('act'),
    time: now,
    account_id: null,
    project_id: null,
    project_slug: null,
    actor_name: actorNames[entry.actor_kind],
    actor_id: null,
    user_id: null,
    user_email: null,
    via: null,
    target_id: null,
    target_name: null,
    is_outcome: 0,
    client_ip: null,
    request_id: null,
    ...entry,
    details: JSON.stringify(details),
  }
  tx.run(tables.insertInto('activity').values(row))
  tx.publish({ type: 'activity_recorded', id: row.id })
}

type ProjectActivity = Pick<NewActivity, 'action' | 'actor_kind' | 'actor_id' | 'actor_name' | 'target_id' | 'target_name' | 'details' | 'is_outcome'>

/** Appends what happened to a project without a request. */
export function recordProjectActivity(tx: Tx, now: string, project: Pick<ProjectRow, 'id' | 'slug' | 'account_id'>, entry: ProjectActivity): void {
  const { id: project_id, slug: project_slug, account_id } = project
  recordActivity(tx, now, { ...entry, project_id, project_slug, account_id })
}

/** For actors without a name of their own. */
const actorNames: Record<ActivityActor, string> = { user: 'User', token: 'Token', push: 'Push', schedule: 'Schedule', system: 'Homeport' }

/** What a user may see: projects of some accounts and all of the user's own account, or one project. */
export interface ActivityAudience {
  account_id: string
  account_ids: readonly string[]
  /** The owner of the instance also sees what belongs to no account. */
  is_instance_owner: boolean
  only_project: string | null
}

export interface ActivityQuery {
  project_id?: string | undefined
  project_slug?: string | undefined
  actor?: ActivityActor | undefined
  /** An action or its start. */
  action?: string | undefined
  since?: string | undefined
  until?: string | undefined
  before: number | undefined
  limit: number
}

const visibleTo = ({ account_id, account_ids, is_instance_owner, only_project }: ActivityAudience) => {
  const rows = tables.selectFrom('activity').selectAll().orderBy('seq', 'desc')
  if (only_project !== null) return rows.where('project_id', '=', only_project).where('account_id', 'in', account_ids)
  return rows.where((eb) =>
    eb.or([
      eb('account_id', '=', account_id),
      eb.and([eb('account_id', 'in', account_ids), eb('project_id', 'is not', null)]),
      ...(is_instance_owner ? [eb('account_id', 'is', null)] : []),
    ]),
  )
}

/** Newest first, from before `before`. */
export function listActivity(tx: Tx, audience: ActivityAudience, query: ActivityQuery): ActivityRow[] {
  let rows = visibleTo(audience).limit(query.limit)
  if (query.before !== undefined) rows = rows.where('seq', '<', query.before)
  if (query.project_id !== undefined) rows = rows.where('project_id', '=', query.project_id)
  if (query.project_slug !== undefined) rows = rows.where('project_slug', '=', query.project_slug)
  if (query.actor !== undefined) rows = rows.where('actor_kind', '=', query.actor)
  // An action has lower-case letters, `_` and `.`, which all sort before `~`.
  if (query.action !== undefined) rows = rows.where('action', '>=', query.action).where('action', '<', `${query.action}~`)
  if (query.since !== undefined) rows = rows.where('time', '>=', query.since)
  if (query.until !== undefined) rows = rows.where('time', '<', query.until)
  return tx.all(rows)
}

/** Outcomes, and changes by other users. */
export const listInbox = (tx: Tx, audience: ActivityAudience, userId: string): ActivityRow[] =>
  tx.all(
    visibleTo(audience)
      .where((eb) => eb.or([eb('is_outcome', '=', 1), eb.and([eb('user_id', 'is not', null), eb('user_id', '<>', userId)])]))
      .limit(limits.activity.inbox),
  )

export const findActivity = first((id: string) => tables.selectFrom('activity').selectAll().where('id', '=', id))

const findRead = first((userId: string) => tables.selectFrom('activity_read').select('seq').where('user_id', '=', userId))
/** The last entry that the user has read. */
export const findLastReadActivity = (tx: Tx, userId: string): number => findRead(tx, userId)?.seq ?? 0

export function markActivityRead(tx: Tx, userId: string, seq: number): void {
  tx.run(
    tables
      .insertInto('activity_read')
      .values({ user_id: userId, seq })
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ seq }).where('activity_read.seq', '<', seq)),
  )
}

const findFirstSince = first((cutoff: string) => tables.selectFrom('activity').select('seq').where('time', '>=', cutoff).orderBy('seq').limit(1))
const findOldestKept = first((offset: number) => tables.selectFrom('activity').select('seq').orderBy('seq', 'desc').limit(1).offset(offset))
const findLast = first(() => tables.selectFrom('activity').select('seq').orderBy('seq', 'desc').limit(1))
const deleteBefore = run((seq: number) => tables.deleteFrom('activity').where('seq', '<', seq))

/** Deletes entries that are too old or too many. The only way to delete any, because a trigger refuses all others. */
export function deleteOldActivity(tx: Tx, now: number): number {
  const { days, rows } = limits.activity
  const firstRecent = findFirstSince(tx, isoTime(now - days * 86_400_000))?.seq ?? (findLast(tx)?.seq ?? 0) + 1
  const keepFrom = Math.max(firstRecent, findOldestKept(tx, rows - 1)?.seq ?? 0)
  tx.run(tables.updateTable('activity_retention').set({ keep_from: keepFrom }))
  return deleteBefore(tx, keepFrom)
}
