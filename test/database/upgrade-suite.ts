import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database, DatabaseDump } from '../../server/contract/databases.ts'
import type { DatabaseUpgrade } from '../../server/contract/database-upgrades.ts'
import { runCommand } from '../support/command.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { guestBookFiles, queryDatabase, queryError } from './guest-book-app.ts'
import { fingerprint, richSchema } from './rich-schema.ts'

interface Changed {
  database: Database
  upgrade: DatabaseUpgrade
  deployment_id: string | null
}

/** A database of an earlier version of Homeport moves to the current PostgreSQL: one suite for every driver. */
export function upgradeSuite(runtime: 'process' | 'docker', data_dir: string): void {
  describe('a database of PostgreSQL 15', () => {
    let platform: TestPlatform
    let repository: Repository
    /** The content without the names in the guest book. */
    let filled: unknown[]
    const start = (database_version?: 15) => startTestPlatform({ runtime, data_dir, ...(database_version && { database_version }) })
    const path = (slug: string, rest = '') => `/instance/projects/${slug}/database${rest}`
    const read = async (slug: string) => (await platform.api<{ database: Database }>('GET', `/v1/projects/${slug}/database`)).body.database
    const upgradeOf = async (slug: string) => (await platform.api<{ upgrade: DatabaseUpgrade }>('GET', path(slug, '/upgrade'))).body.upgrade
    const app = async (slug: string, at: string) => (await platform.fetchEdge(`${slug}.localhost`, at)).body
    const contentOf = async ({ connection_string }: Database) =>
      (await queryDatabase(connection_string, fingerprint)).filter(([kind]) => kind !== 'rows public.guests')
    const live = async (slug: string, id: string | null) => expect((await platform.waitForEnd(slug, id ?? '')).error).toBeNull()

    beforeAll(async () => {
      repository = makeRepository(guestBookFiles())
      platform = await start(15)
      await platform.createProject({ slug: 'book', repo_url: repository.url })
      const { database } = (await platform.api<{ database: Database }>('POST', '/v1/projects/book/database')).body
      expect(database.engine_version).toMatch(/^15\./)
      await live('book', (await platform.deploy('book')).id)
      expect(await app('book', '/sign?name=ada')).toBe('ada')
      await queryDatabase(database.connection_string, richSchema(500))
      filled = await contentOf(database)
      // From here on, new databases are created by this version of Homeport.
      await platform.handle.stop()
      platform = await start()
    })
    afterAll(async () => {
      await platform.remove()
      repository.remove()
    })

    test('stays on its server next to a new one, and dumps move in both directions', async () => {
      expect(await upgradeOf('book')).toEqual({ version: 15, upgrade_to: 18, previous_version: null, is_upgrading: false })
      expect((await read('book')).engine_version).toMatch(/^15\./)
      await until(async () => ((await app('book', '/sign?name=bea')) === 'ada,bea' ? true : undefined), { what: 'the app to reach its database' })
      await platform.createProject({ slug: 'fresh' })
      const fresh = (await platform.api<{ database: Database }>('POST', '/v1/projects/fresh/database')).body.database
      expect(fresh.engine_version).toMatch(/^18\./)
      expect(await upgradeOf('fresh')).toEqual({ version: 18, upgrade_to: null, previous_version: null, is_upgrading: false })
      expect(await platform.api('POST', path('fresh', '/upgrade'))).toMatchObject({ status: 409, body: { error: 'upgrade_unavailable' } })

      const { dump } = (await platform.api<{ dump: DatabaseDump }>('POST', path('book', '/dumps'))).body
      const { instance } = platform.handle
      const importInto = async (slug: string, body: BodyInit) => {
        const response = await fetch(`${instance.api_url}${path(slug, '/import')}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${instance.token}`, 'content-type': 'application/octet-stream' },
          body,
        })
        expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"database"')])
      }
      const copy = async (from: string, id: string, to: string) => {
        const file = await fetch(`${instance.api_url}${path(from, `/dumps/${id}`)}`, { headers: { authorization: `Bearer ${instance.token}` } })
        await importInto(to, await file.arrayBuffer())
      }
      await copy('book', dump.id, 'fresh')
      expect(await queryDatabase(fresh.connection_string, 'SELECT name FROM guests ORDER BY 1')).toEqual([['ada'], ['bea']])
      if (requires('psql').ok) {
        const { stdout } = await promisify(execFile)('pg_dump', ['--dbname', (await read('book')).connection_string], { maxBuffer: 2 ** 30 })
        expect(stdout).toContain('OWNER TO')
        await importInto('fresh', stdout)
      }
      const newer = (await platform.api<{ dump: DatabaseDump }>('POST', path('fresh', '/dumps'))).body.dump
      await copy('fresh', newer.id, 'book')
      for (const slug of ['book', 'fresh']) expect(await contentOf(await read(slug))).toEqual(filled)
    })

    test('a role of one server cannot log in on the other', async () => {
      const [book, fresh] = [await read('book'), await read('fresh')]
      expect(book.port).not.toBe(fresh.port)
      const swapped = book.connection_string.replace(`:${book.port}/`, `:${fresh.port}/`)
      expect(await queryError(swapped, 'SELECT 1')).toMatch(/password authentication failed|pg_hba\.conf entry/)
      expect(await queryError(swapped.replace(/[^/]+$/, fresh.db_name), 'SELECT 1')).toMatch(/password authentication failed|pg_hba\.conf entry/)
    })

    test('a killed upgrade changes nothing, and the app continues with its database', async () => {
      const before = await read('book')
      // Long enough to be interrupted in the middle.
      await queryDatabase(before.connection_string, 'CREATE TABLE large AS SELECT g, repeat(md5(g::text), 20) FROM generate_series(1, 200000) g')
      const request = platform.api('POST', path('book', '/upgrade')).catch(() => undefined)
      await until(async () => ((await upgradeOf('book')).is_upgrading ? true : undefined), { what: 'the upgrade to start' })
      await until(async () => ((await queryError(before.connection_string, 'SELECT 1')) === 'done' ? undefined : true), { what: 'the lock-out' })
      await platform.kill()
      await request
      platform = await start()
      await until(async () => ((await upgradeOf('book')).is_upgrading ? undefined : true), { what: 'the upgrade to be undone' })
      const after = await read('book')
      await queryDatabase(after.connection_string, 'DROP TABLE large')
      expect([after.engine_version, after.password]).toEqual([before.engine_version, before.password])
      expect(await queryDatabase(after.connection_string, 'SELECT name FROM guests ORDER BY 1')).toEqual([['ada'], ['bea']])
      await until(async () => ((await app('book', '/')) === 'guest book' ? true : undefined), { what: 'the app' })
      await until(async () => ((await app('book', '/sign?name=cy')).startsWith('ada,bea,cy') ? true : undefined), {
        what: 'the app to reach its database',
      })
    })

    test('moves to the current version with everything in it; the previous data is kept and can be restored', async () => {
      const before = await read('book')
      const names = await queryDatabase(before.connection_string, 'SELECT name FROM guests ORDER BY 1')
      const homeport = (...args: string[]) => runCommand({ api_url: platform.handle.api_url, token: platform.handle.instance.token }, '/', args)
      const upgraded = await homeport('db', 'upgrade', 'book', '--json')
      expect(upgraded).toMatchObject({ code: 0, err: '' })
      const { database, upgrade, deployment_id } = JSON.parse(upgraded.out) as Changed
      expect(database).toMatchObject({ engine_version: expect.stringMatching(/^18\./), db_name: before.db_name, password: before.password })
      expect(upgrade).toEqual({ version: 18, upgrade_to: null, previous_version: 15, is_upgrading: false })
      await live('book', deployment_id)
      expect(await contentOf(database)).toEqual(filled)
      expect(await queryDatabase(database.connection_string, 'SELECT name FROM guests ORDER BY 1')).toEqual(names)
      expect(await app('book', '/sign?name=dan')).toContain('dan')
      // The kept data is read-only.
      expect(await queryError(before.connection_string, 'SELECT 1')).toMatch(/password authentication failed/)

      const reverted = (await platform.api<Changed>('POST', path('book', '/upgrade/revert'))).body
      expect(reverted.upgrade).toEqual({ version: 15, upgrade_to: 18, previous_version: null, is_upgrading: false })
      await live('book', reverted.deployment_id)
      expect(await queryDatabase(before.connection_string, 'SELECT name FROM guests ORDER BY 1')).toEqual(names)
      const { dumps } = (await platform.api<{ dumps: DatabaseDump[] }>('GET', path('book', '/dumps'))).body
      expect(dumps[0]?.reason).toBe('drop')
      expect(await platform.api('DELETE', path('book', '/upgrade'))).toMatchObject({ status: 409, body: { error: 'upgrade_unavailable' } })

      // Again, this time to its end.
      const again = (await platform.api<Changed>('POST', path('book', '/upgrade'))).body
      await live('book', again.deployment_id)
      expect((await homeport('db', 'upgrade', 'book', '--finish')).out).toBe('Deleted the data of book from before the upgrade.\n')
      expect(await upgradeOf('book')).toEqual({ version: 18, upgrade_to: null, previous_version: null, is_upgrading: false })
      expect(await app('book', '/sign?name=eve')).toContain('eve')
    })
  })
}
