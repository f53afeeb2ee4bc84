import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { historyBuckets } from '../../server/contract/metrics-ranges.ts'
import { metricsMigrations } from '../../server/store/migrations/index.ts'
import { migrate } from '../../server/store/migrate.ts'
import { openSqlite } from '../../server/store/sqlite.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { createUsageStore } from '../../server/store/usage-store.ts'

let folder: string
let store: Store
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-usage-'))
  store = await openStore({ data_dir: folder, after_crash: false })
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const now = Date.UTC(2026, 0, 31, 12, 7) / 1000
const sample = (replica: number, ts: number, cpu_percent: number, memory_mb: number) => ({
  project_id: 'a',
  service: 'worker',
  replica,
  ts,
  cpu_percent,
  memory_mb,
})

test('replicas keep rows of their own when they age', () => {
  const { live } = historyBuckets
  store.usage.add([sample(0, now, 30, 90), sample(1, now, 10, 40), sample(2, now, 20, 50)])
  store.usage.add([sample(0, now + live.seconds, 50, 80), sample(1, now + live.seconds, 50, 80)])
  while (store.usage.downsample(now + live.seconds * live.count + 3600, 2)) continue
  const rows = store.usage.readSince('a', 0).map(({ replica, samples, cpu_sum, memory_max }) => [replica, samples, cpu_sum, memory_max])
  expect(rows).toEqual([
    [0, 2, 80, 90],
    [1, 2, 60, 80],
    [2, 1, 20, 50],
  ])
})

test('samples of versions that knew no replicas count for all of them', async () => {
  const db = openSqlite({ path: join(folder, 'earlier.db'), durable: false })
  await migrate(
    db,
    metricsMigrations.slice(
      0,
      metricsMigrations.findIndex(({ name }) => name === 'usage_replicas'),
    ),
  )
  db.raw.exec("INSERT INTO usage VALUES ('a', 1, 10, '', 3, 30, 64)")
  await migrate(db, metricsMigrations)
  expect(createUsageStore(db).readSince('a', 0)).toEqual([
    { project_id: 'a', ts: 1, seconds: 10, service: '', replica: 0, samples: 3, cpu_sum: 30, memory_max: 64 },
  ])
  await db.close()
})
