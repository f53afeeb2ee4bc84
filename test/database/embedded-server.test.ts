/** PostgreSQL from npm, without a platform. The tests share one cluster and depend on their order: each leaves a server for the next. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { DatabaseServer } from '../../server/database/database-server.ts'
import { createSpawnOptions } from '../../server/database/embedded-programs.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { createEmbeddedServers, waitForExit, isAlive, spec, urlOf } from './embedded.ts'
import { queryDatabase } from './guest-book-app.ts'

const isRoot = requires('root').ok
const { data_dir, closed, log, clock, cluster, pidOf, start, remove } = createEmbeddedServers()
let server: DatabaseServer
const rows = async (sql: string, one = spec) => queryDatabase(await urlOf(server, one), sql)

beforeAll(() => {
  // A crash left the cluster incomplete.
  mkdirSync(`${cluster()}.part/base`, { recursive: true, mode: 0o700 })
  writeFileSync(`${cluster()}.part/PG_VERSION`, '18\n')
  server = start()
})
afterAll(remove)

test('starts when the first database is needed, and recreates a cluster that a crash left incomplete', async () => {
  expect(await server.state()).toMatchObject({ running: false, message: expect.stringMatching(/starts when/) })
  expect(readFileSync(`${cluster()}.part/PG_VERSION`, 'utf8')).toBe('18\n')
  await server.create(spec)
  await server.create(spec)
  expect(await rows("SELECT current_user, current_database(), lower('ÄÉ')")).toEqual([['p_one', 'p_one', 'äé']])
  expect(await server.inspect('p_one')).toEqual({ engine_version: expect.stringMatching(/^18\.\d+$/), size_bytes: expect.any(Number) })
  expect(await server.state()).toMatchObject({ running: true, version: expect.stringMatching(/^18\.\d+$/) })
  expect(await server.address({ runtime: 'process', project_id: 'prj_a' })).toEqual(await server.address('machine'))
  expect(await server.address({ runtime: 'docker', project_id: 'prj_a' })).toBeUndefined()
  // Below the range of ephemeral ports, so that the same port is free after a restart.
  expect((await server.address('machine')).port).toBeLessThan(32_768)
})

test('its files are private, and passwords are in one private file', async () => {
  const { password } = JSON.parse(readFileSync(join(data_dir, 'postgres-18', 'server.json'), 'utf8')) as { password: string }
  for (const name of ['', 'cluster', 'server.json', 'postgres.log'])
    expect([name, statSync(join(data_dir, 'postgres-18', name)).mode & 0o077]).toEqual([name, 0])
  expect(filesWith(password)).toEqual([join(data_dir, 'postgres-18', 'server.json')])
  expect(filesWith(spec.password)).toEqual([])
  const commands = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
  for (const secret of [password, spec.password]) expect([commands.includes(secret), log.join('\n').includes(secret)]).toEqual([false, false])
  await expect(queryDatabase((await urlOf(server)).replace(spec.password, 'wrong'), 'SELECT 1')).rejects.toThrow(/password authentication failed/)
})

test.skipIf(!isRoot)('runs as `nobody` when started by root', () => {
  expect(execFileSync('ps', ['-o', 'uid=', '-p', String(pidOf())], { encoding: 'utf8' }).trim()).toBe('65534')
  expect(statSync(cluster()).uid).toBe(65534)
})

test('adopts a server that outlived the platform instead of starting another', async () => {
  const pid = pidOf()
  await server.close(false)
  expect(isAlive(pid)).toBe(true)
  server = start()
  await server.create(spec)
  expect(pidOf()).toBe(pid)
})

test('an orderly stop ends the process; the next start reuses data and port without recovery', async () => {
  await rows("CREATE TABLE kept (a text); INSERT INTO kept VALUES ('yes')")
  const [pid, { port }] = [pidOf(), await server.address('machine')]
  await server.close(true)
  expect(isAlive(pid)).toBe(false)
  server = start()
  expect(await rows('TABLE kept')).toEqual([['yes']])
  expect((await server.address('machine')).port).toBe(port)
  expect(readFileSync(join(data_dir, 'postgres-18', 'postgres.log'), 'utf8')).not.toMatch(/not properly shut down/)
})

test('without signals, as on Windows, pg_ctl stops it, and no recovery is needed', async () => {
  await server.close(false)
  server = start(data_dir, { has_signals: false })
  await server.create(spec)
  const pid = pidOf()
  const heard = () => readFileSync(join(data_dir, 'postgres-18', 'postgres.log'), 'utf8').match(/received fast shutdown request/g)?.length ?? 0
  const before = heard()
  const kill = vi.spyOn(process, 'kill')
  await server.close(true)
  // Signal 0 only checks whether the process exists.
  const signals = kill.mock.calls.filter(([killed, signal]) => killed === pid && signal !== 0)
  kill.mockRestore()
  expect([isAlive(pid), heard(), signals]).toEqual([false, before + 1, []])
  server = start()
  expect(await rows('TABLE kept')).toEqual([['yes']])
})

test('on Windows its programs find those of the system, and open no console window', () => {
  expect(createSpawnOptions({ SYSTEMROOT: 'D:\\Windows' }, 'win32')).toEqual({
    env: expect.objectContaining({ SystemRoot: 'D:\\Windows', COMSPEC: 'D:\\Windows\\System32\\cmd.exe', PATH: 'D:\\Windows\\System32;D:\\Windows' }),
    detached: false,
    windowsHide: true,
  })
})

test('starts on another port if its own is taken, despite a stale PID file with the number of another program', async () => {
  const [processFile, { port }] = [readFileSync(join(cluster(), 'postmaster.pid'), 'utf8'), await server.address('machine')]
  await server.close(true)
  const stranger = spawn('sleep', ['300'], { stdio: 'ignore', ...(isRoot ? { uid: 65534, gid: 65534 } : {}) })
  const other = createServer()
  try {
    writeFileSync(join(cluster(), 'postmaster.pid'), processFile.replace(/^\d+/, String(stranger.pid)), { mode: 0o600 })
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve))
    server = start()
    await server.create(spec)
    expect((await server.address('machine')).port).not.toBe(port)
    expect(pidOf()).not.toBe(stranger.pid)
    expect(isAlive(stranger.pid ?? 0)).toBe(true)
    expect(await rows('SELECT 1')).toEqual([[1]])
  } finally {
    other.close()
    stranger.kill('SIGKILL')
  }
})

test.each([
  ['an error at its end', 'CREATE TABLE a (x int);\nINSERT INTO a VALUES (1);\nSELECT nonsense;\n', /^Line 3: column "nonsense" does not exist/],
  [
    'a row with a value of another type',
    'CREATE TABLE a (x int);\nCOPY a FROM stdin;\n1\ntwo\n\\.\n',
    /^Line 2: invalid input syntax for type integer: "two".*COPY a, line 2/,
  ],
  ['rows without an end', 'CREATE TABLE a (x int);\nCOPY a FROM stdin;\n1\n', /inside the rows/],
  ['an unclosed quote', "SELECT 1;\nSELECT 'x;\n", /^Line 2: .*not closed/],
  ['a commit in the middle', 'CREATE TABLE a (x int); COMMIT; SELECT nonsense;', /nonsense/],
  ['a commit in a block', 'CREATE TABLE a (x int); DO $$ BEGIN COMMIT; END $$; SELECT nonsense;', /invalid transaction termination/],
  ['a rollback', 'CREATE TABLE a (x int); ROLLBACK; CREATE TABLE b (x int);', /ROLLBACK/],
  ['a psql command', 'SELECT 1;\n\\! touch /tmp/homeport-mark\n', /^Line 2: \\! is a psql command/],
  ['a change to another database', '\\connect postgres\n', /--create/],
  ['a function its role may not call', "SELECT pg_read_file('/etc/passwd');", /permission denied/],
  ['a statement that cannot run in a transaction', 'CREATE TABLE a (x int); VACUUM a;', /cannot run inside a transaction/],
  ['pg_dump’s custom format', 'PGDMP\u0001\u000e', /--format=plain/],
])('a file with %s is refused, and nothing changes', async (_what, sql, message) => {
  const file = async function* () {
    yield Buffer.from(sql)
  }
  await expect(server.restore(spec, file(), new AbortController().signal)).rejects.toThrow(message)
  expect(await rows("SELECT to_regclass('a'), to_regclass('b'), (SELECT a FROM kept)")).toEqual([[null, null, 'yes']])
})

test('an aborted restore changes nothing', async () => {
  await rows('CREATE TABLE precious (a int); INSERT INTO precious VALUES (1)')
  const stop = new AbortController()
  const endless = async function* () {
    yield Buffer.from('CREATE TABLE precious (b text);\nCOPY precious FROM stdin;\n')
    for (let i = 0; ; i++) {
      yield Buffer.from(`row ${i}\n`.repeat(1_000))
      if (i === 20) stop.abort(new Error('enough'))
    }
  }
  await expect(server.restore(spec, endless(), stop.signal)).rejects.toThrow('enough')
  expect(await rows('TABLE precious')).toEqual([[1]])
})

test('kill -9 of the server during a restore: it restarts on the same port with the previous data', async () => {
  const [pid, { port }] = [pidOf(), await server.address('machine')]
  const dying = async function* () {
    yield Buffer.from('CREATE TABLE precious (b text);\n')
    process.kill(pid, 'SIGKILL')
    for (;;) yield Buffer.from("INSERT INTO precious VALUES ('x');\n")
  }
  await expect(server.restore(spec, dying(), new AbortController().signal)).rejects.toThrow(/connection to the database server was lost/)
  await waitForExit(pid)
  expect(await server.state()).toMatchObject({ running: false })
  await clock.advance(500)
  await until(async () => ((await server.state()).running ? true : undefined), { what: 'the server to come back' })
  expect(pidOf()).not.toBe(pid)
  expect((await server.address('machine')).port).toBe(port)
  expect(await rows('TABLE precious')).toEqual([[1]])
  expect(log.join('\n')).toContain('postgres_exited')
})

test('a drop removes role and database despite open sessions, and can be repeated', async () => {
  const other = { db_name: 'p_two', db_user: 'p_two', password: 'x' }
  await server.create(other)
  const url = await urlOf(server, other)
  await queryDatabase(url, 'SELECT 1')
  await server.drop(other)
  await server.drop(other)
  await expect(queryDatabase(url, 'SELECT 1')).rejects.toThrow(/password authentication failed|pg_hba/)
  expect(await rows("SELECT 1 FROM pg_roles WHERE rolname = 'p_two'")).toEqual([])
})

test('a lost superuser password is reset, and the data stays', async () => {
  await server.close(true)
  rmSync(join(data_dir, 'postgres-18', 'server.json'))
  server = start()
  await server.create(spec)
  expect(await rows('TABLE kept')).toEqual([['yes']])
})

test('a cluster of another version is refused and not modified', async () => {
  const folder = join(closed, 'older')
  mkdirSync(cluster(folder), { recursive: true })
  writeFileSync(join(cluster(folder), 'PG_VERSION'), '14\n')
  await expect(start(folder).create(spec)).rejects.toThrow(/created by PostgreSQL 14, but the server of this folder is PostgreSQL 18/)
})

/** Files of the data folder that contain a text. The server may remove one meanwhile, which grep reports only in its exit code. */
const filesWith = (text: string) => spawnSync('grep', ['-rlsFe', text, data_dir], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean)
