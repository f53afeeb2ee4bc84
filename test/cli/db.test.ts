import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { queryDatabase } from '../database/guest-book-app.ts'
import { runCommand } from '../support/command.ts'
import { fullTest } from '../support/full-test.ts'
import { runHomeport, createTempFolder } from '../support/instance-process.ts'
import { requires } from '../support/requirements.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'
import { isFullTier } from '../support/tier.ts'

const folder = createTempFolder('db')
let platform: SharedPlatform

beforeAll(async () => {
  platform = await sharedPlatform()
  await platform.createProject({ slug: 'shop' })
})
afterAll(async () => {
  await platform.remove()
  folder.remove()
})

const run = (...args: string[]) => runCommand({ api_url: platform.handle.api_url, token: platform.owner.token }, folder.path, ['db', ...args])
const psql = (...args: string[]) => runHomeport(['db', 'psql', 'shop', '--data', platform.data_dir, '--', '--no-psqlrc', ...args])
const json = (text: string) => JSON.parse(text) as Record<string, never>
const passwordOf = (url: string) => new URL(url).password

describe('homeport db', () => {
  test('reports a missing argument, an unknown subcommand and a missing database', async () => {
    expect(await run()).toMatchObject({ code: 2, err: expect.stringMatching(/SLUG is missing/) })
    expect(await run('fly', 'shop')).toMatchObject({ code: 2, err: expect.stringMatching(/Unknown subcommand “fly”. Use show, create/) })
    expect(await run('shop')).toMatchObject({ code: 1, err: expect.stringMatching(/^database_not_found: /) })
  })

  test('create, show, url', async () => {
    expect(await run('create', 'shop')).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/^Created the database p_\w+ for shop\. The app gets it as DATABASE_URL/),
    })
    expect(await run('create', 'shop')).toMatchObject({ code: 1, err: expect.stringMatching(/^database_exists: /) })
    const url = (await run('url', 'shop')).out.trim()
    expect(url).toMatch(/^postgresql:\/\/p_\w+:[\w-]+@127\.0\.0\.1:\d+\/p_\w+$/)
    for (const args of [['shop'], ['show', 'shop']]) {
      const { out } = await run(...args)
      expect(out).toMatch(/PostgreSQL 18\.\d+, [\d.]+ MB, created \d+ s ago/)
      expect(out).not.toContain(passwordOf(url))
    }
    expect(json((await run('url', 'shop', '--json')).out)).toEqual({ connection_string: url })
  })

  if (isFullTier)
    test.skipIf(!requires('psql').ok || process.platform !== 'linux')(
      'psql gets the password, which does not appear in the process list',
      async () => {
        const url = (await run('url', 'shop')).out.trim()
        const { code, out, err } = await psql('--tuples-only', '--command', 'select current_user')
        expect([code, out.trim(), err]).toEqual([0, new URL(url).username, ''])
        const shown = await psql('--quiet', '--command', `\\! tr '\\0' ' ' < /proc/$PPID/cmdline; echo; echo`, '--command', 'select 1')
        expect(shown.out).toContain('--username')
        expect(shown.out).not.toContain(passwordOf(url))
        expect((await psql('--command', 'select nonsense')).code).toBe(1)
      },
    )

  if (!isFullTier)
    fullTest('a file is restored, and dumped into a file that only its owner can read', async () => {
      writeFileSync(join(folder.path, 'first.sql'), 'CREATE TABLE first (a text); COPY first FROM stdin;\none\n\\.\n')
      expect(await run('restore', 'shop', 'first.sql')).toMatchObject({
        code: 0,
        out: expect.stringMatching(/To undo: homeport db restore shop dmp_/),
      })
      expect((await run('dump', 'shop', 'first-dump.sql')).code).toBe(0)
      const dumped = join(folder.path, 'first-dump.sql')
      expect(readFileSync(dumped, 'utf8')).toContain('COPY public.first (a) FROM stdin;\none\n\\.')
      expect(statSync(dumped).mode & 0o777).toBe(0o600)
      expect(await run('drop', 'shop')).toMatchObject({ code: 2, err: expect.stringMatching(/--yes/) })
    })

  fullTest('dump to the instance and to files, restore from each, drop', async () => {
    const seed = join(folder.path, 'seed.sql')
    writeFileSync(seed, 'CREATE TABLE t (a text); COPY t FROM stdin;\none\n\\.\n')
    expect(await run('restore', 'shop', 'seed.sql')).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/To undo: homeport db restore shop dmp_/),
    })

    expect(await run('dump', 'shop')).toMatchObject({ code: 0, out: expect.stringMatching(/^Dumped shop to dumps\/dmp_\w+\.sql\.gz in .* \(/) })
    expect((await run('dump', 'shop', 'a.sql.gz')).code).toBe(0)
    expect((await run('dump', 'shop', 'a.sql')).code).toBe(0)
    const plain = readFileSync(join(folder.path, 'a.sql'), 'utf8')
    expect(plain).toContain('COPY public.t (a) FROM stdin;\none\n\\.')
    expect(gunzipSync(readFileSync(join(folder.path, 'a.sql.gz'))).toString()).toBe(plain)
    expect(statSync(join(folder.path, 'a.sql')).mode & 0o777).toBe(0o600)

    const { dumps } = json((await run('dumps', 'shop', '--json')).out) as unknown as { dumps: { id: string; reason: string; file: string }[] }
    // Dumps that were downloaded as files are not kept twice.
    expect(dumps.map((one) => one.reason)).toEqual(['manual', 'restore'])
    expect((await run('dumps', 'shop')).out).toMatch(/ID +NAME +SIZE +CREATED +FILE\ndmp_\w+ +manual/)

    expect((await run('restore', 'shop', dumps[0]!.id)).err).toBe('')
    // Those of every project, and one of them less.
    expect((await run('dumps')).out).toMatch(/^ID +PROJECT +DATABASE +NAME +SIZE +CREATED +FILE\n(?:.*\n)*dmp_\w+ +shop +postgres +/)
    const created = json((await run('dump', 'shop', '--json')).out) as unknown as { dump: { id: string } }
    expect(await run('delete-dump', created.dump.id)).toMatchObject({ code: 0, out: `Deleted ${created.dump.id}.\n` })
    expect((await run('delete-dump', created.dump.id)).err).toMatch(/^dump_not_found: /)
    expect((await run('dumps', '--json')).out).not.toContain(created.dump.id)
    expect(await run('restore', 'shop', 'nowhere.sql')).toMatchObject({ code: 2, err: expect.stringMatching(/does not exist/) })
    writeFileSync(seed, 'SELECT nonsense;')
    expect(await run('restore', 'shop', 'seed.sql')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^restore_failed: Line 1: column "nonsense" does not exist/),
    })

    expect(await run('drop', 'shop')).toMatchObject({ code: 2, err: expect.stringMatching(/--yes/) })
    const dropped = await run('drop', 'shop', '--yes')
    expect(dropped).toMatchObject({ code: 0, err: '' })
    expect(dropped.out).not.toContain(platform.data_dir)
    const path = join(platform.data_dir, /A dump is kept as (\S+) in/.exec(dropped.out)?.[1] ?? '')
    expect(existsSync(path)).toBe(true)
    expect((await run('show', 'shop')).code).toBe(1)
    expect((await run('create', 'shop')).code).toBe(0)
    expect(gunzipSync(readFileSync(path)).toString()).toBe(plain)
    expect((await run('restore', 'shop', path)).err).toBe('')
    expect(await queryDatabase((await run('url', 'shop')).out.trim(), 'TABLE t')).toEqual([['one']])
  })
})
