import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import { fullTest } from '../support/full-test.ts'
import { checkRepository, commitToBranch, createGit, waitForPreview, listPreviews, waitForFirstCheck } from '../support/git-branches.ts'
import { type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { queryDatabase, guestBookFiles, queryError } from './guest-book-app.ts'

/** Requirements for a database on any server: one suite for every driver. */
export function databaseSuite(getPlatform: () => TestPlatform): void {
  describe('a database', () => {
    let platform: TestPlatform
    let packed: Repository
    /** Of one project: each project with a repository creates previews of its branches. */
    let branched: Repository
    /** Of a database that stays, through which the server's roles and databases are listed. */
    let witness: Database

    beforeAll(async () => {
      platform = getPlatform()
      packed = makeRepository(guestBookFiles())
      branched = makeRepository(guestBookFiles())
      await platform.createProject({ slug: 'witness' })
      witness = (await make('witness')).database
    })
    afterAll(() => {
      for (const one of [packed, branched]) one.remove()
    })

    const path = (slug: string) => `/v1/projects/${slug}/database`
    const project = (slug: string) => platform.createProject({ slug, repo_url: packed.url })
    const make = async (slug: string) => {
      const { status, body } = await platform.api<{ database: Database; deployment_id: string | null }>('POST', path(slug))
      expect([status, body]).toEqual([201, expect.objectContaining({ database: expect.anything() })])
      return body
    }
    const live = async (slug: string, id: string) => {
      const deployment = await platform.waitForEnd(slug, id)
      expect([deployment.error, deployment.build_log.split('\n').slice(-8)]).toEqual([null, expect.anything()])
      return deployment
    }
    const isGone = (name: string) =>
      until(
        async () => {
          const sql = `SELECT rolname FROM pg_roles WHERE rolname = '${name}' UNION ALL SELECT datname FROM pg_database WHERE datname = '${name}'`
          return (await queryDatabase(witness.connection_string, sql)).length === 0 ? true : undefined
        },
        { what: `role and database ${name} to go` },
      )
    const app = async (slug: string, at = '/') => (await platform.fetchEdge(`${slug}.localhost`, at)).body

    test('an app uses its database through DATABASE_URL, its owner through connection_string; without a database DATABASE_URL is unset', async () => {
      await project('guests')
      await live('guests', (await platform.deploy('guests')).id)
      expect(await app('guests', '/url')).toBe('none')

      const { database, deployment_id } = await make('guests')
      expect(database).toEqual({
        db_name: expect.stringMatching(/^p_[0-9a-z]{26}$/),
        db_user: database.db_name,
        password: expect.stringMatching(/^[\w-]{43}$/),
        host: '127.0.0.1',
        port: expect.any(Number),
        connection_string: `postgresql://${database.db_user}:${database.password}@127.0.0.1:${database.port}/${database.db_name}`,
        engine: 'postgresql',
        engine_version: expect.stringMatching(/^18\.\d+$/),
        size_bytes: expect.any(Number),
        created_at: expect.any(String),
      })
      expect(database.size_bytes).toBeGreaterThan(1_000_000)
      const again = await live('guests', deployment_id ?? '')
      expect(again.trigger).toBe('env_change')
      expect(await app('guests', '/sign?name=ada')).toBe('ada')

      const shown = await platform.api<{ database: Database }>('GET', path('guests'))
      expect(shown.status).toBe(200)
      expect(shown.body.database).toEqual({ ...database, size_bytes: expect.any(Number) })

      // Printed by the app itself, and masked.
      const { body } = await platform.api<{ deployments: Deployment[] }>('GET', '/v1/projects/guests/deployments')
      expect(body.deployments).toHaveLength(2)
      expect(again.build_log).toContain('my database is ••••••')
      for (const text of [again.build_log, platform.log.join('\n')]) expect(text).not.toContain(database.password)
    })

    test('a role can connect only to its own database, and only use it', async () => {
      await platform.createProject({ slug: 'mine' })
      const { database: mine } = await make('mine')
      const theirs = witness
      const other = (name: string) => mine.connection_string.replace(/[^/]+$/, name)
      for (const name of [theirs.db_name, 'postgres', 'template1', 'template0'])
        expect([name, await queryError(other(name), 'SELECT 1')]).toEqual([
          name,
          expect.stringMatching(/pg_hba\.conf entry|permission denied|not currently accepting/),
        ])
      const reached = await queryDatabase(
        mine.connection_string,
        "SELECT datname FROM pg_database WHERE has_database_privilege(datname, 'CONNECT') AND datallowconn",
      )
      expect(reached).toEqual([[mine.db_name]])
      const [role] = await queryDatabase(
        mine.connection_string,
        'SELECT rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = current_user',
      )
      expect(role).toEqual([false, false, false, false, false, false])
      const superuser = String((await queryDatabase(mine.connection_string, 'SELECT rolname FROM pg_roles WHERE rolsuper'))[0]?.[0])
      const refused = [
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_ls_dir('/')",
        "COPY (SELECT 1) TO PROGRAM 'id'",
        "CREATE TEMP TABLE t (a text); COPY t FROM PROGRAM 'id'",
        "CREATE TEMP TABLE t (a text); COPY t FROM '/etc/passwd'",
        "COPY (SELECT 1) TO '/tmp/homeport-mark'",
        "SELECT lo_import('/etc/passwd')",
        'CREATE ROLE intruder',
        'CREATE DATABASE intruder',
        `ALTER ROLE ${mine.db_user} SUPERUSER`,
        `ALTER ROLE ${mine.db_user} CONNECTION LIMIT -1`,
        `ALTER ROLE ${theirs.db_user} PASSWORD 'x'`,
        `SET ROLE ${theirs.db_user}`,
        `SET ROLE ${superuser}`,
        `SET SESSION AUTHORIZATION ${superuser}`,
        `DROP DATABASE ${theirs.db_name}`,
        `ALTER DATABASE ${theirs.db_name} SET work_mem = '1GB'`,
        "ALTER SYSTEM SET log_statement = 'all'",
        "SET temp_file_limit = '-1'",
        'SELECT rolpassword FROM pg_authid',
        'CREATE EXTENSION file_fdw',
        'CREATE EXTENSION dblink',
        'CREATE EXTENSION plpython3u',
        "CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'libc', 'system'",
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename <> current_user OR usename IS NULL',
        'SELECT pg_reload_conf()',
        "LOAD 'file_fdw'",
      ]
      for (const sql of refused)
        expect([sql, await queryError(mine.connection_string, sql)]).toEqual([
          sql,
          expect.stringMatching(/permission denied|must be|not available|No such file|is not trusted|access to library/),
        ])
      // What its owner may do: create schemas, and the extensions that PostgreSQL trusts.
      await queryDatabase(mine.connection_string, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE t (a int)').catch(
        (error: unknown) => {
          throw new Error('its own schema is not its own', { cause: error })
        },
      )
    })

    fullTest('the extensions that PostgreSQL trusts are available, and a build step can reach the database, as migrations do', async () => {
      await project('built')
      const { database } = await make('built')
      for (const name of ['pgcrypto', 'citext', 'pg_trgm', 'hstore', 'uuid-ossp', 'unaccent'])
        expect([name, await queryError(database.connection_string, `CREATE EXTENSION "${name}"`)]).toEqual([name, 'done'])
      packed.commit({
        'package.json': JSON.stringify({ name: 'guest-book', private: true, scripts: { build: 'node migrate.js', start: 'node server.js' } }),
        'migrate.js': `
const { Client } = require('pg')
const client = new Client({ connectionString: process.env.DATABASE_URL })
client.connect().then(() => client.query("CREATE TABLE guests (name text); INSERT INTO guests VALUES ('migrated')")).then(() => client.end())
`,
      })
      try {
        await live('built', (await platform.deploy('built')).id)
        expect(await app('built', '/all')).toBe('migrated')
      } finally {
        packed.commit({ ...guestBookFiles(), 'migrate.js': null })
      }
    })

    fullTest('DELETE removes the role, and redeploys the app without it; a DATABASE_URL set by its owner takes effect again', async () => {
      await project('short')
      const own = { key: 'DATABASE_URL', value: 'postgresql://elsewhere/db' }
      expect((await platform.api('POST', '/v1/projects/short/env-vars', own)).status).toBe(201)
      const { database } = await make('short')
      await live('short', (await platform.deploy('short')).id)
      expect(await app('short', '/sign?name=eve')).toBe('eve')

      expect((await platform.api('DELETE', path('short'))).status).toBe(204)
      await until(async () => ((await app('short', '/url')) === own.value ? true : undefined), { what: 'a deployment without the database' })
      await isGone(database.db_name)
      expect(await queryError(database.connection_string, 'SELECT 1')).toMatch(/password authentication failed|does not exist|pg_hba/)
    })

    fullTest(
      'a preview has none by default; on request it gets its own copy of the project’s database with its own role, which is dropped with it',
      async () => {
        await platform.createProject({ slug: 'views', repo_url: branched.url, pushes: true })
        await waitForFirstCheck(platform, 'views')
        const { database } = await make('views')
        await queryDatabase(database.connection_string, "CREATE TABLE guests (name text); INSERT INTO guests VALUES ('ada')")
        const names = () => queryDatabase(database.connection_string, 'TABLE guests')
        const preview = async (branch: string, files: Record<string, string>) => {
          const sha = commitToBranch(branched.folder, branch, files)
          await checkRepository(platform, 'views')
          const { hostname } = new URL((await waitForPreview(platform, 'views', branch, sha)).url ?? '')
          return async (at: string) => (await platform.fetchEdge(hostname, at)).body
        }
        expect(await (await preview('plain', { 'a.txt': 'a' }))('/url')).toBe('none')

        await platform.api('PATCH', '/instance/projects/views/watching', { preview_databases: true })
        const own = await preview('own', { 'b.txt': 'b' })
        expect(await own('/all')).toBe('ada')
        expect(await own('/sign?name=bea')).toBe('ada,bea')
        expect(await names()).toEqual([['ada']])
        const url = new URL(await own('/url'))
        expect([url.username === database.db_user, url.password === database.password]).toEqual([false, false])

        // The next commit finds the rows that the previous one left.
        expect(await (await preview('own', { 'b.txt': 'c' }))('/all')).toBe('ada,bea')

        createGit(branched.folder)('branch', '--delete', '--force', 'own')
        await checkRepository(platform, 'views')
        await until(async () => ((await listPreviews(platform, 'views')).every(({ branch }) => branch !== 'own') ? true : undefined), {
          what: 'the preview to close',
        })
        await isGone(url.username)
        expect(await names()).toEqual([['ada']])
      },
    )
  })
}
