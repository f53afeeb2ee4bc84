import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { limits } from '../../server/contract/limits.ts'
import { deleteOldActivity, recordActivity } from '../../server/store/activity.ts'
import { tables } from '../../server/store/query.ts'
import type { Store, Tx } from '../../server/store/store.ts'
import { openMemoryStore } from '../support/api-server.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock({ frozen_at: '2026-01-31T12:00:00.000Z' })
const day_ms = 86_400_000
let store: Store

beforeEach(async () => {
  store = await openMemoryStore(clock)
})
afterEach(() => store.close())

const record = (tx: Tx, at: number, target_name = 'x') =>
  recordActivity(tx, new Date(at).toISOString(), { action: 'project.created', actor_kind: 'system', target_name })
const names = () =>
  store.db
    .readSync((tx) => tx.all<{ target_name: string }>(tables.selectFrom('activity').select('target_name').orderBy('seq')))
    .map((row) => row.target_name)

describe('the activity log is append-only', () => {
  beforeEach(() => store.db.write((tx) => record(tx, clock.now(), 'first')))

  test.each([
    ['an update', "UPDATE activity SET actor_name = 'somebody else'"],
    ['a deletion', 'DELETE FROM activity'],
    ['a deletion of one entry', 'DELETE FROM activity WHERE seq = 1'],
    [
      'a replacement by ID',
      "INSERT OR REPLACE INTO activity SELECT NULL, id, time, NULL, NULL, NULL, 'user', NULL, 'x', NULL, NULL, NULL, 'y', NULL, NULL, '{}', 0, NULL, NULL FROM activity",
    ],
  ])('%s is refused', (_, statement) => {
    expect(() => store.db.raw.exec(statement)).toThrow('The activity log is append-only.')
    expect(names()).toEqual(['first'])
  })
})

describe('retention', () => {
  test(`deletes what is older than ${limits.activity.days} days, and nothing else can be deleted after it`, async () => {
    const now = clock.now()
    await store.db.write((tx) => {
      record(tx, now - (limits.activity.days + 1) * day_ms, 'old')
      record(tx, now - (limits.activity.days - 1) * day_ms, 'recent')
      record(tx, now, 'new')
    })
    expect(await store.db.write((tx) => deleteOldActivity(tx, now))).toBe(1)
    expect(names()).toEqual(['recent', 'new'])
    expect(() => store.db.raw.exec('DELETE FROM activity')).toThrow('append-only')
    expect(await store.db.write((tx) => deleteOldActivity(tx, now + 400 * day_ms))).toBe(2)
    expect(names()).toEqual([])
    await store.db.write((tx) => record(tx, now, 'later'))
    expect(() => store.db.raw.exec('DELETE FROM activity')).toThrow('append-only')
  })

  test('keeps the newest entries when there are too many', async () => {
    await store.db.write((tx) => record(tx, clock.now(), '0'))
    // Copies by one statement, because each entry of its own takes longer.
    store.db.raw.exec(`
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${limits.activity.rows + 2})
      INSERT INTO activity SELECT NULL, id || n, time, NULL, NULL, NULL, 'user', NULL, 'x', NULL, NULL, NULL, 'y', NULL, n, '{}', 0, NULL, NULL
      FROM numbers, (SELECT id, time FROM activity LIMIT 1)`)
    expect(await store.db.write((tx) => deleteOldActivity(tx, clock.now()))).toBe(3)
    expect(names().slice(0, 1)).toEqual(['3'])
  })
})
