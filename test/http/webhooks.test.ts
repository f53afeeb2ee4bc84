import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { type ApiServer, bearer, startApiServer } from '../support/api-server.ts'
import { createOpenApiValidator } from '../support/openapi-validator.ts'
import { sendRaw } from './raw-request.ts'

/* The inbound webhook: authorization, input, rate limit. Its effect on a filled cache is tested in test/api. */

let server: ApiServer
let purgeToken: string

beforeAll(async () => {
  server = await startApiServer()
  purgeToken = await openProject(server)
})
beforeEach(() => server.store.db.write((tx) => tx.statement('DELETE FROM cache_events').run()))
afterAll(() => server.close())

/** Creates the project and returns its purge token. */
async function openProject(at: ApiServer): Promise<string> {
  await at.createProject('blog')
  const response = await at.fetch('/v1/projects/blog/cache/token', { method: 'POST', headers: bearer(at.owner.token) })
  return ((await response.json()) as { token: string }).token
}

/** What the webhook purged, from the purge log of the project. */
async function purges(at = server): Promise<unknown[]> {
  const response = await at.fetch('/v1/projects/blog/cache/log', { headers: bearer(at.owner.token) })
  const { events } = (await response.json()) as { events: { kind: string; tags: string[]; urls: string[]; source: string }[] }
  return events
    .filter(({ source }) => source === 'webhook')
    .map(({ kind, tags, urls }) => (kind === 'purge_tags' ? { tags } : kind === 'purge_urls' ? { urls } : { all: true }))
}

interface Sent {
  slug?: string
  query?: string
  body?: string
  headers?: Record<string, string>
  method?: string
}

/** A raw request, so that no content type is added to a body. */
function send(
  { slug = 'blog', query = '', body, headers = {}, method = 'POST' }: Sent,
  at = server,
): Promise<{
  status: number
  headers: Record<string, unknown>
  body: Record<string, unknown>
}> {
  return new Promise((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port: at.port, path: `/hooks/cache/${slug}${query}`, method, agent: false, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
        }),
      )
    })
    req.on('error', reject)
    req.end(body)
  })
}

const asJson = { 'content-type': 'application/json' }
const authorized = () => bearer(purgeToken)

describe('the token', () => {
  it.each<[string, () => Sent]>([
    ['as a bearer token', () => ({ headers: { authorization: `Bearer ${purgeToken}` } })],
    ['as a bearer token, in any case', () => ({ headers: { authorization: `bearer ${purgeToken}` } })],
    ['as X-Purge-Token', () => ({ headers: { 'x-purge-token': purgeToken } })],
    ['in the query', () => ({ query: `?token=${purgeToken}` })],
    ['in two places at once', () => ({ query: `?token=${purgeToken}`, headers: { 'x-purge-token': purgeToken } })],
    ['with another parameter', () => ({ query: `?from=cms&token=${purgeToken}` })],
  ])('%s is accepted', async (_name, sent) => {
    const response = await send(sent())
    expect([response.status, response.body]).toEqual([200, { ok: true, purged: 0 }])
    expect(await purges()).toEqual([{ all: true }])
  })

  it.each<[string, () => Sent]>([
    ['none', () => ({})],
    ['a wrong one', () => ({ headers: bearer('hpp_wrong') })],
    ['an empty one', () => ({ query: '?token=' })],
    ['Basic', () => ({ headers: { authorization: `Basic ${purgeToken}` } })],
    ['a valid one with Basic credentials', () => ({ headers: { authorization: 'Basic eA==', 'x-purge-token': purgeToken } })],
    ['two different ones', () => ({ query: '?token=hpp_other', headers: { 'x-purge-token': purgeToken } })],
    ['two different ones in the query', () => ({ query: `?token=${purgeToken}&token=hpp_other` })],
    ['two headers', () => ({ headers: { 'x-purge-token': `${purgeToken}, ${purgeToken}` } })],
    ['the right one in the body', () => ({ headers: asJson, body: JSON.stringify({ token: purgeToken }) })],
  ])('%s is 401, whether or not the slug exists', async (_name, sent) => {
    const [there, missing] = [await send(sent()), await send({ ...sent(), slug: 'nobody' })]
    for (const response of [there, missing]) {
      expect([response.status, response.body.error, response.headers['www-authenticate']]).toEqual([401, 'unauthorized', 'Bearer'])
      expect(response.body.request_id).toBe(response.headers['x-request-id'])
    }
    expect({ ...there.body, request_id: '' }).toEqual({ ...missing.body, request_id: '' })
    expect(Object.keys(there.headers).toSorted()).toEqual(Object.keys(missing.headers).toSorted())
    expect(await purges()).toEqual([])
  })

  it('is refused with two Authorization headers', async () => {
    const response = await sendRaw(
      server.port,
      `POST /hooks/cache/blog HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${purgeToken}\r\nAuthorization: Bearer hpp_other\r\nConnection: close\r\n\r\n`,
    )
    expect([response.status, response.json?.error]).toEqual([401, 'unauthorized'])
  })

  it('cannot be replaced by a session or an API token', async () => {
    for (const headers of [{ cookie: `${server.cookie_name}=${server.owner.session}` }, bearer(server.owner.token)])
      expect((await send({ headers })).status).toBe(401)
  })

  it('is in no line of the log', async () => {
    await send({ query: `?token=${purgeToken}` })
    await send({ query: `?token=${purgeToken}`, headers: { ...asJson }, body: '{' })
    await send({ query: `?token=${purgeToken}x` })
    expect(JSON.stringify(server.log)).not.toContain(purgeToken)
  })
})

describe('the body', () => {
  it.each<[string, Sent, unknown]>([
    ['nothing: all', {}, { all: true }],
    ['no body, of a form’s type: all', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }, { all: true }],
    ['{}: all', { headers: asJson, body: '{}' }, { all: true }],
    ['{} without a type: all', { body: '{}' }, { all: true }],
    ['tags', { headers: asJson, body: '{"tags":["news","post-1"]}' }, { tags: ['news', 'post-1'] }],
    ['addresses', { headers: asJson, body: '{"urls":["/a?b=1"]}' }, { urls: ['/a?b=1'] }],
    ['a type with a suffix', { headers: { 'content-type': 'application/vnd.cms.v1+json; charset=utf-8' }, body: '{"tags":["a"]}' }, { tags: ['a'] }],
    ['fifty tags of 128 characters', { headers: asJson, body: JSON.stringify({ tags: Array<string>(50).fill('x'.repeat(128)) }) }, expect.anything()],
  ])('%s', async (_name, { headers, ...sent }, what) => {
    const response = await send({ ...sent, headers: { ...authorized(), ...headers } })
    expect([response.status, response.body]).toEqual([200, { ok: true, purged: 0 }])
    expect(await purges()).toEqual([what])
  })

  it.each<[string, string, number, string]>([
    ['no tags', '{"tags":[]}', 400, 'invalid_input'],
    ['51 tags', JSON.stringify({ tags: Array<string>(51).fill('a') }), 400, 'invalid_input'],
    ['a tag of 129 characters', JSON.stringify({ tags: ['x'.repeat(129)] }), 400, 'invalid_input'],
    ['an empty tag', '{"tags":[""]}', 400, 'invalid_input'],
    ['tags that are not a list', '{"tags":"a"}', 400, 'invalid_input'],
    ['101 addresses', JSON.stringify({ urls: Array<string>(101).fill('/') }), 400, 'invalid_input'],
    ['tags and addresses', '{"tags":["a"],"urls":["/"]}', 400, 'invalid_input'],
    ['another field', '{"all":true}', 400, 'invalid_input'],
    ['a list', '[]', 400, 'invalid_input'],
    ['null', 'null', 400, 'invalid_input'],
    ['no JSON', '{tags', 400, 'invalid_json'],
    ['more than 1 MiB', JSON.stringify({ tags: ['x'.repeat(1024 * 1024)] }), 413, 'payload_too_large'],
  ])('%s is refused', async (_name, body, status, error) => {
    const response = await send({ headers: { ...authorized(), ...asJson }, body })
    expect([response.status, response.body.error]).toEqual([status, error])
    expect(await purges()).toEqual([])
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])('as %s is 415', async (type) => {
    const response = await send({ headers: { ...authorized(), 'content-type': type }, body: '{"tags":["a"]}' })
    expect([response.status, response.body.error]).toEqual([415, 'unsupported_media_type'])
  })

  it('is checked after the token', async () => {
    expect((await send({ headers: asJson, body: '{tags' })).status).toBe(401)
  })
})

describe('other methods', () => {
  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])('%s is 405, whatever the slug and token', async (method) => {
    for (const slug of ['blog', 'nobody']) {
      const response = await send({ method, slug, query: `?token=${purgeToken}` })
      expect([response.status, response.headers.allow]).toEqual([405, 'POST, OPTIONS'])
    }
    expect(await purges()).toEqual([])
  })
  it('OPTIONS lists them', async () => {
    const response = await send({ method: 'OPTIONS' })
    expect([response.status, response.headers.allow]).toEqual([204, 'POST, OPTIONS'])
  })
})

describe('the rate limit', () => {
  it('is the anonymous one, by the peer’s address, for every kind of response', async () => {
    const limited = await startApiServer({ rate_limits: () => ({ authenticated: 300, anonymous: 5 }) })
    const token = bearer(await openProject(limited))
    const before = await limited.fetch('/v1/projects', { headers: bearer(limited.owner.token) })
    const left = async (sent: Sent) => {
      const { status, headers } = await send(sent, limited)
      return [status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]
    }
    expect(await left({ headers: token })).toEqual([200, '5', '4'])
    expect(await left({ headers: bearer('hpp_wrong') })).toEqual([401, '5', '3'])
    expect(await left({ headers: bearer(limited.owner.token) })).toEqual([401, '5', '2'])
    expect(await left({ headers: { ...token, cookie: `${limited.cookie_name}=${limited.owner.session}` } })).toEqual([200, '5', '1'])
    expect(await left({ method: 'GET' })).toEqual([405, '5', '0'])
    const refused = await send({ headers: token }, limited)
    expect([refused.status, refused.body.error, Number(refused.headers['retry-after']) > 0]).toEqual([429, 'rate_limited', true])
    expect(await purges(limited)).toHaveLength(2)
    // None of it counts for the account of a signed-in user.
    const own = await limited.fetch('/v1/projects', { headers: bearer(limited.owner.token) })
    expect(own.headers.get('x-ratelimit-remaining')).toBe(String(Number(before.headers.get('x-ratelimit-remaining')) - 2))
    await limited.close()
  })
})

it('requests and responses match the OpenAPI document', async () => {
  const description = createOpenApiValidator(openApiDocument())
  const hook = '/webhooks/cachePurge/post'
  for (const body of [{}, { tags: ['a'] }, { urls: ['/a'] }, { tags: [] }, { other: 1 }, { tags: ['x'.repeat(129)] }]) {
    const response = await send({ headers: { ...authorized(), ...asJson }, body: JSON.stringify(body) })
    const isTaken = description.faults(`${hook}/requestBody/content/application~1json/schema`, body).length === 0
    expect([body, response.status]).toEqual([body, isTaken ? 200 : 400])
    expect(description.faults(`${hook}/responses/${response.status}/content/application~1json/schema`, response.body)).toEqual([])
  }
})

it('is served only under a hostname of this instance', async () => {
  const response = await send({ headers: { ...authorized(), host: 'evil.example' } })
  expect([response.status, response.body.error]).toEqual([421, 'misdirected_request'])
  expect(await purges()).toEqual([])
})
