import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Preview, Watching } from '../../server/contract/previews.ts'
import { commitToBranch, waitForPreview, listPreviews, waitForFirstCheck } from '../support/git-branches.ts'
import { makeRepository } from '../support/repository.ts'
import { expectError, issuePaths, createApiContext, type ApiContext } from './api-context.ts'

let context: ApiContext
const repository = makeRepository({ 'index.html': '<h1>main</h1>' })
const slug = 'shown'
const path = `/v1/projects/${slug}/previews`
const watching = `/instance/projects/${slug}/watching`

beforeAll(async () => {
  context = await createApiContext()
  await context.platform.createProject({ slug, repo_url: repository.url, pushes: true })
  await context.platform.createProject({ slug: 'unlinked' })
  await waitForFirstCheck(context.platform, slug)
})
afterAll(async () => {
  await context.close()
  repository.remove()
})

const open = (branch: string, text: string, message?: string) =>
  commitToBranch(repository.folder, branch, { 'index.html': `<h1>${text}</h1>` }, message)

describe('GET previews', () => {
  test('200 without previews', async () => {
    expect((await context.request('owner', 'GET', path)).body).toEqual({ previews: [] })
    expect((await context.request('owner', 'GET', '/v1/projects/unlinked/previews')).body).toEqual({ previews: [] })
  })

  test('200 with each open preview, the most recently changed first', async () => {
    const sha = open('feature/Shown', 'shown', 'Shows it\n\nand says why')
    await waitForPreview(context.platform, slug, 'feature/Shown', sha)
    await waitForPreview(context.platform, slug, 'second', open('second', 'second'))
    const { status, body } = await context.request('member', 'GET', path)
    expect(status).toBe(200)
    const previews = body.previews as Preview[]
    expect(previews.map((one) => one.branch)).toEqual(['second', 'feature/Shown'])
    const edgePort = new URL(context.platform.handle.edge_url).port
    expect(previews[1]).toEqual({
      branch: 'feature/Shown',
      host: `feature-shown--${slug}.localhost`,
      url: `http://feature-shown--${slug}.localhost:${edgePort}`,
      status: 'ready',
      deployment_id: expect.stringMatching(/^dpl_/),
      commit_sha: sha,
      commit_message: 'Shows it',
      is_cold: false,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
      last_request_at: null,
    })
  })

  test('filters its deployments by target and branch, and allows no rollback to them', async () => {
    const [preview] = await listPreviews(context.platform, slug)
    const { body } = await context.request('owner', 'GET', `/v1/projects/${slug}/deployments?target=preview&branch=${preview?.branch}`)
    const [deployment] = body.deployments as { id: string }[]
    expect(deployment).toMatchObject({
      id: preview?.deployment_id,
      target: 'preview',
      trigger: 'push',
      source: 'git',
      is_current: true,
      can_rollback: false,
    })
    expectError(await context.request('owner', 'POST', `/v1/projects/${slug}/deployments/${deployment?.id}/rollback`), 409, 'rollback_not_allowed')
  })

  test('a retry redeploys the preview', async () => {
    const [preview] = await listPreviews(context.platform, slug)
    const again = await context.request('owner', 'POST', `/v1/projects/${slug}/deployments/${preview?.deployment_id}/retry`)
    expect(again.status).toBe(201)
    const id = again.body.deployment_id as string
    expect(await context.platform.waitForEnd(slug, id)).toMatchObject({
      status: 'ready',
      target: 'preview',
      branch: preview?.branch,
      trigger: 'retry',
      is_current: true,
    })
    expect((await listPreviews(context.platform, slug)).find((one) => one.branch === preview?.branch)).toMatchObject({ deployment_id: id })
  })
})

describe('watching', () => {
  const state = async (who: 'owner' | 'member' = 'owner') => (await context.request(who, 'GET', watching)).body.watching as Watching

  test('200 with the defaults', async () => {
    expect(await state()).toEqual({
      deploys_pushes: true,
      previews: true,
      preview_databases: false,
      pull_requests: false,
      pull_request_secrets: false,
      skipped: [],
      state: 'watching',
      message: null,
      checked_at: expect.stringMatching(/Z$/),
    })
    expect((await context.request('owner', 'GET', '/instance/projects/unlinked/watching')).body).toMatchObject({
      watching: { state: 'off', checked_at: null },
    })
  })

  test('a changed setting persists, and the others stay as they were', async () => {
    await context.request('owner', 'PATCH', watching, { deploys_pushes: false })
    const response = await context.request('member', 'PATCH', watching, { preview_databases: true })
    expect(response.body.watching).toMatchObject({ deploys_pushes: false, previews: true, preview_databases: true })
    await context.request('owner', 'PATCH', watching, { deploys_pushes: true, preview_databases: false })
    expect(await state('member')).toMatchObject({ deploys_pushes: true, previews: true, preview_databases: false })
  })

  test('400 for a value that is not a boolean', async () => {
    expect(issuePaths(await context.request('owner', 'PATCH', watching, { previews: 'yes', more: 1 }))).toEqual(['more', 'previews'])
  })

  test('checks the repository on demand; 400 without a repository', async () => {
    expect((await context.request('owner', 'POST', `${watching}/check`)).body.watching).toMatchObject({ state: 'watching' })
    expectError(await context.request('owner', 'POST', '/instance/projects/unlinked/watching/check'), 400, 'project_not_connected')
  })

  test('a missing repository is reported in plain words, and checked again', async () => {
    await context.request('instance_owner', 'PATCH', '/v1/projects/unlinked', { repo_url: 'file:///nowhere/to/be/found' })
    const { status, body } = await context.request('owner', 'POST', '/instance/projects/unlinked/watching/check')
    expect(status).toBe(200)
    expect(body.watching).toMatchObject({
      state: 'failing',
      message: 'The folder of the repository does not exist on this machine. Check the file:// address.',
    })
    await context.request('instance_owner', 'PATCH', '/v1/projects/unlinked', { repo_url: repository.url })
    expect((await context.request('owner', 'POST', '/instance/projects/unlinked/watching/check')).body.watching).toMatchObject({
      state: 'watching',
      message: null,
    })
  })
})
