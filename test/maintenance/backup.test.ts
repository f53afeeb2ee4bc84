/** The whole instance in one file, and restored from it (R34): compared by rows and files, then started next to the old one. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import type { Backup } from '../../server/contract/maintenance.ts'
import { queryDatabase, guestBookFiles } from '../database/guest-book-app.ts'
import { createTarGz } from '../support/archives.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository, tinyServer } from '../support/repository.ts'
import { restore } from './forged-backups.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeport-backup-'))
const into = join(folder, 'new')
let platform: TestPlatform
let again: TestPlatform | undefined
let repository: Repository
let book: Repository
let file = ''
let person = ''
let purgeToken = ''
let webhook = ''
let domain = ''
let connection = ''
const noise: string[] = []

/** All rows of a file of the store, by table. */
function rowsOf(path: string): Record<string, Record<string, unknown>[]> {
  const db = new Sqlite(path, { readonly: true })
  try {
    const tables = db
      .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
      .all()
    return Object.fromEntries(tables.map(({ name }) => [name, db.prepare<[], Record<string, unknown>>(`SELECT * FROM ${name}`).all()]))
  } finally {
    db.close()
  }
}

async function deploy(slug: string): Promise<void> {
  expect((await platform.waitForEnd(slug, (await platform.deploy(slug)).id)).error).toBeNull()
}

async function fillTiny(): Promise<void> {
  await platform.createProject({ slug: 'tiny', repo_url: repository.url })
  await platform.api('POST', '/v1/projects/tiny/env-vars', { key: 'SECRET', value: 'of tiny', is_sensitive: true })
  await deploy('tiny')
  repository.commit({ 'note.txt': 'a second version' })
  await deploy('tiny')
}

async function fillBook(): Promise<void> {
  await platform.createProject({ slug: 'book', repo_url: book.url })
  connection = (await platform.api<{ database: Database }>('POST', '/v1/projects/book/database')).body.database.connection_string
  await deploy('book')
  expect((await platform.fetchEdge('book.localhost', '/sign?name=Ada')).body).toBe('Ada')
  await platform.api('POST', '/instance/projects/book/database/dumps')
}

beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process' })
  repository = makeRepository(tinyServer('one'))
  book = makeRepository(guestBookFiles())
  await platform.api('PATCH', '/instance/settings', { keep_deployments: 7, screenshots: false })
  await platform.api('PUT', '/instance/password', { password: 'correct horse battery' })
  person = (await platform.api<{ token: string }>('POST', '/instance/users', { email: 'person@example.com' })).body.token

  // The database server is created while the other project is deployed.
  await Promise.all([fillTiny(), fillBook()])

  const site = join(folder, 'a-site')
  mkdirSync(site)
  writeFileSync(join(site, 'index.html'), '<h1>a site</h1>')
  const put = await platform.api<{ deployment: { id: string } }>('POST', '/instance/deploy-folder', { path: site })
  await platform.waitForEnd('a-site', put.body.deployment.id)

  await platform.createProject({ slug: 'sent' })
  const sent = await fetch(`${platform.handle.api_url}/v1/projects/sent/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.handle.instance.token}`, 'content-type': 'application/gzip' },
    body: new Uint8Array(createTarGz([{ name: 'index.html', data: '<h1>sent</h1>' }])),
  })
  await platform.waitForEnd('sent', ((await sent.json()) as { deployment: { id: string } }).deployment.id)

  const token = await platform.api<{ token: string; webhook_url: string }>('POST', '/v1/projects/tiny/cache/token')
  purgeToken = token.body.token
  webhook = new URL(token.body.webhook_url).pathname
  await platform.api('POST', '/v1/projects/tiny/cache/purge-all')
  await platform.createProject({ slug: 'noise' })
  // Rows that no request creates without an external system: a hostname, a screenshot.
  const tiny = await platform.getProject('tiny')
  const db = new Sqlite(join(platform.data_dir, 'homeport.db'), { timeout: 5_000 })
  const [account, current] = [
    db.prepare('SELECT account_id AS id FROM projects').get(),
    db.prepare('SELECT id FROM deployments WHERE is_current = 1 AND project_id = ?').get(tiny.id),
  ]
  domain = 'tiny.example.test'
  db.prepare('INSERT INTO domains (id, account_id, project_id, hostname, status, verified_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)').run(
    'dom_1',
    (account as { id: string }).id,
    tiny.id,
    domain,
    'verified',
    tiny.created_at,
    tiny.created_at,
  )
  db.prepare('INSERT INTO screenshots VALUES (?, ?, ?, ?)').run((current as { id: string }).id, 'desktop', 4, tiny.created_at)
  db.close()
  mkdirSync(join(platform.data_dir, 'screenshots', tiny.id), { recursive: true })
  writeFileSync(join(platform.data_dir, 'screenshots', tiny.id, `${(current as { id: string }).id}-desktop.png`), 'png!')
})

afterAll(async () => {
  await again?.remove()
  await platform?.remove()
  repository?.remove()
  book?.remove()
  rmSync(folder, { recursive: true, force: true })
})

test('201 during writes, each of which succeeds', async () => {
  let going = true
  const writers = Promise.all(
    [0, 1].map(async (writer) => {
      for (let i = 0; going; i++) {
        const key = `N${writer}_${String(i).padStart(6, '0')}`
        const { status } = await platform.api('POST', '/v1/projects/noise/env-vars', { key, value: 'x'.repeat(500) })
        expect(status).toBe(201)
        noise.push(key)
      }
    }),
  )
  const before = [...noise]
  const { status, body } = await platform.api<{ backup: Backup; left_out: string[] }>('POST', '/instance/backups')
  going = false
  await writers
  expect([status, body.left_out]).toEqual([201, []])
  expect(body.backup).toMatchObject({ kind: 'full', name: expect.stringMatching(/^homeport-[\dTZ-]+\.tar\.gz$/) })
  file = body.backup.path
  expect(statSync(file)).toMatchObject({ size: body.backup.bytes })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(noise.length).toBeGreaterThan(before.length)
})

test('excludes the key, caches, quarantine, the database cluster, earlier backups', () => {
  const names = execFileSync('tar', ['tzf', file], { encoding: 'utf8' }).trim().split('\n')
  expect([names[0], names.at(-1)]).toEqual(['homeport-backup.json', 'end.json'])
  const tops = new Set(names.map((name) => name.split('/')[0]))
  expect(tops).toEqual(
    new Set('archives bundles databases dumps end.json homeport-backup.json homeport.db logs.db metrics.db screenshots sources'.split(' ')),
  )
  const key = readFileSync(join(platform.data_dir, 'master.key'), 'utf8').trim()
  const unpacked = join(folder, 'unpacked')
  mkdirSync(unpacked)
  execFileSync('tar', ['xzf', file, '-C', unpacked])
  const secrets = { key, key_base64: Buffer.from(key, 'hex').toString('base64'), variable: 'of tiny', password: new URL(connection).password }
  for (const [name, secret] of Object.entries(secrets)) expect([name, spawnSync('grep', ['-rqaF', '--', secret, unpacked]).status]).toEqual([name, 1])
})

describe('restored into a new folder', () => {
  test('has every row, except those that identify the instance', async () => {
    const { lost, counts } = await restore(file, into, { key_file: join(platform.data_dir, 'master.key') })
    expect(lost).toEqual([])
    expect(counts).toMatchObject({ projects: 5, databases: 1 })
    const packed = join(folder, 'unpacked')
    for (const name of ['logs.db', 'metrics.db']) expect(rowsOf(join(into, name))).toEqual(rowsOf(join(packed, name)))

    const was = rowsOf(join(packed, 'homeport.db'))
    const is = rowsOf(join(into, 'homeport.db'))
    expect(Object.keys(is)).toEqual(Object.keys(was))
    const own = new Set(['instance_id', 'cookie_name', 'recovered'])
    const without = (rows: Record<string, unknown>[], field: string, values: Set<unknown>) => rows.filter((row) => !values.has(row[field]))
    const moved = (text: unknown) => (typeof text === 'string' ? text.replaceAll(platform.data_dir, into) : text)
    const expected = {
      ...was,
      settings: without(was.settings!, 'key', own),
      tokens: without(was.tokens!, 'kind', new Set(['run'])),
      sessions: [],
      sign_in_codes: [],
      cleanups: [],
      deployments: was.deployments!.map((row) => ({ ...row, artifact: moved(row.artifact) })),
    }
    expect({ ...is, settings: without(is.settings!, 'key', own) }).toEqual(expected)
    expect(is.deployments!.filter((row) => row.artifact !== null).length).toBeGreaterThanOrEqual(5)
    // A consistent snapshot: of each writer all rows up to one, and none after it.
    const kept = is.env_vars!.map((row) => String(row.key)).filter((key) => /^N\d_/.test(key))
    for (const writer of ['N0_', 'N1_']) {
      const mine = kept.filter((key) => key.startsWith(writer)).sort()
      expect(mine).toEqual(mine.map((_, i) => `${writer}${String(i).padStart(6, '0')}`))
    }
    const filled = 'projects deployments env_vars tokens domains purge_tokens cache_events databases database_dumps screenshots'
    for (const table of filled.split(' ')) expect([table, is[table]!.length > 0]).toEqual([table, true])
    expect(rowsOf(join(into, 'logs.db')).chunks!.length).toBeGreaterThan(5)
  })

  test('has every file', () => {
    for (const tree of ['archives', 'sources', 'bundles', 'screenshots', 'dumps']) {
      expect(readdirSync(join(into, tree)).length).toBeGreaterThan(0)
      const { stdout } = spawnSync('diff', ['-r', '--no-dereference', join(platform.data_dir, tree), join(into, tree)], { encoding: 'utf8' })
      expect(stdout.split('\n').filter((line) => line !== '' && !line.endsWith(': tmp'))).toEqual([])
    }
    const server = readdirSync(join(into, 'bundles')).map((id) => join(into, 'bundles', id, 'app', 'node_modules', 'pg', 'package.json'))
    expect(server.some((path) => existsSync(path))).toBe(true)
  })

  test('starts: sites, apps, secrets, tokens and database rows are there, and the old instance keeps running', async () => {
    again = await startTestPlatform({ runtime: 'process', data_dir: into })
    const { api, fetchEdge: edge } = again
    expect(again.handle.notices.join(' ')).toMatch(/restored from the backup of \d{4}-/)
    expect(existsSync(join(into, 'restored.json'))).toBe(false)
    expect(existsSync(join(into, 'databases'))).toBe(false)
    const page = (host: string, path = '/') =>
      until(
        async () => {
          const response = await edge(host, path)
          return response.status === 200 ? response.body : undefined
        },
        { what: `${host} to answer` },
      )
    expect(await page('a-site.localhost')).toBe('<h1>a site</h1>')
    expect(await page('sent.localhost')).toBe('<h1>sent</h1>')
    expect(await page('tiny.localhost')).toBe((await platform.fetchEdge('tiny.localhost')).body)
    expect(await page(domain)).toBe(await page('tiny.localhost'))
    expect(await page('book.localhost', '/guests')).toBe('Ada')

    const { env_vars } = (await api<{ env_vars: { key: string; value: string }[] }>('GET', '/v1/projects/tiny/env-vars')).body
    expect(env_vars.map(({ key, value }) => [key, value])).toEqual([['SECRET', 'of tiny']])
    expect((await api<{ settings: object }>('GET', '/instance/settings')).body.settings).toMatchObject({ keep_deployments: 7 })
    expect((await api('GET', '/v1/projects', undefined, person)).status).toBe(200)
    expect((await api('GET', '/v1/projects', undefined, platform.handle.instance.token)).status).toBe(401)
    const purged = await fetch(`${again.handle.api_url}${webhook}`, { method: 'POST', headers: { authorization: `Bearer ${purgeToken}` } })
    expect(purged.status).toBe(200)

    const theirs = (await api<{ database: Database }>('GET', '/v1/projects/book/database')).body.database
    expect(theirs.connection_string).not.toBe(connection)
    await queryDatabase(theirs.connection_string, "INSERT INTO guests VALUES ('Grace')")
    expect((await edge('book.localhost', '/guests')).body).toBe('Ada,Grace')
    // An independent instance.
    expect((await platform.fetchEdge('book.localhost', '/guests')).body).toBe('Ada')
    const id = (of: TestPlatform) => rowsOf(join(of.data_dir, 'homeport.db')).settings!.find((row) => row.key === 'instance_id')?.value
    expect(id(again)).not.toBe(id(platform))
    // And it works: a retry of an upload, and a rollback to a restored deployment.
    const { deployments } = (await api<{ deployments: { id: string; is_current: boolean }[] }>('GET', '/v1/projects/tiny/deployments')).body
    const older = deployments.find((one) => !one.is_current)?.id
    const back = await api<{ deployment: { id: string } }>('POST', `/v1/projects/tiny/deployments/${older}/rollback`)
    expect((await again.waitForEnd('tiny', back.body.deployment.id)).error).toBeNull()
  })
})
