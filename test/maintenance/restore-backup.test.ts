import { gunzipSync } from 'node:zlib'
/** What a restore refuses, and that it then leaves nothing behind. */
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bootstrapInstance } from '../../server/features/bootstrap-instance.ts'
import { createIdempotencyStore } from '../../server/features/idempotency-store.ts'
import { isoTime, systemClock } from '../../server/lib/clock.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { createSealer } from '../../server/store/sealer.ts'
import { backupFormat, trailerName } from '../../server/maintenance/backup/backup-format.ts'
import { assertRestoreComplete } from '../../server/maintenance/restore/finish-restore.ts'
import { forEachSeed } from '../support/seeds.ts'
import {
  fileOf,
  checkFlippedBits,
  forgeBackup,
  type BackupForgery,
  forgeValidBackup,
  insertSampleProject,
  key,
  linkOf,
  restore,
  sealer,
} from './forged-backups.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeport-restore-'))
const keyFile = join(folder, 'the.key')
const good = join(folder, 'good.tar.gz')
const watched = join(folder, 'watched')
let count = 0
const fresh = () => join(watched, `new-${count++}`)

beforeAll(async () => {
  mkdirSync(watched)
  writeFileSync(keyFile, `${key.toString('hex')}\n`)
  await forgeValidBackup(folder, good)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Refused with this message, without leaving new files. */
async function refused(file: string, says: RegExp): Promise<void> {
  const into = fresh()
  await expect(restore(file, into, { key_file: keyFile })).rejects.toThrow(says)
  expect(existsSync(into)).toBe(false)
  mkdirSync(into)
  await expect(restore(file, into, { key_file: keyFile })).rejects.toThrow(says)
  expect(readdirSync(into)).toEqual([])
  rmSync(into, { recursive: true })
  expect(readdirSync(watched)).toEqual([])
}

test('restores a valid one, with modes, links and the key', async () => {
  const into = fresh()
  const { bytes, lost } = await restore(good, into, { key_file: keyFile })
  expect(bytes).toBeGreaterThan(200_000)
  expect(lost).toEqual([])
  const names = readdirSync(into).sort()
  expect(names).toEqual(['archives', 'bundles', 'homeport.db', 'instance.lock', 'logs.db', 'master.key', 'metrics.db', 'restored.json', 'sources'])
  const mode = (name: string) => statSync(join(into, name)).mode & 0o777
  expect(['homeport.db', 'master.key', 'archives/prj_1/dpl_2', 'sources/dpl_1/run.sh', 'bundles/dpl_1/app/server.js'].map(mode)).toEqual([
    0o600, 0o600, 0o600, 0o755, 0o644,
  ])
  expect(readlinkSync(join(into, 'bundles/dpl_1/up'))).toBe('app/../app/server.js')
  expect(lstatSync(join(into, 'bundles/dpl_1/circle')).isSymbolicLink()).toBe(true)
  expect(statSync(join(into, 'sources/dpl_1/empty')).isDirectory()).toBe(true)
  rmSync(into, { recursive: true })
})

test('a backup of an earlier version is taken', async () => {
  const [file, into] = [join(folder, 'format-1.tar.gz'), fresh()]
  await forgeBackup(folder, file, { is_format_1: true })
  expect(await restore(file, into, { key_file: keyFile })).toMatchObject({ instance_id: 'abc', lost: [] })
  rmSync(into, { recursive: true })
})

describe('hostile or invalid, although encrypted with our key', () => {
  const cases: [string, BackupForgery, RegExp][] = [
    ['a name that climbs out', { entries: [fileOf('bundles/../../evil', 'x')] }, /contains an unexpected entry/],
    ['an absolute name', { entries: [fileOf('/tmp/evil', 'x')] }, /contains an unexpected entry/],
    ['an empty part', { entries: [fileOf('bundles//evil', 'x')] }, /contains an unexpected entry/],
    ['a dot', { entries: [fileOf('bundles/./evil', 'x')] }, /contains an unexpected entry/],
    ['an extra folder', { entries: [fileOf('other/evil', 'x')] }, /contains an unexpected entry/],
    ['a file next to the main database', { entries: [fileOf('instance.json', '{}')] }, /contains an unexpected entry/],
    ['a master key', { entries: [fileOf('master.key', 'x')] }, /contains an unexpected entry/],
    ['a write-ahead log of the main database', { entries: [fileOf('homeport.db-wal', 'x')] }, /contains an unexpected entry/],
    ['a dump with a path', { entries: [fileOf('databases/../x.sql', 'x')] }, /contains an unexpected entry/],
    ['a link to a system folder', { entries: [linkOf('bundles/dpl_1/etc', '/etc')] }, /points outside of its folder/],
    ['a link that leaves the folder', { entries: [linkOf('bundles/dpl_1/a/l', '../../dpl_2/x')] }, /points outside of its folder/],
    ['a link in place of a deployment', { entries: [linkOf('bundles/dpl_1', 'x')] }, /contains an unexpected entry/],
    ['a link among archives', { entries: [linkOf('archives/prj_1/dpl_1', 'x')] }, /contains an unexpected entry/],
    ['a file through a link', { entries: [linkOf('bundles/d/l', 'x'), fileOf('bundles/d/l/evil', 'x')] }, /two entries with the same name/],
    ['a file twice', { entries: [fileOf('bundles/d/a', 'x'), fileOf('bundles/d/a', 'y')] }, /two entries with the same name/],
    ['the main database twice', { entries: [fileOf('homeport.db', 'x')] }, /two entries with the same name/],
    [
      'a path that is both a file and a folder',
      { entries: [fileOf('bundles/d/a', 'x'.repeat(100_000)), fileOf('bundles/d/a/b', 'y')] },
      /two entries with the same name|ENOTDIR|EEXIST/,
    ],
    ['a path of five thousand bytes', { entries: [fileOf(`bundles/${'n/'.repeat(150)}${'x'.repeat(4800)}`, 'x')] }, /contains an unexpected entry/],
    ['no end', { without: [trailerName] }, /truncated: its end is missing/],
    ['no main database', { without: ['homeport.db'] }, /incomplete/],
    ['data after the end', { after: [fileOf('bundles/d/a', 'x')] }, /data after its end/],
    ['another digest', { end: { digest: '0'.repeat(64) } }, /damaged: its checksum does not match/],
    ['another seal', { end: { seal: 'AAAA' } }, /modified after it was created/],
    ['a newer format', { head: { format: backupFormat + 1 } }, /newer version of Homeport/],
    ['a newer main database', { head: { schema_version: 99 } }, /newer version of Homeport/],
    ['an invalid head', { head: { created_at: 'once' } }, /not a Homeport backup/],
    ['a part with other content', { head: { parts: [{ name: 'logs.db', bytes: 1, sha256: '0'.repeat(64) }] } }, /logs\.db in the backup is damaged/],
    ['a missing part', { head: { parts: [{ name: 'databases/x.sql', bytes: 1, sha256: '0'.repeat(64) }] } }, /incomplete/],
    [
      'a trigger in the main database',
      { store: alter('homeport.db', 'CREATE TRIGGER t AFTER INSERT ON tokens BEGIN DELETE FROM tokens; END') },
      /does not have the tables/,
    ],
    [
      'a view in place of a table',
      { store: alter('logs.db', 'DROP TABLE chunks; CREATE VIEW chunks AS SELECT 1 AS stream') },
      /does not have the tables/,
    ],
    ['a main database without a column', { store: alter('homeport.db', 'ALTER TABLE settings DROP COLUMN value') }, /does not have the tables/],
    [
      'rows without a project',
      { store: alter('homeport.db', "PRAGMA foreign_keys = OFF; INSERT INTO branches VALUES ('prj_none', 'main', 'x')") },
      /rows that are not there/,
    ],
    ['a main database without a version', { store: alter('homeport.db', 'PRAGMA user_version = 0') }, /of version 0/],
    [
      'a main database that is not a database',
      { store: (name, path) => name === 'homeport.db' && writeFileSync(path, 'hello'.repeat(5000)) },
      /cannot be read|is damaged/,
    ],
  ]
  test.each(cases)('%s', async (_name, forgery, says) => {
    const file = join(folder, 'forged.tar.gz')
    await forgeBackup(folder, file, forgery)
    await refused(file, says)
  })

  test('a symlink that leaves the folder through another is dropped and reported', async () => {
    const file = join(folder, 'over.tar.gz')
    await forgeBackup(folder, file, {
      entries: [fileOf('bundles/d/a/b/c/f', 'x'), linkOf('bundles/d/a/b/c/up', '../../..'), linkOf('bundles/d/out', 'a/b/c/up/../../..')],
    })
    const into = fresh()
    const { left_out } = await restore(file, into, { key_file: keyFile })
    expect(left_out).toEqual(['bundles/d/out: a link that points outside of its folder.'])
    expect(readdirSync(join(into, 'bundles/d')).sort()).toEqual(['a'])
    rmSync(into, { recursive: true })
  })
})

describe('restored artifact paths', () => {
  const common = { spa_fallback: false, bytes: 1 }
  const rows: Record<string, [artifact: object, is_there: boolean]> = {
    dpl_site: [{ kind: 'static', directory: '/old/bundles/x/bundles/dpl_site/app/bundles/out', ...common }, true],
    dpl_windows: [{ kind: 'static', directory: 'C:\\Data\\bundles\\dpl_windows\\site', ...common }, true],
    dpl_app: [{ kind: 'bundle', directory: '/old/bundles/dpl_app/app', command: ['/old/bundles/dpl_app/run', 'x'], bytes: 1 }, true],
    dpl_image: [{ kind: 'image', image: 'sha256:1', port: null, bytes: 1 }, true],
    dpl_gone: [{ kind: 'static', directory: '/old/bundles/dpl_gone/site', ...common }, false],
    dpl_etc: [{ kind: 'static', directory: '/etc', ...common }, true],
    dpl_up: [{ kind: 'static', directory: '/old/bundles/dpl_up/../../../etc', ...common }, true],
  }
  const artifactsAfter = async (head: BackupForgery['head']) => {
    const file = join(folder, 'artifacts.tar.gz')
    await forgeBackup(folder, file, {
      ...(head ? { head } : {}),
      entries: Object.entries(rows).flatMap(([id, [, isThere]]) => (isThere ? [fileOf(`bundles/${id}/site/index.html`, 'x')] : [])),
      async fill(store) {
        const { owner } = await bootstrapInstance({ db: store.db, sealer, clock: systemClock })
        await store.db.write((tx) => {
          insertSampleProject(tx, owner.account_id)
          for (const [id, [artifact]] of Object.entries(rows))
            tx.statement(`INSERT INTO deployments (id, project_id, status, target, trigger, source, runtime, created_at, source_request, artifact)
               VALUES (?, 'prj_1', 'ready', 'production', 'manual', 'git', 'process', '2026-01-31', '{}', ?)`).run(id, JSON.stringify(artifact))
        })
      },
    })
    const into = fresh()
    await restore(file, into, { key_file: keyFile })
    const store = await openStore({ data_dir: into, after_crash: false })
    const found = store.db.readSync((tx) => tx.statement('SELECT id, artifact FROM deployments').all() as { id: string; artifact: string | null }[])
    await store.close()
    rmSync(into, { recursive: true })
    return Object.fromEntries(
      found.map(({ id, artifact }) => {
        const value = artifact === null ? null : (JSON.parse(artifact.replaceAll(into, 'NEW')) as { directory: string; command?: string[] })
        return [id, value && [value.directory, ...(value.command ?? [])]]
      }),
    )
  }

  test('are below the new folder, or null', async () => {
    expect(await artifactsAfter(undefined)).toEqual({
      dpl_site: ['NEW/bundles/dpl_site/app/bundles/out'],
      dpl_windows: ['NEW/bundles/dpl_windows/site'],
      dpl_app: ['NEW/bundles/dpl_app/app', 'NEW/bundles/dpl_app/run', 'x'],
      dpl_image: null,
      dpl_gone: null,
      dpl_etc: null,
      dpl_up: null,
    })
  })

  test('an app of another architecture is rebuilt, a site is not', async () => {
    expect(await artifactsAfter({ arch: 'other' })).toMatchObject({ dpl_site: [expect.anything()], dpl_app: null })
  })
})

describe('damage', () => {
  test('flipped bits in the file and in its content', () =>
    forEachSeed(new URL('corpus/flipped-bits.json', import.meta.url), (seed) => checkFlippedBits(good, { seed, flips: 40 }), { explored: 3 }))

  test('truncated anywhere', async () => {
    const bytes = readFileSync(good)
    const file = join(folder, 'cut.tar.gz')
    for (const part of [0, 0.001, 0.01, 0.1, 0.3, 0.5, 0.8, 0.95, 0.999]) {
      writeFileSync(file, bytes.subarray(0, Math.floor(bytes.length * part)))
      await refused(file, /damaged|truncated|incomplete|not a Homeport backup/)
    }
  })

  test('a file that is not a backup', async () => {
    const file = join(folder, 'text')
    writeFileSync(file, 'hello')
    await refused(file, /damaged|not a Homeport backup|truncated/)
    await refused(join(folder, 'none'), /The file .* does not exist/)
  })
})

describe('the target folder', () => {
  test('is refused and not touched if it is not empty', async () => {
    const into = fresh()
    mkdirSync(into)
    writeFileSync(join(into, 'mine.txt'), 'mine')
    await expect(restore(good, into, { key_file: keyFile })).rejects.toThrow(/is not empty.*No files were changed/)
    expect(readdirSync(into)).toEqual(['mine.txt'])
    rmSync(into, { recursive: true })
  })

  test('does not start after an interrupted restore, which can be repeated', async () => {
    const into = fresh()
    mkdirSync(join(into, '.restoring', 'bundles'), { recursive: true })
    writeFileSync(join(into, 'logs.db'), 'half')
    writeFileSync(join(into, '.restoring', 'homeport.db'), 'half')
    expect(() => assertRestoreComplete(into)).toThrow(/was interrupted.*Run it again/)
    await restore(good, into, { key_file: keyFile })
    expect(existsSync(join(into, '.restoring'))).toBe(false)
    rmSync(into, { recursive: true })
  })

  test('is empty after an aborted restore', async () => {
    const into = fresh()
    await expect(restore(good, into, { key_file: keyFile, signal: AbortSignal.abort() })).rejects.toThrow()
    expect(existsSync(into)).toBe(false)
  })
})

describe('the key', () => {
  test('without one the error says where it was', async () => {
    await expect(restore(good, fresh())).rejects.toThrow(/not in a backup.*master\.key.*--key FILE.*--without-key/)
    expect(readdirSync(watched)).toEqual([])
  })

  test('another key, and an invalid file, are refused', async () => {
    const other = join(folder, 'other.key')
    writeFileSync(other, 'ab'.repeat(32))
    await expect(restore(good, fresh(), { key_file: other })).rejects.toThrow(/does not match the backup/)
    writeFileSync(other, 'no key')
    await expect(restore(good, fresh(), { key_file: other })).rejects.toThrow(/is not a master key/)
    await expect(restore(good, fresh(), { key_file: join(folder, 'none') })).rejects.toThrow(/The key file .* does not exist/)
    expect(readdirSync(watched)).toEqual([])
  })

  test('lost: everything but the secrets is restored, what is lost is listed, and passwords are regenerated', async () => {
    const file = join(folder, 'secrets.tar.gz')
    const answered = { account_id: '', key: 'key' }
    const response = { status: 201, headers: {}, body: '{}' }
    const registryColumn = { table: 'registries', column: 'sealed_password', row: 'prj_1 ghcr.io' }
    const serviceColumn = (name: string) => ({ table: 'managed_services', column: 'sealed_password', row: `prj_1 ${name}` })
    const readColumn = (store: Store, sql: string) =>
      store.db.readSync((tx) => tx.statement(sql).all() as { name: string; sealed_password: Uint8Array }[])
    const registries = 'SELECT host AS name, sealed_password FROM registries'
    const services = 'SELECT name, sealed_password FROM managed_services ORDER BY name'
    const keptIn = (store: Store, by = sealer) => createIdempotencyStore({ db: store.db, sealer: by, clock: systemClock })
    await forgeBackup(folder, file, {
      async fill(store) {
        const foundation = await bootstrapInstance({ db: store.db, sealer, clock: systemClock })
        const at = isoTime(systemClock.now())
        answered.account_id = foundation.owner.account_id
        await store.db.write((tx) => {
          insertSampleProject(tx, foundation.owner.account_id)
          for (const name of ['A', 'B'])
            tx.statement(
              "INSERT INTO env_vars (id, project_id, key, sealed_value, is_sensitive, created_at, updated_at) VALUES (?, 'prj_1', ?, ?, 0, ?, ?)",
            ).run(`env_${name}`, name, sealer.seal({ table: 'env_vars', column: 'sealed_value', row: name }, 'x'), at, at)
          tx.statement(
            "INSERT INTO databases (project_id, branch, driver, db_name, db_user, sealed_password, is_ready, created_at) VALUES ('prj_1', '', 'process', 'p_1', 'p_1', ?, 1, ?)",
          ).run(sealer.seal({ table: 'databases', column: 'sealed_password', row: 'p_1' }, 'old'), at)
          tx.statement("INSERT INTO registries VALUES ('prj_1', 'ghcr.io', 'me', ?, ?)").run(sealer.seal(registryColumn, 'hunter2'), at)
          tx.statement(
            `INSERT INTO notification_targets (id, account_id, type, name, sealed_address, is_trusted, rules, is_enabled, created_at)
             VALUES ('ntt_1', ?, 'slack', 'chat', ?, 1, '{}', 1, ?)`,
          ).run(answered.account_id, sealer.seal({ table: 'notification_targets', column: 'sealed_address', row: 'ntt_1' }, 'https://x.test/'), at)
          for (const name of ['mariadb', 'redis'])
            tx.statement('INSERT INTO managed_services (project_id, name, sealed_password, created_at, removed_at) VALUES (?, ?, ?, ?, NULL)').run(
              'prj_1',
              name,
              sealer.seal(serviceColumn(name), 'old'),
              at,
            )
          tx.statement("INSERT INTO authorities VALUES ('aut_1', 'pem', ?, ?)").run(
            sealer.seal({ table: 'authorities', column: 'sealed_key', row: 'aut_1' }, 'pem'),
            at,
          )
          tx.statement(`INSERT INTO owned_domains (id, account_id, hostname, registrar, reference, expires_at, auto_renew, sealed_registrant, sealed_auth_code, created_at)
             VALUES ('own_1', ?, 'sea.test', 'local', 'ref', ?, 1, ?, NULL, ?)`).run(
            answered.account_id,
            at,
            sealer.seal({ table: 'owned_domains', column: 'sealed_registrant', row: 'own_1' }, '{}'),
            at,
          )
        })
        await keptIn(store).begin(answered, 'print')
        await keptIn(store).saveResponse(answered, 'print', response)
      },
    })
    const withKey = fresh()
    expect((await restore(file, withKey, { key_file: keyFile })).lost).toEqual([])
    const whole = await openStore({ data_dir: withKey, after_crash: false })
    expect(await keptIn(whole).find(answered)).toEqual({ fingerprint: 'print', response })
    // In the backup they are encrypted as they were stored, and nowhere in plain text.
    const [kept] = readColumn(whole, registries)
    expect(sealer.unseal(registryColumn, kept!.sealed_password)).toBe('hunter2')
    expect(gunzipSync(readFileSync(file)).includes('hunter2')).toBe(false)
    expect(readColumn(whole, services).map(({ name, sealed_password }) => sealer.unseal(serviceColumn(name), sealed_password))).toEqual([
      'old',
      'old',
    ])
    await whole.close()
    rmSync(withKey, { recursive: true })

    const into = fresh()
    const { lost } = await restore(file, into, { key: 'lost' })
    expect(lost).toEqual([
      'Variables of one: A, B. Set them again.',
      'Repository credentials of one. Enter them again.',
      'Credentials of one for ghcr.io. Enter them again.',
      'Passwords of the managed services of one. New passwords were generated. MariaDB’s data has the old one: restore a dump into it.',
      'The local certificate authority. Run homeport trust to trust the new one.',
      expect.stringContaining('Registrant data and transfer codes of purchased domains'),
      'Notification targets. Add them again.',
      'Database passwords. New passwords were generated; the data is intact.',
    ])
    const made = createSealer(Buffer.from(readFileSync(join(into, 'master.key'), 'utf8').trim(), 'hex'))
    const store = await openStore({ data_dir: into, after_crash: false })
    const [row] = store.db.readSync((tx) => tx.statement('SELECT sealed_password FROM databases').all() as { sealed_password: Uint8Array }[])
    expect(made.unseal({ table: 'databases', column: 'sealed_password', row: 'p_1' }, row!.sealed_password)).toMatch(/^[\w-]{43}$/)
    expect(readColumn(store, registries)).toEqual([])
    for (const { name, sealed_password } of readColumn(store, services))
      expect(made.unseal(serviceColumn(name), sealed_password)).toMatch(/^[\w-]{43}$/)
    expect(store.db.readSync((tx) => tx.statement('SELECT hostname, sealed_registrant FROM owned_domains').get())).toEqual({
      hostname: 'sea.test',
      sealed_registrant: null,
    })
    expect(await keptIn(store, made).find(answered)).toBeUndefined()
    // From now on it is decrypted with the new key.
    await bootstrapInstance({ db: store.db, sealer: made, clock: systemClock })
    await store.close()
    rmSync(into, { recursive: true })
  })

  test('a key that only a keychain can decrypt is restored as it is', async () => {
    const sealed = join(folder, 'master.key.sealed')
    writeFileSync(sealed, Buffer.from([1, 2, 3]))
    const into = fresh()
    await restore(good, into, { key: { file: sealed, is_wrapped: true } })
    expect([...readFileSync(join(into, 'master.key.sealed'))]).toEqual([1, 2, 3])
    expect(existsSync(join(into, 'master.key'))).toBe(false)
    rmSync(into, { recursive: true })
  })
})

function alter(file: string, sql: string): (name: string, path: string) => void {
  return (name, path) => {
    if (name !== file) return
    const db = new Sqlite(path)
    db.pragma('foreign_keys = OFF')
    db.exec(sql)
    db.close()
  }
}
