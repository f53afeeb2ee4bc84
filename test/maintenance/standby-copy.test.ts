/** A standby whose instance is lost at any read of a new copy opens a state that the instance had. */
import { createReadStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../server/lib/clock.ts'
import { silentLog } from '../../server/lib/log.ts'
import { followPrimary, openStandbyState, type Primary } from '../../server/maintenance/standby/follow-primary.ts'
import { copyDatabaseFile } from '../../server/store/database-copy.ts'
import { openSqlite, type SqliteDatabase } from '../../server/store/sqlite.ts'
import { createWalStream, type WalStream } from '../../server/store/wal-stream.ts'

const rows = 60
let folder = ''
let db: SqliteDatabase
let stream: WalStream
let value = 0

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-copy-'))
  mkdirSync(join(folder, 'standby'))
  db = openSqlite({ path: join(folder, 'a.db'), durable: false })
  db.raw.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, value INTEGER, padding TEXT)')
  await db.write((tx) => {
    for (let id = 0; id < rows; id++) tx.statement('INSERT INTO notes VALUES (?, 0, ?)').run(id, 'x'.repeat(1_000))
  })
  stream = await createWalStream({ ...db, takeOverCheckpoints: async () => () => {} })
})
afterEach(async () => {
  stream.close()
  await db.close()
  rmSync(folder, { recursive: true })
})

/** All rows have the same value, in every state of the instance. */
const write = () => db.write((tx) => void tx.statement('UPDATE notes SET value = ?').run(++value))

/** Follows until it is in step, or until the instance is lost at its n-th read of changes. */
async function follow(lostAt = Infinity): Promise<string> {
  let status = ''
  const stopping = new AbortController()
  let reads = 0
  const primary: Primary = {
    async readChanges(position) {
      if (++reads >= lostAt) throw new Error('The instance is lost.')
      const found = position && stream.read(position, 20_000)
      const end = stream.end()
      const next = found?.next ?? stream.start()
      const is_end = found !== undefined && next.generation === end.generation && next.offset === end.offset
      // As the instance does: it no longer knows a position once its log was moved into its file, which can happen at any time here.
      return { changes: found?.bytes ?? (position ? null : new Uint8Array()), next, is_end, instance_id: 'one' }
    },
    async copyDatabase() {
      await write()
      rmSync(join(folder, 'sent.db'), { force: true })
      await copyDatabaseFile(join(folder, 'a.db'), join(folder, 'sent.db'))
      return createReadStream(join(folder, 'sent.db'))
    },
    listParts: async () => [],
    copyPart: () => Promise.reject(new Error('none')),
  }
  await followPrimary({
    primary,
    state: await openStandbyState(join(folder, 'standby'), 'http://127.0.0.1:1'),
    data_dir: join(folder, 'standby'),
    clock: systemClock,
    log: silentLog,
    signal: stopping.signal,
    checkCopy: async () => {},
    onChange(changed) {
      status = changed
      stopping.abort()
    },
  })
  return status
}

const readCopy = (): unknown[] => {
  const raw = new Sqlite(join(folder, 'standby', 'homeport.db'))
  try {
    expect(raw.pragma('integrity_check', { simple: true })).toBe('ok')
    return raw.prepare('SELECT DISTINCT value FROM notes').pluck().all()
  } finally {
    raw.close()
  }
}

test('at every read', async () => {
  await write()
  expect(await follow()).toBe('synced')
  let copied = readCopy()
  expect(copied).toEqual([value])
  let lostAt = 1
  for (let status = ''; status !== 'synced'; lostAt++) {
    for (let i = 0; i < 5; i++) await write()
    const before = copied[0]
    status = await follow(lostAt)
    copied = readCopy()
    expect(copied, `lost at read ${lostAt}`).toHaveLength(1)
    expect(copied[0]).toBeGreaterThanOrEqual(Number(before))
  }
  expect(copied).toEqual([value])
  expect(lostAt).toBeGreaterThan(5)
})
