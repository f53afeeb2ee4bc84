import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DeploymentStatus } from '../../server/contract/deployments.ts'
import { createProjectRoutes, type ProjectRoutes } from '../../server/deployments/project-routes.ts'
import { createEdge, type Edge } from '../../server/edge/server.ts'
import { newId } from '../../server/lib/id.ts'
import { silentLog } from '../../server/lib/log.ts'
import { insertDeployment } from '../../server/store/deployments.ts'
import { deletePreview, upsertPreview } from '../../server/store/previews.ts'
import { insertProject, updateProject } from '../../server/store/projects.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import type { DeploymentRow, ProjectRow } from '../../server/store/tables.ts'
import { deploymentRow, projectRow } from '../support/database-rows.ts'
import { upstreamRoute } from '../support/edge.ts'
import { createTestClock } from '../support/test-clock.ts'

const now = '2026-01-31T12:00:00.000Z'
let data_dir: string
let store: Store
let edge: Edge
let routes: ProjectRoutes
let project: { id: string; account_id: string; name: string; slug: string }

beforeEach(async () => {
  data_dir = mkdtempSync(join(tmpdir(), 'homeport-routes-'))
  store = await openStore({ data_dir, after_crash: false })
  edge = createEdge({ log: silentLog, clock: createTestClock() })
  routes = createProjectRoutes({
    edge,
    db: store.db,
    dashboardUrlOf: (slug) => `http://dashboard/${slug}`,
    onError: (error) => expect.unreachable(String(error)),
  })
  project = { id: newId('prj'), account_id: newId('acc'), name: 'Shop', slug: 'shop' }
  await store.db.write((tx) => {
    tx.statement(`INSERT INTO accounts (id, plan, has_payment_method, created_at) VALUES (?, 'enterprise', 1, ?)`).run(project.account_id, now)
    insertProject(tx, projectRow(project, now))
  })
})
afterEach(async () => {
  await edge.close()
  await store.close()
  rmSync(data_dir, { recursive: true })
})

const addDeployment = (own: Partial<DeploymentRow>) =>
  store.db.write((tx) => insertDeployment(tx, { ...deploymentRow({ id: newId('dpl'), project_id: project.id }, now), ...own }, []))
const addPreview = (branch: string) => store.db.write((tx) => upsertPreview(tx, project, branch, now).host)
const updateTestProject = (change: Partial<ProjectRow>) => store.db.write((tx) => updateProject(tx, project.id, change))
const production = () => ({ project_id: project.id, deployment_id: null, target: 'production' as const, branch: null })
const preview = (branch: string) => ({ ...production(), target: 'preview' as const, branch })
const serve = (slot: ReturnType<typeof production> | ReturnType<typeof preview>) =>
  routes.setRoute(slot, { ...upstreamRoute(1), ...routes.getRouteMetadata(slot) })
const pageAt = (host: string) => {
  const route = edge.getRoute(host)
  return route?.kind === 'page' ? route.page : route?.kind
}

describe('the page of a project without a live app', () => {
  test.each([
    ['created', 'not_deployed'],
    ['building', 'building'],
    ['live', 'starting'],
    ['failed', 'failed'],
    ['crashed', 'crashed'],
    ['inactive', 'stopped'],
  ] as const)('%s: %s', async (status, page) => {
    await updateTestProject({ status })
    routes.refreshProject(project.id)
    expect(pageAt('shop.localhost')).toBe(page)
    expect(routes.getStatusPage('shop.localhost')).toMatchObject({
      page,
      project_id: project.id,
      project_name: 'Shop',
      dashboard_url: 'http://dashboard/shop',
    })
  })

  test('building, with an earlier version in production: starting', async () => {
    await updateTestProject({ status: 'building' })
    await addDeployment({ is_current: 1 })
    expect(routes.getStatusPage('shop.localhost')?.page).toBe('starting')
  })

  test('building, with an earlier version only in a preview: building', async () => {
    await updateTestProject({ status: 'building' })
    await addDeployment({ is_current: 1, target: 'preview', branch: 'feature' })
    expect(routes.getStatusPage('shop.localhost')?.page).toBe('building')
  })

  test('building, after a crash: crashed', async () => {
    await updateTestProject({ status: 'building', crashed_at: now })
    await addDeployment({ is_current: 1 })
    expect(routes.getStatusPage('shop.localhost')?.page).toBe('crashed')
  })

  test('of a crashed app: with its deployment, for the request log', async () => {
    await updateTestProject({ status: 'crashed', crashed_at: now })
    const id = newId('dpl')
    await addDeployment({ id, is_current: 1 })
    routes.refreshProject(project.id)
    expect(edge.getRoute('shop.localhost')).toMatchObject({ page: 'crashed', deployment_id: id })
  })

  test('no page for hosts without a project', () => {
    for (const host of ['other.localhost', 'shop', 'shop.example.com', '.localhost']) expect(routes.getStatusPage(host)).toBeUndefined()
  })
})

describe('a live app', () => {
  test.each([
    ['building', 'upstream'],
    ['live', 'upstream'],
    ['failed', 'upstream'],
    ['created', 'not_deployed'],
    ['crashed', 'crashed'],
    ['inactive', 'stopped'],
  ] as const)('when the project becomes %s, its host shows: %s', async (status, shown) => {
    await serve(production())
    await updateTestProject({ status })
    routes.refreshProject(project.id)
    expect(pageAt('shop.localhost')).toBe(shown)
  })

  test('of another project at the same host is replaced', async () => {
    await edge.setRoute('shop.localhost', { ...upstreamRoute(1), project_id: 'prj_other' }, { drain_ms: 0 })
    await updateTestProject({ status: 'live' })
    routes.refreshProject(project.id)
    expect(pageAt('shop.localhost')).toBe('starting')
  })

  test('a deleted project loses its hosts, unless another project has claimed them', async () => {
    const host = await addPreview('feature')
    await serve(production())
    await serve(preview('feature'))
    await edge.setRoute('shop.localhost', { ...upstreamRoute(1), project_id: 'prj_other' }, { drain_ms: 0 })
    await updateTestProject({ deleted_at: now })
    routes.refreshProject(project.id)
    expect(edge.getRoute('shop.localhost')?.project_id).toBe('prj_other')
    expect(edge.getRoute(host)).toBeUndefined()
  })
})

describe('a preview', () => {
  test.each<[string, [DeploymentStatus, boolean][], string]>([
    ['never deployed', [], 'stopped'],
    ['building', [['building', false]], 'building'],
    ['its version serves', [['ready', true]], 'starting'],
    [
      'a new version is built while one serves',
      [
        ['ready', true],
        ['building', false],
      ],
      'starting',
    ],
    ['failed', [['failed', false]], 'failed'],
    ['canceled', [['canceled', false]], 'stopped'],
  ])('%s', async (_, deployments, page) => {
    const host = await addPreview('feature')
    for (const [status, isCurrent] of deployments)
      await addDeployment({ target: 'preview', branch: 'feature', status, is_current: isCurrent ? 1 : 0 })
    expect(routes.getStatusPage(host)).toMatchObject({ page, visited_as: host })
  })

  test('keeps its route while its app serves or starts, and loses it otherwise', async () => {
    const [current, starting, stopped] = [await addPreview('current'), await addPreview('starting'), await addPreview('stopped')]
    for (const branch of ['current', 'starting', 'stopped']) await serve(preview(branch))
    await addDeployment({ target: 'preview', branch: 'current', is_current: 1 })
    await addDeployment({ target: 'preview', branch: 'starting', status: 'deploying' })
    await addDeployment({ target: 'preview', branch: 'stopped', status: 'building' })
    routes.refreshProject(project.id)
    expect([current, starting, stopped].map(pageAt)).toEqual(['upstream', 'upstream', undefined])
  })

  test('once closed it has no host, and a late route to it is ignored', async () => {
    const host = await addPreview('feature')
    await serve(preview('feature'))
    await store.db.write((tx) => deletePreview(tx, project.id, 'feature'))
    routes.removePreview(project.id, 'feature', host)
    expect(edge.getRoute(host)).toBeUndefined()
    await serve(preview('feature'))
    expect(edge.getRoute(host)).toBeUndefined()
    expect(routes.idleSince(preview('feature'))).toBeUndefined()
    expect(() => routes.getHost(preview('feature'))).toThrow('A closed preview has no host.')
    expect(() => routes.getHost({ ...production(), project_id: 'prj_other' })).toThrow('Project prj_other has no host.')
  })

  test('has its public hostname in the route metadata; production has none', async () => {
    const host = await addPreview('feature')
    expect(routes.getRouteMetadata(preview('feature'))).toMatchObject({ visited_as: host, project_name: 'Shop' })
    expect(routes.getRouteMetadata(production())).not.toHaveProperty('visited_as')
  })
})
