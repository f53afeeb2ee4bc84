/** The files in `backups/`: hourly copies, drafts, full backups, and how they are listed, read and removed. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { silentLog } from '../../server/lib/log.ts'
import { readDatabaseCopy } from '../../server/store/database-copy.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { createSealer } from '../../server/store/sealer.ts'
import type { DatabaseDumpSource } from '../../server/maintenance/backup/write-backup.ts'
import { type Backups, createBackups } from '../../server/maintenance/backup/backups.ts'
import { createTestClock, type TestClock } from '../support/test-clock.ts'
import { key, restore } from './forged-backups.ts'

const hour = 3_600_000
let folder: string
let store: Store
let backups: Backups
let clock: TestClock
const copies = () => readdirSync(join(folder, 'backups')).sort()

const make = (databases?: DatabaseDumpSource) =>
  createBackups({
    data_dir: folder,
    db: store.db,
    instance_id: 'abc',
    key_kind: 'file_key',
    sealer: createSealer(key),
    clock,
    log: silentLog,
    databases,
    volumes: undefined,
  })

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-backups-'))
  clock = createTestClock({ frozen_at: '2026-01-31T12:00:00Z' })
  store = await openStore({ data_dir: folder, after_crash: false, clock })
  backups = await make()
})
afterEach(async () => {
  await backups.close()
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const collect = async (file: AsyncIterable<Uint8Array>) => {
  const chunks: Uint8Array[] = []
  for await (const chunk of file) chunks.push(chunk)
  return Buffer.concat(chunks)
}
const read = async (name: string) => collect(await backups.read(name))

describe('hourly copies', () => {
  fullTest('are made once an hour, seven are kept, and each opens with the data of its time', async () => {
    for (let i = 0; i < 10; i++) {
      await store.db.write((tx) => tx.statement('INSERT INTO settings (key, value) VALUES (?, ?)').run(`row ${i}`, '1'))
      await backups.createHourlyCopy()
      // No copy is due before an hour has passed.
      await clock.advance(hour / 2)
      await backups.createHourlyCopy()
      await clock.advance(hour / 2)
    }
    const names = copies()
    expect(names).toEqual(Array.from({ length: 7 }, (_, i) => `hourly-2026-01-31T${15 + i}-00-00Z.db`))
    for (const [i, name] of names.entries()) {
      const path = join(folder, 'backups', name)
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect(readDatabaseCopy(path, ({ all }) => all("SELECT * FROM settings WHERE key LIKE 'row %'").length)).toBe(4 + i)
    }
    expect((await backups.list()).map((one) => [one.kind, one.created_at])[0]).toEqual(['hourly', '2026-01-31T21:00:00.000Z'])
  })

  test('a clock set back does not stop them', async () => {
    await backups.createHourlyCopy()
    clock = createTestClock({ frozen_at: '2026-01-31T07:00:00Z' })
    backups = await make()
    await backups.createHourlyCopy()
    expect(copies()).toEqual(['hourly-2026-01-31T07-00-00Z.db', 'hourly-2026-01-31T12-00-00Z.db'])
  })

  test('a damaged database is not copied, and the good copies stay', async () => {
    await store.db.write((tx) => {
      for (let i = 0; i < 500; i++) tx.statement('INSERT INTO settings (key, value) VALUES (?, ?)').run(`row ${i}`, 'x'.repeat(500))
    })
    await backups.createHourlyCopy()
    await store.close()
    const path = join(folder, 'homeport.db')
    const bytes = readFileSync(path)
    for (let page = 20; page < 60; page++) bytes.fill(0xff, page * 4096, page * 4096 + 400)
    writeFileSync(path, bytes)
    await clock.advance(2 * hour)
    await expect(backups.createHourlyCopy()).rejects.toThrow()
    expect(copies()).toEqual(['hourly-2026-01-31T12-00-00Z.db'])
    rmSync(path)
    rmSync(`${path}-wal`, { force: true })
    store = await openStore({ data_dir: folder, after_crash: false, clock })
    expect(store.recovery?.copied_at).toBe('2026-01-31T12:00:00.000Z')
  })
})

describe('full backups', () => {
  test('stay until deleted; two concurrent requests make one', async () => {
    const [one, two] = await Promise.all([backups.create(), backups.create()])
    expect(one.backup).toEqual(two.backup)
    const { backup } = await backups.create()
    expect(copies()).toHaveLength(2)
    expect((await read(backup.name)).equals(readFileSync(backup.path))).toBe(true)
    await backups.remove(backup.name)
    expect((await backups.list()).map(({ name }) => name)).toEqual([one.backup.name])
  })

  test('a download that has begun goes on when the backup is deleted', async () => {
    const { backup } = await backups.create()
    const whole = readFileSync(backup.path)
    const download = await backups.read(backup.name)
    rmSync(backup.path)
    expect((await collect(download)).equals(whole)).toBe(true)
  })

  test('an hourly copy is downloaded as one gzip file', async () => {
    await backups.createHourlyCopy()
    const [name = ''] = copies()
    expect(gunzipSync(await read(name)).equals(readFileSync(join(folder, 'backups', name)))).toBe(true)
  })

  test.each(['..', '../homeport.db', '/etc/passwd', 'homeport.db', '.draft-x', 'homeport-x.tar.gz', 'hourly-2026-01-31T12-00-00Z.db/..', ''])(
    '“%s” is not a backup',
    async (name) => {
      mkdirSync(join(folder, 'backups'), { recursive: true })
      await expect(backups.read(name)).rejects.toMatchObject({ code: 'backup_not_found' })
      await expect(backups.remove(name)).rejects.toMatchObject({ code: 'backup_not_found' })
    },
  )

  test('a symlink with a valid name is not one either', async () => {
    mkdirSync(join(folder, 'backups'), { recursive: true })
    mkdirSync(join(folder, 'elsewhere'))
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'backups', 'homeport-2026-01-31T12-00-00Z.tar.gz'))
    symlinkSync(join(folder, 'homeport.db'), join(folder, 'backups', 'homeport-2026-01-31T13-00-00Z.tar.gz'))
    expect(await backups.list()).toEqual([])
  })

  test('a start removes incomplete ones', async () => {
    mkdirSync(join(folder, 'backups', '.draft-abc'), { recursive: true })
    writeFileSync(join(folder, 'backups', '.draft-abc', 'homeport.db'), 'half')
    await make()
    expect(copies()).toEqual([])
  })

  test('an aborted one leaves nothing', async () => {
    const creating = backups.create()
    await backups.close()
    await expect(creating).rejects.toThrow()
    expect(copies()).toEqual([])
  })

  test('a database that cannot be dumped is omitted and reported; the others are included', async () => {
    async function* bytes(...texts: string[]) {
      for (const text of texts) yield Buffer.from(text)
    }
    async function* broken() {
      yield Buffer.from('half')
      throw new Error('The server is away.')
    }
    backups = await make({
      async *dumpAll() {
        yield { db_name: 'p_one', sql: broken() }
        yield { db_name: 'p_two', sql: bytes('SELECT 1;', '\n') }
      },
    })
    const { backup, left_out } = await backups.create()
    expect(left_out).toEqual(['The data of the database p_one: The server is away.'])
    const keyFile = join(folder, 'k')
    writeFileSync(keyFile, key.toString('hex'))
    const restored = await restore(backup.path, join(folder, 'new'), { key_file: keyFile })
    expect(restored.left_out).toEqual(left_out)
    expect(readdirSync(join(folder, 'new', 'databases'))).toEqual(['p_two.sql'])
    expect(readFileSync(join(folder, 'new', 'databases', 'p_two.sql'), 'utf8')).toBe('SELECT 1;\n')
  })
})
