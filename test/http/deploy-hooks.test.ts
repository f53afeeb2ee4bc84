import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActivityEntry } from '../../server/contract/activity.ts'
import { activitySentence } from '../../server/contract/activity-sentences.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import { type ApiServer, bearer, startApiServer } from '../support/api-server.ts'

/* The URL of a deploy hook: who may call it, what it answers, and that its token is in no log. */

let server: ApiServer
beforeAll(async () => {
  server = await startApiServer()
  await server.createProject('blog', { repo_url: 'https://git.invalid/blog.git' })
  await server.createProject('shop', { repo_url: 'https://git.invalid/shop.git' })
})
afterAll(() => server.close())

const hooksPath = '/instance/projects/blog/deploy-hooks'
const asOwner = async <Body>(method: string, path: string, body?: object, at = server) => {
  const response = await at.fetch(path, {
    method,
    headers: { ...bearer(at.owner.token), 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return { status: response.status, body: (await response.json()) as Body }
}
const create = async (body: object = { name: 'CMS' }, path = hooksPath, at = server) => {
  const answer = await asOwner<{ deploy_hook: { id: string; last4: string; branch: string | null }; token: string; url: string }>(
    'POST',
    path,
    body,
    at,
  )
  expect(answer.status).toBe(201)
  return answer.body
}
const call = async (path: string, headers: Record<string, string> = {}, method = 'POST', at = server) => {
  const response = await at.fetch(path, { method, headers })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> }
}
const deployments = async () => (await asOwner<{ deployments: Deployment[] }>('GET', '/v1/projects/blog/deployments')).body.deployments
const cancelAll = async () => {
  for (const { id, status } of await deployments())
    if (!['canceled', 'failed', 'ready'].includes(status)) await asOwner('POST', `/v1/projects/blog/deployments/${id}/cancel`)
}

describe('the token', () => {
  test('in the path, as a bearer token and as a header deploys the production branch', async () => {
    const { token, url } = await create()
    expect(new URL(url).pathname).toBe(`/hooks/deploy/${token}`)
    for (const [path, headers] of [
      [`/hooks/deploy/${token}`, {}],
      ['/hooks/deploy', bearer(token)],
      ['/hooks/deploy', { 'x-deploy-token': token }],
    ] as const) {
      const { status, body } = await call(path, headers)
      expect([201, 200]).toContain(status)
      const [newest] = await deployments()
      expect(newest).toMatchObject({ id: body.deployment_id, trigger: 'hook', target: 'production', branch: 'main' })
      await cancelAll()
    }
  })

  test('the activity log names the hook', async () => {
    const { token } = await create({ name: 'Storefront CMS' })
    const { body } = await call(`/hooks/deploy/${token}`)
    const found = await asOwner<{ entries: ActivityEntry[] }>('GET', '/instance/projects/blog/activity?action=deployment.created')
    const entry = found.body.entries.find(({ target }) => target?.id === body.deployment_id)
    expect(entry && activitySentence(entry)).toBe('The deploy hook Storefront CMS started a deployment of main')
    expect(entry?.actor.kind).toBe('push')
    await cancelAll()
  })

  test.each<[string, (token: string) => [string, Record<string, string>]]>([
    ['none', () => ['/hooks/deploy', {}]],
    ['a wrong one', (token) => [`/hooks/deploy/${token.slice(0, -1)}`, {}]],
    ['one of another kind', () => [`/hooks/deploy/${server.owner.token}`, {}]],
    ['an API token in the header', () => ['/hooks/deploy', bearer(server.owner.token)]],
    ['two different ones', (token) => ['/hooks/deploy', { ...bearer(token), 'x-deploy-token': 'hpd_other' }]],
    ['the right one in the query', (token) => [`/hooks/deploy?token=${token}`, {}]],
  ])('%s is 401', async (_name, request) => {
    const { token } = await create()
    const before = (await deployments()).length
    const [path, headers] = request(token)
    const { status, body } = await call(path, headers)
    expect([status, body.error]).toEqual([401, 'unauthorized'])
    expect(await deployments()).toHaveLength(before)
  })

  test('of a deleted hook is 401', async () => {
    const { token, deploy_hook } = await create()
    expect((await asOwner('DELETE', `${hooksPath}/${deploy_hook.id}`)).status).toBe(200)
    expect((await call(`/hooks/deploy/${token}`)).status).toBe(401)
    expect((await asOwner<{ error: string }>('DELETE', `${hooksPath}/${deploy_hook.id}`)).body.error).toBe('deploy_hook_not_found')
  })

  test('is in no list, no log line and no error', async () => {
    const { token, deploy_hook } = await create()
    const answers = [
      await call(`/hooks/deploy/${token}`),
      await call(`/hooks/deploy/${token}/more`),
      await call(`/hooks/deploy/${token}`, {}, 'GET'),
      await asOwner('GET', hooksPath),
    ]
    expect(JSON.stringify(answers)).not.toContain(token)
    expect(JSON.stringify(server.log)).not.toContain(token.slice(4))
    expect((await asOwner<{ deploy_hooks: object[] }>('GET', hooksPath)).body.deploy_hooks).toContainEqual(
      expect.objectContaining({ id: deploy_hook.id, last4: token.slice(-4), last_used_at: expect.any(String) }),
    )
    await cancelAll()
  })
})

test('GET deploys nothing, because link previews send it', async () => {
  const { token } = await create()
  const before = (await deployments()).length
  for (const method of ['GET', 'PUT', 'DELETE']) expect((await call(`/hooks/deploy/${token}`, {}, method)).status).toBe(405)
  expect(await deployments()).toHaveLength(before)
})

test('a hook of another branch deploys a preview; a pull request is no branch', async () => {
  const { token } = await create({ name: 'Staging', branch: 'staging' })
  const { body } = await call(`/hooks/deploy/${token}`)
  expect((await deployments())[0]).toMatchObject({ id: body.deployment_id, target: 'preview', branch: 'staging' })
  const refused = await asOwner<{ error: string }>('POST', hooksPath, { name: 'x', branch: 'pull/5' })
  expect([refused.status, refused.body.error]).toEqual([400, 'invalid_input'])
  await cancelAll()
})

test('calls share a deployment that is queued', async () => {
  const { token } = await create()
  const other = await create({ name: 'Second hook' })
  // The queue builds one at a time for each branch, so all but the first wait.
  const answers = [await call(`/hooks/deploy/${token}`)]
  for (let i = 0; i < 5; i++) answers.push(await call(`/hooks/deploy/${i % 2 ? token : other.token}`))
  const queued = (await deployments()).filter(({ status }) => status === 'queued')
  expect(queued.length).toBeLessThanOrEqual(1)
  const shared = answers.filter(({ body }) => body.is_new === false)
  for (const { status, body } of shared) expect([status, body.status]).toEqual([200, 'queued'])
  await cancelAll()
})

test('the rate limit of the address applies', async () => {
  const limited = await startApiServer({ rate_limits: () => ({ authenticated: 300, anonymous: 2 }) })
  await limited.createProject('blog', { repo_url: 'https://git.invalid/blog.git' })
  const { token } = await create({ name: 'CMS' }, hooksPath, limited)
  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push((await call(`/hooks/deploy/${token}`, {}, 'POST', limited)).status)
  expect(statuses[2]).toBe(429)
  await limited.close()
})

test('a project without a repository has no hooks', async () => {
  await server.createProject('empty')
  const { status, body } = await asOwner<{ error: string }>('POST', '/instance/projects/empty/deploy-hooks', { name: 'CMS' })
  expect([status, body.error]).toEqual([400, 'project_not_connected'])
})
