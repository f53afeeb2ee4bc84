import { afterEach, beforeEach, expect, test } from 'vitest'
import { findPreview, updatePreview, upsertPreview } from '../../server/store/previews.ts'
import { findProject, insertProject, recordRequests, updateProject } from '../../server/store/projects.ts'
import type { Store } from '../../server/store/store.ts'
import { insertUserWithAccount } from '../../server/store/users.ts'
import { openMemoryStore } from '../support/api-server.ts'
import { projectRow } from '../support/database-rows.ts'
import { createTestClock } from '../support/test-clock.ts'

let store: Store
let changed: string[]
let host: string
beforeEach(async () => {
  store = await openMemoryStore(createTestClock({ frozen_at: 0 }))
  host = await store.db.write((tx) => {
    const created_at = 'then'
    insertUserWithAccount(tx, {
      account: { id: 'acc_1', plan: 'pro', has_payment_method: 0, created_at },
      user: { id: 'usr_1', account_id: 'acc_1', email: 'a@example.com', email_verified: 1, is_instance_owner: 1, created_at },
    })
    for (const slug of ['blog', 'shop']) insertProject(tx, projectRow({ id: `prj_${slug}`, account_id: 'acc_1', slug, name: slug }))
    return upsertPreview(tx, { id: 'prj_shop', slug: 'shop' }, 'trial', 'then').host
  })
  changed = []
  store.events.subscribe((event) => void (event.type === 'project_changed' && changed.push(event.id)))
})
afterEach(() => store.close())

test('the first request of an app, and one that is recorded after it fell asleep, are announced; the others are only stored', async () => {
  const record = async (at: string, ...ids: string[]) => {
    changed = []
    await store.db.write((tx) => recordRequests(tx, new Map(ids.map((id) => [id, at]))))
    return changed
  }
  expect(await record('1', 'prj_blog')).toEqual(['prj_blog'])
  expect(await record('2', host)).toEqual(['prj_shop'])
  expect(await record('3', 'prj_blog', host)).toEqual([])
  await store.db.write((tx) => (updateProject(tx, 'prj_blog', { is_cold: 1 }), updatePreview(tx, 'prj_shop', 'trial', { is_cold: 1 })))
  expect(await record('4', 'prj_blog', host)).toEqual(['prj_blog', 'prj_shop'])
  const stored = store.db.readSync((tx) => [findProject(tx, 'prj_blog'), findPreview(tx, 'prj_shop', 'trial'), findProject(tx, 'prj_shop')])
  expect(stored.map((row) => row?.last_request_at)).toEqual(['4', '4', null])
})
