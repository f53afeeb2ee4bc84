/** A backup that is restored without its key: nothing stays sealed that nobody can open. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createKeptAnswers } from '../../server/features/kept-answers.ts'
import { isoTime, systemClock } from '../../server/lib/clock.ts'
import { type Store, openStore } from '../../server/store/open.ts'
import { insertPerson } from '../../server/store/people.ts'
import { createSealer } from '../../server/store/sealed.ts'
import { adoptLedger } from '../../server/upkeep/restore-ledger.ts'

let data_dir: string
const old = createSealer(Buffer.alloc(32, 1))
const fresh = createSealer(Buffer.alloc(32, 2))
const now = isoTime(systemClock.now())
const of = { account_id: 'acc_1', key: 'key' }
const answer = { status: 201, headers: {}, body: '{}' }

async function open<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ data_dir, after_crash: false })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
const adopt = (with_: typeof fresh | undefined) =>
  adoptLedger(join(data_dir, 'homeport.db'), { staging: data_dir, into: data_dir, is_foreign: false, fresh: with_ })

beforeEach(async () => {
  data_dir = mkdtempSync(join(tmpdir(), 'homeport-lost-key-'))
  await open(async ({ db }) => {
    await db.write((tx) => {
      const account = { id: of.account_id, plan: 'pro' as const, has_payment_method: 0 as const, created_at: now }
      const user = {
        id: 'usr_1',
        account_id: of.account_id,
        email: 'a@b.test',
        email_verified: 1 as const,
        is_instance_owner: 1 as const,
        created_at: now,
      }
      insertPerson(tx, { user, account })
      tx.sqlRun(
        `INSERT INTO owned_domains (id, account_id, hostname, registrar, reference, expires_at, auto_renew, sealed_registrant, sealed_auth_code, created_at)
         VALUES ('own_1', 'acc_1', 'sea.test', 'local', 'ref', ?, 1, ?, NULL, ?)`,
        now,
        old.seal({ table: 'owned_domains', column: 'sealed_registrant', row: 'own_1' }, '{}'),
        now,
      )
    })
    const kept = createKeptAnswers({ db, sealer: old, clock: systemClock })
    await kept.begin(of, 'print')
    await kept.keep(of, 'print', answer)
  })
})
afterEach(() => rmSync(data_dir, { recursive: true }))

test('with its key, kept answers hold', async () => {
  expect(await adopt(undefined)).toEqual([])
  await open(async ({ db }) => {
    const kept = createKeptAnswers({ db, sealer: old, clock: systemClock })
    expect(await kept.find(of)).toEqual({ fingerprint: 'print', answer })
  })
})

test('without it they go, and so do registrants, which is said', async () => {
  expect(await adopt(fresh)).toEqual([expect.stringContaining('The registrants of bought domains')])
  await open(async ({ db }) => {
    const kept = createKeptAnswers({ db, sealer: fresh, clock: systemClock })
    expect(await kept.find(of)).toBeUndefined()
    expect(await db.read((tx) => tx.sqlFirst('SELECT hostname, sealed_registrant FROM owned_domains'))).toEqual({
      hostname: 'sea.test',
      sealed_registrant: null,
    })
  })
})
