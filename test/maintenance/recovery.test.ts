/** A main database that is damaged or missing at startup (R12). */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { copyDatabaseFile } from '../../server/store/database-copy.ts'
import { openStore } from '../../server/store/store.ts'
import { fullTest } from '../support/full-test.ts'
import { startTestPlatform, until } from '../support/platform.ts'
import { createSeededRandom } from '../support/seeded-random.ts'

let folder: string
const path = () => join(folder, 'homeport.db')
const copies = () => join(folder, 'backups')

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-recovery-'))
  mkdirSync(copies())
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A database of a few hundred pages; each copy has 300 rows more than the previous one. */
async function fill(times: string[]): Promise<void> {
  const store = await openStore({ data_dir: folder, after_crash: false })
  let rows = 0
  const write = () =>
    store.db.write((tx) => {
      for (let i = 0; i < 300; i++)
        tx.statement('INSERT INTO settings (key, value) VALUES (?, ?)').run(`row ${String(rows++)}`, `"${'x'.repeat(500)}"`)
    })
  for (const time of times) {
    await write()
    await copyDatabaseFile(path(), join(copies(), `hourly-${time}.db`))
  }
  await write()
  await store.close()
}

function flip(file: string, pages: number): void {
  const seededRandom = createSeededRandom(7)
  const bytes = readFileSync(file)
  for (let i = 0; i < pages; i++) {
    const page = seededRandom.between(1, Math.floor(bytes.length / 4096) - 1)
    for (let k = 0; k < 64; k++) bytes[page * 4096 + seededRandom.between(0, 4095)]! ^= 0xff
  }
  writeFileSync(file, bytes)
}

async function rowsNow(afterCrash = false) {
  const store = await openStore({ data_dir: folder, after_crash: afterCrash })
  const { recovery: recovered } = store
  const rows = store.db.readSync(
    (tx) => (tx.statement("SELECT count(*) AS n FROM settings WHERE key LIKE 'row %'").get() as { n: number } | undefined)?.n,
  )
  const reported = store.db.readSync(
    (tx) => (tx.statement("SELECT value FROM settings WHERE key = 'recovered'").get() as { value: string } | undefined)?.value,
  )
  await store.close()
  return { rows, recovered, reported }
}

const times = ['2026-01-01T10-00-00Z', '2026-01-01T11-00-00Z', '2026-01-01T12-00-00Z']

describe('the main database', () => {
  test.each([
    ['20 pages of it are damaged', () => flip(path(), 20)],
    ['its header is damaged', () => writeFileSync(path(), Buffer.concat([Buffer.alloc(4096, 0xaa), readFileSync(path()).subarray(4096)]))],
    ['it is truncated', () => truncateSync(path(), 8192 * 3 + 100)],
    ['it is empty', () => truncateSync(path(), 0)],
    ['it is missing', () => rmSync(path())],
  ])('%s: the newest copy replaces it, and its time is reported', async (_what, harm) => {
    await fill(times)
    harm()
    const isThere = readdirSync(folder).includes('homeport.db')
    const { rows, recovered, reported } = await rowsNow()
    expect(rows).toBe(900)
    expect(recovered).toMatchObject({ copied_at: '2026-01-01T12:00:00.000Z', copy: 'hourly-2026-01-01T12-00-00Z.db' })
    expect(JSON.parse(reported ?? '')).toEqual(recovered)
    const aside = readdirSync(folder).filter((name) => /^homeport\.db\.damaged-[\dTZ-]+$/.test(name))
    expect(aside).toEqual(isThere ? [recovered?.damaged_file] : [])
    expect(statSync(path()).mode & 0o777).toBe(0o600)
    // From now on it is an ordinary database.
    expect(await rowsNow(true)).toMatchObject({ rows: 900, recovered: undefined })
  })

  test('damaged, newer-version and truncated copies are skipped', async () => {
    await fill(times)
    const [oldest = '', middle = '', newest = ''] = times.map((time) => join(copies(), `hourly-${time}.db`))
    flip(newest, 20)
    truncateSync(middle, 4096 * 10)
    const newer = readFileSync(oldest)
    newer.writeUInt32BE(9999, 60)
    writeFileSync(join(copies(), 'hourly-2026-01-01T13-00-00Z.db'), newer)
    flip(path(), 20)
    const { rows, recovered } = await rowsNow()
    expect(rows).toBe(300)
    expect(recovered?.copied_at).toBe('2026-01-01T10:00:00.000Z')
    expect(readdirSync(folder).filter((name) => name.includes('recovering'))).toEqual([])
  })

  test('without a good copy it is refused, and nothing is changed', async () => {
    await fill(times.slice(0, 1))
    flip(path(), 20)
    flip(join(copies(), `hourly-${times[0]}.db`), 20)
    const before = readFileSync(path())
    await expect(rowsNow()).rejects.toThrow(/is damaged, and no copy .* is intact\. Nothing was changed\. Restore a backup/)
    expect(readFileSync(path()).equals(before)).toBe(true)
    expect(readdirSync(folder).sort()).toEqual(expect.arrayContaining(['backups', 'homeport.db']))
    // A missing database next to invalid copies does not count as a new instance either.
    rmSync(path())
    await expect(rowsNow()).rejects.toThrow(/gone or empty/)
  })

  test('a start interrupted between the two moves recovers', async () => {
    await fill(times)
    const bytes = readFileSync(path())
    rmSync(path())
    writeFileSync(join(folder, 'homeport.db.damaged-2026-01-01T12-30-00Z'), bytes)
    writeFileSync(join(folder, 'homeport.db.recovering'), bytes.subarray(0, 5000))
    expect((await rowsNow(true)).rows).toBe(900)
  })
})

test('a platform that starts on a damaged database serves from the copy, and reports it', async () => {
  const site = mkdtempSync(join(tmpdir(), 'homeport-kept-'))
  writeFileSync(join(site, 'index.html'), '<h1>kept</h1>')
  const first = await startTestPlatform({ runtime: 'process', data_dir: folder })
  const { body } = await first.api<{ project: { slug: string }; deployment: { id: string } }>('POST', '/instance/deploy-folder', {
    path: site,
    slug: 'kept',
  })
  await first.waitForEnd('kept', body.deployment.id)
  // The periodic jobs start five seconds after the start.
  await first.advance(5_000)
  await until(() => readdirSync(copies()).find((name) => /^hourly-.*\.db$/.test(name)), { what: 'the first safe copy' })
  await first.createProject({ slug: 'after-the-copy' })
  await first.handle.stop()
  flip(path(), 20)

  const second = await startTestPlatform({ runtime: 'process', data_dir: folder })
  try {
    expect(second.handle.notices.join(' ')).toMatch(/The database was damaged, so Homeport restored the copy of \d{4}-/)
    expect(second.log.join('\n')).toContain('"event":"recovered_from_backup"')
    expect((await second.fetchEdge('kept.localhost')).body).toBe('<h1>kept</h1>')
    expect((await second.api('GET', '/v1/projects/after-the-copy')).status).toBe(404)
    const health = await (await fetch(`${second.handle.api_url}/healthz`)).json()
    expect(health).toMatchObject({ checks: { recovered_from_backup: expect.stringMatching(/^\d{4}-/) } })
    const { checks } = (await second.api<{ checks: { name: string; status: string; hint: string }[] }>('GET', '/instance/doctor?quick=true')).body
    expect(checks.find((one) => one.name === 'backups')).toMatchObject({ status: 'warning', hint: expect.stringContaining('then remove') })
    const reported = (await second.api<{ recovered: { damaged_file: string } | null }>('GET', '/instance/backups')).body.recovered
    expect(reported?.damaged_file).toMatch(/^homeport\.db\.damaged-/)
    // Until the damaged file is removed.
    for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `${reported!.damaged_file}${end}`), { force: true })
    expect((await second.api<{ recovered: unknown }>('GET', '/instance/backups')).body.recovered).toBeNull()
  } finally {
    await second.handle.stop()
    rmSync(site, { recursive: true })
  }
})

test('a damaged log starts empty, and the main database stays', async () => {
  await fill(times)
  writeFileSync(join(folder, 'logs.db'), Buffer.alloc(20_000, 1))
  const { rows, recovered } = await rowsNow()
  expect([rows, recovered]).toEqual([1200, undefined])
  expect(readdirSync(folder)).toContain('logs.db.damaged')
})

fullTest('so does a log with some damaged pages: no query throws', async () => {
  const before = await openStore({ data_dir: folder, after_crash: false })
  for (let n = 0; n < 400; n++)
    before.logs.append({ stream: `dpl_${n % 20}`, first: n + 1, records: 1, lines: 1, last_line: n + 1, bytes: 900, body: 'x'.repeat(900) })
  await before.close()
  flip(join(folder, 'logs.db'), 20)
  const store = await openStore({ data_dir: folder, after_crash: false })
  try {
    expect(store.logs.listStreams()).toEqual([])
    for (let n = 0; n < 20; n++) expect(store.logs.readTail(`dpl_${n}`, 10_000)).toEqual([])
    store.logs.append({ stream: 'dpl_1', first: 1, records: 1, lines: 1, last_line: 1, bytes: 4, body: '{}' })
    expect(readdirSync(folder)).toContain('logs.db.damaged')
  } finally {
    await store.close()
  }
})
