import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CacheEvent } from '../../server/contract/cache.ts'
import { get } from '../support/edge.ts'
import { createCacheContext, type CacheContext } from './cache-context.ts'
import { expectError, issuePaths, type ApiResponse } from './api-context.ts'

/* What a purge removes and what it leaves, the token and the webhook, the log. */

let context: CacheContext
beforeAll(async () => {
  context = await createCacheContext()
})
afterAll(() => context.close())

describe('purge-all', () => {
  test('purges the whole project and no other one, and is complete when the response arrives', async () => {
    await context.cache('blog', 'purge-all')
    const mine = await Promise.all(['/all/1', '/all/2', '/all/3'].map((path) => context.stored('blog', path)))
    const other = await context.stored('shop', '/all/1')
    const response = await context.cache('blog', 'purge-all')
    expect([response.status, response.body]).toEqual([200, { ok: true, purged: 3 }])
    for (const [i, path] of ['/all/1', '/all/2', '/all/3'].entries()) {
      const [text, how] = await context.fetched('blog', path)
      expect([text === mine[i], how]).toEqual([false, 'MISS'])
    }
    expect(await context.fetched('shop', '/all/1')).toEqual([other, 'HIT'])
    expect(await context.newest('blog')).toEqual([{ kind: 'purge_all', tags: [], urls: [], purged: 3, source: 'api' }])
  })

  test('returns 0 for an empty cache', async () => {
    await context.cache('shop', 'purge-all')
    expect((await context.cache('shop', 'purge-all')).body).toEqual({ ok: true, purged: 0 })
  })

  test('ignores the request body', async () => {
    expect((await context.cache('shop', 'purge-all', { what: 'ever' })).status).toBe(200)
  })

  test('from the dashboard is recorded as such in the log', async () => {
    const { url } = (await context.world.request('owner', 'POST', '/instance/sign-in-links')).body as { url: string }
    const cookie = ((await fetch(url, { redirect: 'manual' })).headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const { origin } = new URL(url)
    const response = await context.world.request({ token: '' }, 'POST', '/v1/projects/blog/cache/purge-all', {}, { cookie, origin })
    expect(response.status).toBe(200)
    expect(await context.newest('blog')).toMatchObject([{ source: 'dashboard' }])
  })
})

describe('purge-tags', () => {
  test('purges only responses with one of the tags, from either header', async () => {
    const paths = ['/t/1?tags=news%20post-1', '/t/2?tags=news', '/t/3?tag=post-3,news', '/t/4?tags=newsletter', '/t/5']
    for (const path of paths) await context.stored('blog', path)
    const response = await context.cache('blog', 'purge-tags', { tags: ['news', 'nothing-has-it'] })
    expect(response.body).toEqual({ ok: true, purged: 3 })
    const ways = await Promise.all(paths.map(async (path) => (await context.fetched('blog', path))[1]))
    expect(ways).toEqual(['MISS', 'MISS', 'MISS', 'HIT', 'HIT'])
    expect(await context.newest('blog')).toEqual([{ kind: 'purge_tags', tags: ['news', 'nothing-has-it'], urls: [], purged: 3, source: 'api' }])
  })

  test('finds tags beyond ASCII in UTF-8 and Latin-1, and Cache-Tag values with spaces', async () => {
    for (const path of ['/utf8?tag=%C3%BCber%20uns', '/latin1?bytes&tag=team,%20%C3%BCber%20uns']) await context.stored('blog', path)
    expect((await context.cache('blog', 'purge-tags', { tags: ['über', 'uns'] })).body).toEqual({ ok: true, purged: 0 })
    expect((await context.cache('blog', 'purge-tags', { tags: ['über uns'] })).body).toEqual({ ok: true, purged: 2 })
  })

  test('tags are not sent to clients', async () => {
    const response = await get(context.edgePort, '/t/1?tags=news&tag=a', { host: 'blog.localhost' })
    expect([response.headers['surrogate-key'], response.headers['cache-tag']]).toEqual([undefined, undefined])
  })

  test.each<[string, unknown, string]>([
    ['none', { tags: [] }, 'tags'],
    ['51', { tags: Array<string>(51).fill('a') }, 'tags'],
    ['one of 129 characters', { tags: ['x'.repeat(129)] }, 'tags.0'],
    ['an empty one', { tags: ['a', ''] }, 'tags.1'],
    ['not a list', { tags: 'a' }, 'tags'],
    ['nothing', {}, 'tags'],
    ['another field', { tags: ['a'], all: true }, 'all'],
  ])('400 for %s', async (_name, body, path) => {
    const response = await context.cache('blog', 'purge-tags', body)
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual([path])
  })

  test('accepts 50 tags of 128 characters', async () => {
    expect((await context.cache('blog', 'purge-tags', { tags: Array.from({ length: 50 }, (_, i) => String(i).padEnd(128, 'x')) })).status).toBe(200)
  })
})

describe('purge-urls', () => {
  test('purges a URL with all its variants, and no other URL', async () => {
    for (const language of ['de', 'en']) await context.stored('blog', '/u?vary=accept-language', { 'accept-language': language })
    await context.stored('blog', '/u')
    expect((await context.cache('blog', 'purge-urls', { urls: ['/u?vary=accept-language#top'] })).body).toEqual({ ok: true, purged: 2 })
    expect(await context.fetched('blog', '/u?vary=accept-language', { 'accept-language': 'de' })).toMatchObject({ 1: 'MISS' })
    expect(await context.fetched('blog', '/u')).toMatchObject({ 1: 'HIT' })
    expect(await context.newest('blog')).toEqual([{ kind: 'purge_urls', tags: [], urls: ['/u?vary=accept-language#top'], purged: 2, source: 'api' }])
  })

  test('accepts an absolute URL, whatever its scheme and port', async () => {
    for (const url of ['http://blog.localhost/w', 'https://BLOG.localhost:4680/w', 'http://blog.localhost./w#part']) {
      await context.stored('blog', '/w')
      expect([url, (await context.cache('blog', 'purge-urls', { urls: [url] })).body]).toEqual([url, { ok: true, purged: 1 }])
    }
  })

  test('400 for a URL outside this project, and nothing is purged', async () => {
    await context.stored('blog', '/kept')
    const response = await context.cache('blog', 'purge-urls', {
      urls: ['/kept', 'http://shop.localhost/kept', 'kept', 'ftp://blog.localhost/', 'http://blog.localhost@evil.example/', 'http://'],
    })
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual(['urls.1', 'urls.2', 'urls.3', 'urls.4', 'urls.5'])
    expect(await context.fetched('blog', '/kept')).toMatchObject({ 1: 'HIT' })
  })
})

describe('the purge token', () => {
  test('is shown once, authorizes the webhook, and is nowhere stored in plain text', async () => {
    const response = await context.cache('blog', 'token')
    expect(response.status).toBe(201)
    const { token, webhook_url } = response.body as { token: string; webhook_url: string }
    expect(token).toMatch(/^hpp_[0-9A-Za-z]{49}$/)
    expect(webhook_url).toBe(`${context.world.platform.handle.api_url}/hooks/cache/blog`)
    expect((await context.world.platform.getProject('blog')).has_purge_token).toBe(true)
    expect((await context.world.platform.getProject('shop')).has_purge_token).toBe(false)
    expect(await context.newest('blog')).toEqual([{ kind: 'token_rotated', tags: [], urls: [], purged: 0, source: 'api' }])
    expect((await context.hook(webhook_url, token)).status).toBe(200)
    expect((await fetch(`${webhook_url}?token=${token}`, { method: 'POST' })).status).toBe(200)
    const files = readdirSync(context.world.platform.data_dir).filter((name) => statSync(join(context.world.platform.data_dir, name)).isFile())
    for (const text of [
      ...files.map((name) => readFileSync(join(context.world.platform.data_dir, name), 'latin1')),
      context.world.platform.log.join('\n'),
    ])
      expect(text.includes(token)).toBe(false)
  })

  test('the previous token is refused once rotated', async () => {
    const old = await context.tokenOf('blog')
    const fresh = await context.tokenOf('blog')
    expect(fresh.token).not.toBe(old.token)
    expect([(await context.hook(old.webhook_url, old.token)).status, (await context.hook(fresh.webhook_url, fresh.token)).status]).toEqual([401, 200])
  })

  test('only one of many concurrent rotations stays valid', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => context.tokenOf('blog')))
    const answers = await Promise.all(made.map(({ token, webhook_url }) => context.hook(webhook_url, token)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(9).fill(401)])
  })

  test('a token of another project gets the same 401 as an invalid one', async () => {
    const [blog, shop] = [await context.tokenOf('blog'), await context.tokenOf('shop')]
    const before = await context.newest('blog', 100)
    const bodies = await Promise.all(
      [
        context.hook(blog.webhook_url, shop.token),
        context.hook(blog.webhook_url, 'hpp_wrong'),
        context.hook(blog.webhook_url.replace('blog', 'nobody'), blog.token),
      ].map(async (pending) => {
        const response = await pending
        return [response.status, { ...((await response.json()) as object), request_id: '' }]
      }),
    )
    expect(bodies[0]).toEqual(bodies[1])
    expect(bodies[0]).toEqual(bodies[2])
    expect(bodies[0]?.[0]).toBe(401)
    expect(await context.newest('blog', 100)).toEqual(before)
  })

  test('is not accepted as an API token', async () => {
    const { token } = await context.tokenOf('blog')
    expectError(await context.world.request({ token }, 'GET', '/v1/projects/blog'), 401, 'unauthorized')
  })
})

describe('the webhook', () => {
  test('purges everything, by tag or by URL, and the log names the webhook as the source', async () => {
    const { token, webhook_url } = await context.tokenOf('blog')
    await context.cache('blog', 'purge-all')
    for (const path of ['/h/1?tags=a', '/h/2?tags=b', '/h/3']) await context.stored('blog', path)
    const ask = async (body?: unknown) => (await context.hook(webhook_url, token, body)).json()
    expect(await ask({ tags: ['a'] })).toEqual({ ok: true, purged: 1 })
    expect(await ask({ urls: ['/h/2?tags=b'] })).toEqual({ ok: true, purged: 1 })
    expect(await ask()).toEqual({ ok: true, purged: 1 })
    expect(await context.newest('blog', 3)).toEqual([
      { kind: 'purge_all', tags: [], urls: [], purged: 1, source: 'webhook' },
      { kind: 'purge_urls', tags: [], urls: ['/h/2?tags=b'], purged: 1, source: 'webhook' },
      { kind: 'purge_tags', tags: ['a'], urls: [], purged: 1, source: 'webhook' },
    ])
  })

  test('refuses a URL of another project', async () => {
    const { token, webhook_url } = await context.tokenOf('blog')
    const response = await context.hook(webhook_url, token, { urls: ['http://shop.localhost/'] })
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([400, 'invalid_input'])
  })

  test('GET, as sent by a link preview, is 405 and has no effect', async () => {
    const { token, webhook_url } = await context.tokenOf('blog')
    const before = await context.newest('blog', 100)
    expect((await fetch(`${webhook_url}?token=${token}`)).status).toBe(405)
    expect(await context.newest('blog', 100)).toEqual(before)
  })
})

describe('the purge log', () => {
  test('is listed newest first, in pages, to the last entry', async () => {
    await context.world.platform.createProject({ slug: 'paged' })
    for (let i = 0; i < 7; i++) await context.cache('paged', 'purge-tags', { tags: [`t${i}`] })
    const seen: CacheEvent[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: ApiResponse = await context.world.request(
        'owner',
        'GET',
        `/v1/projects/paged/cache/log?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      expect(Object.keys(page.body)).toEqual(['events', 'next_cursor'])
      seen.push(...(page.body.events as CacheEvent[]))
      cursor = page.body.next_cursor as string | null
    }
    expect(seen.map(({ tags }) => tags[0])).toEqual(['t6', 't5', 't4', 't3', 't2', 't1', 't0'])
    expect(new Set(seen.map(({ id }) => id)).size).toBe(7)
    for (const { id, created_at } of seen) {
      expect(id).toMatch(/^evt_[0-9a-z]{26}$/)
      expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }
  })

  test('400 for an invalid limit or cursor', async () => {
    for (const query of ['limit=0', 'limit=101', 'cursor=x', 'limit=1&limit=2'])
      expectError(await context.world.request('owner', 'GET', `/v1/projects/blog/cache/log?${query}`), 400, 'invalid_input')
  })
})
