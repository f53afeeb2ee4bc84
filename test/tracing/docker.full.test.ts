import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TraceSpan } from '../../server/contract/traces.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'
import { until } from '../support/until.ts'
import { handTracedApp } from './traced-app.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => {
  let platform: SharedPlatform
  let repository: Repository
  beforeAll(async () => {
    platform = await sharedPlatform({ runtime: 'docker' })
    repository = makeRepository(handTracedApp)
  })
  afterAll(async () => {
    await platform.remove()
    repository.remove()
  })

  test('an app in a container reaches the receiver', async () => {
    await platform.createProject({ slug: 'contained', repo_url: repository.url })
    expect(await platform.waitForEnd('contained', (await platform.deploy('contained')).id)).toMatchObject({ status: 'ready', error: null })
    const trace_id = await platform.fetchEdge('contained.localhost', '/orders/7').then(({ headers }) => String(headers['x-trace-id']))
    const spans = await until(
      async () => {
        const { body } = await platform.api<{ spans?: TraceSpan[] }>('GET', `/instance/projects/contained/traces/${trace_id}`)
        return body.spans && body.spans.length >= 3 ? body.spans : undefined
      },
      { what: 'the trace' },
    )
    expect(spans.map(({ kind, service }) => [kind, service])).toEqual([
      ['edge', 'edge'],
      ['server', 'contained'],
      ['client', 'contained'],
    ])
  })
})
