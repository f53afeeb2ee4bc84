import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CacheEvent } from '../../server/contract/cache.ts'
import type { CacheVerdict } from '../../server/contract/network.ts'
import type { Project } from '../../server/contract/projects.ts'
import { get } from '../support/edge.ts'
import { startTestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { expectRefusal, faults, startWorld } from './world.ts'
import type { Answer, World } from './world.ts'

/*
 * The cache by its API: what a purge takes out and what it leaves, the token and the webhook, the log, the switch, a swap.
 * The app counts its answers, so a number that comes twice came out of the cache.
 */

const app = (version: string) => ({
  'package.json': JSON.stringify({ name: 'counting', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const { existsSync } = require('node:fs')
let count = 0
require('node:http').createServer((request, response) => {
  const query = new URL(request.url, 'http://app').searchParams
  const answer = () => {
    response.setHeader('cache-control', query.get('cc') ?? 'public, max-age=600')
    if (query.has('tags')) response.setHeader('surrogate-key', query.get('tags'))
    if (query.has('tag')) response.setHeader('cache-tag', query.get('tag'))
    if (query.has('vary')) response.setHeader('vary', query.get('vary'))
    const body = '${version} ' + ++count
    // Node writes the head in UTF-8 before a string, and in Latin-1 before bytes.
    response.end(query.has('bytes') ? Buffer.from(body) : body)
  }
  const until = query.get('until')
  if (until === null) return answer()
  console.log('held')
  const timer = setInterval(() => existsSync(until) && (clearInterval(timer), answer()), 10)
}).listen(process.env.PORT, '0.0.0.0')
`,
})

let world: World
const repository = makeRepository(app('v1'))

beforeAll(async () => {
  world = await startWorld()
  for (const slug of ['blog', 'shop']) await deploy(slug)
})
afterAll(async () => {
  await world.close()
  repository.remove()
})

async function deploy(slug: string): Promise<void> {
  if ((await world.ask('owner', 'GET', `/v1/projects/${slug}`)).status === 404) await world.home.createProject({ slug, repo_url: repository.url })
  const deployment = await world.home.ended(slug, (await world.home.deploy(slug)).id)
  expect(deployment.status).toBe('ready')
}

const edgePort = () => Number(new URL(world.home.platform.edge_url).port)
/** What an address gives at the edge, and by which way. */
async function fetched(slug: string, path: string, headers: Record<string, string> = {}): Promise<[string, string | undefined]> {
  const answer = await get(edgePort(), path, { host: `${slug}.localhost:${edgePort()}`, headers })
  return [answer.text, answer.headers['x-cache'] as string | undefined]
}
/** Asks once so that it is stored, and says what the app answered. */
async function stored(slug: string, path: string, headers: Record<string, string> = {}): Promise<string> {
  const [text] = await fetched(slug, path, headers)
  expect([path, ...(await fetched(slug, path, headers))]).toEqual([path, text, 'HIT'])
  return text
}

const cache = (slug: string, what: string, body?: unknown, who: Parameters<World['ask']>[0] = 'owner') =>
  world.ask(
    who,
    'POST',
    what === 'purge-urls' || what === 'inspect' ? `/instance/projects/${slug}/cache/${what}` : `/v1/projects/${slug}/cache/${what}`,
    body,
  )
const newest = async (slug: string, count = 1) =>
  ((await world.ask('owner', 'GET', `/v1/projects/${slug}/cache/log?limit=${count}`)).body.events as CacheEvent[]).map(
    ({ kind, tags, urls, purged, source }) => ({ kind, tags, urls, purged, source }),
  )
const hook = (url: string, token: string, body?: unknown) =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const tokenOf = async (slug: string) => (await cache(slug, 'token')).body as { token: string; webhook_url: string }

describe('purge-all', () => {
  test('takes out everything of the project and nothing of another, and is complete when it answers', async () => {
    await cache('blog', 'purge-all')
    const mine = await Promise.all(['/all/1', '/all/2', '/all/3'].map((path) => stored('blog', path)))
    const other = await stored('shop', '/all/1')
    const answer = await cache('blog', 'purge-all')
    expect([answer.status, answer.body]).toEqual([200, { ok: true, purged: 3 }])
    for (const [i, path] of ['/all/1', '/all/2', '/all/3'].entries()) {
      const [text, how] = await fetched('blog', path)
      expect([text === mine[i], how]).toEqual([false, 'MISS'])
    }
    expect(await fetched('shop', '/all/1')).toEqual([other, 'HIT'])
    expect(await newest('blog')).toEqual([{ kind: 'purge_all', tags: [], urls: [], purged: 3, source: 'api' }])
  })

  test('of nothing is 0', async () => {
    await cache('shop', 'purge-all')
    expect((await cache('shop', 'purge-all')).body).toEqual({ ok: true, purged: 0 })
  })

  test('ignores a body', async () => {
    expect((await cache('shop', 'purge-all', { what: 'ever' })).status).toBe(200)
  })

  test('from the dashboard says so in the log', async () => {
    const { url } = (await world.ask('owner', 'POST', '/instance/sign-in-links')).body as { url: string }
    const cookie = ((await fetch(url, { redirect: 'manual' })).headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const { origin } = new URL(url)
    const answer = await world.ask({ token: '' }, 'POST', '/v1/projects/blog/cache/purge-all', {}, { cookie, origin })
    expect(answer.status).toBe(200)
    expect(await newest('blog')).toMatchObject([{ source: 'dashboard' }])
  })
})

describe('purge-tags', () => {
  test('takes out what bears one of them, by either header, and leaves all else', async () => {
    const paths = ['/t/1?tags=news%20post-1', '/t/2?tags=news', '/t/3?tag=post-3,news', '/t/4?tags=newsletter', '/t/5']
    for (const path of paths) await stored('blog', path)
    const answer = await cache('blog', 'purge-tags', { tags: ['news', 'nothing-has-it'] })
    expect(answer.body).toEqual({ ok: true, purged: 3 })
    const ways = await Promise.all(paths.map(async (path) => (await fetched('blog', path))[1]))
    expect(ways).toEqual(['MISS', 'MISS', 'MISS', 'HIT', 'HIT'])
    expect(await newest('blog')).toEqual([{ kind: 'purge_tags', tags: ['news', 'nothing-has-it'], urls: [], purged: 3, source: 'api' }])
  })

  test('a tag beyond ASCII is found, in UTF-8 and in Latin-1; one of Cache-Tag may have spaces', async () => {
    for (const path of ['/utf8?tag=%C3%BCber%20uns', '/latin1?bytes&tag=team,%20%C3%BCber%20uns']) await stored('blog', path)
    expect((await cache('blog', 'purge-tags', { tags: ['über', 'uns'] })).body).toEqual({ ok: true, purged: 0 })
    expect((await cache('blog', 'purge-tags', { tags: ['über uns'] })).body).toEqual({ ok: true, purged: 2 })
  })

  test('the tags of the answer go to no client', async () => {
    const answer = await get(edgePort(), '/t/1?tags=news&tag=a', { host: 'blog.localhost' })
    expect([answer.headers['surrogate-key'], answer.headers['cache-tag']]).toEqual([undefined, undefined])
  })

  test.each<[string, unknown, string]>([
    ['none', { tags: [] }, 'tags'],
    ['51', { tags: Array<string>(51).fill('a') }, 'tags'],
    ['one of 129 characters', { tags: ['x'.repeat(129)] }, 'tags.0'],
    ['an empty one', { tags: ['a', ''] }, 'tags.1'],
    ['no list of them', { tags: 'a' }, 'tags'],
    ['nothing', {}, 'tags'],
    ['another field', { tags: ['a'], all: true }, 'all'],
  ])('400 for %s', async (_name, body, path) => {
    const answer = await cache('blog', 'purge-tags', body)
    expectRefusal(answer, 400, 'invalid_input')
    expect(faults(answer)).toEqual([path])
  })

  test('50 tags of 128 characters are taken', async () => {
    expect((await cache('blog', 'purge-tags', { tags: Array.from({ length: 50 }, (_, i) => String(i).padEnd(128, 'x')) })).status).toBe(200)
  })
})

describe('purge-urls', () => {
  test('takes out one address with all its variants, and no other', async () => {
    for (const language of ['de', 'en']) await stored('blog', '/u?vary=accept-language', { 'accept-language': language })
    await stored('blog', '/u')
    expect((await cache('blog', 'purge-urls', { urls: ['/u?vary=accept-language#top'] })).body).toEqual({ ok: true, purged: 2 })
    expect(await fetched('blog', '/u?vary=accept-language', { 'accept-language': 'de' })).toMatchObject({ 1: 'MISS' })
    expect(await fetched('blog', '/u')).toMatchObject({ 1: 'HIT' })
    expect(await newest('blog')).toEqual([{ kind: 'purge_urls', tags: [], urls: ['/u?vary=accept-language#top'], purged: 2, source: 'api' }])
  })

  test('a whole address means the same, whatever its scheme and port', async () => {
    for (const url of ['http://blog.localhost/w', 'https://BLOG.localhost:4680/w', 'http://blog.localhost./w#part']) {
      await stored('blog', '/w')
      expect([url, (await cache('blog', 'purge-urls', { urls: [url] })).body]).toEqual([url, { ok: true, purged: 1 }])
    }
  })

  test('400 for what is no address of this project, and nothing is purged', async () => {
    await stored('blog', '/kept')
    const answer = await cache('blog', 'purge-urls', {
      urls: ['/kept', 'http://shop.localhost/kept', 'kept', 'ftp://blog.localhost/', 'http://blog.localhost@evil.example/', 'http://'],
    })
    expectRefusal(answer, 400, 'invalid_input')
    expect(faults(answer)).toEqual(['urls.1', 'urls.2', 'urls.3', 'urls.4', 'urls.5'])
    expect(await fetched('blog', '/kept')).toMatchObject({ 1: 'HIT' })
  })
})

describe('the token', () => {
  test('is shown once, opens the webhook, and is nowhere in the clear', async () => {
    const answer = await cache('blog', 'token')
    expect(answer.status).toBe(201)
    const { token, webhook_url } = answer.body as { token: string; webhook_url: string }
    expect(token).toMatch(/^hpp_[0-9A-Za-z]{49}$/)
    expect(webhook_url).toBe(`${world.home.platform.api_url}/hooks/cache/blog`)
    expect((await world.home.project('blog')).has_purge_token).toBe(true)
    expect((await world.home.project('shop')).has_purge_token).toBe(false)
    expect(await newest('blog')).toEqual([{ kind: 'token_rotated', tags: [], urls: [], purged: 0, source: 'api' }])
    expect((await hook(webhook_url, token)).status).toBe(200)
    expect((await fetch(`${webhook_url}?token=${token}`, { method: 'POST' })).status).toBe(200)
    const files = readdirSync(world.home.data_dir).filter((name) => statSync(join(world.home.data_dir, name)).isFile())
    for (const text of [...files.map((name) => readFileSync(join(world.home.data_dir, name), 'latin1')), world.home.log.join('\n')])
      expect(text.includes(token)).toBe(false)
  })

  test('of before is refused from the rotation on', async () => {
    const old = await tokenOf('blog')
    const fresh = await tokenOf('blog')
    expect(fresh.token).not.toBe(old.token)
    expect([(await hook(old.webhook_url, old.token)).status, (await hook(fresh.webhook_url, fresh.token)).status]).toEqual([401, 200])
  })

  test('of another project is refused just like a wrong one', async () => {
    const [blog, shop] = [await tokenOf('blog'), await tokenOf('shop')]
    const before = await newest('blog', 100)
    const bodies = await Promise.all(
      [hook(blog.webhook_url, shop.token), hook(blog.webhook_url, 'hpp_wrong'), hook(blog.webhook_url.replace('blog', 'nobody'), blog.token)].map(
        async (asked) => {
          const answer = await asked
          return [answer.status, { ...((await answer.json()) as object), request_id: '' }]
        },
      ),
    )
    expect(bodies[0]).toEqual(bodies[1])
    expect(bodies[0]).toEqual(bodies[2])
    expect(bodies[0]?.[0]).toBe(401)
    expect(await newest('blog', 100)).toEqual(before)
  })

  test('is no API token', async () => {
    const { token } = await tokenOf('blog')
    expectRefusal(await world.ask({ token }, 'GET', '/v1/projects/blog'), 401, 'unauthorized')
  })
})

describe('the webhook', () => {
  test('purges all, tags or addresses, and the log says that it was it', async () => {
    const { token, webhook_url } = await tokenOf('blog')
    await cache('blog', 'purge-all')
    for (const path of ['/h/1?tags=a', '/h/2?tags=b', '/h/3']) await stored('blog', path)
    const ask = async (body?: unknown) => (await hook(webhook_url, token, body)).json()
    expect(await ask({ tags: ['a'] })).toEqual({ ok: true, purged: 1 })
    expect(await ask({ urls: ['/h/2?tags=b'] })).toEqual({ ok: true, purged: 1 })
    expect(await ask()).toEqual({ ok: true, purged: 1 })
    expect(await newest('blog', 3)).toEqual([
      { kind: 'purge_all', tags: [], urls: [], purged: 1, source: 'webhook' },
      { kind: 'purge_urls', tags: [], urls: ['/h/2?tags=b'], purged: 1, source: 'webhook' },
      { kind: 'purge_tags', tags: ['a'], urls: [], purged: 1, source: 'webhook' },
    ])
  })

  test('refuses an address of another project', async () => {
    const { token, webhook_url } = await tokenOf('blog')
    const answer = await hook(webhook_url, token, { urls: ['http://shop.localhost/'] })
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([400, 'invalid_input'])
  })

  test('GET, as a link preview sends it, is 405 and leaves no trace', async () => {
    const { token, webhook_url } = await tokenOf('blog')
    const before = await newest('blog', 100)
    expect((await fetch(`${webhook_url}?token=${token}`)).status).toBe(405)
    expect(await newest('blog', 100)).toEqual(before)
  })
})

describe('the log', () => {
  test('comes newest first, a page at a time, to the last', async () => {
    await world.home.createProject({ slug: 'paged' })
    for (let i = 0; i < 7; i++) await cache('paged', 'purge-tags', { tags: [`t${i}`] })
    const seen: CacheEvent[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: Answer = await world.ask('owner', 'GET', `/v1/projects/paged/cache/log?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)
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

  test('400 for a limit or cursor that is none', async () => {
    for (const query of ['limit=0', 'limit=101', 'cursor=x', 'limit=1&limit=2'])
      expectRefusal(await world.ask('owner', 'GET', `/v1/projects/blog/cache/log?${query}`), 400, 'invalid_input')
  })
})

describe('caching_enabled', () => {
  test('off: nothing comes from the cache, what is stored is dropped; on: it fills again', async () => {
    await stored('shop', '/off')
    expect((await world.ask('owner', 'PATCH', '/v1/projects/shop', { caching_enabled: false })).body.project).toMatchObject({
      caching_enabled: false,
    })
    expect(await fetched('shop', '/off')).toMatchObject({ 1: 'BYPASS' })
    const [first, second] = [await fetched('shop', '/off'), await fetched('shop', '/off')]
    expect(first[0]).not.toBe(second[0])
    expect((await cache('shop', 'purge-all')).body).toEqual({ ok: true, purged: 0 })
    await world.ask('owner', 'PATCH', '/v1/projects/shop', { caching_enabled: true })
    expect((await fetched('shop', '/off'))[1]).toBe('MISS')
    expect((await fetched('shop', '/off'))[1]).toBe('HIT')
  })
})

describe('inspect', () => {
  const inspect = async (body: Record<string, unknown>) => (await cache('blog', 'inspect', body)).body as unknown as CacheVerdict

  test('says what a GET would get, touches nothing, and asks for real when told to', async () => {
    await cache('blog', 'purge-all')
    expect(await inspect({ url: '/i?tags=x' })).toMatchObject({ verdict: 'MISS', stored: null, answer: null })
    expect((await inspect({ url: '/i?tags=x' })).verdict).toBe('MISS')
    const sent = await inspect({ url: '/i?tags=x', send: true })
    expect(sent).toMatchObject({ url: `http://blog.localhost:${edgePort()}/i?tags=x`, verdict: 'MISS', answer: { status: 200, x_cache: 'MISS' } })
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
    expect((await cache('blog', 'purge-urls', { urls: ['/is'] })).body).toEqual({ ok: true, purged: 1 })
  })

  test('knows that answers vary', async () => {
    await stored('blog', '/iv?vary=accept-language', { 'accept-language': 'de' })
    const asked = (language: string) => inspect({ url: '/iv?vary=accept-language', headers: { 'Accept-Language': language } })
    expect([(await asked('de')).verdict, (await asked('fr')).verdict]).toEqual(['HIT', 'MISS'])
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
    const answer = await cache('blog', 'inspect', body)
    expectRefusal(answer, 400, 'invalid_input')
    expect(faults(answer)).toEqual(paths)
  })
})

describe('a swap', () => {
  test('purges all before it is told, and what was under way of the old version is stored by nobody', async () => {
    const old = await stored('blog', '/swap')
    expect(old).toMatch(/^v1 /)
    const until_file = join(world.home.data_dir, 'let-go')
    const path = `/held?until=${encodeURIComponent(until_file)}`
    const held = fetched('blog', path)
    await until(() => heldInLog('blog'), { what: 'the request to be held' })
    repository.commit(app('v2'))
    const deployment = world.home.deploy('blog')
    await world.home.ended('blog', (await deployment).id)
    expect((await fetched('blog', '/swap'))[0]).toMatch(/^v2 /)
    expect(await newest('blog')).toMatchObject([{ kind: 'purge_all', source: 'deploy' }])
    writeFileSync(until_file, '')
    expect((await held)[0]).toMatch(/^v1 /)
    expect((await fetched('blog', path))[0]).toMatch(/^v2 /)
  })

  /** The runtime log is read as it is stored. */
  async function heldInLog(slug: string): Promise<true | undefined> {
    const answer = await fetch(`${world.home.platform.api_url}/v1/projects/${slug}/runtime-logs?lines=20`, {
      headers: { authorization: `Bearer ${world.tokens.owner}` },
    })
    const reader = answer.body?.getReader()
    const { value } = (await reader?.read()) ?? {}
    await reader?.cancel()
    return new TextDecoder().decode(value).includes('held') ? true : undefined
  }
})

describe('after DELETE', () => {
  test('nothing of the project is left, in the cache, its files or the log, and a new one of that name begins empty', async () => {
    await deploy('gone')
    const { token, webhook_url } = await tokenOf('gone')
    const before = await stored('gone', '/g')
    expect((await world.ask('owner', 'DELETE', '/v1/projects/gone')).status).toBe(204)
    expect((await hook(webhook_url, token)).status).toBe(401)
    await deploy('gone')
    expect((await world.home.project('gone')).has_purge_token).toBe(false)
    const [text, how] = await fetched('gone', '/g')
    expect([text === before && how === 'HIT']).toEqual([false])
    expect((await hook(webhook_url, token)).status).toBe(401)
    expect((await newest('gone', 100)).map(({ kind, source }) => [kind, source])).toEqual([['purge_all', 'deploy']])
  })
})

describe('over a restart', () => {
  test('what was purged stays purged, a project that is off stays off, and the token works on', async () => {
    const first = await startTestPlatform({ runtime: 'process' })
    const { data_dir } = first
    const put = async (slug: string) => {
      await first.createProject({ slug, repo_url: repository.url })
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
      expect((await hook(`${second.platform.api_url}/hooks/cache/kept`, token)).status).toBe(200)
    } finally {
      await second.remove()
    }
    expect(existsSync(data_dir)).toBe(false)
  })
})
