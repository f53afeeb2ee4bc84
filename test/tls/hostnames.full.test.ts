import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type DomainStatus, insertDomain } from '../../server/store/domains.ts'
import { createProjectRoutes } from '../../server/deployments/project-routes.ts'
import { newId } from '../../server/lib/id.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { insertProject } from '../../server/store/projects.ts'
import { fullTest } from '../support/full-test.ts'
import { get, startApp, startEdge, upstreamRoute } from '../support/edge.ts'
import { projectRow } from '../support/database-rows.ts'
import { startTestPlatform } from '../support/platform.ts'
import { getHttps } from '../support/tls.ts'

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

test('after a restart only verified custom domains are routed, have certificates and are in the hosts file', async () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-hostnames-'))
  let platform = await startTestPlatform({ runtime: 'process', data_dir })
  const [shop, idle] = [await platform.createProject({ slug: 'shop' }), await platform.createProject({ slug: 'idle' })]
  await platform.handle.stop()
  const store = await openStore({ data_dir, after_crash: false })
  const account_id =
    store.db.readSync((tx) => tx.statement('SELECT account_id FROM projects').get() as { account_id: string } | undefined)?.account_id ?? ''
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
  platform = await startTestPlatform({ runtime: 'process', data_dir })
  try {
    const leads = async (host: string) => (await platform.fetchEdge(host)).body.includes('Not deployed yet')
    for (const host of ['www.example.com', 'shop.example.org', 'WWW.Example.com', 'idle.example.com'])
      expect([host, await leads(host)]).toEqual([host, true])
    for (const host of ['pending.example.com', 'failed.example.com', 'other.localhost', 'nobody.example.com'])
      expect([host, await leads(host)]).toEqual([host, false])

    const port = Number(new URL(platform.handle.instance.edge_https_url ?? '').port)
    await platform.api('POST', '/instance/https/trust')
    const ca = readFileSync(join(data_dir, 'authority.crt'), 'utf8')
    expect((await getHttps(port, '/', { ca, servername: 'www.example.com' })).text).toContain('Not deployed yet')
    await expect(getHttps(port, '/', { ca, servername: 'pending.example.com' })).rejects.toThrow()

    const { body } = await platform.api<{ hosts_file: { block: string } }>('GET', '/instance/hosts-file')
    expect(body.hosts_file.block.split('\n').slice(1, -2)).toEqual(
      ['shop.localhost', 'idle.localhost', 'www.example.com', 'shop.example.org', 'idle.example.com'].map((name) => `127.0.0.1 ${name}`),
    )
  } finally {
    await platform.remove()
  }
})

fullTest('ten thousand projects with a custom domain each: all are routed, and a change reaches the edge at once', async () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-hostnames-'))
  const store = await openStore({ data_dir, after_crash: false })
  const edge = await startEdge()
  const app = await startApp((request, response) => response.end(request.headers.host))
  try {
    const account_id = newId('acc')
    const ids = Array.from({ length: 10_000 }, () => newId('prj'))
    await store.db.write((tx) => {
      tx.statement(`INSERT INTO accounts (id, plan, has_payment_method, created_at) VALUES (?, 'enterprise', 1, ?)`).run(account_id, now)
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
    const routes = createProjectRoutes({
      edge: edge.edge,
      db: store.db,
      dashboardUrlOf: () => '',
      onError: (error) => expect.unreachable(String(error)),
    })
    for (const id of ids) routes.refreshHosts(id)
    for (const i of [0, 5_000, 9_999]) {
      const target = { project_id: ids[i] ?? '', deployment_id: null, target: 'production' as const, branch: null }
      await routes.setRoute(target, { ...routes.getRouteMetadata(target), ...upstreamRoute(app.port), project_id: target.project_id })
      expect((await get(edge.port, '/', { host: `www.app-${i}.example.com` })).text).toBe(`www.app-${i}.example.com`)
    }

    const first = { id: ids[0] ?? '', account_id }
    await addDomain(store, first, 'late.example.com')
    expect((await get(edge.port, '/', { host: 'late.example.com' })).status).toBe(404)
    routes.refreshHosts(first.id)
    expect((await get(edge.port, '/', { host: 'late.example.com' })).status).toBe(200)
    await store.db.write((tx) => tx.statement(`UPDATE domains SET status = 'failed' WHERE hostname = 'www.app-0.example.com'`).run())
    routes.refreshHosts(first.id)
    expect((await get(edge.port, '/', { host: 'www.app-0.example.com' })).status).toBe(404)
    expect((await get(edge.port, '/', { host: 'late.example.com' })).status).toBe(200)
  } finally {
    await edge.close()
    await app.close()
    await store.close()
    rmSync(data_dir, { recursive: true, force: true })
  }
})
