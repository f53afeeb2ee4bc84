import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allOperations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import { type ApiServer, bearer, failOnProjectName, startApiServer } from '../support/api-server.ts'

let server: ApiServer
let owner: Record<string, string>
let stranger: Record<string, string>
const jsonType = { 'content-type': 'application/json' }

beforeAll(async () => {
  server = await startApiServer({ overrides: failOnProjectName('throw') })
  owner = bearer(server.owner.token)
  stranger = bearer(server.stranger.token)
  await server.createProject('abc')
})
afterAll(() => server.close())

async function refused(response: Response, status: number, code: string): Promise<Record<string, unknown>> {
  const body = (await response.json()) as Record<string, unknown>
  expect({ status: response.status, error: body.error }).toEqual({ status, error: code })
  expect(body.request_id).toBe(response.headers.get('x-request-id'))
  expect(typeof body.message).toBe('string')
  return body
}

const operations = Object.entries(allOperations) as [string, OperationSpec][]
const pathOf = (spec: OperationSpec, slug = 'abc') =>
  spec.path.replace('{slug}', slug).replace('{id}', 'dpl_x').replace('{email}', 'owner%40example.com').replace('{variant}', 'desktop')

describe('every operation of the contract', () => {
  it.each(operations)('%s answers at its path and at its alias, with the same rules', async (_id, spec) => {
    // An operation without a body would be executed, so it names a project that does not exist.
    const path = pathOf(spec, spec.method === 'GET' || spec.body ? 'abc' : 'nope')
    const allowed = await server.fetch(path, { method: 'OPTIONS' })
    expect(allowed.headers.get('allow')?.split(', ')).toContain(spec.method)
    if (!spec.path.startsWith('/v1/')) return

    const ask = async (at: string) => {
      const init = {
        method: spec.method,
        headers: { ...owner, ...(spec.body ? jsonType : {}) },
        ...(spec.body ? { body: '{"unknown_field":1}' } : {}),
      }
      const response = await server.fetch(at, init)
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      const error = isJson ? ((await response.json()) as { error?: string }).error : await response.body?.cancel()
      return { status: response.status, error, deprecation: response.headers.get('deprecation'), link: response.headers.get('link') }
    }
    const response = await ask(path)
    expect(response).toMatchObject({ deprecation: null, link: null })
    expect(response.error).not.toBe('route_not_found')
    if (spec.body && !spec.path.includes('{id}')) expect(response.status).toBe(400)
    expect(await ask(path.replace('/v1', ''))).toEqual({ ...response, deprecation: 'true', link: `<${path}>; rel="successor-version"` })
  })

  it.each(operations)('%s is 401 without authentication', async (_id, spec) => {
    const response = await server.fetch(pathOf(spec), { method: spec.method })
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    await refused(response, 401, 'unauthorized')
  })

  it.each(operations.filter(([, spec]) => spec.path.includes('{slug}')))(
    '%s is the same 404 for another account as for an unknown project',
    async (_id, spec) => {
      const ask = async (slug: string, isAlias: boolean) => {
        const init = { method: spec.method, headers: { ...stranger, ...jsonType }, ...(spec.body ? { body: 'not json' } : {}) }
        const response = await server.fetch(isAlias ? pathOf(spec, slug).replace(/^\/v1/, '') : pathOf(spec, slug), init)
        return comparable(response, slug)
      }
      for (const isAlias of [false, true]) {
        const theirs = await ask('abc', isAlias)
        expect(theirs.status).toBe(404)
        expect(theirs).toEqual(await ask('nope', isAlias))
      }
    },
  )

  it.each(operations.filter(([, spec]) => spec.access === 'owner'))('%s is 403 for everyone but the owner', async (_id, spec) => {
    await refused(
      await server.fetch(pathOf(spec), { method: spec.method, headers: { ...stranger, ...jsonType }, body: spec.method === 'GET' ? null : '{' }),
      403,
      'forbidden',
    )
  })

  it('operations of the instance have no alias', async () => {
    await refused(await server.fetch('/v1/instance/session', { headers: owner }), 404, 'route_not_found')
  })
})

/** The comparable parts of a response: everything except the id, the time, the requested name and the rate limit count. */
async function comparable(response: Response, slug: string) {
  const headers = [...response.headers].filter(([name]) => !['x-request-id', 'date', 'x-ratelimit-remaining'].includes(name))
  const body = (await response.text()).replace(/req_[0-9a-z]{26}/g, 'req')
  return { status: response.status, headers: headers.map(([name, value]) => [name, value.replace(slug, 'slug')]), body }
}

describe('the order of checks', () => {
  it('413 before 401', async () => {
    await refused(await server.fetch('/v1/projects', { method: 'POST', body: 'x'.repeat(1_100_000) }), 413, 'payload_too_large')
  })
  it('401 before 405 and before 404 of a path below /v1', async () => {
    await refused(await server.fetch('/v1/projects', { method: 'DELETE' }), 401, 'unauthorized')
    await refused(await server.fetch('/v1/nothing'), 401, 'unauthorized')
  })
  it('404 for an unknown path, signed in or not', async () => {
    await refused(await server.fetch('/nothing'), 404, 'route_not_found')
    await refused(await server.fetch('/v1/nothing', { headers: owner }), 404, 'route_not_found')
  })
  it('404 for an unknown project before 400, 415 and invalid JSON', async () => {
    for (const [type, body] of [
      ['application/json', '{"memory_limit_mb":1}'],
      ['application/json', '{'],
      ['text/plain', 'hello'],
    ] as const) {
      await refused(
        await server.fetch('/v1/projects/nope', { method: 'PATCH', headers: { ...owner, 'content-type': type }, body }),
        404,
        'project_not_found',
      )
    }
    await refused(await server.fetch('/v1/projects/nope/deployments?limit=0', { headers: owner }), 404, 'project_not_found')
  })
  it('400 before 409', async () => {
    await refused(
      await server.fetch('/v1/projects', { method: 'POST', headers: { ...owner, ...jsonType }, body: '{"name":"","slug":"abc"}' }),
      400,
      'invalid_input',
    )
  })
})

describe('input', () => {
  const patch = (body: string, headers: Record<string, string> = jsonType) =>
    server.fetch('/v1/projects/abc', { method: 'PATCH', headers: { ...owner, ...headers }, body })

  it.each(['id', 'slug', 'status', 'port', 'owner_id', 'plan', '__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'an unknown field %s is 400 and named',
    async (field) => {
      const body = await refused(await patch(`{"name":"n","${field}":{"is_admin":true}}`), 400, 'invalid_input')
      expect(body.issues).toEqual([{ path: field, message: expect.any(String) }])
      expect(Object.hasOwn(Object.prototype, 'is_admin')).toBe(false)
    },
  )
  it('names every invalid field', async () => {
    const body = await refused(await patch('{"name":"","memory_limit_mb":"much","node_version":null}'), 400, 'invalid_input')
    expect((body.issues as { path: string }[]).map(({ path }) => path).toSorted()).toEqual(['memory_limit_mb', 'name', 'node_version'])
  })
  it('does not echo a hundred thousand unknown names', async () => {
    const body = await refused(await patch(`{${Array.from({ length: 50_000 }, (_, i) => `"k${i}":1`).join(',')}}`), 400, 'invalid_input')
    expect(body.issues).toHaveLength(100)
  })
  it.each(['', '{', '[1,', 'null x', '\ufffe', "{'a':1}", '{"a":1}garbage', 'NaN'])('body %j is 400 invalid_json', async (body) => {
    await refused(await patch(body), 400, 'invalid_json')
  })
  it('JSON that is not UTF-8 is 400 invalid_json', async () => {
    const response = await server.fetch('/v1/projects/abc', {
      method: 'PATCH',
      headers: { ...owner, ...jsonType },
      body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]),
    })
    await refused(response, 400, 'invalid_json')
  })
  it.each([String.raw`{"name":"\ud800"}`, String.raw`{"name":"a\uDC00b"}`, String.raw`{"\udfff":1}`])(
    'an unpaired surrogate in %s is 400 invalid_json, and never stored as another character',
    async (body) => {
      await refused(await patch(body), 400, 'invalid_json')
    },
  )
  it.each([String.raw`{"name":"\ud83d\ude00"}`, String.raw`{"name":"\\ud800"}`])('complete characters in %s are accepted', async (body) => {
    expect((await patch(body)).status).toBe(200)
  })
  it.each(['null', '[]', '"text"', '1', 'true', `${'['.repeat(100_000)}${']'.repeat(100_000)}`])('body %.20s is 400 invalid_input', async (body) => {
    await refused(await patch(body), 400, 'invalid_input')
  })
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json; charset=utf-16',
    'multipart/form-data; boundary=x',
    'application/xml',
  ])('type %s is 415', async (type) => {
    await refused(await patch('{}', { 'content-type': type }), 415, 'unsupported_media_type')
  })
  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/merge-patch+json'])(
    'type %s is accepted',
    async (type) => {
      expect((await patch('{}', { 'content-type': type })).status).toBe(200)
    },
  )
  it('a compressed body is 415', async () => {
    await refused(await patch('{}', { ...jsonType, 'content-encoding': 'gzip' }), 415, 'unsupported_media_type')
  })
  it('an unknown query parameter is ignored, a repeated one is 400 and named', async () => {
    expect((await server.fetch('/v1/projects?color=blue&__proto__=x', { headers: owner })).status).toBe(200)
    const body = await refused(await server.fetch('/v1/projects?limit=1&limit=2', { headers: owner }), 400, 'invalid_input')
    expect(body.issues).toEqual([{ path: 'limit', message: expect.any(String) }])
  })
  it.each(['0', '101', '-1', '1.5', '1e1', '', ' 1', 'NaN', '999999999999999999999', '0x10', '١'])('limit %j is 400', async (limit) => {
    await refused(await server.fetch(`/v1/projects?limit=${encodeURIComponent(limit)}`, { headers: owner }), 400, 'invalid_input')
  })
  it('a token in the query does not authenticate', async () => {
    for (const name of ['token', 'access_token', 'api_key', 'authorization']) {
      await refused(await server.fetch(`/v1/projects?${name}=${server.owner.token}`), 401, 'unauthorized')
    }
  })
})

describe('methods', () => {
  it('405 lists the allowed methods', async () => {
    const response = await server.fetch('/v1/projects/abc', { method: 'PUT', headers: owner })
    expect(response.headers.get('allow')?.split(', ').toSorted()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH'])
    await refused(response, 405, 'method_not_allowed')
  })
  it('HEAD is GET without its body', async () => {
    const get = await server.fetch('/v1/projects/abc', { headers: owner })
    const head = await server.fetch('/v1/projects/abc', { method: 'HEAD', headers: owner })
    expect([head.status, await head.text(), head.headers.get('content-length')]).toEqual([200, '', get.headers.get('content-length')])
    expect((await server.fetch('/v1/projects/nope', { method: 'HEAD', headers: owner })).status).toBe(404)
    expect((await server.fetch('/v1/projects/abc/stop', { method: 'HEAD', headers: owner })).status).toBe(405)
  })
  it('OPTIONS is 204 with Allow, without authentication, and never allows another origin', async () => {
    for (const path of ['/v1/projects', '/projects/abc', '/healthz', '/instance/session', '/app/', '/']) {
      const response = await server.fetch(path, {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
      })
      expect([path, response.status]).toEqual([path, 204])
      expect(response.headers.get('allow')).toContain('OPTIONS')
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
  it('public routes accept only GET, except sign-in', async () => {
    for (const path of ['/healthz', '/openapi.json', '/docs', '/app/', '/']) {
      const response = await server.fetch(path, { method: 'POST' })
      expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
      await refused(response, 405, 'method_not_allowed')
    }
    const signIn = await server.fetch('/sign-in', { method: 'PATCH' })
    expect(signIn.headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS')
    await refused(signIn, 405, 'method_not_allowed')
  })
})

describe('an internal error', () => {
  it('is 500 with an id that the log has, and without details', async () => {
    const response = await server.fetch('/v1/projects', { method: 'POST', headers: { ...owner, ...jsonType }, body: '{"name":"throw","slug":"xyz"}' })
    const text = await response.clone().text()
    expect(text).not.toMatch(/inner detail|secret|TypeError|\.ts/)
    const body = await refused(response, 500, 'internal_error')
    expect(server.log.find((line) => line.request_id === body.request_id)).toMatchObject({
      level: 'error',
      operation: 'createProject',
      error: { message: expect.stringContaining('inner detail') },
    })
  })
})

describe('request ids', () => {
  it('are new for every request and never the client’s', async () => {
    const ids = await Promise.all(
      Array.from({ length: 50 }, async () => (await server.fetch('/healthz', { headers: { 'x-request-id': 'mine' } })).headers.get('x-request-id')),
    )
    expect(new Set(ids).size).toBe(50)
    expect(ids).not.toContain('mine')
  })
})

describe('authentication', () => {
  it.each([
    ['no scheme', (t: string) => t],
    ['Basic', (t: string) => `Basic ${t}`],
    ['two spaces', (t: string) => `Bearer  ${t}`],
    ['a tab', (t: string) => `Bearer\t${t}`],
    ['nothing after the scheme', () => 'Bearer'],
    ['an empty token', () => 'Bearer '],
    ['another prefix', (t: string) => `Bearer ${t.replace('svc_', 'sk_')}`],
    ['a shorter token', (t: string) => `Bearer ${t.slice(0, -1)}`],
    ['a longer token', (t: string) => `Bearer ${t}0`],
    ['another letter', (t: string) => `Bearer ${t.slice(0, 10)}${t[10] === 'a' ? 'b' : 'a'}${t.slice(11)}`],
    ['two tokens', (t: string) => `Bearer ${t} ${t}`],
    ['two tokens with a comma', (t: string) => `Bearer ${t}, Bearer ${t}`],
    ['a session as a token', () => `Bearer ${server.owner.session}`],
  ])('a token with %s is 401, and the cookie does not help', async (_name, make) => {
    const headers = { authorization: make(server.owner.token), cookie: `${server.cookie_name}=${server.owner.session}` }
    await refused(await server.fetch('/v1/projects', { headers }), 401, 'unauthorized')
  })
  it.each(['bearer', 'BEARER', 'Bearer'])('the scheme %s is accepted', async (scheme) => {
    expect((await server.fetch('/v1/projects', { headers: { authorization: `${scheme} ${server.owner.token}` } })).status).toBe(200)
  })
  it('a revoked token is 401 from the next request on', async () => {
    const response = await server.fetch('/v1/tokens', { method: 'POST', headers: { ...stranger, ...jsonType }, body: '{"name":"ci"}' })
    const { token, api_token } = (await response.json()) as { token: string; api_token: { id: string } }
    expect((await server.fetch('/v1/projects', { headers: bearer(token) })).status).toBe(200)
    expect((await server.fetch(`/v1/tokens/${api_token.id}`, { method: 'DELETE', headers: stranger })).status).toBe(204)
    await refused(await server.fetch('/v1/projects', { headers: bearer(token) }), 401, 'unauthorized')
  })
  it('the session cookie authenticates, whatever cookies other ports of this host add', async () => {
    for (const cookie of [
      `${server.cookie_name}=${server.owner.session}`,
      `a=b; ${server.cookie_name}=${server.owner.session}; c=d`,
      `${server.cookie_name}=foreign; ${server.cookie_name}=${server.owner.session}`,
      `${server.cookie_name}=${server.owner.session}; ${server.cookie_name}=foreign`,
      `${`${server.cookie_name}=foreign; `.repeat(40)}${server.cookie_name}=${server.owner.session}`,
    ]) {
      expect([cookie, (await server.fetch('/v1/projects', { headers: { cookie } })).status]).toEqual([cookie, 200])
    }
    for (const cookie of [
      `${server.cookie_name}=wrong`,
      `${server.cookie_name}=`,
      `other=${server.owner.session}`,
      `x${server.cookie_name}=${server.owner.session}`,
    ]) {
      expect([cookie, (await server.fetch('/v1/projects', { headers: { cookie } })).status]).toEqual([cookie, 401])
    }
  })
})

describe('the session header of the dashboard', () => {
  const session = () => ({ 'x-homeport-session': server.owner.session })

  it('authenticates whatever the cookies are; with an invalid one a valid cookie counts', async () => {
    const good = `${server.cookie_name}=${server.owner.session}`
    for (const headers of [session(), { ...session(), cookie: `${server.cookie_name}=foreign` }, { 'x-homeport-session': 'stale', cookie: good }])
      expect((await server.fetch('/v1/projects', { headers })).status).toBe(200)
    for (const headers of [{ 'x-homeport-session': 'wrong' }, { 'x-homeport-session': '' }, { 'x-homeport-session': server.owner.token }])
      expect((await server.fetch('/v1/projects', { headers })).status).toBe(401)
  })
  it('a changing request is accepted only from our own page', async () => {
    const stop = (headers: Record<string, string>) =>
      server.fetch('/v1/projects/abc/stop', { method: 'POST', headers: { ...session(), ...jsonType, ...headers }, body: '{}' })
    expect((await stop({ 'sec-fetch-site': 'same-origin' })).status).toBe(200)
    expect((await stop({ 'sec-fetch-site': 'same-site' })).status).toBe(403)
    expect((await stop({ origin: 'http://127.0.0.1:1' })).status).toBe(403)
  })
})

describe('a changing request with the session cookie', () => {
  const stop = (headers: Record<string, string>) =>
    server.fetch('/v1/projects/abc/stop', {
      method: 'POST',
      headers: { cookie: `${server.cookie_name}=${server.owner.session}`, ...headers },
      body: '{}',
    })
  const own = () => ({ origin: server.url })

  it('is accepted from our own page', async () => {
    expect((await stop({ ...jsonType, ...own() })).status).toBe(200)
    expect((await stop({ ...jsonType, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
    expect((await stop({ ...jsonType, ...own(), 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  })
  it.each([
    ['another site', { origin: 'https://evil.example' }],
    ['an opaque origin', { origin: 'null' }],
    ['an app of the edge', { origin: 'http://abc.localhost:4680' }],
    ['another port', { origin: 'http://127.0.0.1:1' }],
    ['another name of this machine', { origin: 'http://localhost:1' }],
    ['the same name and port over TLS', { origin: '(as https)' }],
    ['no Origin header', {}],
    ['another site, by Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
    ['the same site, by Sec-Fetch-Site', { 'sec-fetch-site': 'same-site' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['contradictory headers', { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }],
  ])('is 403 from %s', async (_name, headers) => {
    const sentHeaders = 'origin' in headers && headers.origin === '(as https)' ? { origin: server.url.replace('http:', 'https:') } : headers
    await refused(await stop({ ...jsonType, ...sentHeaders }), 403, 'origin_not_allowed')
  })
  it('is 403 from another site whatever its type, and 415 without JSON', async () => {
    await refused(await stop({ 'content-type': 'text/plain', origin: 'https://evil.example' }), 403, 'origin_not_allowed')
    await refused(await stop({ 'content-type': 'text/plain', ...own() }), 415, 'unsupported_media_type')
    await refused(await stop({ 'content-type': 'text/plain' }), 415, 'unsupported_media_type')
  })
  it('needs none of this with a token', async () => {
    const response = await server.fetch('/v1/projects/abc/stop', {
      method: 'POST',
      headers: { ...owner, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    })
    expect(response.status).toBe(200)
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})
