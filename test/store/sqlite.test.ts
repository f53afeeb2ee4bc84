import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSqlite } from '../../server/store/sqlite.ts'
import { lockDataFolder } from '../../server/store/data-folder-lock.ts'
import type { Source } from '../../server/contract/deployment-source.ts'
import { readSource } from '../../server/deployments/deployment-row.ts'
import { migrate, NewerDatabaseError } from '../../server/store/migrate.ts'
import { migrations } from '../../server/store/migrations/index.ts'
import { openStore } from '../../server/store/store.ts'
import { paginate, encodeCursor, decodeCursor } from '../../server/store/pagination.ts'
import { createSealer } from '../../server/store/sealer.ts'
import { createTestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-store-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const node = join(import.meta.dirname, '../../node_modules/node/bin/node')

describe('the database files', () => {
  test('are readable only by their owner, and use write-ahead logging', async () => {
    const store = await openStore({ data_dir: folder, after_crash: false })
    for (const name of ['homeport.db', 'logs.db']) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    expect(store.db.raw.pragma('journal_mode', { simple: true })).toBe('wal')
    await store.close()
  })

  test('the write-ahead log stays bounded: it is checkpointed behind the writers, and nothing is lost', async () => {
    // Time also passes by itself: a write that meets the checkpoint waits a few milliseconds.
    const clock = createTestClock()
    const store = await openStore({ data_dir: folder, after_crash: false, clock })
    const sizeOf = () => statSync(join(folder, 'homeport.db-wal')).size
    let written = 0
    const writeSome = async () => {
      await store.db.write((tx) => {
        for (let i = 0; i < 100; i++) tx.statement('INSERT INTO settings (key, value) VALUES (?, ?)').run(`key ${written++}`, 'x'.repeat(2_000))
      })
    }
    while (sizeOf() < 6_000_000) await writeSome()
    // Writers are active all the time.
    await until(
      async () => {
        await writeSome()
        await clock.advance(2_000)
        return sizeOf() < 2_000_000 ? true : undefined
      },
      { what: 'the log to start anew' },
    )
    await store.close()
    const again = await openStore({ data_dir: folder, after_crash: true })
    expect(await again.db.read((tx) => tx.statement('SELECT count(*) AS n FROM settings').get())).toEqual({ n: written })
    await again.close()
  })

  test('a file of a newer version is refused, named, and not changed', async () => {
    const path = join(folder, 'homeport.db')
    const db = openSqlite({ path, durable: true })
    db.raw.pragma('user_version = 9999')
    await db.close()
    const before = readFileSync(path)
    await expect(openStore({ data_dir: folder, after_crash: false })).rejects.toThrow(NewerDatabaseError)
    await expect(openStore({ data_dir: folder, after_crash: false })).rejects.toThrow(/version 9999; this one knows \d+/)
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test('a damaged file is refused after a crash, and not changed', async () => {
    const store = await openStore({ data_dir: folder, after_crash: false })
    await store.db.write((tx) => {
      for (let i = 0; i < 2_000; i++) tx.statement('INSERT INTO settings (key, value) VALUES (?, ?)').run(`key ${i}`, 'x'.repeat(200))
    })
    await store.close()
    const path = join(folder, 'homeport.db')
    const bytes = readFileSync(path)
    for (let page = 5; page < 60; page++) bytes.fill(0xff, page * 4096 + 8, page * 4096 + 600)
    writeFileSync(path, bytes)
    await expect(openStore({ data_dir: folder, after_crash: true })).rejects.toThrow(/damaged/)
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })
})

describe('migrations', () => {
  test('kill -9 between any two statements leaves a complete version, and the next start continues from it', async () => {
    const statements = (migrations[0]?.sql ?? '')
      .split(';')
      .map((text) => text.trim())
      .filter(Boolean)
    expect(statements.length).toBeGreaterThan(15)
    for (let cut = 0; cut <= statements.length; cut += 4) {
      const path = join(folder, `cut-${cut}.db`)
      // Another process starts the migration and is killed in the middle of its transaction.
      const script = `
        const Sqlite = require(${JSON.stringify(join(import.meta.dirname, '../../node_modules/better-sqlite3'))})
        const db = new Sqlite(${JSON.stringify(path)})
        db.pragma('journal_mode = WAL')
        db.exec('BEGIN IMMEDIATE')
        for (const statement of ${JSON.stringify(statements.slice(0, cut))}) db.exec(statement)
        process.kill(process.pid, 'SIGKILL')`
      await once(spawn(node, ['--eval', script], { stdio: 'ignore' }), 'exit')
      const db = openSqlite({ path, durable: true })
      expect(db.raw.pragma('user_version', { simple: true })).toBe(0)
      expect(db.raw.prepare("SELECT count(*) AS n FROM sqlite_master WHERE type = 'table'").get()).toEqual({ n: 0 })
      await migrate(db, migrations)
      expect(db.raw.pragma('user_version', { simple: true })).toBe(migrations.length)
      expect(db.raw.pragma('integrity_check', { simple: true })).toBe('ok')
      await db.close()
    }
  })

  test('deployment sources written by an earlier version are read as current ones', async () => {
    const db = openSqlite({ path: join(folder, 'a.db'), durable: true })
    const index = migrations.findIndex(({ name }) => name === 'deployment-sources')
    await migrate(db, migrations.slice(0, index))
    db.raw.pragma('foreign_keys = OFF')
    const git = { kind: 'git', url: 'https://git.example.com/a.git', branch: 'main', commit_sha: null, allow_local: false }
    const rows: [id: string, before: object, after: Source][] = [
      ['dpl_git', git, { ...git, kind: 'git' }],
      ['dpl_folder', { kind: 'folder', path: '/home/me/it\'s "my" app' }, { kind: 'folder', path: '/home/me/it\'s "my" app' }],
      ['dpl_again', { kind: 'snapshot', deployment_id: 'dpl_folder' }, { kind: 'folder', path: '/home/me/it\'s "my" app', of: 'dpl_folder' }],
      ['dpl_orphan', { kind: 'snapshot', deployment_id: 'dpl_gone' }, { kind: 'folder', path: '', of: 'dpl_gone' }],
      ['dpl_upload', { kind: 'bundle', deployment_id: 'dpl_upload' }, { kind: 'archive' }],
      ['dpl_retry', { kind: 'bundle', deployment_id: 'dpl_upload' }, { kind: 'archive', of: 'dpl_upload' }],
    ]
    const insert = db.raw.prepare(
      `INSERT INTO deployments (id, project_id, status, target, trigger, source, runtime, created_at, source_request)
       VALUES (?, 'prj', 'ready', 'production', 'manual', 'git', 'process', '', ?)`,
    )
    for (const [id, before] of rows) insert.run(id, JSON.stringify(before))
    await migrate(db, migrations)
    const found = db.raw.prepare<[], { id: string; source_request: string }>('SELECT id, source_request FROM deployments ORDER BY seq').all()
    expect(found.map((row) => [row.id, readSource(row)])).toEqual(rows.map(([id, , after]) => [id, after]))
    await db.close()
  })

  test('a failing migration changes nothing', async () => {
    const db = openSqlite({ path: join(folder, 'a.db'), durable: true })
    await migrate(db, [{ name: 'good', sql: 'CREATE TABLE good (n INTEGER)' }])
    const next = [
      { name: 'good', sql: '' },
      { name: 'bad', sql: 'CREATE TABLE half (n INTEGER); CREATE TABLE good (n INTEGER)' },
    ]
    await expect(migrate(db, next, join(folder, 'backups'))).rejects.toThrow(/already exists/)
    expect(db.raw.pragma('user_version', { simple: true })).toBe(1)
    expect(db.raw.prepare("SELECT name FROM sqlite_master WHERE name = 'half'").get()).toBeUndefined()
    await db.close()
  })

  test('a file with data is backed up first', async () => {
    const db = openSqlite({ path: join(folder, 'a.db'), durable: true })
    await migrate(db, [{ name: 'one', sql: 'CREATE TABLE kept (n INTEGER); INSERT INTO kept VALUES (7)' }])
    await migrate(
      db,
      [
        { name: 'one', sql: '' },
        { name: 'two', sql: 'DROP TABLE kept' },
      ],
      join(folder, 'backups'),
    )
    await db.close()
    const copy = new Sqlite(join(folder, 'backups', 'before-version-2.db'), { readonly: true })
    expect(copy.prepare('SELECT n FROM kept').get()).toEqual({ n: 7 })
    copy.close()
  })
})

test('the migration of driver names keeps rows and indexes, and allows any name afterwards', async () => {
  const db = openSqlite({ path: join(folder, 'a.db'), durable: true })
  const position = migrations.findIndex(({ name }) => name === 'driver-names')
  await migrate(db, migrations.slice(0, position))
  db.raw.exec(`
    INSERT INTO accounts (id, plan, has_payment_method, created_at) VALUES ('acc_1', 'starter', 0, '');
    INSERT INTO projects (id, account_id, name, slug, repo_branch, node_version, install_command, build_command, root_directory, memory_limit_mb,
      status, always_warm, is_cold, caching_enabled, has_purge_token, created_at, updated_at)
      VALUES ('prj_1', 'acc_1', 'Shop', 'shop', 'main', 'auto', 'auto', 'auto', '.', 512, 'live', 0, 0, 1, 0, '', '');
    INSERT INTO deployments (id, project_id, status, target, trigger, source, is_current, runtime, source_request, created_at)
      VALUES ('dpl_1', 'prj_1', 'ready', 'production', 'manual', 'git', 1, 'docker', '{}', ''),
        ('dpl_2', 'prj_1', 'failed', 'production', 'manual', 'git', 0, 'process', '{}', '');
    INSERT INTO deployment_steps (deployment_id, position, name, status) VALUES ('dpl_1', 0, 'clone', 'done');
    INSERT INTO databases (project_id, driver, db_name, db_user, sealed_password, created_at) VALUES ('prj_1', 'process', 'p_1', 'p_1', x'00', '');`)
  const indexes = () => db.raw.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'index' ORDER BY name").all()
  const before = indexes()
  await migrate(db, migrations.slice(0, position + 1))
  expect(indexes()).toEqual(before)
  expect(db.raw.prepare('SELECT id, runtime FROM deployments ORDER BY seq').all()).toEqual([
    { id: 'dpl_1', runtime: 'docker' },
    { id: 'dpl_2', runtime: 'process' },
  ])
  expect(db.raw.prepare('SELECT db_name, driver FROM databases').all()).toEqual([{ db_name: 'p_1', driver: 'process' }])
  expect(db.raw.prepare('SELECT name FROM deployment_steps').all()).toEqual([{ name: 'clone' }])
  db.raw.exec("UPDATE deployments SET runtime = 'swarm'; UPDATE databases SET driver = 'swarm'")
  expect(() => db.raw.exec("UPDATE deployments SET is_current = 1 WHERE id = 'dpl_2'")).toThrow(/UNIQUE/)
  expect(db.raw.pragma('foreign_key_check')).toEqual([])
  await db.close()
})

describe('a file locked by another program', () => {
  test('is awaited without blocking the event loop, then it is database_busy with a Retry-After', async () => {
    const path = join(folder, 'a.db')
    const clock = createTestClock({ frozen_at: 0 })
    const db = openSqlite({ path, durable: true, clock })
    db.raw.exec('CREATE TABLE t (n INTEGER)')
    const other = new Sqlite(path)
    other.exec('BEGIN EXCLUSIVE')
    const refused = expect(db.write((tx) => tx.statement('INSERT INTO t VALUES (1)').run())).rejects.toMatchObject({
      code: 'database_busy',
      retry_after_s: 1,
    })
    await clock.advance(6_000)
    await refused
    let isOver = false
    const waiting = db.write((tx) => tx.statement('INSERT INTO t VALUES (2)').run()).finally(() => (isOver = true))
    await clock.advance(4_900)
    expect(isOver).toBe(false)
    other.exec('ROLLBACK')
    other.close()
    await clock.advance(50)
    await waiting
    expect(await db.read((tx) => tx.statement('SELECT n FROM t').all())).toEqual([{ n: 2 }])
    await db.close()
  })
})

describe('the lock of the data folder', () => {
  test('is held by one process, and released however that ends', async () => {
    const script = `
      import { lockDataFolder } from ${JSON.stringify(join(import.meta.dirname, '../../server/store/data-folder-lock.ts'))}
      globalThis.lock = lockDataFolder(${JSON.stringify(folder)})
      console.log(globalThis.lock ? 'held' : 'refused')
      setInterval(() => {}, 1000)`
    const holder = spawn(node, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said] = (await once(holder.stdout, 'data')) as [Buffer]
    expect(said.toString()).toContain('held')
    expect(lockDataFolder(folder)).toBeUndefined()
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const lock = lockDataFolder(folder)
    expect(lock).toBeDefined()
    lock?.release()
  })
})

describe('encrypted columns', () => {
  const column = { table: 'env_vars', column: 'sealed_value', row: 'env_1' }
  const sealer = createSealer(Buffer.alloc(32, 1))

  test('can be decrypted, and contain nothing of the plain text', () => {
    const sealed = sealer.seal(column, 'a secret of mine')
    expect(sealer.unseal(column, sealed)).toBe('a secret of mine')
    expect(Buffer.from(sealed).includes('secret')).toBe(false)
    expect(Buffer.from(sealer.seal(column, 'a secret of mine')).equals(Buffer.from(sealed))).toBe(false)
  })

  test.for([
    ['another row', { ...column, row: 'env_2' }],
    ['another column', { ...column, column: 'other' }],
    ['another table', { ...column, table: 'projects' }],
  ] as const)('moved to %s they cannot be decrypted', ([, other]) => {
    expect(() => sealer.unseal(other, sealer.seal(column, 'x'))).toThrow(expect.objectContaining({ code: 'decryption_failed' }))
  })

  test('another key, a flipped bit or a short value cannot be decrypted', () => {
    const sealed = Buffer.from(sealer.seal(column, 'x'))
    expect(() => createSealer(Buffer.alloc(32, 2)).unseal(column, sealed)).toThrow(expect.objectContaining({ code: 'decryption_failed' }))
    const flipped = Buffer.from(sealed)
    flipped[flipped.length - 1] = (flipped[flipped.length - 1] ?? 0) ^ 1
    expect(() => sealer.unseal(column, flipped)).toThrow(expect.objectContaining({ code: 'decryption_failed' }))
    expect(() => sealer.unseal(column, sealed.subarray(0, 10))).toThrow(expect.objectContaining({ code: 'decryption_failed' }))
  })

  test('any changed byte or truncation is detected: a four-byte tag could be guessed', () => {
    const sealed = Buffer.from(sealer.seal(column, 'x'))
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 0x80
      expect(() => sealer.unseal(column, changed), `byte ${at}`).toThrow(expect.objectContaining({ code: 'decryption_failed' }))
    }
    const empty = Buffer.from(sealer.seal(column, ''))
    for (let length = 0; length < empty.length; length++)
      expect(() => sealer.unseal(column, empty.subarray(0, length)), `${length} bytes`).toThrow(
        expect.objectContaining({ code: 'decryption_failed' }),
      )
  })
})

describe('pagination', () => {
  test('a cursor says where to continue; an unknown one is refused', () => {
    expect(decodeCursor('rows', encodeCursor('rows', 42))).toBe(42)
    expect(decodeCursor('rows', encodeCursor('other rows', 42))).toBeUndefined()
    for (const foreign of ['', 'x', 'czQy!', 'c2FiYw', Buffer.from('s-1').toString('base64url')])
      expect(decodeCursor('rows', foreign)).toBeUndefined()
  })

  test('the last page has no cursor', () => {
    const rows = [{ seq: 3 }, { seq: 2 }, { seq: 1 }]
    expect(paginate('rows', rows, 3).next_cursor).toBeNull()
    expect(paginate('rows', rows, 2)).toEqual({ rows: [{ seq: 3 }, { seq: 2 }], next_cursor: encodeCursor('rows', 2) })
  })
})

test('a copy of the files is a valid store', async () => {
  const store = await openStore({ data_dir: folder, after_crash: false })
  await store.db.write((tx) => tx.statement("INSERT INTO settings (key, value) VALUES ('a', '1')").run())
  store.db.raw.pragma('wal_checkpoint(TRUNCATE)')
  copyFileSync(join(folder, 'homeport.db'), join(folder, 'copy.db'))
  await store.close()
  const copy = new Sqlite(join(folder, 'copy.db'), { readonly: true })
  expect(copy.prepare('SELECT value FROM settings').get()).toEqual({ value: '1' })
  copy.close()
})
