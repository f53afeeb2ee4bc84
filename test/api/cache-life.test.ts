import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CacheInspectionResult } from '../../server/contract/network.ts'
import type { Project } from '../../server/contract/projects.ts'
import { fullTest } from '../support/full-test.ts'
import { readEventStream } from '../support/event-stream.ts'
import { makeRepository } from '../support/repository.ts'
import { signalFileIn, startTestPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'
import { countingApp, createCacheContext, type CacheContext } from './cache-context.ts'
import { expectError, issuePaths } from './api-context.ts'

/* The lifecycle of a project's cache: the setting, the inspector, a traffic switch, deletion, a restart. */

let context: CacheContext
beforeAll(async () => {
  context = await createCacheContext()
})
afterAll(() => context.close())

describe('caching_enabled', () => {
  test('off: nothing is served from the cache and stored responses are dropped; on: it fills again', async () => {
    await context.stored('shop', '/off')
    expect((await context.world.request('owner', 'PATCH', '/v1/projects/shop', { caching_enabled: false })).body.project).toMatchObject({
      caching_enabled: false,
    })
    expect(await context.fetched('shop', '/off')).toMatchObject({ 1: 'BYPASS' })
    const [first, second] = [await context.fetched('shop', '/off'), await context.fetched('shop', '/off')]
    expect(first[0]).not.toBe(second[0])
    expect((await context.cache('shop', 'purge-all')).body).toEqual({ ok: true, purged: 0 })
    await context.world.request('owner', 'PATCH', '/v1/projects/shop', { caching_enabled: true })
    expect((await context.fetched('shop', '/off'))[1]).toBe('MISS')
    expect((await context.fetched('shop', '/off'))[1]).toBe('HIT')
  })
})

describe('inspect', () => {
  const inspect = async (body: Record<string, unknown>) => (await context.cache('blog', 'inspect', body)).body as unknown as CacheInspectionResult

  test('predicts what a GET would get without side effects, and sends a request on demand', async () => {
    await context.cache('blog', 'purge-all')
    expect(await inspect({ url: '/i?tags=x' })).toMatchObject({ cache_status: 'MISS', stored: null, answer: null })
    expect((await inspect({ url: '/i?tags=x' })).cache_status).toBe('MISS')
    const sent = await inspect({ url: '/i?tags=x', send: true })
    expect(sent).toMatchObject({
      url: `http://blog.localhost:${context.edgePort}/i?tags=x`,
      cache_status: 'MISS',
      answer: { status: 200, x_cache: 'MISS' },
    })
    expect(await inspect({ url: 'http://blog.localhost/i?tags=x', send: true })).toMatchObject({
      cache_status: 'HIT',
      stored: { status: 200, tags: ['x'] },
      answer: { status: 200, x_cache: 'HIT' },
    })
  })

  test('HTTP and HTTPS URLs are separate cache entries', async () => {
    const sent = await inspect({ url: 'https://blog.localhost/is', send: true })
    expect(sent).toMatchObject({ url: expect.stringMatching(/^https:\/\/blog\.localhost:\d+\/is$/), cache_status: 'MISS', answer: { status: 200 } })
    expect((await inspect({ url: 'https://blog.localhost/is' })).cache_status).toBe('HIT')
    expect((await inspect({ url: 'http://blog.localhost/is' })).cache_status).toBe('MISS')
    expect((await context.cache('blog', 'purge-urls', { urls: ['/is'] })).body).toEqual({ ok: true, purged: 1 })
  })

  test('takes Vary into account', async () => {
    await context.stored('blog', '/iv?vary=accept-language', { 'accept-language': 'de' })
    const inspectIn = (language: string) => inspect({ url: '/iv?vary=accept-language', headers: { 'Accept-Language': language } })
    expect([(await inspectIn('de')).cache_status, (await inspectIn('fr')).cache_status]).toEqual(['HIT', 'MISS'])
  })

  test('reports that no app answers', async () => {
    const of = async (slug: string) => (await context.cache(slug, 'inspect', { url: '/', send: true })).body as unknown as CacheInspectionResult
    await context.world.platform.createProject({ slug: 'nothing' })
    expect(await of('nothing')).toMatchObject({ cache_status: 'BYPASS', stored: null, answer: { status: 404, x_cache: null } })
    const files = makeRepository({ 'index.html': '<h1>hi</h1>' })
    await context.world.platform.createProject({ slug: 'files', repo_url: files.url })
    expect((await context.world.platform.waitForEnd('files', (await context.world.platform.deploy('files')).id)).status).toBe('ready')
    expect(await of('files')).toMatchObject({ cache_status: 'HIT', stored: null, answer: { status: 200, x_cache: 'HIT' } })
    files.remove()
  })

  test.each<[string, Record<string, unknown>, string[]]>([
    ['an address of another project', { url: 'http://shop.localhost/' }, ['url']],
    ['no address', { url: 'nowhere' }, ['url']],
    [
      'a hop-by-hop header',
      { url: '/', headers: { Host: 'shop.localhost', 'Transfer-Encoding': 'chunked' } },
      ['headers.host', 'headers.transfer-encoding'],
    ],
    ['a line break in a header', { url: '/', headers: { 'x-a': 'a\r\nHost: shop.localhost' } }, ['headers.x-a']],
    ['a header without a name', { url: '/', headers: { '': 'a', 'a b': 'c' } }, ['headers.', 'headers.a b']],
  ])('400 for %s', async (_name, body, paths) => {
    const response = await context.cache('blog', 'inspect', body)
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual(paths)
  })
})

describe('the traffic switch', () => {
  test('purges everything before the switch is announced, and stores no response of the old version that was still in flight', async () => {
    const old = await context.stored('blog', '/swap')
    expect(old).toMatch(/^v1 /)
    const until_file = signalFileIn(context.world.platform.data_dir, 'let-go')
    const path = `/held?until=${encodeURIComponent(until_file)}`
    const held = context.fetched('blog', path)
    // Not the first chunk of the stream, which may be only a comment.
    const log = readEventStream(`${context.world.platform.handle.api_url}/v1/projects/blog/runtime-logs`, { token: context.world.tokens.owner ?? '' })
    for await (const { data } of log) if (data === 'held') break
    context.repository.commit(countingApp('v2'))
    const deployment = context.world.platform.deploy('blog')
    await context.world.platform.waitForEnd('blog', (await deployment).id)
    expect((await context.fetched('blog', '/swap'))[0]).toMatch(/^v2 /)
    expect(await context.newest('blog')).toMatchObject([{ kind: 'purge_all', source: 'deploy' }])
    writeFileSync(until_file, '')
    expect((await held)[0]).toMatch(/^v1 /)
    expect((await context.fetched('blog', path))[0]).toMatch(/^v2 /)
  })
})

describe('after DELETE', () => {
  test('removes everything from the cache, its files and the log, and a new project with the same slug starts empty', async () => {
    await context.deploy('gone')
    const { token, webhook_url } = await context.tokenOf('gone')
    const before = await context.stored('gone', '/g')
    const { id } = await context.world.platform.getProject('gone')
    const folder = join(context.world.platform.data_dir, 'cache', 'edge', id)
    await until(() => (existsSync(folder) ? true : undefined), { what: 'it to be on disk' })
    expect((await context.world.request('owner', 'DELETE', '/v1/projects/gone')).status).toBe(204)
    expect((await context.hook(webhook_url, token)).status).toBe(401)
    await context.deploy('gone')
    expect((await context.world.platform.getProject('gone')).has_purge_token).toBe(false)
    const [text, how] = await context.fetched('gone', '/g')
    expect([text === before && how === 'HIT']).toEqual([false])
    expect((await context.hook(webhook_url, token)).status).toBe(401)
    await until(() => (existsSync(folder) ? undefined : true), { what: 'its part of the cache to be gone' })
    expect((await context.newest('gone', 100)).map(({ kind, source }) => [kind, source])).toEqual([['purge_all', 'deploy']])
  })
})

fullTest('across a restart purged responses stay purged, a project with caching off stays off, and the token still works', async () => {
  const first = await startTestPlatform({ runtime: 'process' })
  const { data_dir } = first
  const put = async (slug: string) => {
    await first.createProject({ slug, repo_url: context.repository.url })
    await first.waitForEnd(slug, (await first.deploy(slug)).id)
  }
  await put('kept')
  await put('bare')
  await first.api('PATCH', '/v1/projects/bare', { caching_enabled: false })
  const { token } = (await first.api<{ token: string }>('POST', '/v1/projects/kept/cache/token')).body
  for (const path of ['/kept', '/purged?tags=t']) await first.fetchEdge('kept.localhost', path)
  expect((await first.api('POST', '/v1/projects/kept/cache/purge-tags', { tags: ['t'] })).body).toEqual({ ok: true, purged: 1 })
  await first.handle.stop()

  const second = await startTestPlatform({ runtime: 'process', data_dir })
  try {
    await until(async () => ((await second.fetchEdge('bare.localhost', '/')).status === 200 ? true : undefined), { what: 'the apps to be back' })
    await until(async () => ((await second.fetchEdge('kept.localhost', '/?cc=no-store')).status === 200 ? true : undefined), {
      what: 'the apps to be back',
    })
    expect((await second.fetchEdge('kept.localhost', '/purged?tags=t')).headers['x-cache']).toBe('MISS')
    expect((await second.fetchEdge('bare.localhost', '/')).headers['x-cache']).toBe('BYPASS')
    const { body } = await second.api<{ project: Project }>('GET', '/v1/projects/kept')
    expect(body.project.has_purge_token).toBe(true)
    expect((await context.hook(`${second.handle.api_url}/hooks/cache/kept`, token)).status).toBe(200)
  } finally {
    await second.remove()
  }
  expect(existsSync(data_dir)).toBe(false)
})
