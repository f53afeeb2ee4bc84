import { writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { basename, dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Watching } from '../../server/contract/previews.ts'
import { fullTest } from '../support/full-test.ts'
import { isFullTier } from '../support/tier.ts'
import { checkRepository, commitToBranch, createGit, waitForPreview, listPreviews, waitForFirstCheck } from '../support/git-branches.ts'
import { type GitServer, startGitServer } from '../support/git-server.ts'
import { signalFileIn, startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'

/* The branches of a repository on another host are checked every minute. */

const minute = 60_000

let platform: TestPlatform
let repository: Repository
let host: GitServer
/** Responds in place of the host. */
let trouble: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined
const slug = 'remote'

beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process' })
  repository = makeRepository({ 'index.html': '<h1>main</h1>' })
  host = await startGitServer({ root: dirname(repository.folder), intercept: (...both) => trouble?.(...both) ?? false })
  await platform.createProject({ slug, repo_url: host.url(`${basename(repository.folder)}/.git`), pushes: true })
  await waitForFirstCheck(platform, slug)
})
afterAll(async () => {
  await platform.remove()
  await host.close()
  repository.remove()
})

const push = (branch: string, text: string) => commitToBranch(repository.folder, branch, { 'index.html': `<h1>${text}</h1>` })
const watching = async (of = slug) => (await platform.api<{ watching: Watching }>('GET', `/instance/projects/${of}/watching`)).body.watching
const refuse = (status: number) => (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(status, status === 401 ? { 'www-authenticate': 'Basic realm="x"' } : {}).end('the body of the page')
  return true
}
/** Waits until the platform has started another check of the remote repository. */
const askedAfter = (count: number) => until(() => host.requested_paths.length > count || undefined, { what: 'the next look' })

test('the preview of a pushed branch appears a minute later', async () => {
  const sha = push('feature', 'from afar')
  await platform.advance(1.2 * minute)
  const preview = await waitForPreview(platform, slug, 'feature', sha)
  expect((await platform.fetchEdge(preview.host)).body).toContain('from afar')
})

const troubles: [name: string, answer: NonNullable<typeof trouble>, words: string][] = [
  ['refuses', refuse(401), 'credentials'],
  ['responds that it does not exist', refuse(404), 'repository does not exist'],
  ['hangs up', (request: IncomingMessage) => request.socket.destroy() !== undefined, ''],
  ['answers nonsense', refuse(200), 'not with the git protocol'],
  ['serves a page for every path', (_: IncomingMessage, response: ServerResponse) => response.end('<html>\n<body>\nSign in\n') !== undefined, ''],
]
// All of them take the same way; only git's words differ.
test.each(isFullTier ? troubles : troubles.slice(0, 2))(
  'a host that %s closes no previews and is reported; once it recovers, pushes are detected',
  async (name, answer, words) => {
    const shown = async () => (await listPreviews(platform, slug)).map(({ branch, deployment_id, url }) => ({ branch, deployment_id, url }))
    const before = await shown()
    trouble = answer
    await checkRepository(platform, slug)
    const failing = await watching()
    expect(failing.state).toBe('failing')
    expect(failing.message).toMatch(/\.$/)
    expect(failing.message).toContain(words)
    expect(failing.message).not.toContain('body of the page')
    expect(await shown()).toEqual(before)
    expect((await platform.fetchEdge(`feature--${slug}.localhost`)).status).toBe(200)
    trouble = undefined
    const sha = push('feature', `after a host that ${name}`)
    await checkRepository(platform, slug)
    expect(await watching()).toMatchObject({ state: 'watching', message: null })
    await waitForPreview(platform, slug, 'feature', sha)
  },
)

fullTest('a failing host is polled less and less often, but at least every 15 minutes, and soon after the machine slept', async () => {
  await platform.createProject({ slug: 'well', repo_url: repository.url, pushes: true })
  await waitForFirstCheck(platform, 'well')
  trouble = refuse(503)
  const fail = async (failures: number) => {
    for (let i = 0; i < failures; i++) await checkRepository(platform, slug)
    return host.requested_paths.length
  }
  /** No check of the failing host after this time; the working repository is checked every minute, in the same round. */
  const isLeftAlone = async (minutes: number) => {
    const [requestCount, before] = [host.requested_paths.length, (await watching('well')).checked_at]
    await platform.advance(minutes * minute)
    await until(async () => (await watching('well')).checked_at !== before || undefined, { what: 'the look at the other repository' })
    expect(host.requested_paths.length).toBe(requestCount)
  }
  // After the first failure two minutes, plus or minus a tenth; after many fifteen.
  const first = await fail(1)
  await isLeftAlone(1.5)
  await platform.advance(0.8 * minute)
  await askedAfter(first)
  const later = await fail(4)
  await isLeftAlone(12.5)
  // The machine sleeps during the request to the host.
  const received = Promise.withResolvers<() => unknown>()
  trouble = (_, response) => {
    received.resolve(() => response.writeHead(503).end())
    return true
  }
  await platform.advance(4.5 * minute)
  const answer = await received.promise
  expect(host.requested_paths.length).toBeGreaterThan(later)
  trouble = undefined
  await platform.handle.resync()
  answer()
  await until(async () => ((await watching()).state === 'watching' ? true : undefined), { what: 'the look after the sleep' })
})

fullTest('a commit that is deployed manually is not deployed again by its push', async () => {
  const signalFile = signalFileIn(platform.data_dir, 'gate')
  const build = `until [ -e ${signalFile} ]; do sleep 0.05; done; mkdir -p dist && cp index.html dist`
  const sha = repository.commit({ 'index.html': '<h1>manual</h1>', 'package.json': JSON.stringify({ scripts: { build } }) })
  const { id } = await platform.deploy(slug)
  await until(async () => (await platform.getDeployment(slug, id)).status === 'building' || undefined, { what: 'the build' })
  await checkRepository(platform, slug)
  writeFileSync(signalFile, '')
  expect(await platform.waitForEnd(slug, id)).toMatchObject({ status: 'ready', commit_sha: sha })
  await checkRepository(platform, slug)
  const { body } = await platform.api<{ deployments: Deployment[] }>('GET', `/v1/projects/${slug}/deployments`)
  expect(body.deployments.filter((one) => one.target === 'production').map((one) => one.id)).toEqual([id])
})

fullTest('a repository that lost all its branches has no previews; production continues', async () => {
  const [preview] = await listPreviews(platform, slug)
  const git = createGit(repository.folder)
  git('checkout', '--quiet', '--detach')
  for (const branch of ['feature', 'main']) git('branch', '-D', branch)
  await checkRepository(platform, slug)
  expect(await listPreviews(platform, slug)).toEqual([])
  expect((await platform.fetchEdge(preview?.host ?? '')).status).toBe(404)
  expect((await platform.fetchEdge(`${slug}.localhost`)).status).toBe(200)
  expect(await platform.getProject(slug)).toMatchObject({ status: 'live' })
})

test('a repository at a private address is not polled for an account without access', async () => {
  const { body } = await platform.api<{ token: string }>('POST', '/instance/users', { email: 'stranger@example.com' })
  await platform.api('POST', '/v1/projects', { name: 'theirs', slug: 'theirs', repo_url: host.url('x') }, body.token)
  const requestCount = host.requested_paths.length
  const answer = await platform.api<{ watching: Watching }>('POST', '/instance/projects/theirs/watching/check', undefined, body.token)
  expect(answer.body.watching).toMatchObject({ state: 'failing', message: expect.stringContaining('private network') })
  expect(host.requested_paths.length).toBe(requestCount)
})
