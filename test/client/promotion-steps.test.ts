import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createApiClient } from '../../renderer/api/api-client.ts'
import { toPromotionClient } from '../../renderer/api/promotion-sides.ts'
import type { PromotionClient } from '../../server/client/promotion/client.ts'
import type { PromotionProgress, PromotionRequest } from '../../server/client/promotion/request.ts'
import { promotionSteps } from '../../server/client/promotion/steps.ts'
import { undoPromotion } from '../../server/client/promotion/undo.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import { sharedPlatform, type SharedPlatform } from '../support/shared-platform.ts'
import { makeRepository } from '../support/repository.ts'
import { until } from '../support/until.ts'

let platform: SharedPlatform
const repository = makeRepository({ 'index.html': 'Hello' })
beforeAll(async () => {
  platform = await sharedPlatform()
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await platform.remove()
  repository.remove()
})

test('canceling a promotion restores the previous version, even if the build for its variables had finished', async () => {
  await platform.createProject({ slug: 'berth' })
  await platform.createProject({ slug: 'quay', repo_url: repository.url })
  await platform.api('POST', '/v1/projects/berth/env-vars', { vars: [{ key: 'BROUGHT', value: 'by mistake' }] })
  expect((await platform.waitForEnd('quay', (await platform.deploy('quay')).id)).status).toBe('ready')
  const deployments = async () => (await platform.api<{ deployments: Deployment[] }>('GET', '/v1/projects/quay/deployments')).body.deployments
  const [before] = await deployments()

  const { fetch } = globalThis
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${platform.owner.token}`)
    return fetch(url, { ...init, headers })
  })
  const real = toPromotionClient(createApiClient({ base_url: platform.handle.api_url, onSignedOut: () => {}, onTokenRefused: () => {} }))
  const client: PromotionClient = {
    ...real,
    async call(id, input) {
      // The build finishes before the request to cancel it arrives.
      if (id === 'cancelDeployment') for (const one of await deployments()) await platform.waitForEnd('quay', one.id)
      return real.call(id, input)
    },
  }
  const request: PromotionRequest = {
    from: { client, slug: 'berth' },
    to: { client, slug: 'quay' },
    source: { kind: 'git', repo_url: repository.url, repo_branch: 'main' },
    new_name: null,
    settings: {},
    before: {},
    variables: new Set(['BROUGHT']),
  }
  const done: PromotionProgress = {}
  const context = { signal: new AbortController().signal, onProgress: () => {}, persist: () => {}, pause: async () => {}, createKey: () => 'key' }
  for (const name of ['project', 'variables'] as const) await promotionSteps[name](request, done, context)
  await undoPromotion(request, done)

  const serves = await until(async () => (await deployments()).find((one) => one.is_current && one.trigger === 'rollback'), { what: 'a roll-back' })
  expect(serves).toMatchObject({ parent_id: before?.id, status: 'ready' })
  expect((await platform.api('GET', '/v1/projects/quay/env-vars')).body).toMatchObject({ env_vars: [] })
})
