import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import { check, commitOn, gitIn, previewOf, previewsOf, watched } from '../support/branches.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'

/* Repositories of this machine are watched: by file events, on the process runtime, with static sites, which are quick to build. */

const page = (text: string) => ({ 'index.html': `<h1>${text}</h1>` })

let home: TestPlatform
const repositories: Repository[] = []
let count = 0

beforeAll(async () => {
  home = await startTestPlatform({ runtime: 'process' })
})
afterAll(() => home.remove())
afterEach(() => {
  for (const one of repositories.splice(0)) one.remove()
})

/** A project with a repository that was looked at. */
async function linked(): Promise<{ slug: string; repository: Repository }> {
  const repository = makeRepository(page('main'))
  repositories.push(repository)
  const slug = `site-${++count}`
  await home.createProject({ slug, repo_url: repository.url })
  await watched(home, slug)
  return { slug, repository }
}

const deploymentsOf = async (slug: string, query = '') =>
  (await home.api<{ deployments: Deployment[] }>('GET', `/v1/projects/${slug}/deployments${query}`)).body.deployments

describe('a branch', () => {
  test('gets a preview with its first commit, another version with its next, and none any more once it is deleted', async () => {
    const { slug, repository } = await linked()
    const first = commitOn(repository.folder, 'feature/One', page('one'))
    const preview = await previewOf(home, slug, 'feature/One', first)
    expect(preview).toMatchObject({ host: `feature-one--${slug}.localhost`, commit_message: 'A change', is_cold: false })
    expect((await home.edge(preview.host)).body).toContain('<h1>one</h1>')
    expect(await home.project(slug)).toMatchObject({ status: 'created' })
    expect(await home.deployment(slug, preview.deployment_id)).toMatchObject({
      target: 'preview',
      trigger: 'push',
      is_current: true,
      url: preview.url,
    })

    const second = commitOn(repository.folder, 'feature/One', page('two'))
    await previewOf(home, slug, 'feature/One', second)
    expect((await home.edge(preview.host)).body).toContain('<h1>two</h1>')

    gitIn(repository.folder)('branch', '-D', 'feature/One')
    await until(async () => ((await previewsOf(home, slug)).length === 0 ? true : undefined), { what: 'the end of the preview' })
    expect((await home.edge(preview.host)).status).toBe(404)
    expect((await deploymentsOf(slug)).map((one) => [one.status, one.is_current])).toEqual([
      ['ready', false],
      ['ready', false],
    ])
  })

  test('the production branch is deployed by a push', async () => {
    const { slug, repository } = await linked()
    const sha = repository.commit(page('pushed'))
    const [found] = await until(
      async () => {
        const list = await deploymentsOf(slug, '?status=ready')
        return list.length > 0 ? list : undefined
      },
      { what: 'the deployment of the push' },
    )
    expect(found).toMatchObject({ target: 'production', trigger: 'push', branch: 'main', commit_sha: sha, is_current: true })
    expect((await home.edge(`${slug}.localhost`)).body).toContain('pushed')
    expect(await previewsOf(home, slug)).toEqual([])
    await check(home, slug)
    expect(await deploymentsOf(slug)).toHaveLength(1)
  })
})
