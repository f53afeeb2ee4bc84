import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DomainStatus } from '../../server/store/domains.ts'
import { createRoutes } from '../../server/deploy/routes.ts'
import { newId } from '../../server/lib/id.ts'
import { insertDomain } from '../../server/store/domains.ts'
import { openStore, type Store } from '../../server/store/open.ts'
import { insertProject } from '../../server/store/projects.ts'
import { get, startApp, startEdge, upstreamRoute } from '../support/edge.ts'
import { projectRow } from '../support/rows.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { getSecure } from '../support/tls.ts'

const now = '2026-01-31T12:00:00.000Z'

async function addDomain(store: Store, project: { id: string; account_id: string }, hostname: string, status: DomainStatus = 'verified') {
  await store.db.write((tx) =>
    insertDomain(tx, {
      id: newId('dom'),
      account_id: project.account_id,
      project_id: project.id,
      hostname,
      status,
      verified_at: null,
      created_at: now,
    }),
  )
}

describe('on a platform', () => {
  let house: TestPlatform
  let repository: Repository
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-hostnames-'))

  beforeAll(async () => {
    house = await startTestPlatform({ runtime: 'process', data_dir })
    repository = makeRepository({
      'package.json': JSON.stringify({ name: 'app', private: true, scripts: { start: 'node server.js' } }),
      'server.js': `let count = 0
require('node:http').createServer((request, response) => {
  response.setHeader('cache-control', 'max-age=60')
  response.end(request.headers.host.replace(/:.*/, '') + ' ' + request.headers['x-forwarded-proto'] + ' ' + ++count)
}).listen(process.env.PORT)`,
    })
    const shop = await house.createProject({ slug: 'shop', repo_url: repository.url })
    const idle = await house.createProject({ slug: 'idle' })
    const { status } = await house.ended('shop', (await house.deploy('shop')).id)
    expect(status).toBe('ready')
    await house.platform.stop()
    const store = await openStore({ data_dir, after_crash: false })
    const account_id = store.db.readNow((tx) => tx.sqlFirst<{ account_id: string }>('SELECT account_id FROM projects'))?.account_id ?? ''
    const domains: [string, string, DomainStatus][] = [
      [shop.id, 'www.example.com', 'verified'],
      [shop.id, 'shop.example.org', 'verified'],
      [shop.id, 'pending.example.com', 'pending'],
      [shop.id, 'failed.example.com', 'failed'],
      [shop.id, 'other.localhost', 'verified'],
      [idle.id, 'idle.example.com', 'verified'],
    ]
    for (const [id, hostname, status] of domains) await addDomain(store, { id, account_id }, hostname, status)
    await store.close()
    house = await startTestPlatform({ runtime: 'process', data_dir })
    // The app starts again with the platform: the first answer waits for it.
    expect((await house.edge('shop.localhost')).status).toBe(200)
  }, 60_000)
  afterAll(async () => {
    await house.remove()
    repository.remove()
  })

  test('verified names lead to the app, and to the same one', async () => {
    for (const host of ['www.example.com', 'shop.example.org', 'WWW.Example.com'])
      expect((await house.edge(host, '/led')).body).toMatch(new RegExp(`^${host} http \\d+$`))
  })

  test('what is kept of one name is not given to another', async () => {
    const bodies = await Promise.all(
      ['shop.localhost', 'www.example.com', 'shop.example.org'].map(async (host) => (await house.edge(host, '/kept')).body),
    )
    expect(bodies.map((body) => body.split(' ')[0])).toEqual(['shop.localhost', 'www.example.com', 'shop.example.org'])
    const again = await Promise.all(['shop.localhost', 'www.example.com', 'shop.example.org'].map((host) => house.edge(host, '/kept')))
    expect(again.map((answer) => answer.body)).toEqual(bodies)
  })

  test.each(['pending.example.com', 'failed.example.com', 'other.localhost', 'nobody.example.com'])('%s leads nowhere', async (host) => {
    expect((await house.edge(host)).status).toBe(404)
  })

  test('the page of a project shows under its own names', async () => {
    const { status, body } = await house.edge('idle.example.com')
    expect(status).toBe(404)
    expect(body).toContain('Not deployed yet')
  })

  test('HTTPS has a certificate for each of them, and for no others', async () => {
    const port = Number(new URL(house.platform.instance.edge_https_url ?? '').port)
    await house.api('POST', '/instance/https/trust')
    const { readFileSync } = await import('node:fs')
    const ca = readFileSync(join(data_dir, 'authority.crt'), 'utf8')
    expect((await getSecure(port, '/safe', { ca, servername: 'www.example.com' })).text).toMatch(/^www\.example\.com https /)
    await expect(getSecure(port, '/safe', { ca, servername: 'pending.example.com' })).rejects.toThrow()
  })

  test('the hosts file has them, in a steady order', async () => {
    const { body } = await house.api<{ hosts_file: { block: string } }>('GET', '/instance/hosts-file')
    expect(body.hosts_file.block.split('\n').slice(1, -2)).toEqual(
      ['shop.localhost', 'idle.localhost', 'www.example.com', 'shop.example.org', 'idle.example.com'].map((name) => `127.0.0.1 ${name}`),
    )
  })

  test('with the project they are gone at once, and free for others', async () => {
    expect((await house.api('DELETE', '/v1/projects/shop')).status).toBe(204)
    for (const host of ['shop.localhost', 'www.example.com', 'shop.example.org']) expect((await house.edge(host)).status).toBe(404)
    const { body } = await house.api<{ hosts_file: { block: string } }>('GET', '/instance/hosts-file')
    expect(body.hosts_file.block).not.toContain('www.example.com')
  })
})

test('ten thousand projects with a name of their own each: all of them lead, and a change reaches the edge at once', async () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-hostnames-'))
  const store = await openStore({ data_dir, after_crash: false })
  const edge = await startEdge()
  const app = await startApp((request, response) => response.end(request.headers.host))
  try {
    const account_id = newId('acc')
    const ids = Array.from({ length: 10_000 }, () => newId('prj'))
    await store.db.write((tx) => {
      tx.sqlRun(`INSERT INTO accounts (id, plan, has_payment_method, created_at) VALUES (?, 'enterprise', 1, ?)`, account_id, now)
      for (const [i, id] of ids.entries()) {
        insertProject(tx, projectRow({ id, account_id, name: `app ${i}`, slug: `app-${i}` }, now))
        insertDomain(tx, {
          id: newId('dom'),
          account_id,
          project_id: id,
          hostname: `www.app-${i}.example.com`,
          status: 'verified',
          verified_at: now,
          created_at: now,
        })
      }
    })
    const routes = createRoutes({ edge: edge.edge, db: store.db, dashboardUrlOf: () => '', onError: (error) => expect.unreachable(String(error)) })
    for (const id of ids) routes.refreshHosts(id)
    for (const i of [0, 5_000, 9_999]) {
      const place = { project_id: ids[i] ?? '', deployment_id: null, target: 'production' as const, branch: null }
      await routes.set(place, { ...routes.owner(place), ...upstreamRoute(app.port), project_id: place.project_id })
      expect((await get(edge.port, '/', { host: `www.app-${i}.example.com` })).text).toBe(`www.app-${i}.example.com`)
    }

    const first = { id: ids[0] ?? '', account_id }
    await addDomain(store, first, 'late.example.com')
    expect((await get(edge.port, '/', { host: 'late.example.com' })).status).toBe(404)
    routes.refreshHosts(first.id)
    expect((await get(edge.port, '/', { host: 'late.example.com' })).status).toBe(200)
    await store.db.write((tx) => tx.sqlRun(`UPDATE domains SET status = 'failed' WHERE hostname = 'www.app-0.example.com'`))
    routes.refreshHosts(first.id)
    expect((await get(edge.port, '/', { host: 'www.app-0.example.com' })).status).toBe(404)
    expect((await get(edge.port, '/', { host: 'late.example.com' })).status).toBe(200)
  } finally {
    await edge.close()
    await app.close()
    await store.close()
    rmSync(data_dir, { recursive: true, force: true })
  }
}, 60_000)
