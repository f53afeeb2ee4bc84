import type { ActivityEntry, activityOperations } from '../contract/activity.ts'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { ActivityRow } from '../store/activity-tables.ts'
import {
  type ActivityAudience,
  type ActivityQuery,
  findActivity,
  findLastReadActivity,
  listActivity,
  listInbox,
  markActivityRead,
} from '../store/activity.ts'
import { paginate } from '../store/pagination.ts'
import type { Tx } from '../store/store.ts'
import { isWithinProject, listCallerAccountIds } from './access.ts'
import type { Caller, OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { parseCursor } from './projects.ts'

export function createActivityHandlers({ store: { db } }: FeatureDeps): Pick<OperationHandlers, keyof typeof activityOperations> {
  const list = async (caller: Caller, name: string, cursor: string | undefined, query: Omit<ActivityQuery, 'before'>) => {
    const before = parseCursor(name, cursor)
    const rows = await db.read((tx) => listActivity(tx, audienceOf(tx, caller), { ...query, before, limit: query.limit + 1 }))
    const page = paginate(name, rows, query.limit)
    return { entries: page.rows.map(presentActivity), next_cursor: page.next_cursor }
  }
  return {
    async listActivity({ caller }, { query: { limit = limits.page.default, cursor, project, ...filters } }) {
      return list(caller, `activity ${caller.user_id}`, cursor, { ...filters, project_slug: project, limit })
    },

    async listProjectActivity({ caller, project }, { query: { limit = limits.page.default, cursor, ...filters } }) {
      return list(caller, `activity ${project.id}`, cursor, { ...filters, project_id: project.id, limit })
    },

    async getActivityInbox({ caller }) {
      return db.read((tx) => {
        const rows = listInbox(tx, audienceOf(tx, caller), caller.user_id)
        const lastRead = findLastReadActivity(tx, caller.user_id)
        return { entries: rows.map(presentActivity), unread: rows.filter(({ seq }) => seq > lastRead).length }
      })
    },

    async markActivityRead({ caller }, { body }) {
      await db.write((tx) => {
        const row = findActivity(tx, body.id)
        if (!row || !isActivityVisible(tx, caller, row))
          throw new Problem('invalid_input', 'There is no such entry in your activity.', {
            issues: [{ path: 'id', message: 'Use the ID of an entry.' }],
          })
        markActivityRead(tx, caller.user_id, row.seq)
      })
    },
  }
}

const audienceOf = (tx: Tx, caller: Caller): ActivityAudience => ({
  account_id: caller.account_id,
  account_ids: listCallerAccountIds(tx, caller),
  is_instance_owner: caller.is_instance_owner,
  only_project: caller.project_id,
})

/** Like `visibleTo` in store/activity.ts, for one entry. Members of a team see its projects, and nothing else of its account. */
export function isActivityVisible(tx: Tx, caller: Caller, { account_id, project_id }: ActivityRow): boolean {
  if (!isWithinProject(caller, project_id ?? '')) return false
  if (account_id === null) return caller.is_instance_owner
  return account_id === caller.account_id || (project_id !== null && listCallerAccountIds(tx, caller).includes(account_id))
}

export function presentActivity(row: ActivityRow): ActivityEntry {
  const { id, time, actor_kind, actor_id, actor_name, user_id, user_email, via, action, client_ip, request_id } = row
  return {
    id,
    time,
    actor: { kind: actor_kind, id: actor_id, name: actor_name, user_id, email: user_email },
    via,
    action,
    project: row.project_id === null ? null : { id: row.project_id, slug: row.project_slug ?? '' },
    target: row.target_id === null && row.target_name === null ? null : { id: row.target_id, name: row.target_name },
    details: { names: [], branch: null, commit_sha: null, failure: null, ...(JSON.parse(row.details) as Partial<ActivityEntry['details']>) },
    client_ip,
    request_id,
  }
}
