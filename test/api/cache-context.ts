import { expect } from 'vitest'
import type { CacheEvent } from '../../server/contract/cache.ts'
import { get } from '../support/edge.ts'
import { makeRepository } from '../support/repository.ts'
import { createApiContext, type ApiContext } from './api-context.ts'

/** Counts its responses, so that a repeated number came from the cache. The query selects the response headers. */
export const countingApp = (version: string) => ({
  'package.json': JSON.stringify({ name: 'counting', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
const { existsSync } = require('node:fs')
let count = 0
require('node:http').createServer((request, response) => {
  const query = new URL(request.url, 'http://app').searchParams
  const answer = () => {
    // The clock of a shared platform may be days ahead of the app's, which would make each response stale.
    response.sendDate = false
    response.setHeader('cache-control', query.get('cc') ?? 'public, max-age=600')
    if (query.has('tags')) response.setHeader('surrogate-key', query.get('tags'))
    if (query.has('tag')) response.setHeader('cache-tag', query.get('tag'))
    if (query.has('vary')) response.setHeader('vary', query.get('vary'))
    const body = '${version} ' + ++count
    // Node writes headers in UTF-8 before a string body, and in Latin-1 before bytes.
    response.end(query.has('bytes') ? Buffer.from(body) : body)
  }
  const until = query.get('until')
  if (until === null) return answer()
  console.log('held')
  const timer = setInterval(() => existsSync(until) && (clearInterval(timer), answer()), 10)
}).listen(process.env.PORT, '0.0.0.0')
`,
})

export type CacheContext = Awaited<ReturnType<typeof createCacheContext>>

/** An API context with two projects of that app, `blog` and `shop`, and shortcuts for requests to the cache. */
export async function createCacheContext() {
  const context = await createApiContext()
  const repository = makeRepository(countingApp('v1'))
  const edgePort = Number(new URL(context.platform.handle.edge_url).port)

  async function deploy(slug: string): Promise<void> {
    if ((await context.request('owner', 'GET', `/v1/projects/${slug}`)).status === 404)
      await context.platform.createProject({ slug, repo_url: repository.url })
    const deployment = await context.platform.waitForEnd(slug, (await context.platform.deploy(slug)).id)
    expect(deployment.status).toBe('ready')
  }

  /** The body of a URL at the edge, and its X-Cache. */
  async function fetched(slug: string, path: string, headers: Record<string, string> = {}): Promise<[string, string | undefined]> {
    const response = await get(edgePort, path, { host: `${slug}.localhost:${edgePort}`, headers })
    return [response.text, response.headers['x-cache'] as string | undefined]
  }
  /** Requests a URL once so that it is stored, and returns the app's response. */
  async function stored(slug: string, path: string, headers: Record<string, string> = {}): Promise<string> {
    const [text] = await fetched(slug, path, headers)
    expect([path, ...(await fetched(slug, path, headers))]).toEqual([path, text, 'HIT'])
    return text
  }

  const cache = (slug: string, what: string, body?: unknown, who: Parameters<ApiContext['request']>[0] = 'owner') =>
    context.request(
      who,
      'POST',
      what === 'purge-urls' || what === 'inspect' ? `/instance/projects/${slug}/cache/${what}` : `/v1/projects/${slug}/cache/${what}`,
      body,
    )
  const newest = async (slug: string, count = 1) =>
    ((await context.request('owner', 'GET', `/v1/projects/${slug}/cache/log?limit=${count}`)).body.events as CacheEvent[]).map(
      ({ kind, tags, urls, purged, source }) => ({ kind, tags, urls, purged, source }),
    )
  const hook = (url: string, token: string, body?: unknown) =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const tokenOf = async (slug: string) => (await cache(slug, 'token')).body as { token: string; webhook_url: string }

  for (const slug of ['blog', 'shop']) await deploy(slug)
  return {
    world: context,
    repository,
    edgePort,
    deploy,
    fetched,
    stored,
    cache,
    newest,
    hook,
    tokenOf,
    async close() {
      await context.close()
      repository.remove()
    },
  }
}
