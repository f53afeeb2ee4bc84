import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type DesktopUpdate, type Platform, startPlatform } from '../../server/index.ts'
import { readOptions } from '../../server/options.ts'
import { fetchFromEdge, createTempFolder } from '../support/instance-process.ts'
import { type Client, createClient, signalFileIn } from '../support/platform.ts'
import { makeRepository, type Repository, tinyServer } from '../support/repository.ts'
import { until } from '../support/until.ts'

/** The desktop feed of a platform in the process of its host, as in the desktop app. */
const folder = createTempFolder('desktop-feed')
let platform: Platform
let client: Client
let repository: Repository
let updates: DesktopUpdate[]
let unsubscribe: () => void

beforeAll(async () => {
  const options = { ...readOptions({ data: folder.path, port: '0', 'edge-port': '0', runtime: 'process' }), chromium: 'off', edge_workers: 0 }
  platform = await startPlatform(options, { names: { hosts_path: join(folder.path, 'hosts'), root: folder.path, home: folder.path } })
  client = createClient(platform.instance)
  await client.api('PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000 })
  repository = makeRepository(tinyServer('one'))
})
afterAll(async () => {
  unsubscribe()
  for (const slug of ['shop', 'broken']) await client.api('DELETE', `/v1/projects/${slug}`)
  await platform.stop()
  repository.remove()
  folder.remove()
})
beforeEach(() => {
  unsubscribe?.()
  updates = []
  unsubscribe = platform.desktopFeed.subscribe((news) => void updates.push(news))
})

const last = () => updates.at(-1)
const stateOf = (slug: string) => last()?.projects.find((project) => project.slug === slug)?.status
const waitForStatus = (slug: string, status: string) =>
  until(() => (stateOf(slug) === status ? true : undefined), { what: `${slug} to be ${status}` })
const listEnded = () => updates.flatMap(({ finished_deployments }) => finished_deployments)
const waitForEnded = (count: number) => until(() => (listEnded().length >= count ? listEnded() : undefined), { what: `${count} ends` })

test('sends the current state at once', async () => {
  const news = await until(last, { what: 'the first update' })
  expect(news).toEqual({ projects: [], project_count: 0, active_deployments: 0, finished_deployments: [] })
})

test('a deployment is reported while it runs, and its end once', async () => {
  await client.createProject({ slug: 'shop', repo_url: repository.url })
  // The build continues until it was reported, because on a quick machine it would be over before that.
  const signalFile = signalFileIn(folder.path, 'seen')
  await client.api('PATCH', '/v1/projects/shop', { build_command: `until [ -e ${signalFile} ]; do sleep 0.02; done` })
  const { id } = await client.deploy('shop')
  await until(() => (updates.some(({ active_deployments: builds }) => builds === 1) ? true : undefined), { what: 'a build under way' })
  writeFileSync(signalFile, '')
  await waitForStatus('shop', 'live')
  expect(await waitForEnded(1)).toEqual([{ id, slug: 'shop', status: 'ready', preview: null, title: 'First', message: null }])
  await until(() => (last()?.active_deployments === 0 ? true : undefined), { what: 'the end of all builds' })
  const request = Promise.withResolvers<void>()
  const unwatch = platform.desktopFeed.subscribeToRequests(request.resolve)
  expect(await fetchFromEdge(platform.edge_url, 'shop')).toMatchObject({ status: 200 })
  await request.promise
  unwatch()
  // A later change of the same deployment is not a second end.
  await client.api('PATCH', '/v1/projects/shop', { name: 'The shop' })
  await until(() => (last()?.projects[0]?.name === 'The shop' ? true : undefined), { what: 'the new name' })
  expect(listEnded()).toHaveLength(1)
})

test('stops a project, and starts it again', async () => {
  await platform.desktopFeed.stop('shop')
  await waitForStatus('shop', 'inactive')
  await platform.desktopFeed.deploy('shop')
  await waitForStatus('shop', 'live')
  expect((await client.fetchEdge('shop.localhost')).body).toBe('one')
})

test('a failure has its reason; a cancel is not reported', async () => {
  const broken = makeRepository({
    'package.json': JSON.stringify({ name: 'broken', private: true, scripts: { build: 'node -e "process.exit(3)"', start: 'node x.js' } }),
  })
  await client.createProject({ slug: 'broken', repo_url: broken.url })
  const { id } = await client.deploy('broken')
  const [end] = await waitForEnded(1)
  expect(end).toMatchObject({ id, slug: 'broken', status: 'failed', title: 'First' })
  expect(end?.message).toMatch(/\w/)
  expect(stateOf('broken')).toBe('failed')
  const again = await client.deploy('broken')
  await client.api('POST', `/v1/projects/broken/deployments/${again.id}/cancel`)
  await client.waitForEnd('broken', again.id)
  await client.api('PATCH', '/v1/projects/broken', { name: 'Named anew' })
  await until(() => (last()?.projects.some(({ name }) => name === 'Named anew') ? true : undefined), { what: 'the new name' })
  expect(listEnded().map((one) => one.id)).not.toContain(again.id)
  broken.remove()
})

test('of many projects those in use come first, and all are counted', async () => {
  for (let index = 0; index < 18; index++) await client.createProject({ slug: `idle-${index}` })
  await until(() => (last()?.project_count === 20 ? true : undefined), { what: 'all of them' })
  expect(last()?.projects).toHaveLength(15)
  expect(
    last()
      ?.projects.slice(0, 2)
      .map(({ slug }) => slug)
      .sort(),
  ).toEqual(['broken', 'shop'])
  expect(last()?.projects.find(({ slug }) => slug.startsWith('idle'))).toMatchObject({ can_deploy: false, status: 'created' })
})

test('excludes the projects of other users', async () => {
  const { body } = await client.api<{ token?: { token: string } | string }>('POST', '/instance/users', { email: 'guest@example.com', plan: 'pro' })
  const token = typeof body.token === 'string' ? body.token : body.token?.token
  expect(token).toBeTruthy()
  const made = await client.api('POST', '/v1/projects', { name: 'Theirs', slug: 'theirs' }, token)
  expect(made.status).toBe(201)
  await client.createProject({ slug: 'mine-too' })
  await until(() => (last()?.project_count === 21 ? true : undefined), { what: 'one more' })
  expect(last()?.projects.map(({ slug }) => slug)).not.toContain('theirs')
  await expect(platform.desktopFeed.stop('theirs')).rejects.toThrow('no longer exists')
  await client.api('DELETE', '/v1/projects/theirs', undefined, token)
})

test('an impossible action throws the reason', async () => {
  await expect(platform.desktopFeed.deploy('idle-1')).rejects.toThrow('no successful deployment and no repository')
  await expect(platform.desktopFeed.deploy('nowhere')).rejects.toThrow('no longer exists')
})

test('sends nothing after unsubscribing', async () => {
  await until(last, { what: 'the first update' })
  unsubscribe()
  const before = updates.length
  const other: DesktopUpdate[] = []
  const offOther = platform.desktopFeed.subscribe((news) => void other.push(news))
  await client.createProject({ slug: 'unheard' })
  await until(() => (other.at(-1)?.project_count === 22 ? true : undefined), { what: 'the other listener' })
  offOther()
  expect(updates).toHaveLength(before)
})
