import type { Generated } from 'kysely'
import type { ActivityActor } from '../contract/activity-actors.ts'
import type { ActivityEntry } from '../contract/activity.ts'

export interface ActivityTable extends Omit<ActivityRow, 'seq'> {
  seq: Generated<number>
}

/** An entry of the activity log. It names what it is about as it was named then, because that may be gone. */
export interface ActivityRow {
  seq: number
  id: string
  time: string
  /** The account that sees it; null: the owner of the instance. */
  account_id: string | null
  project_id: string | null
  project_slug: string | null
  actor_kind: ActivityActor
  actor_id: string | null
  actor_name: string
  /** The user, also behind a token. */
  user_id: string | null
  user_email: string | null
  via: ActivityEntry['via']
  action: string
  target_id: string | null
  target_name: string | null
  /** JSON of `details`, without what is empty. */
  details: string
  /** The outcome of background work, of which all users who see it are notified. */
  is_outcome: 0 | 1
  client_ip: string | null
  request_id: string | null
}
