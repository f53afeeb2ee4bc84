import { randomBytes } from 'node:crypto'
import { type Clock, isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { hashSecret, newToken } from '../lib/token.ts'
import type { Db } from '../store/store.ts'
import { findInstanceOwner, insertUserWithAccount, insertToken, deleteRunTokens } from '../store/users.ts'
import type { Sealer } from '../store/sealer.ts'
import type { UserRow } from '../store/tables.ts'
import { readSetting, writeSetting } from '../store/settings.ts'

const keyCheckContext = { table: 'settings', column: 'value', row: 'key_check' }

/** Whether a master key is the one of the `key_check` of a database. */
export function isKeyOf(sealer: Sealer, key_check: string): boolean {
  try {
    sealer.unseal(keyCheckContext, Buffer.from(key_check, 'base64'))
    return true
  } catch {
    return false
  }
}

/** The identity of an instance: its owner, a token for this run, and the cookie name of this installation. */
export interface InstanceIdentity {
  owner: UserRow
  run_token: string
  cookie_name: string
  /** Labels the resources of this instance on a machine. A restored instance gets a new ID. */
  instance_id: string
}

/** Creates the owner at the first start and a token for this run. Throws if the master key is not the one that encrypted the data. */
export async function bootstrapInstance(options: { db: Db; sealer: Sealer; clock: Clock }): Promise<InstanceIdentity> {
  const { db, sealer, clock } = options
  const run_token = newToken()
  const now = isoTime(clock.now())
  return db.write((tx) => {
    const readOrCreateSetting = (key: string, createValue: () => string): string => {
      const found = readSetting<string>(tx, key)
      if (found !== undefined) return found
      const value = createValue()
      writeSetting(tx, key, value)
      return value
    }
    const sealed = readOrCreateSetting('key_check', () => Buffer.from(sealer.seal(keyCheckContext, 'homeport')).toString('base64'))
    try {
      sealer.unseal(keyCheckContext, Buffer.from(sealed, 'base64'))
    } catch (cause) {
      throw new Error('The master key is not the one that encrypted this data folder. Nothing was changed. Provide the right key and start again.', {
        cause,
      })
    }
    // All ports of a host share cookies, so the name is unique per instance.
    const cookie_name = readOrCreateSetting('cookie_name', () => `homeport_${randomBytes(6).toString('hex')}`)

    let owner = findInstanceOwner(tx)
    if (!owner) {
      const account = { id: newId('acc'), plan: 'enterprise' as const, has_payment_method: 1 as const, created_at: now }
      owner = {
        id: newId('usr'),
        account_id: account.id,
        email: 'owner@homeport.localhost',
        email_verified: 1,
        is_instance_owner: 1,
        created_at: now,
      }
      insertUserWithAccount(tx, { user: owner, account })
    }
    const { id } = owner
    const instance_id = readOrCreateSetting('instance_id', () => id.slice(-12))
    deleteRunTokens(tx)
    insertToken(tx, {
      id: newId('tok'),
      user_id: owner.id,
      kind: 'run',
      name: 'This run',
      hash: hashSecret(run_token),
      last4: run_token.slice(-4),
      last_used_at: null,
      expires_at: null,
      created_at: now,
      scope: null,
      project_id: null,
    })
    return { owner, run_token, cookie_name, instance_id }
  })
}
