/** A disk that fills up during a backup, an hourly copy and a restore. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../server/lib/clock.ts'
import { silentLog } from '../../server/lib/log.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { type Backups, createBackups } from '../../server/maintenance/backup/backups.ts'
import { requires } from '../support/requirements.ts'
import { key, restore, sealer } from './forged-backups.ts'

describe.skipIf(!requires('tmpfs').ok)('a full disk', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-full-'))
  const data = join(folder, 'data')
  const kept = join(data, 'backups')
  const names = () => readdirSync(kept).sort()
  const free = () => statfsSync(data).bavail * statfsSync(data).bsize
  let store: Store
  let backups: Backups

  beforeAll(async () => {
    mkdirSync(data)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=28m', 'tmpfs', data])
    store = await openStore({ data_dir: data, after_crash: false })
    mkdirSync(join(data, 'screenshots'))
    writeFileSync(join(data, 'screenshots', 'a.png'), randomBytes(10_000_000))
    const options = {
      data_dir: data,
      db: store.db,
      instance_id: 'abc',
      sealer,
      clock: systemClock,
      log: silentLog,
      databases: undefined,
      volumes: undefined,
    }
    backups = await createBackups({ ...options, key_kind: 'file_key' })
  })
  afterAll(async () => {
    await backups?.close()
    await store?.close()
    execFileSync('umount', [data])
    rmSync(folder, { recursive: true, force: true })
  })

  test('storage_full, no partial file is left, and it succeeds once there is space', async () => {
    const { backup } = await backups.create()
    const before = free()
    await expect(backups.create()).rejects.toMatchObject({ code: 'storage_full', message: expect.stringContaining('no backup was created') })
    expect(names()).toEqual([backup.name])
    expect(free()).toBe(before)

    writeFileSync(join(data, 'filler'), randomBytes(free() - 100_000))
    await expect(backups.createHourlyCopy()).rejects.toMatchObject({ code: 'storage_full' })
    await expect(backups.create()).rejects.toMatchObject({ code: 'storage_full' })
    expect(names()).toEqual([backup.name])
    expect(await backups.checks()).toMatchObject([{ status: 'failed', message: expect.stringContaining('The disk of this machine is full') }])

    rmSync(join(data, 'filler'))
    await backups.createHourlyCopy()
    expect(await backups.checks()).toMatchObject([{ status: 'ok' }])
    expect(names()).toHaveLength(2)
    // The existing backup is still valid.
    const keyFile = join(folder, 'key')
    writeFileSync(keyFile, key.toString('hex'))
    const into = join(folder, 'new')
    await restore(backup.path, into, { key_file: keyFile })
    expect(readFileSync(join(into, 'screenshots', 'a.png')).equals(readFileSync(join(data, 'screenshots', 'a.png')))).toBe(true)

    // A restore keeps space free for the machine, and leaves nothing behind.
    const small = join(data, 'restored')
    await expect(restore(backup.path, small, { key_file: keyFile })).rejects.toThrow(/not enough disk space/)
    expect(readdirSync(data)).not.toContain('restored')
  })
})
