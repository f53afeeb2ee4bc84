import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DatabaseDump } from '../../server/contract/databases.ts'
import { runCommand } from '../support/command.ts'
import { manageServices, mariadbScript, plainAppFiles } from '../support/managed-app.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'

const schema = `
CREATE TABLE guests (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(80) CHARACTER SET utf8mb4, raw BLOB, at DATETIME(6), UNIQUE (name));
CREATE TABLE \`odd; "name" -- '\` (\`co; "l" --\` INT, FOREIGN KEY (\`co; "l" --\`) REFERENCES guests (id));
INSERT INTO guests (name, raw, at) VALUES ('Ada', 0x00ff0a5c27, '2026-01-31 12:00:00.123456'), ('it''s;\\nUSE mysql;', NULL, NULL), ('🦄 日本語', '', NULL);
INSERT INTO \`odd; "name" -- '\` VALUES (1);
CREATE VIEW named AS SELECT name FROM guests WHERE raw IS NOT NULL;
CREATE PROCEDURE tidy() DELETE FROM guests WHERE name = 'nobody';
CREATE TRIGGER stamp BEFORE INSERT ON guests FOR EACH ROW SET NEW.at = COALESCE(NEW.at, '2000-01-01');
`
const fingerprint = `
SELECT id, HEX(name), HEX(raw), at FROM guests ORDER BY id; SELECT * FROM \`odd; "name" -- '\`; SELECT HEX(name) FROM named ORDER BY 1;
SELECT routine_name FROM information_schema.routines WHERE routine_schema = 'app'; SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = 'app';
SHOW CREATE TABLE guests;`

describe.skipIf(!requires('docker').ok || !requires('service-images').ok)('dumps of the managed MariaDB', () => {
  let platform: TestPlatform
  let repository: Repository
  const cwd = mkdtempSync(join(tmpdir(), 'homeport-mariadb-'))
  const homeport = (...args: string[]) => runCommand({ api_url: platform.handle.api_url, token: platform.handle.instance.token }, cwd, args)
  const sql = (statements: string) => manageServices(platform, 'shop').run('mariadb', mariadbScript, statements)
  const list = async () => (await platform.api<{ dumps: DatabaseDump[] }>('GET', '/instance/projects/shop/database/dumps?service=mariadb')).body.dumps

  beforeAll(async () => {
    repository = makeRepository(plainAppFiles)
    platform = await startTestPlatform({ runtime: 'docker' })
    await platform.createProject({ slug: 'shop', repo_url: repository.url })
    await platform.api('POST', '/instance/projects/shop/managed-services', { name: 'mariadb' })
    expect((await platform.waitForEnd('shop', (await platform.deploy('shop')).id)).error).toBeNull()
    await sql(schema)
  })
  afterAll(async () => {
    await platform.remove()
    repository.remove()
    rmSync(cwd, { recursive: true })
  })

  test('a dump contains everything, and restores it after it was lost', async () => {
    const before = await sql(fingerprint)
    const dumped = await homeport('db', 'dump', 'shop', '--service', 'mariadb', '--json')
    expect(dumped).toMatchObject({ code: 0, err: '' })
    const { dump } = JSON.parse(dumped.out) as { dump: DatabaseDump }
    expect(dump).toMatchObject({ service: 'mariadb', db_name: 'app', reason: 'manual', project_slug: 'shop' })
    const password = (await manageServices(platform, 'shop').variables()).MYSQL_PASSWORD ?? ''
    expect(password).toHaveLength(43)
    expect(gunzipSync(readFileSync(join(platform.data_dir, 'dumps', dump.file))).toString()).not.toContain(password)
    expect(platform.log.join('\n')).not.toContain(password)

    await sql('DROP VIEW named; DROP PROCEDURE tidy; DELETE FROM `odd; "name" -- \'`; DELETE FROM guests; CREATE TABLE new_one (a INT)')
    const restored = await homeport('db', 'restore', 'shop', dump.id)
    expect(restored).toMatchObject({ code: 0, err: '' })
    expect(await sql(fingerprint)).toBe(before)
    expect(await sql("SHOW TABLES LIKE 'new_one'")).toBe('')
    // The previous data is in a separate dump, and nothing remains of the database that was loaded first.
    expect((await list()).map(({ reason }) => reason)).toEqual(['restore', 'manual'])
    expect(await sql('SHOW DATABASES')).not.toContain('homeport_restore')
    // PostgreSQL's dumps are listed separately.
    expect((await platform.api('GET', '/instance/projects/shop/database/dumps')).body).toEqual({ dumps: [] })
  })

  test('dumps to a file and restores from one; a file with an error changes nothing', async () => {
    const before = await sql(fingerprint)
    expect(await homeport('db', 'dump', 'shop', 'shop.sql', '--service', 'mariadb')).toMatchObject({ code: 0, err: '' })
    const file = readFileSync(join(cwd, 'shop.sql'), 'utf8')
    const restore = (text: string) => {
      writeFileSync(join(cwd, 'other.sql'), text)
      return homeport('db', 'restore', 'shop', 'other.sql', '--service', 'mariadb')
    }
    expect(await restore(file)).toMatchObject({ code: 0, err: '' })
    expect(await sql(fingerprint)).toBe(before)
    for (const [text, message] of [
      ["INSERT INTO guests VALUES ('too', 'few')", /restore_failed.*guests/],
      [`${file}\nSELECT broken FROM nowhere;\n`, /restore_failed.*nowhere/],
      ['USE app;\nDROP TABLE guests;\n', /restore_failed.*selects or creates a database/],
      ['DROP TABLE app.guests_of_nobody;\n', /restore_failed/],
      ['\\! touch /tmp/mark\n', /restore_failed/],
      ["CREATE USER intruder IDENTIFIED BY 'x';\n", /restore_failed.*denied/],
      ['SELECT * FROM mysql.user;\n', /restore_failed.*denied/],
    ] as const) {
      const refused = await restore(text)
      expect([text.slice(-60), refused.code, refused.err]).toEqual([text.slice(-60), 1, expect.stringMatching(message)])
    }
    expect(await sql(fingerprint)).toBe(before)
    expect(await manageServices(platform, 'shop').run('mariadb', 'ls /tmp')).not.toContain('mark')
  })

  test('other services say what their dump is, and an unknown service is reported', async () => {
    expect((await homeport('db', 'dump', 'shop', '--service', 'redis')).err).toMatch(
      /Take a snapshot of its volume instead: homeport volumes snapshot/,
    )
    expect((await homeport('db', 'dump', 'shop', '--service', 'oracle')).err).toMatch(/Use mariadb/)
    await platform.createProject({ slug: 'none' })
    expect((await homeport('db', 'dump', 'none', '--service', 'mariadb')).err).toMatch(/^service_not_found/)
    expect(await platform.api('POST', '/instance/projects/shop/database/dumps?service=redis')).toMatchObject({
      status: 400,
      body: { error: 'invalid_input' },
    })
  })
})
