import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { DeskNews } from '../../server/index.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository, tinyServer } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'

/** What a host in the same process hears of a real platform, and does to it. */
let home: TestPlatform
let repository: Repository
let heard: DeskNews[]
let off: () => void

beforeAll(async () => {
  home = await startTestPlatform({ runtime: 'process' })
  repository = makeRepository(tinyServer('one'))
})
afterAll(async () => {
  off()
  await home.remove()
  repository.remove()
})
beforeEach(() => {
  off?.()
  heard = []
  off = home.platform.desk.watch((news) => void heard.push(news))
})

const last = () => heard.at(-1)
const stateOf = (slug: string) => last()?.projects.find((project) => project.slug === slug)?.status
const reaches = (slug: string, status: string) =>
  until(() => (stateOf(slug) === status ? true : undefined), { what: `${slug} to be ${status}` })
const ends = () => heard.flatMap(({ ended }) => ended)
const ended = (count: number) => until(() => (ends().length >= count ? ends() : undefined), { what: `${count} ends` })

test('it says at once how things stand', async () => {
  const news = await until(last, { what: 'the first word' })
  expect(news).toEqual({ projects: [], project_count: 0, builds: 0, ended: [] })
})

test('a deployment is seen while it runs, and its end is told once', { skip: !requires('git').ok }, async () => {
  await home.createProject({ slug: 'shop', repo_url: repository.url })
  // Its build goes on until it was seen: on a quick machine it would be over before anybody is told.
  const gate = join(home.data_dir, 'seen')
  await home.api('PATCH', '/v1/projects/shop', { build_command: `until [ -e ${gate} ]; do sleep 0.02; done` })
  const { id } = await home.deploy('shop')
  await until(() => (heard.some(({ builds }) => builds === 1) ? true : undefined), { what: 'a build under way' })
  writeFileSync(gate, '')
  await reaches('shop', 'live')
  expect(await ended(1)).toEqual([{ id, slug: 'shop', status: 'ready', preview: null, title: 'First', message: null }])
  await until(() => (last()?.builds === 0 ? true : undefined), { what: 'the end of all builds' })
  // Something else about the same deployment is no second end.
  await home.api('PATCH', '/v1/projects/shop', { name: 'The shop' })
  await until(() => (last()?.projects[0]?.name === 'The shop' ? true : undefined), { what: 'the new name' })
  expect(ends()).toHaveLength(1)
})

test('it stops a project, and starts it again', { skip: !requires('git').ok }, async () => {
  await home.platform.desk.stop('shop')
  await reaches('shop', 'inactive')
  await home.platform.desk.deploy('shop')
  await reaches('shop', 'live')
  expect((await home.edge('shop.localhost')).body).toBe('one')
})

test('a failure is told with its reason; a cancel is not told at all', { skip: !requires('git').ok }, async () => {
  const broken = makeRepository({
    'package.json': JSON.stringify({ name: 'broken', private: true, scripts: { build: 'node -e "process.exit(3)"', start: 'node x.js' } }),
  })
  await home.createProject({ slug: 'broken', repo_url: broken.url })
  const { id } = await home.deploy('broken')
  const [end] = await ended(1)
  expect(end).toMatchObject({ id, slug: 'broken', status: 'failed', title: 'First' })
  expect(end?.message).toMatch(/\w/)
  expect(stateOf('broken')).toBe('failed')
  const again = await home.deploy('broken')
  await home.api('POST', `/v1/projects/broken/deployments/${again.id}/cancel`)
  await home.ended('broken', again.id)
  await home.api('PATCH', '/v1/projects/broken', { name: 'Named anew' })
  await until(() => (last()?.projects.some(({ name }) => name === 'Named anew') ? true : undefined), { what: 'the new name' })
  expect(ends().map((one) => one.id)).not.toContain(again.id)
  broken.remove()
})

test('of many projects the ones in use come first, and all are counted', async () => {
  for (let index = 0; index < 18; index++) await home.createProject({ slug: `idle-${index}` })
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

test('what other people have here is none of it', async () => {
  const { body } = await home.api<{ token?: { token: string } | string }>('POST', '/instance/users', { email: 'guest@example.com', plan: 'pro' })
  const token = typeof body.token === 'string' ? body.token : body.token?.token
  expect(token).toBeTruthy()
  const made = await home.api('POST', '/v1/projects', { name: 'Theirs', slug: 'theirs' }, token)
  expect(made.status).toBe(201)
  await home.createProject({ slug: 'mine-too' })
  await until(() => (last()?.project_count === 21 ? true : undefined), { what: 'one more' })
  expect(last()?.projects.map(({ slug }) => slug)).not.toContain('theirs')
  await expect(home.platform.desk.stop('theirs')).rejects.toThrow('no such project')
  await home.api('DELETE', '/v1/projects/theirs', undefined, token)
})

test('what cannot be done says why', async () => {
  await expect(home.platform.desk.deploy('idle-1')).rejects.toThrow('Nothing of this project was ever ready')
  await expect(home.platform.desk.deploy('nowhere')).rejects.toThrow('no such project')
})

test('nobody hears anything after the listening ended', async () => {
  await until(last, { what: 'the first word' })
  off()
  const before = heard.length
  const other: DeskNews[] = []
  const offOther = home.platform.desk.watch((news) => void other.push(news))
  await home.createProject({ slug: 'unheard' })
  await until(() => (other.at(-1)?.project_count === 22 ? true : undefined), { what: 'the other listener' })
  offOther()
  expect(heard).toHaveLength(before)
})
