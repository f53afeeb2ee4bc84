import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database, DatabaseDump } from '../../server/contract/databases.ts'
import { createEmbeddedServer } from '../../server/database/embedded-server.ts'
import { silentLog } from '../../server/lib/log.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { asked } from './guests.ts'
import { fingerprint, richSchema } from './rich-schema.ts'

const run = promisify(execFile)

dumpStories('process')
describe.skipIf(!requires('docker').ok)('with a Docker engine', () => dumpStories('docker'))

interface Restored {
  database: Database
  dump: DatabaseDump
  error?: string
  message?: string
}

/** Dumps and restores are one code for both drivers; the servers behind are not. */
function dumpStories(runtime: 'process' | 'docker'): void {
  describe(`dumps of a database on ${runtime}`, () => {
    let home: TestPlatform
    let rich: Database
    let small: Database
    let seen: unknown[][]

    const make = async (slug: string): Promise<Database> => {
      await home.createProject({ slug })
      const { status, body } = await home.api<{ database: Database }>('POST', `/v1/projects/${slug}/database`)
      expect(status).toBe(201)
      return body.database
    }
    const dumpsAt = (slug: string) => `/instance/projects/${slug}/database/dumps`
    const dump = async (slug: string): Promise<DatabaseDump> => {
      const { status, body } = await home.api<{ dump: DatabaseDump; message?: string }>('POST', dumpsAt(slug))
      expect([status, body.message]).toEqual([201, undefined])
      return body.dump
    }
    const list = async (slug: string) => (await home.api<{ dumps: DatabaseDump[] }>('GET', dumpsAt(slug))).body.dumps
    const bytesOf = async (path: string) => {
      const { api_url, token } = home.platform.instance
      const answer = await fetch(`${api_url}${path}`, { headers: { authorization: `Bearer ${token}` } })
      expect(answer.status).toBe(200)
      return Buffer.from(await answer.arrayBuffer())
    }
    const send = async (slug: string, file: Buffer | string, type = 'application/sql') => {
      const { api_url, token } = home.platform.instance
      const answer = await fetch(`${api_url}/instance/projects/${slug}/database/import`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': type },
        body: typeof file === 'string' ? file : new Uint8Array(file),
      })
      return { status: answer.status, body: (await answer.json()) as Restored }
    }
    const halves = () => readdirSync(join(home.data_dir, 'dumps')).filter((name) => !name.endsWith('.sql.gz'))

    beforeAll(async () => {
      const data_dir = mkdtempSync(join(tmpdir(), 'homeport-dumps-'))
      mkdirSync(join(data_dir, 'dumps'))
      writeFileSync(join(data_dir, 'dumps', 'dmp_of-a-run-that-was-cut-off.sql.gz.part'), 'half')
      home = await startTestPlatform({ runtime, data_dir })
      expect(halves()).toEqual([])
      rich = await make('rich')
      await asked(rich.connection_string, richSchema)
      seen = await asked(rich.connection_string, fingerprint)
      expect(seen.length).toBeGreaterThan(40)
      small = await make('small')
      await asked(small.connection_string, 'CREATE TABLE kept AS SELECT 1 AS a')
    })
    afterAll(() => home.remove())

    test('a dump lies in the data folder for nobody else to read, is listed, and is downloaded', async () => {
      const made = await dump('rich')
      expect(made).toEqual({
        id: expect.stringMatching(/^dmp_/),
        project_slug: 'rich',
        db_name: rich.db_name,
        reason: 'manual',
        bytes: statSync(made.path).size,
        path: join(home.data_dir, 'dumps', `${made.id}.sql.gz`),
        created_at: expect.any(String),
      })
      expect(statSync(made.path).mode & 0o777).toBe(0o600)
      expect((await list('rich'))[0]).toEqual(made)
      expect(await bytesOf(`${dumpsAt('rich')}/${made.id}`)).toEqual(readFileSync(made.path))
      expect((await home.api<{ dumps: DatabaseDump[] }>('GET', '/instance/dumps')).body.dumps).toContainEqual(made)
    })

    test('one of everything comes back, in the same database and in another one', async () => {
      const made = await dump('rich')
      await asked(
        rich.connection_string,
        "DROP TABLE egg CASCADE; UPDATE many SET hash = id::text; CREATE TABLE new_one (a int); SELECT nextval('odd')",
      )
      const back = await home.api<Restored>('POST', `${dumpsAt('rich')}/${made.id}/restore`)
      expect([back.status, back.body.message]).toEqual([200, undefined])
      expect(back.body.database.connection_string).toBe(rich.connection_string)
      expect(back.body.dump).toMatchObject({ reason: 'restore', project_slug: 'rich' })
      expect(await asked(rich.connection_string, fingerprint)).toEqual(seen)

      const other = await make('other')
      expect((await send('other', readFileSync(made.path), 'application/gzip')).body.message).toBeUndefined()
      expect(await asked(other.connection_string, fingerprint)).toEqual(seen)
      // What is dumped there says the very same.
      expect(gunzipSync(readFileSync((await dump('other')).path))).toEqual(gunzipSync(readFileSync(made.path)))

      // The app goes on as it did: triggers, policies, identities, references.
      const name = "SELECT name FROM people WHERE mail = 'new@b.c'"
      await asked(other.connection_string, "INSERT INTO people (name, mail) VALUES ('eve', 'new@b.c')")
      expect(await asked(other.connection_string, name)).toEqual([['eve!']])
      // And the state before the restore is in its own dump.
      expect(gunzipSync(readFileSync(back.body.dump.path)).toString()).toContain('CREATE TABLE public.new_one')
    })

    test.skipIf(!requires('psql').ok)('psql reads our dumps, and we read those of pg_dump, owners, grants and all', async () => {
      const made = await dump('rich')
      const plain = join(home.data_dir, 'plain.sql')
      writeFileSync(plain, gunzipSync(readFileSync(made.path)))
      const byPsql = await make('by-psql')
      await run('psql', [byPsql.connection_string, '--no-psqlrc', '--quiet', '--set', 'ON_ERROR_STOP=1', '--file', plain])
      expect(await asked(byPsql.connection_string, fingerprint)).toEqual(seen)

      const theirs = (await run('pg_dump', ['--dbname', rich.connection_string], { maxBuffer: 2 ** 30 })).stdout
      expect(theirs).toContain(`OWNER TO ${rich.db_user}`)
      const fromTheirs = await make('from-theirs')
      expect((await send('from-theirs', theirs)).body.message).toBeUndefined()
      expect(await asked(fromTheirs.connection_string, fingerprint)).toEqual(seen)
      const inserts = (
        await run('pg_dump', ['--inserts', '--exclude-table=many', '--exclude-table=counted', '--dbname', rich.connection_string], {
          maxBuffer: 2 ** 30,
        })
      ).stdout
      expect((await send('from-theirs', gzipSync(inserts), 'application/gzip')).body.message).toBeUndefined()
      expect(await asked(fromTheirs.connection_string, 'SELECT count(*) FROM people')).toEqual([['4']])
    })

    if (runtime === 'docker')
      test('a dump moves between the servers with Docker and without', async () => {
        const data_dir = mkdtempSync(join(tmpdir(), 'homeport-moved-'))
        const embedded = createEmbeddedServer({ data_dir, log: silentLog })
        const spec = { db_name: 'p_moved', db_user: 'p_moved', password: 'moved' }
        const signal = AbortSignal.timeout(150_000)
        try {
          await embedded.create(spec)
          const { host, port } = await embedded.address('machine')
          const url = `postgresql://p_moved:moved@${host}:${port}/p_moved`
          const made = gunzipSync(readFileSync((await dump('rich')).path))
          const whole = async function* () {
            yield made
          }
          await embedded.restore(spec, whole(), signal)
          expect(await asked(url, fingerprint)).toEqual(seen)
          const parts: Uint8Array[] = []
          for await (const part of embedded.dump(spec, signal)) parts.push(part)
          const moved = await make('moved')
          expect((await send('moved', Buffer.concat(parts))).body.message).toBeUndefined()
          expect(await asked(moved.connection_string, fingerprint)).toEqual(seen)
        } finally {
          await embedded.close(true)
          rmSync(data_dir, { recursive: true, force: true })
        }
      })

    test.each([
      ['a mistake at its end', 'CREATE TABLE a (x int);\nINSERT INTO a VALUES (1);\nSELECT nonsense;\n', /^Line 3: column "nonsense" does not exist/],
      [
        'a row that does not fit',
        'CREATE TABLE a (x int);\nCOPY a FROM stdin;\n1\ntwo\n\\.\n',
        /^Line 2: invalid input syntax for type integer: "two".*COPY a, line 2/,
      ],
      ['the end missing', 'CREATE TABLE a (x int);\nCOPY a FROM stdin;\n1\n', /in the middle of the rows/],
      ['a quote left open', "SELECT 1;\nSELECT 'x;\n", /^Line 2: .*left open/],
      ['a commit in the middle', 'CREATE TABLE a (x int); COMMIT; SELECT nonsense;', /nonsense/],
      ['a commit in a block', 'CREATE TABLE a (x int); DO $$ BEGIN COMMIT; END $$; SELECT nonsense;', /invalid transaction termination/],
      ['a rollback', 'CREATE TABLE a (x int); ROLLBACK; CREATE TABLE b (x int);', /ROLLBACK/],
      ['a command of psql', 'SELECT 1;\n\\! touch /tmp/homeport-mark\n', /^Line 2: \\! is a command of psql/],
      ['another database in mind', '\\connect postgres\n', /--create/],
      ['more in mind than its role may', "SELECT pg_read_file('/etc/passwd');", /permission denied/],
      ['something that takes no transaction', 'CREATE TABLE a (x int); VACUUM a;', /cannot run inside a transaction/],
      ['pg_dump’s own format', 'PGDMP\u0001\u000e', /--format=plain/],
    ])('a file with %s is refused, and everything is as it was', async (_what, sql, message) => {
      const before = await list('small')
      const { status, body } = await send('small', sql)
      expect([status, body]).toEqual([409, expect.objectContaining({ error: 'restore_failed', message: expect.stringMatching(message) })])
      expect(await asked(small.connection_string, "SELECT to_regclass('a'), (SELECT a FROM kept)")).toEqual([[null, 1]])
      expect((await list('small')).length).toBe(before.length + 1)
      expect(halves()).toEqual([])
    })

    test('a gzip that is cut off is refused', async () => {
      const { status, body } = await send(
        'small',
        gzipSync(Buffer.alloc(2 ** 20, `SELECT '${'x'.repeat(10_000)}';\n`)).subarray(0, 900),
        'application/gzip',
      )
      expect([status, body]).toEqual([409, expect.objectContaining({ message: expect.stringMatching(/cut off/) })])
      expect(await asked(small.connection_string, 'TABLE kept')).toEqual([[1]])
    })

    test('sessions of the app are ended for a restore, and nobody sees half of it', async () => {
      const app = new Client({ connectionString: rich.connection_string })
      const ended = new Promise<void>((resolve) => app.once('end', resolve))
      app.on('error', () => {})
      await app.connect()
      await app.query('BEGIN; LOCK TABLE many')
      const { status, body } = await send('rich', 'CREATE TABLE only_this (a int)')
      expect([status, body.message]).toEqual([200, undefined])
      await ended
      expect(await asked(rich.connection_string, "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace")).toEqual([['1']])
      expect((await home.api<Restored>('POST', `${dumpsAt('rich')}/${body.dump.id}/restore`)).status).toBe(200)
      expect(await asked(rich.connection_string, fingerprint)).toEqual(seen)
    })

    test('a delete writes a dump first, which a new database takes', async () => {
      await make('short')
      expect((await send('short', "CREATE TABLE t (a text); INSERT INTO t VALUES ('kept')")).status).toBe(200)
      expect((await home.api('DELETE', '/v1/projects/short/database')).status).toBe(204)
      const [last] = await list('short')
      expect(last).toMatchObject({ reason: 'drop', project_slug: 'short' })
      expect(home.log.join('\n')).toContain(last?.path)
      expect((await home.api('POST', `${dumpsAt('short')}/${last?.id}/restore`)).body).toMatchObject({ error: 'database_not_found' })
      const { body } = await home.api<{ database: Database }>('POST', '/v1/projects/short/database')
      expect((await home.api('POST', `${dumpsAt('short')}/${last?.id}/restore`)).status).toBe(200)
      expect(await asked(body.database.connection_string, 'TABLE t')).toEqual([['kept']])
    })

    test('a project that is deleted leaves a dump, which its owner finds and deletes', async () => {
      const { connection_string } = await make('gone')
      await asked(connection_string, "CREATE TABLE t (a text); INSERT INTO t VALUES ('kept')")
      expect((await home.api('DELETE', '/v1/projects/gone')).status).toBe(204)
      const every = async () => (await home.api<{ dumps: DatabaseDump[] }>('GET', '/instance/dumps')).body.dumps
      const found = await until(async () => (await every()).find((one) => one.project_slug === 'gone'), { what: 'the dump of what is deleted' })
      expect(found.reason).toBe('drop')
      expect(gunzipSync(readFileSync(found.path)).toString()).toContain('kept')
      expect((await home.api('DELETE', `/instance/dumps/${found.id}`)).status).toBe(204)
      expect((await home.api('DELETE', `/instance/dumps/${found.id}`)).body).toMatchObject({ error: 'dump_not_found' })
      expect(readdirSync(join(home.data_dir, 'dumps'))).not.toContain(`${found.id}.sql.gz`)
      expect((await every()).map((one) => one.id)).not.toContain(found.id)
    })
  })
}
