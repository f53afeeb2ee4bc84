import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CacheVerdict } from '../../server/contract/network.ts'
import type { Project } from '../../server/contract/projects.ts'
import { readStream } from '../support/event-stream.ts'
import { makeRepository } from '../support/repository.ts'
import { gateIn, startTestPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'
import { countingApp, startCacheWorld } from './cache-world.ts'
import type { CacheWorld } from './cache-world.ts'
import { expectRefusal, faults } from './world.ts'

/* The cache of a project over its life: the switch, what the inspector sees, a swap, the end, a restart. */

let home: CacheWorld
beforeAll(async () => {
  home = await startCacheWorld()
})
afterAll(() => home.close())

describe('caching_enabled', () => {
  test('off: nothing comes from the cache, what is stored is dropped; on: it fills again', async () => {
    await home.stored('shop', '/off')
    expect((await home.world.ask('owner', 'PATCH', '/v1/projects/shop', { caching_enabled: false })).body.project).toMatchObject({
      caching_enabled: false,
    })
    expect(await home.fetched('shop', '/off')).toMatchObject({ 1: 'BYPASS' })
    const [first, second] = [await home.fetched('shop', '/off'), await home.fetched('shop', '/off')]
    expect(first[0]).not.toBe(second[0])
    expect((await home.cache('shop', 'purge-all')).body).toEqual({ ok: true, purged: 0 })
    await home.world.ask('owner', 'PATCH', '/v1/projects/shop', { caching_enabled: true })
    expect((await home.fetched('shop', '/off'))[1]).toBe('MISS')
    expect((await home.fetched('shop', '/off'))[1]).toBe('HIT')
  })
})

describe('inspect', () => {
  const inspect = async (body: Record<string, unknown>) => (await home.cache('blog', 'inspect', body)).body as unknown as CacheVerdict

  test('says what a GET would get, touches nothing, and asks for real when told to', async () => {
    await home.cache('blog', 'purge-all')
    expect(await inspect({ url: '/i?tags=x' })).toMatchObject({ verdict: 'MISS', stored: null, answer: null })
    expect((await inspect({ url: '/i?tags=x' })).verdict).toBe('MISS')
    const sent = await inspect({ url: '/i?tags=x', send: true })
    expect(sent).toMatchObject({ url: `http://blog.localhost:${home.edgePort}/i?tags=x`, verdict: 'MISS', answer: { status: 200, x_cache: 'MISS' } })
    expect(await inspect({ url: 'http://blog.localhost/i?tags=x', send: true })).toMatchObject({
      verdict: 'HIT',
      stored: { status: 200, tags: ['x'] },
      answer: { status: 200, x_cache: 'HIT' },
    })
  })

  test('over HTTPS an address is another one', async () => {
    const sent = await inspect({ url: 'https://blog.localhost/is', send: true })
    expect(sent).toMatchObject({ url: expect.stringMatching(/^https:\/\/blog\.localhost:\d+\/is$/), verdict: 'MISS', answer: { status: 200 } })
    expect((await inspect({ url: 'https://blog.localhost/is' })).verdict).toBe('HIT')
    expect((await inspect({ url: 'http://blog.localhost/is' })).verdict).toBe('MISS')
    expect((await home.cache('blog', 'purge-urls', { urls: ['/is'] })).body).toEqual({ ok: true, purged: 1 })
  })

  test('knows that answers vary', async () => {
    await home.stored('blog', '/iv?vary=accept-language', { 'accept-language': 'de' })
    const asked = (language: string) => inspect({ url: '/iv?vary=accept-language', headers: { 'Accept-Language': language } })
    expect([(await asked('de')).verdict, (await asked('fr')).verdict]).toEqual(['HIT', 'MISS'])
  })

  test('says so where no app answers', async () => {
    const of = async (slug: string) => (await home.cache(slug, 'inspect', { url: '/', send: true })).body as unknown as CacheVerdict
    await home.world.home.createProject({ slug: 'nothing' })
    expect(await of('nothing')).toMatchObject({ verdict: 'BYPASS', stored: null, answer: { status: 404, x_cache: null } })
    const files = makeRepository({ 'index.html': '<h1>hi</h1>' })
    await home.world.home.createProject({ slug: 'files', repo_url: files.url })
    expect((await home.world.home.ended('files', (await home.world.home.deploy('files')).id)).status).toBe('ready')
    expect(await of('files')).toMatchObject({ verdict: 'HIT', stored: null, answer: { status: 200, x_cache: 'HIT' } })
    files.remove()
  })

  test.each<[string, Record<string, unknown>, string[]]>([
    ['an address of another project', { url: 'http://shop.localhost/' }, ['url']],
    ['no address', { url: 'nowhere' }, ['url']],
    [
      'a header that says how it is carried',
      { url: '/', headers: { Host: 'shop.localhost', 'Transfer-Encoding': 'chunked' } },
      ['headers.host', 'headers.transfer-encoding'],
    ],
    ['a line break in a header', { url: '/', headers: { 'x-a': 'a\r\nHost: shop.localhost' } }, ['headers.x-a']],
    ['a header without a name', { url: '/', headers: { '': 'a', 'a b': 'c' } }, ['headers.', 'headers.a b']],
  ])('400 for %s', async (_name, body, paths) => {
    const answer = await home.cache('blog', 'inspect', body)
    expectRefusal(answer, 400, 'invalid_input')
    expect(faults(answer)).toEqual(paths)
  })
})

describe('a swap', () => {
  test('purges all before it is told, and what was under way of the old version is stored by nobody', async () => {
    const old = await home.stored('blog', '/swap')
    expect(old).toMatch(/^v1 /)
    const until_file = gateIn(home.world.home.data_dir, 'let-go')
    const path = `/held?until=${encodeURIComponent(until_file)}`
    const held = home.fetched('blog', path)
    // Not by one piece of the stream: its first may be a comment alone.
    const log = readStream(`${home.world.home.platform.api_url}/v1/projects/blog/runtime-logs`, { token: home.world.tokens.owner ?? '' })
    for await (const { data } of log) if (data === 'held') break
    home.repository.commit(countingApp('v2'))
    const deployment = home.world.home.deploy('blog')
    await home.world.home.ended('blog', (await deployment).id)
    expect((await home.fetched('blog', '/swap'))[0]).toMatch(/^v2 /)
    expect(await home.newest('blog')).toMatchObject([{ kind: 'purge_all', source: 'deploy' }])
    writeFileSync(until_file, '')
    expect((await held)[0]).toMatch(/^v1 /)
    expect((await home.fetched('blog', path))[0]).toMatch(/^v2 /)
  })
})

describe('after DELETE', () => {
  test('nothing of the project is left, in the cache, its files or the log, and a new one of that name begins empty', async () => {
    await home.deploy('gone')
    const { token, webhook_url } = await home.tokenOf('gone')
    const before = await home.stored('gone', '/g')
    const { id } = await home.world.home.project('gone')
    const folder = join(home.world.home.data_dir, 'cache', 'edge', id)
    await until(() => (existsSync(folder) ? true : undefined), { what: 'it to be on disk' })
    expect((await home.world.ask('owner', 'DELETE', '/v1/projects/gone')).status).toBe(204)
    expect((await home.hook(webhook_url, token)).status).toBe(401)
    await home.deploy('gone')
    expect((await home.world.home.project('gone')).has_purge_token).toBe(false)
    const [text, how] = await home.fetched('gone', '/g')
    expect([text === before && how === 'HIT']).toEqual([false])
    expect((await home.hook(webhook_url, token)).status).toBe(401)
    await until(() => (existsSync(folder) ? undefined : true), { what: 'its part of the cache to be gone' })
    expect((await home.newest('gone', 100)).map(({ kind, source }) => [kind, source])).toEqual([['purge_all', 'deploy']])
  })
})

describe('over a restart', () => {
  test('what was purged stays purged, a project that is off stays off, and the token works on', async () => {
    const first = await startTestPlatform({ runtime: 'process' })
    const { data_dir } = first
    const put = async (slug: string) => {
      await first.createProject({ slug, repo_url: home.repository.url })
      await first.ended(slug, (await first.deploy(slug)).id)
    }
    await put('kept')
    await put('bare')
    await first.api('PATCH', '/v1/projects/bare', { caching_enabled: false })
    const { token } = (await first.api<{ token: string }>('POST', '/v1/projects/kept/cache/token')).body
    for (const path of ['/kept', '/purged?tags=t']) await first.edge('kept.localhost', path)
    expect((await first.api('POST', '/v1/projects/kept/cache/purge-tags', { tags: ['t'] })).body).toEqual({ ok: true, purged: 1 })
    await first.platform.stop()

    const second = await startTestPlatform({ runtime: 'process', data_dir })
    try {
      await until(async () => ((await second.edge('bare.localhost', '/')).status === 200 ? true : undefined), { what: 'the apps to be back' })
      await until(async () => ((await second.edge('kept.localhost', '/?cc=no-store')).status === 200 ? true : undefined), {
        what: 'the apps to be back',
      })
      expect((await second.edge('kept.localhost', '/purged?tags=t')).headers['x-cache']).toBe('MISS')
      expect((await second.edge('bare.localhost', '/')).headers['x-cache']).toBe('BYPASS')
      const { body } = await second.api<{ project: Project }>('GET', '/v1/projects/kept')
      expect(body.project.has_purge_token).toBe(true)
      expect((await home.hook(`${second.platform.api_url}/hooks/cache/kept`, token)).status).toBe(200)
    } finally {
      await second.remove()
    }
    expect(existsSync(data_dir)).toBe(false)
  })
})
