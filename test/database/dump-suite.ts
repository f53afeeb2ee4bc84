import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { Client } from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database, DatabaseDump } from '../../server/contract/databases.ts'
import { fullTest } from '../support/full-test.ts'
import { type TestPlatform, until } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { isFullTier } from '../support/tier.ts'
import { queryDatabase } from './guest-book-app.ts'
import { fingerprint, richSchema } from './rich-schema.ts'

const run = promisify(execFile)

interface Restored {
  database: Database
  dump: DatabaseDump
  error?: string
  message?: string
}

/** Leftovers of an interrupted run in a data folder, on which the platform under test starts. */
export function createPartialDump(data_dir: string): void {
  mkdirSync(join(data_dir, 'dumps'))
  writeFileSync(join(data_dir, 'dumps', 'dmp_of-a-run-that-was-cut-off.sql.gz.part'), 'half')
}

/**
 * Both drivers share the code of dumps and restores, but not the servers. `rows`: the size of the largest table;
 * a large one is for the full tier, which also takes the other format of pg_dump.
 */
export function dumpSuite(getPlatform: () => TestPlatform, { rows }: { rows: number }): void {
  describe('dumps of a database', () => {
    let platform: TestPlatform
    let rich: Database
    let small: Database
    let seen: unknown[][]
    /** Of the project `rich`. */
    let made: DatabaseDump

    const make = async (slug: string): Promise<Database> => {
      await platform.createProject({ slug })
      const { status, body } = await platform.api<{ database: Database }>('POST', `/v1/projects/${slug}/database`)
      expect(status).toBe(201)
      return body.database
    }
    const dumpsAt = (slug: string) => `/instance/projects/${slug}/database/dumps`
    const dump = async (slug: string): Promise<DatabaseDump> => {
      const { status, body } = await platform.api<{ dump: DatabaseDump; message?: string }>('POST', dumpsAt(slug))
      expect([status, body.message]).toEqual([201, undefined])
      return body.dump
    }
    const list = async (slug: string) => (await platform.api<{ dumps: DatabaseDump[] }>('GET', dumpsAt(slug))).body.dumps
    const bytesOf = async (path: string) => {
      const { api_url, token } = platform.handle.instance
      const response = await fetch(`${api_url}${path}`, { headers: { authorization: `Bearer ${token}` } })
      expect(response.status).toBe(200)
      return Buffer.from(await response.arrayBuffer())
    }
    const send = async (slug: string, file: Buffer | string | ReadableStream<Uint8Array>, type = 'application/sql') => {
      const { api_url, token } = platform.handle.instance
      const init = {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': type },
        body: Buffer.isBuffer(file) ? new Uint8Array(file) : file,
        duplex: 'half',
      }
      const response = await fetch(`${api_url}/instance/projects/${slug}/database/import`, init)
      return { status: response.status, body: (await response.json()) as Restored }
    }
    const pathOf = (one: DatabaseDump) => join(platform.data_dir, 'dumps', one.file)
    const halves = () => readdirSync(join(platform.data_dir, 'dumps')).filter((name) => !name.endsWith('.sql.gz'))

    beforeAll(async () => {
      platform = getPlatform()
      expect(halves()).toEqual([])
      rich = await make('rich')
      await queryDatabase(rich.connection_string, richSchema(rows))
      seen = await queryDatabase(rich.connection_string, fingerprint)
      expect(seen.length).toBeGreaterThan(40)
      small = await make('small')
      await queryDatabase(small.connection_string, 'CREATE TABLE kept AS SELECT 1 AS a')
    })

    test('a dump is a private file, is listed, and can be downloaded', async () => {
      made = await dump('rich')
      expect(made).toEqual({
        id: expect.stringMatching(/^dmp_/),
        project_slug: 'rich',
        service: null,
        db_name: rich.db_name,
        reason: 'manual',
        name: null,
        bytes: statSync(pathOf(made)).size,
        file: `${made.id}.sql.gz`,
        created_at: expect.any(String),
      })
      expect(statSync(pathOf(made)).mode & 0o777).toBe(0o600)
      expect(JSON.stringify(made)).not.toContain(platform.data_dir)
      expect((await list('rich'))[0]).toEqual(made)
      expect(await bytesOf(`${dumpsAt('rich')}/${made.id}`)).toEqual(readFileSync(pathOf(made)))
      expect((await platform.api<{ dumps: DatabaseDump[] }>('GET', '/instance/dumps')).body.dumps).toContainEqual(made)
    })

    test('restores one object of every kind', async () => {
      await queryDatabase(
        rich.connection_string,
        "DROP TABLE egg CASCADE; UPDATE many SET hash = id::text; CREATE TABLE new_one (a int); SELECT nextval('odd')",
      )
      const back = await platform.api<Restored>('POST', `${dumpsAt('rich')}/${made.id}/restore`)
      expect([back.status, back.body.message]).toEqual([200, undefined])
      expect(back.body.database.connection_string).toBe(rich.connection_string)
      expect(back.body.dump).toMatchObject({ reason: 'restore', project_slug: 'rich' })
      expect(await queryDatabase(rich.connection_string, fingerprint)).toEqual(seen)

      // The state before the restore is in its own dump.
      expect(gunzipSync(readFileSync(pathOf(back.body.dump))).toString()).toContain('CREATE TABLE public.new_one')
    })

    if (isFullTier) {
      test.skipIf(!requires('psql').ok)('psql reads our dumps, and a restore reads those of pg_dump, with owners and grants', async () => {
        const plain = join(platform.data_dir, 'plain.sql')
        writeFileSync(plain, gunzipSync(readFileSync(pathOf(made))))
        const byPsql = await make('by-psql')
        await run('psql', [byPsql.connection_string, '--no-psqlrc', '--quiet', '--set', 'ON_ERROR_STOP=1', '--file', plain])
        expect(await queryDatabase(byPsql.connection_string, fingerprint)).toEqual(seen)

        const pgDump = async (...args: string[]) =>
          (await run('pg_dump', [...args, '--dbname', rich.connection_string], { maxBuffer: 2 ** 30 })).stdout
        // An older pg_dump refuses this server; `upgrade-suite.ts` restores the dump of a database of PostgreSQL 15.
        if (Number(/\d+/.exec((await run('pg_dump', ['--version'])).stdout)?.[0]) < Number.parseInt(rich.engine_version)) return
        const theirs = await pgDump()
        expect(theirs).toContain(`OWNER TO ${rich.db_user}`)
        expect((await send('by-psql', theirs)).body.message).toBeUndefined()
        expect(await queryDatabase(byPsql.connection_string, fingerprint)).toEqual(seen)
        if (rows < 10_000) return
        const inserts = gzipSync(await pgDump('--inserts', '--exclude-table=many', '--exclude-table=counted'))
        expect((await send('by-psql', inserts, 'application/gzip')).body.message).toBeUndefined()
        expect(await queryDatabase(byPsql.connection_string, 'SELECT count(*) FROM people')).toEqual([['4']])
      })
    }

    fullTest('a delete writes a dump first, which a new database can restore', async () => {
      expect((await platform.api('DELETE', '/v1/projects/rich/database')).status).toBe(204)
      const [last] = await list('rich')
      expect(last).toMatchObject({ reason: 'drop', project_slug: 'rich' })
      expect(platform.log.join('\n')).toContain(last!.file)
      // It is a dump of the restored database, with the same text.
      expect(gunzipSync(readFileSync(pathOf(last!)))).toEqual(gunzipSync(readFileSync(pathOf(made))))
      expect((await platform.api('POST', `${dumpsAt('rich')}/${last?.id}/restore`)).body).toMatchObject({ error: 'database_not_found' })
      const { body } = await platform.api<{ database: Database }>('POST', '/v1/projects/rich/database')
      expect((await platform.api('POST', `${dumpsAt('rich')}/${last?.id}/restore`)).status).toBe(200)
      expect(body.database.db_user).not.toBe(rich.db_user)
      rich = body.database
      expect(await queryDatabase(rich.connection_string, fingerprint)).toEqual(seen)
      // The app works as before: triggers, policies, identities, references.
      const name = "SELECT name FROM people WHERE mail = 'new@b.c'"
      await queryDatabase(rich.connection_string, "INSERT INTO people (name, mail) VALUES ('eve', 'new@b.c')")
      expect(await queryDatabase(rich.connection_string, name)).toEqual([['eve!']])
    })

    const broken: [string, Buffer, string, RegExp][] = [
      ['with an error', Buffer.from('CREATE TABLE a (x int);\nSELECT nonsense;\n'), 'application/sql', /^Line 2: column "nonsense" does not exist/],
      [
        'with truncated gzip data',
        gzipSync(Buffer.alloc(2 ** 20, `SELECT '${'x'.repeat(10_000)}';\n`)).subarray(0, 900),
        'application/gzip',
        /truncated/,
      ],
    ]
    test.each(isFullTier ? broken : broken.slice(0, 1))(
      '409 for a file %s: nothing changes, and a dump of the previous state exists',
      async (_what, file, type, message) => {
        const before = await list('small')
        const { status, body } = await send('small', file, type)
        expect([status, body]).toEqual([409, expect.objectContaining({ error: 'restore_failed', message: expect.stringMatching(message) })])
        expect(await queryDatabase(small.connection_string, "SELECT to_regclass('a'), (SELECT a FROM kept)")).toEqual([[null, 1]])
        expect((await list('small')).length).toBe(before.length + 1)
        expect(halves()).toEqual([])
      },
    )

    fullTest('409 for a file that finishes after a later one: the last request wins, not the slowest upload', async () => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const line = writable.getWriter()
      const slow = send('small', readable)
      await line.write(Buffer.from('CREATE TABLE slow'))
      await until(() => halves()[0], { what: 'the first file to be on its way' })
      expect((await send('small', 'CREATE TABLE kept AS SELECT 2 AS a')).status).toBe(200)
      await line.write(Buffer.from(' (a int);'))
      await line.close()
      expect(await slow).toMatchObject({ status: 409, body: { error: 'restore_failed', message: expect.stringContaining('another file') } })
      expect(await queryDatabase(small.connection_string, "SELECT to_regclass('slow'), (SELECT a FROM kept)")).toEqual([[null, 2]])
    })

    fullTest('a restore ends the sessions of the app, and is never visible in part', async () => {
      const app = new Client({ connectionString: rich.connection_string })
      const ended = new Promise<void>((resolve) => app.once('end', resolve))
      app.on('error', () => {})
      await app.connect()
      await app.query('BEGIN; LOCK TABLE many')
      const { status, body } = await send('rich', gzipSync('CREATE TABLE only_this (a int)'), 'application/gzip')
      expect([status, body.message]).toEqual([200, undefined])
      await ended
      expect(await queryDatabase(rich.connection_string, "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace")).toEqual([
        ['1'],
      ])
    })

    test('deleting a project drops its database and leaves a dump, which its owner can list and delete', async () => {
      const { connection_string, db_user } = await make('gone')
      await queryDatabase(connection_string, "CREATE TABLE t (a text); INSERT INTO t VALUES ('kept')")
      expect((await platform.api('DELETE', '/v1/projects/gone')).status).toBe(204)
      const every = async () => (await platform.api<{ dumps: DatabaseDump[] }>('GET', '/instance/dumps')).body.dumps
      const found = await until(async () => (await every()).find((one) => one.project_slug === 'gone'), { what: 'the dump of what is deleted' })
      expect(found.reason).toBe('drop')
      expect(gunzipSync(readFileSync(pathOf(found))).toString()).toContain('kept')
      expect((await platform.api('DELETE', `/instance/dumps/${found.id}`)).status).toBe(204)
      expect((await platform.api('DELETE', `/instance/dumps/${found.id}`)).body).toMatchObject({ error: 'dump_not_found' })
      expect(readdirSync(join(platform.data_dir, 'dumps'))).not.toContain(`${found.id}.sql.gz`)
      expect((await every()).map((one) => one.id)).not.toContain(found.id)
      const roles = () => queryDatabase(small.connection_string, `SELECT 1 FROM pg_roles WHERE rolname = '${db_user}'`)
      await until(async () => ((await roles()).length === 0 ? true : undefined), { what: 'its role to go' })
    })
  })
}
