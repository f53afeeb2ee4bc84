import { execFileSync, spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endOfRestoredFile, restoreExits, restoreFunctions, restoreScript } from '../../server/contract/mariadb-restore.ts'
import { manageServices, mariadbScript, plainAppFiles } from '../support/managed-app.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { runProgram } from '../support/runtime.ts'

/** A parent and a child table, a view, a trigger and a procedure; every row names the content to which it belongs. */
const content = (text: string) => `
SET FOREIGN_KEY_CHECKS = 0; DROP VIEW IF EXISTS named; DROP PROCEDURE IF EXISTS tidy; DROP TABLE IF EXISTS child, parent, only_${text}; SET FOREIGN_KEY_CHECKS = 1;
CREATE TABLE parent (id INT PRIMARY KEY, text VARCHAR(20));
CREATE TABLE child (parent INT, text VARCHAR(20), FOREIGN KEY (parent) REFERENCES parent (id));
CREATE TABLE only_${text} (a INT);
INSERT INTO parent VALUES (1, '${text}'), (2, '${text}'); INSERT INTO child VALUES (1, '${text}'), (2, '${text}');
CREATE VIEW named AS SELECT text FROM parent;
CREATE PROCEDURE tidy() SELECT '${text}';
CREATE TRIGGER stamp BEFORE INSERT ON child FOR EACH ROW SET NEW.text = '${text}';
`
const fingerprint = `SHOW TABLES; SELECT * FROM parent; SELECT * FROM child; SELECT * FROM named; CALL tidy(); SHOW CREATE TABLE child;
SELECT trigger_name, action_statement FROM information_schema.triggers WHERE trigger_schema = 'app';`
const dropHalf = `sql --execute='SET FOREIGN_KEY_CHECKS = 0; DROP TABLE app.parent'`

const steps = [
  ['during the load', 'prepare && head -n 4 | load', 'old'],
  ['after the load', 'prepare && load', 'old'],
  ['with the account locked', 'prepare && load && check_complete && lock', 'old'],
  ['with the definitions saved', 'prepare && load && check_complete && lock && save_code', 'new'],
  ['without triggers', 'prepare && load && check_complete && lock && save_code && drop_triggers', 'new'],
  ['with half of the old tables', `prepare && load && check_complete && lock && save_code && drop_triggers && ${dropHalf}`, 'new'],
  ['without the old tables', 'prepare && load && check_complete && lock && save_code && drop_triggers && make_room', 'new'],
  ['with the tables moved', 'prepare && load && check_complete && lock && save_code && drop_triggers && make_room && move_tables', 'new'],
  [
    'with everything moved',
    'prepare && load && check_complete && lock && save_code && drop_triggers && make_room && move_tables && restore_code',
    'new',
  ],
  [
    'during cleanup',
    `prepare && load && check_complete && lock && save_code && drop_triggers && make_room && move_tables && restore_code && sql --execute='DROP DATABASE homeport_restore; DROP TABLE app.homeport_restore_state'`,
    'new',
  ],
] as const

describe.skipIf(!requires('docker').ok || !requires('service-images').ok)('a killed MariaDB restore', () => {
  let platform: TestPlatform
  let repository: Repository
  const sql = (statements: string) => manageServices(platform, 'shop').run('mariadb', mariadbScript, statements)
  const findContainer = async () => {
    const { id } = await platform.getProject('shop')
    const filters = ['--filter', 'label=homeport.service=mariadb', '--filter', `label=homeport.project=${id}`]
    return (await runProgram('docker', ['ps', '-q', ...filters])).trim()
  }
  const runScript = async (script: string, input: string) =>
    spawnSync('docker', ['exec', '-i', await findContainer(), 'bash', '-c', script], { encoding: 'utf8', input })
  /** Until the app can use it again; the platform's clock starts it. */
  const readAgain = () =>
    until(
      async () => {
        await platform.advance(5_000)
        // Otherwise the advanced clock would put the environment to sleep.
        await platform.fetchEdge('shop.localhost')
        return sql(fingerprint).catch(() => undefined)
      },
      { what: 'MariaDB to answer' },
    )
  const expectNothingLeft = async () => {
    // The server responds a moment before the health check has cleaned up.
    await until(async () => !(await sql('SHOW DATABASES')).includes('homeport_restore') || undefined, { what: 'homeport_restore to be dropped' })
    const left = `sql --execute="SELECT table_schema, table_name FROM information_schema.tables WHERE table_name LIKE '%homeport%'; SELECT db FROM mysql.db WHERE db LIKE 'homeport%'"`
    expect(await runScript(`${restoreFunctions}\n${left}`, '')).toMatchObject({ status: 0, stdout: '' })
  }

  beforeAll(async () => {
    repository = makeRepository(plainAppFiles)
    platform = await startTestPlatform({ runtime: 'docker' })
    await platform.createProject({ slug: 'shop', repo_url: repository.url })
    await platform.api('POST', '/instance/projects/shop/managed-services', { name: 'mariadb' })
    expect((await platform.waitForEnd('shop', (await platform.deploy('shop')).id)).error).toBeNull()
  })
  afterAll(async () => {
    await platform.remove()
    repository.remove()
  })

  test('completes without a kill, and changes nothing when only half of the file arrives', async () => {
    await sql(content('old'))
    const before = await sql(fingerprint)
    const file = content('new')
    // Homeport was killed during the upload: after a statement, and in the middle of one.
    expect(await runScript(restoreScript, file.slice(0, file.indexOf('CREATE VIEW')))).toMatchObject({ status: restoreExits.incomplete })
    expect(await runScript(restoreScript, file.slice(0, file.indexOf('CREATE VIEW') + 14))).toMatchObject({ status: 1 })
    expect(await sql(fingerprint)).toBe(before)
    await expectNothingLeft()
    expect(await runScript(restoreScript, file + endOfRestoredFile)).toMatchObject({ status: 0, stderr: '' })
    expect(await sql(fingerprint)).toBe(before.replaceAll('old', 'new'))
    await expectNothingLeft()
  })

  test.each(steps)('%s', { timeout: 300_000 }, async (_, step, outcome) => {
    await sql(`DROP TABLE IF EXISTS only_new; ${content('old')}`)
    const before = await sql(fingerprint)
    expect(await runScript(`${restoreFunctions}\n${step}`, content('new') + endOfRestoredFile)).toMatchObject({ status: 0 })
    execFileSync('docker', ['kill', '--signal', 'KILL', await findContainer()])
    expect(await readAgain()).toBe(outcome === 'old' ? before : before.replaceAll('old', 'new'))
    await expectNothingLeft()
    // Otherwise the service counts as crashed after five exits.
    expect((await platform.api('POST', '/instance/projects/shop/services/mariadb/restart')).status).toBe(200)
  })
})
