import type { PlanName } from '../contract/instance.ts'
import type { TokenScope } from '../contract/token-scopes.ts'
import { first, run, tables } from './query.ts'

/** A token or session with the user and account that it belongs to. */
export interface CallerRow {
  credential_id: string
  expires_at: string | null
  user_id: string
  account_id: string
  email: string
  email_verified: 0 | 1
  is_instance_owner: 0 | 1
  plan: PlanName
  trial_ends_at: string | null
}

export interface TokenCallerRow extends CallerRow {
  scope: TokenScope | null
  project_id: string | null
}

const callerColumns = [
  'c.id as credential_id',
  'c.expires_at',
  'u.id as user_id',
  'u.account_id',
  'u.email',
  'u.email_verified',
  'u.is_instance_owner',
  'a.plan',
  'a.trial_ends_at',
] as const
export const findCallerByToken = first((hash: string) =>
  tables
    .selectFrom('tokens as c')
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .innerJoin('accounts as a', 'a.id', 'u.account_id')
    .select([...callerColumns, 'c.scope', 'c.project_id'])
    .where('c.hash', '=', hash),
)
export const findCallerBySession = first((hash: string) =>
  tables
    .selectFrom('sessions as c')
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .innerJoin('accounts as a', 'a.id', 'u.account_id')
    .select(callerColumns)
    .where('c.hash', '=', hash),
)

export const recordTokenUse = run((id: string, now: string) => tables.updateTable('tokens').set({ last_used_at: now }).where('id', '=', id))
