import type { IncomingMessage, ServerResponse } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Watching } from '../../server/contract/previews.ts'
import { type Platform, startPlatform } from '../../server/index.ts'
import type { Clock } from '../../server/lib/clock.ts'
import { readOptions } from '../../server/options.ts'
import { check, commitOn, gitIn, previewOf, previewsOf, watched } from '../support/branches.ts'
import { type GitHost, startGitHost } from '../support/git-host.ts'
import { type Client, createClient } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'

/* A repository elsewhere is asked again and again; a minute is a jump of the clock. */

let jumped = 0
const clock: Clock = { now: () => Date.now(), monotonic: () => performance.now() + jumped }
const minute = 60_000

let platform: Platform
let client: Client
let data: string
let repository: Repository
let host: GitHost
/** What the host says instead of what it has. */
let trouble: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
const slug = 'remote'

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'homeport-data-'))
  platform = await startPlatform(readOptions({ data, port: '0', 'edge-port': '0', runtime: 'process' }), { clock })
  client = createClient(platform.instance)
  await client.api('PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000, sleep_after_s: 86_400 })
  repository = makeRepository({ 'index.html': '<h1>main</h1>' })
  host = await startGitHost({ root: dirname(repository.folder), intercept: (...both) => trouble?.(...both) ?? false })
  await client.createProject({ slug, repo_url: host.url(`${basename(repository.folder)}/.git`), pushes: true })
  await watched(client, slug)
})
afterAll(async () => {
  for (const one of [slug, 'well']) await client.api('DELETE', `/v1/projects/${one}`)
  await platform.stop()
  await host.close()
  repository.remove()
  rmSync(data, { recursive: true, force: true, maxRetries: 5 })
})

const push = (branch: string, text: string) => commitOn(repository.folder, branch, { 'index.html': `<h1>${text}</h1>` })
const watching = async (of = slug) => (await client.api<{ watching: Watching }>('GET', `/instance/projects/${of}/watching`)).body.watching
const refuse = (status: number) => (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(status, status === 401 ? { 'www-authenticate': 'Basic realm="x"' } : {}).end('a page that nobody should see')
  return true
}
/** The look after this moment is over. */
const looked = async (of = slug, later = 20 * minute): Promise<Watching> => {
  const before = (await watching(of)).checked_at
  jumped += later
  return until(
    async () => {
      const now = await watching(of)
      return now.checked_at === before ? undefined : now
    },
    { what: 'the next look' },
  )
}

test('a minute later the pushed branch has its preview', async () => {
  const sha = push('feature', 'from afar')
  jumped += 1.2 * minute
  const preview = await previewOf(client, slug, 'feature', sha)
  expect((await client.edge(preview.host)).body).toContain('from afar')
})

test.each([
  ['refuses', refuse(401), 'credentials'],
  ['says that it is gone', refuse(404), 'no git repository'],
  ['hangs up', (request: IncomingMessage) => request.socket.destroy() !== undefined, ''],
  ['answers nonsense', refuse(200), 'not as a host of git'],
  ['has a page for everything', (_: IncomingMessage, response: ServerResponse) => response.end('<html>\n<body>\nSign in\n') !== undefined, ''],
])('a host that %s closes nothing and is told; once it is well again pushes are seen', async (_, answer, words) => {
  const shown = async () => (await previewsOf(client, slug)).map(({ branch, deployment_id, url }) => ({ branch, deployment_id, url }))
  const before = await shown()
  trouble = answer
  const failing = await looked()
  expect(failing.state).toBe('failing')
  expect(failing.message).toMatch(/\.$/)
  expect(failing.message).toContain(words)
  expect(failing.message).not.toContain('nobody should see')
  expect(await shown()).toEqual(before)
  expect((await client.edge(`feature--${slug}.localhost`)).status).toBe(200)
  trouble = undefined
  const sha = push('feature', `after ${count++}`)
  expect(await looked()).toMatchObject({ state: 'watching', message: null })
  await previewOf(client, slug, 'feature', sha)
})
let count = 0

test('one that fails is asked ever more seldom, and at once on demand or after the machine slept', async () => {
  await client.createProject({ slug: 'well', repo_url: repository.url, pushes: true })
  await watched(client, 'well')
  trouble = refuse(503)
  for (let i = 0; i < 4; i++) await looked()
  const asked = host.asked.length
  const first = (await watching()).checked_at
  // Four failures: sixteen minutes would be next, fifteen is the most. One that is well is looked at after one.
  await looked('well', 10 * minute)
  expect(host.asked.length).toBe(asked)
  await check(client, slug)
  expect(host.asked.length).toBe(asked + 1)
  expect((await watching()).checked_at).not.toBe(first)
  trouble = undefined
  platform.resync()
  jumped += 0.1 * minute
  await until(async () => ((await watching()).state === 'watching' ? true : undefined), { what: 'the look after the sleep' })
})

test('a repository that has lost all its branches has no previews; production goes on', async () => {
  const { id } = await client.deploy(slug)
  expect(await client.ended(slug, id)).toMatchObject({ status: 'ready' })
  const [preview] = await previewsOf(client, slug)
  const git = gitIn(repository.folder)
  git('checkout', '--quiet', '--detach')
  for (const branch of ['feature', 'main']) git('branch', '-D', branch)
  await check(client, slug)
  expect(await previewsOf(client, slug)).toEqual([])
  expect((await client.edge(preview?.host ?? '')).status).toBe(404)
  expect((await client.edge(`${slug}.localhost`)).status).toBe(200)
  expect(await client.project(slug)).toMatchObject({ status: 'live' })
})

test('one at a private address is not asked for somebody who may not go there', async () => {
  const { body } = await client.api<{ token: string }>('POST', '/instance/users', { email: 'stranger@example.com' })
  await client.api('POST', '/v1/projects', { name: 'theirs', slug: 'theirs', repo_url: host.url('x') }, body.token)
  const asked = host.asked.length
  const answer = await client.api<{ watching: Watching }>('POST', '/instance/projects/theirs/watching/check', undefined, body.token)
  expect(answer.body.watching).toMatchObject({ state: 'failing', message: expect.stringContaining('private network') })
  expect(host.asked.length).toBe(asked)
})
