import { sql } from 'kysely'
import { all, exists, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { TokenRow } from './tables.ts'

const seq = sql.ref<number>('rowid')
const listNewestTokens = all((userId: string, before: number, limit: number) =>
  tables
    .selectFrom('tokens')
    .selectAll()
    .select(seq.as('seq'))
    .where('user_id', '=', userId)
    .where('kind', '=', 'api')
    .where(seq, '<', before)
    .orderBy(seq, 'desc')
    .limit(limit),
)

/** API tokens that the user created, newest first, from before `before` (a sequence number). */
export function listTokens(tx: Tx, options: { user_id: string; before: number | undefined; limit: number }): (TokenRow & { seq: number })[] {
  return listNewestTokens(tx, options.user_id, options.before ?? Number.MAX_SAFE_INTEGER, options.limit)
}

export const findToken = first((id: string) => tables.selectFrom('tokens').select(['id', 'kind', 'name']).where('id', '=', id))

/** False if the user has no token with this id. */
export const deleteToken = exists((userId: string, id: string) =>
  tables.deleteFrom('tokens').where('id', '=', id).where('user_id', '=', userId).where('kind', '=', 'api').returning('id'),
)

export const deleteTokensOfProject = run((projectId: string) => tables.deleteFrom('tokens').where('project_id', '=', projectId))
