import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../server/contract/databases.ts'
import type { Fork, ForkSource } from '../../server/contract/forks.ts'
import { queryDatabase } from '../database/guest-book-app.ts'
import { fullTest } from '../support/full-test.ts'
import { runCommand } from '../support/command.ts'
import { commitToBranch, createGit, waitForFirstCheck, waitForPreview } from '../support/git-branches.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'

/** An app that stores a text in a volume, and reports its database. */
export const notebook = {
  'package.json': JSON.stringify({ name: 'notebook', private: true, scripts: { start: 'node server.js' } }),
  'homeport.yaml': `
services:
  web: { build: ., command: node server.js, port: 3000, volumes: ["notes:/app/notes"] }
volumes: { notes: {} }
`,
  'server.js': `
const fs = require('node:fs')
require('node:http').createServer((request, response) => {
  const url = new URL(request.url, 'http://app')
  if (url.pathname === '/write') fs.appendFileSync('notes/text', url.searchParams.get('text'))
  if (url.pathname === '/fill') for (let n = 0; n < 3000; n++) fs.writeFileSync('notes/' + n, url.searchParams.get('text') + 'x'.repeat(20000))
  const names = fs.readdirSync('notes').filter((name) => /^\\d+$/.test(name))
  const kinds = url.pathname === '/kinds' ? [...new Set(names.map((name) => fs.readFileSync('notes/' + name, 'utf8')[0]))] : []
  const text = fs.existsSync('notes/text') ? fs.readFileSync('notes/text', 'utf8') : ''
  response.end(JSON.stringify({ text, url: process.env.DATABASE_URL || null, count: names.length, kinds }))
}).listen(process.env.PORT, process.env.HOST)
`,
}

interface Page {
  text: string
  url: string | null
  count: number
  kinds: string[]
}
interface ForkAnswer {
  fork: Fork
  replaced: { volume: string; snapshot: { id: string } }[]
  dump_id: string | null
  deployment_id: string | null
}

/** Branches with a copy of production's data, on every runtime. */
export function forkSuite(runtime: 'process' | 'docker'): void {
  let platform: TestPlatform
  let repository: Repository
  let database: Database
  beforeAll(async () => {
    platform = await startTestPlatform({ runtime })
    repository = makeRepository(notebook)
    await platform.createProject({ slug: 'notebook', repo_url: repository.url, pushes: true })
    await waitForFirstCheck(platform, 'notebook')
    expect(await platform.waitForEnd('notebook', (await platform.deploy('notebook')).id)).toMatchObject({ status: 'ready', error: null })
    const created = await platform.api<{ database: Database; deployment_id: string }>('POST', '/v1/projects/notebook/database')
    database = created.body.database
    expect(await platform.waitForEnd('notebook', created.body.deployment_id)).toMatchObject({ status: 'ready', error: null })
    await queryDatabase(database.connection_string, "CREATE TABLE guests (name text); INSERT INTO guests VALUES ('ada')")
    await platform.fetchEdge('notebook.localhost', '/write?text=production;')
  })
  afterAll(async () => {
    await platform.remove()
    repository.remove()
  })

  const forks = '/instance/projects/notebook/forks'
  const read = async (host: string, path = '/') => JSON.parse((await platform.fetchEdge(`${host}.localhost`, path)).body) as Page
  const push = (branch: string, text: string) =>
    waitForPreview(platform, 'notebook', branch, commitToBranch(repository.folder, branch, { 'note.txt': text }))
  const copyTo = async (branch: string, from_branch?: string) => {
    const { status, body } = await platform.api<ForkAnswer>('POST', forks, { branch, ...(from_branch && { from_branch }) })
    expect([status, body]).toEqual([200, expect.anything()])
    return body
  }
  const list = async () => (await platform.api<{ forks: Fork[]; production: ForkSource }>('GET', forks)).body
  /** The same database at the address of this machine. */
  const guestsOf = async (url: string | null) => {
    const address = new URL(database.connection_string)
    const own = new URL(url ?? '')
    own.host = address.host
    return (await queryDatabase(own.href, 'SELECT name FROM guests ORDER BY name')).flat()
  }

  test('the data waits for the preview of its branch, which diverges from there', async () => {
    const { fork, replaced, dump_id, deployment_id } = await copyTo('trial')
    expect(fork).toMatchObject({ branch: 'trial', from_branch: null, is_copying: false, url: null, database_bytes: expect.any(Number) })
    expect(fork.volumes.map(({ name }) => name)).toEqual(['notes'])
    expect([replaced, dump_id, deployment_id]).toEqual([[], null, null])
    expect((await list()).production).toMatchObject({ volumes: [{ name: 'notes' }], has_database: true })

    await push('trial', 'one')
    const first = await read('trial--notebook')
    expect(first.text).toBe('production;')
    expect(first.url).not.toBe((await read('notebook')).url)
    expect(await guestsOf(first.url)).toEqual(['ada'])

    await read('trial--notebook', '/write?text=trial;')
    const own = new URL(first.url ?? '')
    own.host = new URL(database.connection_string).host
    await queryDatabase(own.href, "INSERT INTO guests VALUES ('bea')")
    expect([(await read('notebook')).text, await guestsOf(database.connection_string)]).toEqual(['production;', ['ada']])
  })

  fullTest('a second copy replaces the first and keeps a snapshot and a dump of it; the preview keeps its address', async () => {
    const before = await read('trial--notebook')
    const { fork, replaced, dump_id } = await copyTo('trial')
    expect(fork.url).toMatch(/^http:\/\/trial--notebook\.localhost:\d+$/)
    expect(replaced).toMatchObject([{ volume: 'notes', snapshot: { id: expect.stringMatching(/^snp_/) } }])
    expect(dump_id).toMatch(/^dmp_/)
    const after = await read('trial--notebook')
    expect([after.text, after.url]).toEqual(['production;', before.url])
    expect(await guestsOf(after.url)).toEqual(['ada'])
    const restored = await platform.api('POST', `/instance/projects/notebook/volumes/notes/restore?branch=trial`, {
      snapshot_id: replaced[0]!.snapshot.id,
    })
    expect(restored.status).toBe(200)
    expect((await read('trial--notebook')).text).toBe('production;trial;')
  })

  fullTest('a branch gets the data of another branch; a live preview without a database is redeployed with it', async () => {
    await push('second', 'one')
    expect(await read('second--notebook')).toMatchObject({ text: '', url: null })
    const { fork, deployment_id } = await copyTo('second', 'trial')
    expect(fork.from_branch).toBe('trial')
    expect(await platform.waitForEnd('notebook', deployment_id ?? '')).toMatchObject({ status: 'ready', error: null })
    const { text, url } = await read('second--notebook')
    expect(text).toBe('production;trial;')
    expect(await guestsOf(url)).toEqual(['ada'])
  })

  const listBranches = async () => (await list()).forks.map(({ branch }) => branch)

  fullTest('removing a copy leaves the preview without data', async () => {
    const others = (await listBranches()).filter((branch) => branch !== 'trial')
    const { status, body } = await platform.api<{ deployment_id: string }>('DELETE', `${forks}?branch=trial`)
    expect(status).toBe(200)
    expect(await platform.waitForEnd('notebook', body.deployment_id)).toMatchObject({ status: 'ready', error: null })
    expect(await read('trial--notebook')).toMatchObject({ text: '', url: null })
    expect(await listBranches()).toEqual(others)
    expect((await platform.api<{ error: string }>('DELETE', `${forks}?branch=trial`)).body.error).toBe('fork_not_found')
  })

  fullTest('closing the preview removes its copy', async () => {
    const others = await listBranches()
    const { deployment_id } = await copyTo('trial')
    expect(await platform.waitForEnd('notebook', deployment_id ?? '')).toMatchObject({ status: 'ready', error: null })
    expect((await read('trial--notebook')).text).toBe('production;')
    createGit(repository.folder)('branch', '--delete', '--force', 'trial', ...others)
    await platform.api('POST', '/instance/projects/notebook/watching/check')
    await until(async () => ((await list()).forks.length === 0 ? true : undefined), { what: 'the copy to go with its preview' })
  })

  fullTest('the command prints what was copied, and reports an invalid request', async () => {
    const { api_url, instance } = platform.handle
    const homeport = (...args: string[]) => runCommand({ api_url, token: instance.token }, '/', args)
    const copied = await homeport('fork', 'notebook', 'printed')
    expect(copied).toMatchObject({ code: 0, err: '' })
    expect(copied.out).toMatch(/^Copied from production to printed in \d+\.\d s:\n {2}volume notes \(.+\)\n {2}database PostgreSQL \(.+\)\n/)
    expect(copied.out).toContain('The branch has no preview yet')
    expect((await homeport('fork', 'notebook')).out).toMatch(/printed +production +notes \(.+\), PostgreSQL \(.+\)/)
    expect(await homeport('fork', 'notebook', 'printed', '--remove')).toMatchObject({ code: 0, out: 'Removed the data of printed.\n' })
    expect((await homeport('fork', 'notebook')).out).toContain('No branch has its own data.')
    for (const [branch, from, status] of [
      ['main', undefined, 400],
      ['a..b', undefined, 400],
      ['one', 'one', 400],
    ] as const)
      expect((await platform.api('POST', forks, { branch, ...(from && { from_branch: from }) })).status, branch).toBe(status)
    expect((await homeport('fork', 'notebook', 'one', '--from', 'two', '--remove')).code).toBe(2)
  })
}
