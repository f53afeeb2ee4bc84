import { writeFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Watching } from '../../server/contract/previews.ts'
import { fullTest } from '../support/full-test.ts'
import { checkRepository, commitToBranch, createGit, waitForPreview, listPreviews, waitForFirstCheck } from '../support/git-branches.ts'
import { signalFileIn, startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'

/* Local repositories are watched: by file events, on the process runtime, with static sites, which build quickly. */

const page = (text: string) => ({ 'index.html': `<h1>${text}</h1>` })

let platform: TestPlatform
const repositories: Repository[] = []
let count = 0

beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process' })
})
afterAll(() => platform.remove())
afterEach(() => {
  for (const one of repositories.splice(0)) one.remove()
})

function made(): Repository {
  const repository = makeRepository(page('main'))
  repositories.push(repository)
  return repository
}

/** A project whose repository was checked once. */
async function linked(repository = made()): Promise<{ slug: string; repository: Repository }> {
  const slug = `site-${++count}`
  await platform.createProject({ slug, repo_url: repository.url, pushes: true })
  await waitForFirstCheck(platform, slug)
  return { slug, repository }
}

const deploymentsOf = async (slug: string, query = '') =>
  (await platform.api<{ deployments: Deployment[] }>('GET', `/v1/projects/${slug}/deployments${query}`)).body.deployments

const change = (slug: string, body: object) => platform.api<{ watching: Watching }>('PATCH', `/instance/projects/${slug}/watching`, body)

/** A build that runs until `open`. */
function gated(): { files: Record<string, string>; open(): void } {
  const signalFile = signalFileIn(platform.data_dir, `gate-${++count}`)
  const build = `until [ -e ${signalFile} ]; do sleep 0.05; done; mkdir -p dist && cp index.html dist`
  return { files: { 'package.json': JSON.stringify({ scripts: { build } }) }, open: () => writeFileSync(signalFile, '') }
}

const building = (slug: string, wanted: number) =>
  until(async () => ((await deploymentsOf(slug, '?status=building')).length === wanted ? true : undefined), { what: `${wanted} builds` })

/** Waits until production shows a text. */
const shows = (slug: string, text: string) =>
  until(async () => ((await platform.fetchEdge(`${slug}.localhost`)).body.includes(text) ? true : undefined), { what: `${slug} showing ${text}` })

const gone = (slug: string, branch: string) =>
  until(async () => ((await listPreviews(platform, slug)).some((one) => one.branch === branch) ? undefined : true), {
    what: `the end of the preview of ${branch}`,
  })

/** The edge learns of a closed preview once that is on disk, which is after it has disappeared from the list. */
const leadsNowhere = (host: string) =>
  until(async () => ((await platform.fetchEdge(host)).status === 404 ? true : undefined), { what: `${host} to lead nowhere` })

describe('a branch', () => {
  test('gets a preview with its first commit, a new version with the next, and none once it is deleted', async () => {
    const { slug, repository } = await linked()
    const first = commitToBranch(repository.folder, 'feature/One', page('one'))
    const preview = await waitForPreview(platform, slug, 'feature/One', first)
    expect(preview).toMatchObject({ host: `feature-one--${slug}.localhost`, commit_message: 'A change', is_cold: false })
    expect((await platform.fetchEdge(preview.host)).body).toContain('<h1>one</h1>')
    expect(await platform.getProject(slug)).toMatchObject({ status: 'created' })
    expect(await platform.getDeployment(slug, preview.deployment_id)).toMatchObject({
      target: 'preview',
      trigger: 'push',
      is_current: true,
      url: preview.url,
    })

    const second = commitToBranch(repository.folder, 'feature/One', page('two'))
    await waitForPreview(platform, slug, 'feature/One', second)
    expect((await platform.fetchEdge(preview.host)).body).toContain('<h1>two</h1>')

    createGit(repository.folder)('branch', '-D', 'feature/One')
    await gone(slug, 'feature/One')
    await leadsNowhere(preview.host)
    expect((await deploymentsOf(slug)).map((one) => [one.status, one.is_current])).toEqual([
      ['ready', false],
      ['ready', false],
    ])
  })

  fullTest('that existed when the repository was linked gets its preview with its next commit', async () => {
    const repository = made()
    commitToBranch(repository.folder, 'older', page('before'))
    const { slug } = await linked(repository)
    await checkRepository(platform, slug)
    expect(await deploymentsOf(slug)).toEqual([])
    const next = commitToBranch(repository.folder, 'older', page('after'))
    await waitForPreview(platform, slug, 'older', next)
  })

  fullTest('with the same label as another gets a different name', async () => {
    const { slug, repository } = await linked()
    const one = await waitForPreview(platform, slug, 'a/b', commitToBranch(repository.folder, 'a/b', page('slash')))
    const other = await waitForPreview(platform, slug, 'a-b', commitToBranch(repository.folder, 'a-b', page('hyphen')))
    expect(one.host).toBe(`a-b--${slug}.localhost`)
    expect(other.host).toMatch(new RegExp(`^a-b-[0-9a-f]{6}--${slug}\\.localhost$`))
    expect((await platform.fetchEdge(one.host)).body).toContain('slash')
    expect((await platform.fetchEdge(other.host)).body).toContain('hyphen')
  })

  fullTest('pushed repeatedly during a build is deployed once more, for its last commit', async () => {
    const { slug, repository } = await linked()
    const { files, open } = gated()
    commitToBranch(repository.folder, 'busy', { ...page('commit 0'), ...files })
    await building(slug, 1)
    let last = ''
    for (let i = 1; i < 5; i++) {
      last = commitToBranch(repository.folder, 'busy', page(`commit ${i}`))
      await checkRepository(platform, slug)
    }
    open()
    const preview = await waitForPreview(platform, slug, 'busy', last)
    expect((await platform.fetchEdge(preview.host)).body).toContain('commit 4')
    const all = await deploymentsOf(slug)
    expect(all.map((one) => one.status)).toEqual(['ready', 'canceled', 'canceled', 'canceled', 'ready'])
    expect(all.filter((one) => one.is_current)).toHaveLength(1)
  })

  fullTest('a failed build leaves the serving version and the project unchanged', async () => {
    const { slug, repository } = await linked()
    repository.commit(page('production'))
    await shows(slug, 'production')
    const good = await waitForPreview(platform, slug, 'shaky', commitToBranch(repository.folder, 'shaky', page('good')))
    const bad = commitToBranch(repository.folder, 'shaky', { 'package.json': '{ "scripts": { "build": "exit 3" } }' })
    const after = await until(async () => (await listPreviews(platform, slug)).find((one) => one.status === 'failed'), { what: 'the failed build' })
    expect(after).toMatchObject({ deployment_id: good.deployment_id, commit_sha: good.commit_sha, url: good.url })
    expect((await deploymentsOf(slug))[0]).toMatchObject({ commit_sha: bad, status: 'failed', target: 'preview' })
    expect((await platform.fetchEdge(good.host)).body).toContain('good')
    expect(await platform.getProject(slug)).toMatchObject({ status: 'live' })
  })
})

describe('the production branch', () => {
  test('is deployed by a push, and no commit is deployed twice', async () => {
    const { slug, repository } = await linked()
    const sha = repository.commit(page('pushed'))
    await shows(slug, 'pushed')
    const [found] = await deploymentsOf(slug)
    expect(found).toMatchObject({ target: 'production', trigger: 'push', branch: 'main', commit_sha: sha })
    expect(await listPreviews(platform, slug)).toEqual([])
    await checkRepository(platform, slug)
    expect(await deploymentsOf(slug)).toHaveLength(1)
  })

  fullTest('a rollback stays current until the next push', async () => {
    const { slug, repository } = await linked()
    repository.commit(page('old'))
    await shows(slug, 'old')
    const [old] = await deploymentsOf(slug)
    repository.commit(page('new'))
    await shows(slug, 'new')
    const back = await platform.api<{ deployment_id: string }>('POST', `/v1/projects/${slug}/deployments/${old?.id}/rollback`)
    await platform.waitForEnd(slug, back.body.deployment_id)
    await checkRepository(platform, slug)
    await shows(slug, 'old')
    expect(await deploymentsOf(slug)).toHaveLength(3)
    repository.commit(page('newest'))
    await shows(slug, 'newest')
  })

  fullTest('changing it closes the preview of the new one, whose next push deploys production', async () => {
    const { slug, repository } = await linked()
    const preview = await waitForPreview(platform, slug, 'next', commitToBranch(repository.folder, 'next', page('next one')))
    await platform.api('PATCH', `/v1/projects/${slug}`, { repo_branch: 'next' })
    await gone(slug, 'next')
    await leadsNowhere(preview.host)
    await checkRepository(platform, slug)
    expect((await deploymentsOf(slug)).map((one) => one.target)).toEqual(['preview'])
    commitToBranch(repository.folder, 'next', page('in production'))
    await shows(slug, 'in production')
    await waitForPreview(platform, slug, 'main', repository.commit(page('main is a branch like any')))
  })
})

describe('the effect of a push', () => {
  test('none on production while that is off; once it is on, the next push deploys', async () => {
    const { slug, repository } = await linked()
    expect((await change(slug, { deploys_pushes: false })).body.watching).toMatchObject({ deploys_pushes: false, previews: true, state: 'watching' })
    repository.commit(page('not deployed'))
    await checkRepository(platform, slug)
    await change(slug, { deploys_pushes: true })
    await checkRepository(platform, slug)
    expect(await deploymentsOf(slug)).toEqual([])
    repository.commit(page('deployed'))
    await shows(slug, 'deployed')
  })

  fullTest('turning previews off closes them; once on again, they return with the next commit', async () => {
    const { slug, repository } = await linked()
    const preview = await waitForPreview(platform, slug, 'side', commitToBranch(repository.folder, 'side', page('side')))
    await change(slug, { previews: false })
    expect(await listPreviews(platform, slug)).toEqual([])
    await leadsNowhere(preview.host)
    commitToBranch(repository.folder, 'side', page('unseen'))
    await checkRepository(platform, slug)
    await change(slug, { previews: true })
    await checkRepository(platform, slug)
    expect(await listPreviews(platform, slug)).toEqual([])
    await waitForPreview(platform, slug, 'side', commitToBranch(repository.folder, 'side', page('seen')))
  })

  test('with both off nothing is watched', async () => {
    const { slug, repository } = await linked()
    const off = await change(slug, { previews: false, deploys_pushes: false })
    expect(off.body.watching).toMatchObject({ state: 'off', message: null, checked_at: null })
    repository.commit(page('unseen'))
    commitToBranch(repository.folder, 'side', page('unseen'))
    await change(slug, { previews: true, deploys_pushes: true })
    await checkRepository(platform, slug)
    expect(await deploymentsOf(slug)).toEqual([])
  })
})

fullTest('many branches at once are queued, a few build at a time, and production goes first', async () => {
  const { slug, repository } = await linked()
  await platform.api('PATCH', '/instance/settings', { build_concurrency: 2 })
  const git = createGit(repository.folder)
  const branches = Array.from({ length: 5 }, (_, n) => `many-${n}`)
  const { files, open } = gated()
  const sha = commitToBranch(repository.folder, branches[0] ?? '', { ...page('many'), ...files })
  for (const branch of branches.slice(1)) git('branch', branch, sha)
  await checkRepository(platform, slug)
  await building(slug, 2)
  expect(await listPreviews(platform, slug)).toHaveLength(branches.length)
  const production = await platform.deploy(slug)
  expect(await platform.getDeployment(slug, production.id)).toMatchObject({ status: 'queued' })
  expect(await deploymentsOf(slug, '?status=building')).toHaveLength(2)
  open()
  const ended = await until(
    async () => {
      const all = await deploymentsOf(slug)
      const busy = all.filter((one) => ['building', 'deploying'].includes(one.status))
      expect(busy.length).toBeLessThanOrEqual(2)
      return all.every((one) => one.status === 'ready') ? all : undefined
    },
    { what: 'all of them' },
  )
  expect(ended).toHaveLength(branches.length + 1)
  const order = ended.toSorted((a, b) => (a.started_at ?? '').localeCompare(b.started_at ?? '')).map((one) => one.id)
  expect(order.indexOf(production.id)).toBe(2)
  for (const branch of branches) git('branch', '-D', branch)
  await until(async () => ((await listPreviews(platform, slug)).length === 0 ? true : undefined), { what: 'no preview' })
})

fullTest('linking another repository closes the previews of the old one, and takes the branches of the new one as known', async () => {
  const { slug, repository } = await linked()
  await waitForPreview(platform, slug, 'side', commitToBranch(repository.folder, 'side', page('old side')))
  const other = made()
  commitToBranch(other.folder, 'side', page('new side'))
  await platform.api('PATCH', `/v1/projects/${slug}`, { repo_url: other.url })
  await checkRepository(platform, slug)
  expect(await listPreviews(platform, slug)).toEqual([])
  const preview = await waitForPreview(platform, slug, 'side', commitToBranch(other.folder, 'side', page('newer side')))
  expect((await platform.fetchEdge(preview.host)).body).toContain('newer side')
  commitToBranch(repository.folder, 'side', page('unseen'))
  await platform.api('PATCH', `/v1/projects/${slug}`, { repo_url: null })
  await gone(slug, 'side')
  expect((await platform.api('POST', `/instance/projects/${slug}/watching/check`)).status).toBe(400)
})
