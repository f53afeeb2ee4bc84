import { describe, expect, test } from 'vitest'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { useSmallDiskPlatform } from './small-disk-platform.ts'

describe.skipIf(!requires('tmpfs').ok)('a full disk', () => {
  const { platform, fill, untilRefused, makeRoom, upload, slugs, names, live } = useSmallDiskPlatform()

  test('507 storage_full for writes, which leave nothing; reads succeed, and the app keeps running', async () => {
    const { api, fetchEdge: edge, createProject } = platform()
    await createProject({ slug: 'uploads' })
    fill()
    await untilRefused()
    const before = { slugs: await slugs(), archives: names('archives'), work: names('work') }

    const refusals = await Promise.all([
      api('POST', '/v1/projects', { slug: 'new-one', name: 'new' }),
      api('POST', '/v1/projects/chatty/deploy'),
      api('POST', '/v1/projects/chatty/env-vars', { key: 'ONE', value: 'v'.repeat(9_000), environment: 'preview' }),
      api('PATCH', '/instance/settings', { keep_deployments: 7 }),
      upload('uploads'),
    ])
    expect(refusals.map(({ status, body }) => [status, body.error])).toEqual(refusals.map(() => [507, 'storage_full']))

    // Two hundred kilobytes of log for each.
    for (let i = 0; i < 20; i++) expect((await edge('chatty.localhost')).body).toBe('chatty')
    const reads = [
      '/v1/projects',
      '/v1/projects/chatty',
      '/v1/projects/chatty/deployments',
      '/v1/projects/chatty/metrics',
      '/instance/disk',
      '/healthz',
    ]
    for (const path of reads) expect([path, (await api('GET', path)).status]).toEqual([path, 200])
    expect({ slugs: await slugs(), archives: names('archives'), work: names('work') }).toEqual(before)
    expect(names('quarantine')).toEqual([])
    expect((await api('GET', '/v1/projects/uploads/deployments')).body.deployments).toEqual([])

    makeRoom()
    expect((await api('POST', '/v1/projects', { slug: 'new-one', name: 'new' })).status).toBe(201)
    expect((await upload('uploads')).status).toBe(201)
    await live('chatty')
    await until(async () => ((await edge('uploads.localhost')).body === 'hello' ? true : undefined), { what: 'the upload to be live' })
  })
})
