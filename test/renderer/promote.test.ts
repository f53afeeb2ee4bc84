import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Client, createClient } from '../../renderer/api/client.ts'
import { type Done, steps, takeBack, type Wish } from '../../renderer/features/promote/steps.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import { sharedPlatform, type SharedPlatform } from '../support/shared-platform.ts'
import { makeRepository } from '../support/repository.ts'
import { until } from '../support/until.ts'

let home: SharedPlatform
const repository = makeRepository({ 'index.html': 'Hello' })
beforeAll(async () => {
  home = await sharedPlatform()
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await home.remove()
  repository.remove()
})

test('a canceled promotion brings back what served, although the build of its variables was ready before it was canceled', async () => {
  await home.createProject({ slug: 'berth' })
  await home.createProject({ slug: 'quay', repo_url: repository.url })
  await home.api('POST', '/v1/projects/berth/env-vars', { vars: [{ key: 'BROUGHT', value: 'by mistake' }] })
  expect((await home.ended('quay', (await home.deploy('quay')).id)).status).toBe('ready')
  const deployments = async () => (await home.api<{ deployments: Deployment[] }>('GET', '/v1/projects/quay/deployments')).body.deployments
  const [before] = await deployments()

  const { fetch } = globalThis
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${home.owner.token}`)
    return fetch(url, { ...init, headers })
  })
  const real = createClient({ base_url: home.platform.api_url, onSignedOut: () => {}, onTokenRefused: () => {} })
  const client: Client = {
    ...real,
    async call(id, input) {
      // The build is quicker than the request to cancel it.
      if (id === 'cancelDeployment') for (const one of await deployments()) await home.ended('quay', one.id)
      return real.call(id, input)
    },
  }
  const wish: Wish = {
    from: { client, slug: 'berth' },
    to: { client, slug: 'quay' },
    source: { kind: 'git', repo_url: repository.url, repo_branch: 'main' },
    new_name: null,
    settings: {},
    before: {},
    variables: new Set(['BROUGHT']),
  }
  const done: Done = {}
  const telling = { signal: new AbortController().signal, onProgress: () => {}, keep: () => {} }
  for (const name of ['project', 'variables'] as const) await steps[name](wish, done, telling)
  await takeBack(wish, done)

  const serves = await until(async () => (await deployments()).find((one) => one.is_current && one.trigger === 'rollback'), { what: 'a roll-back' })
  expect(serves).toMatchObject({ parent_id: before?.id, status: 'ready' })
  expect((await home.api('GET', '/v1/projects/quay/env-vars')).body).toMatchObject({ env_vars: [] })
})
