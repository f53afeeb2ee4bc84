import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { allOperations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import { bearer, cookieName, sampleProject, startDouble } from './double.ts'
import type { Double } from './double.ts'

let double: Double
let owner: Record<string, string>
let stranger: Record<string, string>
const jsonType = { 'content-type': 'application/json' }

beforeAll(async () => {
  double = await startDouble()
  owner = bearer(double.owner.token)
  stranger = bearer(double.stranger.token)
})
beforeEach(() => {
  double.projects.clear()
  double.projects.set('abc', { ...sampleProject('abc'), account_id: double.owner.caller.account_id })
})
afterAll(() => double.close())

async function refused(answer: Response, status: number, code: string): Promise<Record<string, unknown>> {
  const body = (await answer.json()) as Record<string, unknown>
  expect({ status: answer.status, error: body.error }).toEqual({ status, error: code })
  expect(body.request_id).toBe(answer.headers.get('x-request-id'))
  expect(typeof body.message).toBe('string')
  return body
}

const operations = Object.entries(allOperations) as [string, OperationSpec][]
const pathOf = (spec: OperationSpec) =>
  spec.path.replace('{slug}', 'abc').replace('{id}', 'dpl_x').replace('{email}', 'owner%40example.com').replace('{variant}', 'desktop')
/** What a query must have, with a value that is one. */
const queryOf = (spec: OperationSpec) => {
  const needed = Object.entries(spec.query.shape).filter(([, field]) => !field.safeParse(undefined).success)
  return needed.length === 0 ? '' : `?${needed.map(([name]) => `${name}=shop`).join('&')}`
}

describe('every operation of the record', () => {
  it.each(operations)('%s answers at its path and at its alias, with the same rules', async (_id, spec) => {
    const init = { method: spec.method, headers: { ...owner, ...(spec.body ? jsonType : {}) }, ...(spec.body ? { body: '{"unknown_field":1}' } : {}) }
    const answer = await double.fetch(pathOf(spec) + queryOf(spec), init)
    await answer.arrayBuffer()
    // Nothing is no archive, but a file of SQL without a statement.
    if (spec.body || spec.errors.includes('invalid_archive')) expect(answer.status).toBe(400)
    else expect([200, 201, 204]).toContain(answer.status)
    expect(answer.headers.get('deprecation')).toBeNull()

    double.projects.set('abc', { ...sampleProject('abc'), account_id: double.owner.caller.account_id })
    const alias = await double.fetch(pathOf(spec).replace(/^\/v1/, '') + queryOf(spec), init)
    await alias.arrayBuffer()
    expect(alias.status).toBe(answer.status)
    if (spec.path.startsWith('/v1/')) {
      expect(alias.headers.get('deprecation')).toBe('true')
      expect(alias.headers.get('link')).toBe(`<${pathOf(spec)}>; rel="successor-version"`)
    }
  })

  it.each(operations)('%s is 401 without sign-in', async (_id, spec) => {
    const answer = await double.fetch(pathOf(spec), { method: spec.method })
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    await refused(answer, 401, 'unauthorized')
  })

  it.each(operations.filter(([, spec]) => spec.path.includes('{slug}')))(
    '%s is the same 404 for a stranger as for a project that is not there',
    async (_id, spec) => {
      for (const path of [pathOf(spec), pathOf(spec).replace(/^\/v1/, '')]) {
        const init = { method: spec.method, headers: { ...stranger, ...jsonType }, ...(spec.body ? { body: 'not json' } : {}) }
        const theirs = await double.fetch(path, init)
        double.projects.delete('abc')
        const missing = await double.fetch(path, init)
        double.projects.set('abc', { ...sampleProject('abc'), account_id: double.owner.caller.account_id })
        expect(theirs.status).toBe(404)
        expect(await comparable(theirs)).toEqual(await comparable(missing))
      }
    },
  )

  it.each(operations.filter(([, spec]) => spec.access === 'owner'))('%s is 403 for anybody but the owner', async (_id, spec) => {
    await refused(
      await double.fetch(pathOf(spec), { method: spec.method, headers: { ...stranger, ...jsonType }, body: spec.method === 'GET' ? null : '{' }),
      403,
      'forbidden',
    )
  })

  it('has no alias for what is of the instance alone', async () => {
    await refused(await double.fetch('/v1/instance/session', { headers: owner }), 404, 'route_not_found')
  })
})

/** What of an answer may be compared: all but the id, the time and the count that goes on. */
async function comparable(answer: Response) {
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !['x-request-id', 'date', 'x-ratelimit-remaining'].includes(name)))
  return { status: answer.status, headers, body: (await answer.text()).replace(/req_[0-9a-z]{26}/g, 'req') }
}

describe('the order of checks', () => {
  it('413 before 401', async () => {
    await refused(await double.fetch('/v1/projects', { method: 'POST', body: 'x'.repeat(1_100_000) }), 413, 'payload_too_large')
  })
  it('401 before 405 and before 404 of a path below /v1', async () => {
    await refused(await double.fetch('/v1/projects', { method: 'DELETE' }), 401, 'unauthorized')
    await refused(await double.fetch('/v1/nothing'), 401, 'unauthorized')
  })
  it('404 for a path of nobody, signed in or not', async () => {
    await refused(await double.fetch('/nothing'), 404, 'route_not_found')
    await refused(await double.fetch('/v1/nothing', { headers: owner }), 404, 'route_not_found')
  })
  it('404 of a project before 400, 415 and unreadable JSON', async () => {
    for (const [type, body] of [
      ['application/json', '{"memory_limit_mb":1}'],
      ['application/json', '{'],
      ['text/plain', 'hello'],
    ] as const) {
      await refused(
        await double.fetch('/v1/projects/nope', { method: 'PATCH', headers: { ...owner, 'content-type': type }, body }),
        404,
        'project_not_found',
      )
    }
    await refused(await double.fetch('/v1/projects/nope/deployments?limit=0', { headers: owner }), 404, 'project_not_found')
  })
  it('400 before 409', async () => {
    await refused(
      await double.fetch('/v1/projects', { method: 'POST', headers: { ...owner, ...jsonType }, body: '{"name":"","slug":"abc"}' }),
      400,
      'invalid_input',
    )
  })
})

describe('input', () => {
  const patch = (body: string, headers: Record<string, string> = jsonType) =>
    double.fetch('/v1/projects/abc', { method: 'PATCH', headers: { ...owner, ...headers }, body })

  it.each(['id', 'slug', 'status', 'port', 'owner_id', 'plan', '__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'an unknown field %s is 400 and named',
    async (field) => {
      const body = await refused(await patch(`{"name":"n","${field}":{"is_admin":true}}`), 400, 'invalid_input')
      expect(body.issues).toEqual([{ path: field, message: expect.any(String) }])
      expect(Object.hasOwn(Object.prototype, 'is_admin')).toBe(false)
    },
  )
  it('names every field that is not in order', async () => {
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
  it('JSON that is no UTF-8 is 400 invalid_json', async () => {
    const answer = await double.fetch('/v1/projects/abc', {
      method: 'PATCH',
      headers: { ...owner, ...jsonType },
      body: new Uint8Array([0x22, 0xff, 0xfe, 0x22]),
    })
    await refused(answer, 400, 'invalid_json')
  })
  it.each([String.raw`{"name":"\ud800"}`, String.raw`{"name":"a\uDC00b"}`, String.raw`{"\udfff":1}`])(
    'half a character in %s is 400 invalid_json, and never stored as another',
    async (body) => {
      await refused(await patch(body), 400, 'invalid_json')
    },
  )
  it.each([String.raw`{"name":"\ud83d\ude00"}`, String.raw`{"name":"\\ud800"}`])('whole characters in %s are read', async (body) => {
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
    'type %s is read',
    async (type) => {
      expect((await patch('{}', { 'content-type': type })).status).toBe(200)
    },
  )
  it('a compressed body is 415', async () => {
    await refused(await patch('{}', { ...jsonType, 'content-encoding': 'gzip' }), 415, 'unsupported_media_type')
  })
  it('an unknown query parameter is ignored, a repeated one is 400 and named', async () => {
    expect((await double.fetch('/v1/projects?color=blue&__proto__=x', { headers: owner })).status).toBe(200)
    const body = await refused(await double.fetch('/v1/projects?limit=1&limit=2', { headers: owner }), 400, 'invalid_input')
    expect(body.issues).toEqual([{ path: 'limit', message: expect.any(String) }])
  })
  it.each(['0', '101', '-1', '1.5', '1e1', '', ' 1', 'NaN', '999999999999999999999', '0x10', '١'])('limit %j is 400', async (limit) => {
    await refused(await double.fetch(`/v1/projects?limit=${encodeURIComponent(limit)}`, { headers: owner }), 400, 'invalid_input')
  })
  it('a token in the query is no token', async () => {
    for (const name of ['token', 'access_token', 'api_key', 'authorization']) {
      await refused(await double.fetch(`/v1/projects?${name}=${double.owner.token}`), 401, 'unauthorized')
    }
  })
})

describe('methods', () => {
  it('405 names what is allowed', async () => {
    const answer = await double.fetch('/v1/projects/abc', { method: 'PUT', headers: owner })
    expect(answer.headers.get('allow')?.split(', ').toSorted()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH'])
    await refused(answer, 405, 'method_not_allowed')
  })
  it('HEAD is GET without its body', async () => {
    const get = await double.fetch('/v1/projects/abc', { headers: owner })
    const head = await double.fetch('/v1/projects/abc', { method: 'HEAD', headers: owner })
    expect([head.status, await head.text(), head.headers.get('content-length')]).toEqual([200, '', get.headers.get('content-length')])
    expect((await double.fetch('/v1/projects/nope', { method: 'HEAD', headers: owner })).status).toBe(404)
    expect((await double.fetch('/v1/projects/abc/stop', { method: 'HEAD', headers: owner })).status).toBe(405)
  })
  it('OPTIONS is 204 with Allow, without sign-in, and never allows another origin', async () => {
    for (const path of ['/v1/projects', '/projects/abc', '/healthz', '/instance/session', '/app/', '/']) {
      const answer = await double.fetch(path, {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
      })
      expect([path, answer.status]).toEqual([path, 204])
      expect(answer.headers.get('allow')).toContain('OPTIONS')
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
  it('doors are GET alone, but for sign-in', async () => {
    for (const path of ['/healthz', '/openapi.json', '/docs', '/app/', '/']) {
      const answer = await double.fetch(path, { method: 'POST' })
      expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
      await refused(answer, 405, 'method_not_allowed')
    }
    const signIn = await double.fetch('/sign-in', { method: 'PATCH' })
    expect(signIn.headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS')
    await refused(signIn, 405, 'method_not_allowed')
  })
})

describe('a failure of our own', () => {
  it('is 500 with an id that the log has, and without what went wrong', async () => {
    const answer = await double.fetch('/v1/projects', { method: 'POST', headers: { ...owner, ...jsonType }, body: '{"name":"throw","slug":"xyz"}' })
    const text = await answer.clone().text()
    expect(text).not.toMatch(/inner detail|secret|TypeError|\.ts/)
    const body = await refused(answer, 500, 'internal_error')
    expect(double.log.find((line) => line.request_id === body.request_id)).toMatchObject({
      level: 'error',
      operation: 'createProject',
      error: { message: expect.stringContaining('inner detail') },
    })
  })
})

describe('request ids', () => {
  it('are new for every request and never the client’s', async () => {
    const ids = await Promise.all(
      Array.from({ length: 50 }, async () => (await double.fetch('/healthz', { headers: { 'x-request-id': 'mine' } })).headers.get('x-request-id')),
    )
    expect(new Set(ids).size).toBe(50)
    expect(ids).not.toContain('mine')
  })
})

describe('who calls', () => {
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
    ['a session as a token', () => `Bearer ${double.owner.session}`],
  ])('a token with %s is 401, and the cookie does not help', async (_name, make) => {
    const headers = { authorization: make(double.owner.token), cookie: `${cookieName}=${double.owner.session}` }
    await refused(await double.fetch('/v1/projects', { headers }), 401, 'unauthorized')
  })
  it.each(['bearer', 'BEARER', 'Bearer'])('the scheme %s is read', async (scheme) => {
    expect((await double.fetch('/v1/projects', { headers: { authorization: `${scheme} ${double.owner.token}` } })).status).toBe(200)
  })
  it('a revoked token is 401 from the next request on', async () => {
    const other = await startDouble()
    expect((await other.fetch('/v1/projects', { headers: bearer(other.stranger.token) })).status).toBe(200)
    other.revoked.add(other.stranger.caller.credential_id)
    await refused(await other.fetch('/v1/projects', { headers: bearer(other.stranger.token) }), 401, 'unauthorized')
    await other.close()
  })
  it('the session cookie signs in, whatever other ports of this host put beside it', async () => {
    for (const cookie of [
      `${cookieName}=${double.owner.session}`,
      `a=b; ${cookieName}=${double.owner.session}; c=d`,
      `${cookieName}=foreign; ${cookieName}=${double.owner.session}`,
      `${cookieName}=${double.owner.session}; ${cookieName}=foreign`,
    ]) {
      expect([cookie, (await double.fetch('/v1/projects', { headers: { cookie } })).status]).toEqual([cookie, 200])
    }
    for (const cookie of [`${cookieName}=wrong`, `${cookieName}=`, `other=${double.owner.session}`, `x${cookieName}=${double.owner.session}`]) {
      expect([cookie, (await double.fetch('/v1/projects', { headers: { cookie } })).status]).toEqual([cookie, 401])
    }
  })
})

describe('a changing request with the cookie', () => {
  const stop = (headers: Record<string, string>) =>
    double.fetch('/v1/projects/abc/stop', { method: 'POST', headers: { cookie: `${cookieName}=${double.owner.session}`, ...headers }, body: '{}' })
  const own = () => ({ origin: double.url })

  it('passes from our own page', async () => {
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
    ['the same name and port by TLS', { origin: '(as https)' }],
    ['nobody who says', {}],
    ['another site by Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling by Sec-Fetch-Site', { 'sec-fetch-site': 'same-site' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['two opinions', { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }],
  ])('is 403 from %s', async (_name, headers) => {
    const asked = 'origin' in headers && headers.origin === '(as https)' ? { origin: double.url.replace('http:', 'https:') } : headers
    await refused(await stop({ ...jsonType, ...asked }), 403, 'origin_not_allowed')
  })
  it('is 403 from another site whatever its type, and 415 without JSON', async () => {
    await refused(await stop({ 'content-type': 'text/plain', origin: 'https://evil.example' }), 403, 'origin_not_allowed')
    await refused(await stop({ 'content-type': 'text/plain', ...own() }), 415, 'unsupported_media_type')
    await refused(await stop({ 'content-type': 'text/plain' }), 415, 'unsupported_media_type')
  })
  it('needs none of this with a token', async () => {
    const answer = await double.fetch('/v1/projects/abc/stop', {
      method: 'POST',
      headers: { ...owner, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    })
    expect(answer.status).toBe(200)
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})
