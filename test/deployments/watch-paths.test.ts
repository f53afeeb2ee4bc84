import { writeFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Watching } from '../../server/contract/previews.ts'
import { createWatchPathMatcher } from '../../server/lib/watch-paths.ts'
import { fullTest } from '../support/full-test.ts'
import { checkRepository, commitToBranch, createGit, listPreviews, waitForFirstCheck, waitForPreview } from '../support/git-branches.ts'
import { signalFileIn, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { sharedPlatform } from '../support/shared-platform.ts'
import { until } from '../support/until.ts'

describe('a list of watch paths', () => {
  const files = ['apps/web/a.js', 'apps/web/src/b.md', 'apps/api/c.js', 'README.md', 'package-lock.json']
  test.each<[string[], string[]]>([
    [['apps/web/**'], ['apps/web/a.js', 'apps/web/src/b.md']],
    [['apps/web'], ['apps/web/a.js', 'apps/web/src/b.md']],
    [['/apps/web/', '!**/*.md'], ['apps/web/a.js']],
    [['apps/web/**', '!**/*.md'], ['apps/web/a.js']],
    [['!**/*.md'], ['apps/web/a.js', 'apps/api/c.js', 'package-lock.json']],
    [
      ['!*.md', 'README.md'],
      ['apps/web/a.js', 'apps/api/c.js', 'README.md', 'package-lock.json'],
    ],
    [
      ['/*lock*', '*.js'],
      ['apps/web/a.js', 'apps/api/c.js', 'package-lock.json'],
    ],
    [['APPS/web'], []],
    [['../apps', '/'], []],
    [[], files],
  ])('%j matches %j', (patterns, expected) => {
    expect(files.filter(createWatchPathMatcher(patterns))).toEqual(expected)
  })
})

let platform: TestPlatform
const repositories: Repository[] = []
let count = 0

beforeAll(async () => {
  platform = await sharedPlatform()
})
afterAll(() => platform.remove())
afterEach(() => {
  for (const one of repositories.splice(0)) one.remove()
})

/** A deployed site in a folder of a repository, which watches its folder without Markdown files. */
async function createSite({ isDeployed = true, watch_paths = ['site', '!**/*.md'] as string[] } = {}) {
  const repository = makeRepository({ 'site/index.html': 'one', 'site/about.md': 'one', 'other/file.txt': 'one' })
  repositories.push(repository)
  const slug = `watched-${++count}`
  await platform.createProject({ slug, repo_url: repository.url, pushes: true })
  await platform.api('PATCH', `/v1/projects/${slug}`, { root_directory: 'site' })
  await platform.api('PATCH', `/instance/projects/${slug}/settings`, { watch_paths })
  if (isDeployed) await platform.waitForEnd(slug, (await platform.deploy(slug)).id)
  await waitForFirstCheck(platform, slug)
  const check = async () => {
    await checkRepository(platform, slug)
    return { skipped: await listSkipped(slug), deployed: await listCommits(slug) }
  }
  return { slug, repository, git: createGit(repository.folder), check }
}

const listSkipped = async (slug: string) =>
  (await platform.api<{ watching: Watching }>('GET', `/instance/projects/${slug}/watching`)).body.watching.skipped
const listDeployments = async (slug: string) =>
  (await platform.api<{ deployments: Deployment[] }>('GET', `/v1/projects/${slug}/deployments`)).body.deployments
const listCommits = async (slug: string) => (await listDeployments(slug)).map((one) => one.commit_sha)
const finish = async (slug: string) => {
  for (const { id } of await listDeployments(slug)) await platform.waitForEnd(slug, id)
}

test('a push without changes in watched paths is skipped, shown, and deployed by the next one that has some', async () => {
  const { slug, repository, check } = await createSite()
  const [first] = await listCommits(slug)
  repository.commit({ 'other/file.txt': 'two' })
  const docs = repository.commit({ 'site/about.md': 'two' }, 'Write about it')
  expect(await check()).toEqual({
    deployed: [first],
    skipped: [{ branch: 'main', commit_sha: docs, commit_message: 'Write about it', changed_files: 2, skipped_at: expect.any(String) }],
  })
  const page = repository.commit({ 'site/index.html': 'two' })
  expect(await check()).toEqual({ deployed: [page, first], skipped: [] })
  await finish(slug)
  // The skipped commit is part of the current deployment.
  const more = repository.commit({ 'site/about.md': 'three' })
  expect((await check()).skipped).toMatchObject([{ commit_sha: more, changed_files: 1 }])
})

fullTest('a skipped push can be deployed, and a manual deployment ignores watch paths', async () => {
  const { slug, repository, check } = await createSite()
  const path = `/instance/projects/${slug}/watching/deploy`
  const docs = repository.commit({ 'site/about.md': 'two' })
  await check()
  expect(await platform.api('POST', path, { branch: 'gone' })).toMatchObject({ status: 404, body: { error: 'skipped_push_not_found' } })
  const answer = await platform.api<{ deployment: Deployment }>('POST', path, { branch: 'main' })
  expect(answer).toMatchObject({ status: 201, body: { deployment: { trigger: 'manual', target: 'production', commit_sha: docs } } })
  expect(await listSkipped(slug)).toEqual([])
  await finish(slug)
  const more = repository.commit({ 'site/about.md': 'three' })
  await check()
  const { id } = await platform.deploy(slug)
  expect(await platform.waitForEnd(slug, id)).toMatchObject({ status: 'ready', commit_sha: more })
  expect(await listSkipped(slug)).toEqual([])
})

fullTest('merges, renamed and deleted files count by their files', async () => {
  const { slug, repository, git, check } = await createSite()
  commitToBranch(repository.folder, 'docs', { 'site/more.md': 'x' })
  git('-c', 'merge.ff=false', 'merge', '--quiet', '--no-edit', 'docs')
  expect((await check()).skipped.map(({ branch }) => branch).toSorted()).toEqual(['docs', 'main'])
  repository.commit({ 'site/about.md': null, 'site/more.md': null })
  expect((await check()).deployed).toHaveLength(1)
  const renamed = repository.commit({ 'site/index.html': null, 'site/home.html': 'one' })
  expect((await check()).deployed[0]).toBe(renamed)
  await finish(slug)
  // Its build failed, so that its changes are not deployed yet.
  const moved = repository.commit({ 'other/file.txt': null, 'site/index.html': 'again' })
  expect((await check()).deployed[0]).toBe(moved)
  await finish(slug)
  const deleted = repository.commit({ 'site/home.html': null })
  expect((await check()).deployed[0]).toBe(deleted)
})

fullTest('a force push is compared with the deployed commit, and deployed if that commit is gone', async () => {
  const { slug, repository, git, check } = await createSite()
  const [first] = await listCommits(slug)
  git('commit', '--quiet', '--amend', '--message', 'Another message')
  const amended = git('rev-parse', 'HEAD')
  expect(await check()).toMatchObject({ deployed: [first], skipped: [{ commit_sha: amended, changed_files: 0 }] })
  git('reflog', 'expire', '--expire=now', '--all')
  git('gc', '--quiet', '--prune=now')
  const docs = repository.commit({ 'site/about.md': 'two' })
  expect(await check()).toEqual({ deployed: [docs, first], skipped: [] })
})

fullTest('the first push, the next push after an upload, and a changed homeport.yaml are always deployed', async () => {
  const { slug, repository, check } = await createSite({ isDeployed: false })
  const first = repository.commit({ 'other/file.txt': 'two' })
  expect((await check()).deployed).toEqual([first])
  await finish(slug)
  const configured = repository.commit({ 'site/homeport.yaml': 'watch_paths: [other]\n' })
  expect((await check()).deployed[0]).toBe(configured)
  await finish(slug)
  const other = repository.commit({ 'other/file.txt': 'three' })
  expect((await check()).deployed[0], 'what the file says holds').toBe(other)
  await finish(slug)
  const page = repository.commit({ 'site/index.html': 'two' })
  expect((await check()).skipped).toMatchObject([{ commit_sha: page }])
})

fullTest('a branch gets a preview with the first push that differs from production in watched paths', async () => {
  const { slug, repository, check } = await createSite()
  commitToBranch(repository.folder, 'topic', { 'site/about.md': 'topic' })
  expect((await check()).skipped).toMatchObject([{ branch: 'topic', changed_files: 1 }])
  expect(await listPreviews(platform, slug)).toEqual([])
  const page = commitToBranch(repository.folder, 'topic', { 'site/index.html': 'topic' })
  await check()
  await waitForPreview(platform, slug, 'topic', page)
  const docs = commitToBranch(repository.folder, 'topic', { 'site/about.md': 'more' })
  expect((await check()).skipped).toMatchObject([{ branch: 'topic', commit_sha: docs }])
  // A stopped project keeps the state of an open preview.
  await platform.api('POST', `/v1/projects/${slug}/stop`)
  await platform.waitForEnd(slug, (await platform.deploy(slug)).id)
  await check()
  await waitForPreview(platform, slug, 'topic', docs)
  createGit(repository.folder)('branch', '-D', 'topic')
  commitToBranch(repository.folder, 'late', { 'other/file.txt': 'late' })
  expect((await check()).skipped).toMatchObject([{ branch: 'late' }])
  createGit(repository.folder)('branch', '-D', 'late')
  expect((await check()).skipped).toEqual([])
})

fullTest('a push skipped because of a build that then fails is compared again, with the deployed version', async () => {
  const { slug, repository, check } = await createSite()
  const signalFile = signalFileIn(platform.data_dir, `gate-${slug}`)
  const wait = `until [ -e ${signalFile} ]; do sleep 0.05; done; exit 3`
  const broken = repository.commit({ 'site/package.json': JSON.stringify({ scripts: { build: wait } }) })
  await check()
  await until(async () => (await listDeployments(slug))[0]?.status === 'building' || undefined, { what: 'the build' })
  const docs = repository.commit({ 'site/about.md': 'two' })
  expect(await check()).toMatchObject({ deployed: [broken, expect.anything()], skipped: [{ commit_sha: docs, changed_files: 1 }] })
  writeFileSync(signalFile, '')
  await finish(slug)
  const [failed] = await listDeployments(slug)
  expect(failed).toMatchObject({ status: 'failed', commit_sha: broken })
  expect(await check()).toMatchObject({ deployed: [docs, broken, expect.anything()], skipped: [] })
  await finish(slug)
  const again = repository.commit({ 'site/about.md': 'three' })
  expect((await check()).deployed[0], 'it differs from what is deployed').toBe(again)
  await finish(slug)
  const back = repository.commit({ 'site/package.json': null })
  expect(await check()).toMatchObject({ skipped: [{ commit_sha: back }] })
  const count_before = (await listDeployments(slug)).length
  expect((await check()).deployed, 'it is not deployed again and again').toHaveLength(count_before)
})
