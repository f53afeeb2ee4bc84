/** The pages of sign-in and sign-up. The rules are tested in test/api/password-sign-in.test.ts and test/api/users.test.ts. */
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashPassword } from '../../server/lib/password.ts'
import { setPassword } from '../../server/store/passwords.ts'
import { sendRequest } from '../support/http-request.ts'
import { type ApiServer, bearer, startApiServer } from '../support/api-server.ts'
import { host as fastPasswordHost } from '../support/fast-password-host.ts'

let server: ApiServer
beforeAll(async () => {
  server = await startApiServer()
  const hash = await hashPassword(good.password, fastPasswordHost.password_cost)
  await server.store.db.write((tx) => setPassword(tx, { user_id: server.owner.user_id, hash, created_at: '2026-01-31T12:00:00.000Z' }, ''))
  await asOwner('PATCH', '/instance/settings', { sign_up: 'open' })
})
afterAll(() => server.close())

const good = { email: 'owner@homeport.localhost', password: 'correct horse' }
const html = { accept: 'text/html,application/xhtml+xml' }
const program = { accept: 'application/json' }

async function asOwner(method: string, path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { ...bearer(server.owner.token), 'content-type': 'application/json' }
  const response = await server.fetch(path, { method, headers, body: JSON.stringify(body) })
  expect(response.ok).toBe(true)
  return (await response.json()) as Record<string, unknown>
}
/** The code of a verification link or an invitation. */
async function newLink(path: '/instance/verification-links' | '/instance/team/invitations', email: string): Promise<string> {
  const { url } = await asOwner('POST', path, { email })
  return new URL(String(url)).searchParams.get('code') ?? ''
}

function post(fields: Record<string, string>, headers: Record<string, string> = {}, path = '/sign-in') {
  return server.fetch(path, { method: 'POST', body: new URLSearchParams(fields), headers: { origin: server.url, ...headers } })
}

describe('the form', () => {
  it('asks for email and password, with labels, and submits only to this instance', async () => {
    const response = await server.fetch('/sign-in', { headers: html })
    const text = await response.text()
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).toMatch(/<label for="email">/)
    expect(text).toMatch(/<label for="password">/)
    expect(text).toMatch(/type="password"[^>]*autocomplete="current-password"/)
    expect(text).toContain('value="owner@homeport.localhost"')
    expect(text).not.toContain('<script')
    expect(response.headers.get('content-security-policy')).toContain("form-action 'self'")
    // Under `no-referrer` a browser would send `Origin: null`, which our forms must not.
    expect(response.headers.get('referrer-policy')).toBe('same-origin')
  })

  it('a valid password sets the session cookie and opens the dashboard', async () => {
    const response = await post(good, html)
    expect([response.status, response.headers.get('location')]).toEqual([303, '/app/'])
    const cookie = response.headers.get('set-cookie') ?? ''
    expect(cookie.startsWith(`${server.cookie_name}=`)).toBe(true)
    expect(cookie.split('; ').slice(1).toSorted()).toEqual(['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Strict'])
    expect((await server.fetch('/v1/projects', { headers: { cookie: cookie.split(';')[0] ?? '' } })).status).toBe(200)
  })

  it('an invalid one returns the same page with the input, escaped, and no hint which part was wrong', async () => {
    const pages = await Promise.all(
      [
        { ...good, password: 'wrong' },
        { email: 'nobody@homeport.example', password: 'correct horse' },
      ].map(async (fields) => {
        const response = await post(fields, html)
        expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null])
        return (await response.text()).replaceAll(fields.email, 'EMAIL')
      }),
    )
    expect(pages[0]).toBe(pages[1])
    expect(pages[0]).toContain('role="alert"')

    const hostile = await post({ email: '"><script>alert(1)</script>', password: 'x' }, html)
    expect(await hostile.text()).not.toContain('<script')
  })

  it('after too many failures from elsewhere every page says how long to wait', async () => {
    const remoteHeaders = { 'x-forwarded-for': '192.0.2.1' }
    const wrong = { ...good, password: 'wrong' }
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(wrong, { ...html, ...remoteHeaders })))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([401, 401, 401, 401, 401, 429])
    const code = await newLink('/instance/team/invitations', 'new@example.com')
    for (const path of ['/sign-in', '/join']) {
      const given = path === '/join' ? { ...wrong, code } : wrong
      const page = await post(given, { ...html, ...remoteHeaders }, path)
      expect([page.status, page.headers.get('retry-after')]).toEqual([429, '1'])
      expect(await page.text()).toContain('Try again in 1 s')
      const json = await post(given, { ...program, ...remoteHeaders }, path)
      expect([json.status, json.headers.get('retry-after'), await json.json()]).toEqual([
        429,
        '1',
        expect.objectContaining({ error: 'rate_limited' }),
      ])
    }
  })
})

describe('in a browser', () => {
  /** Fetch Metadata of a navigation: by the user, from our own page, from another one. */
  const from = (site: 'none' | 'same-origin' | 'same-site' | 'cross-site') => ({ ...html, 'sec-fetch-site': site })
  const codeOf = async (token: string) => {
    const response = await server.fetch('/instance/sign-in-links', { method: 'POST', headers: bearer(token) })
    return new URL(((await response.json()) as { url: string }).url).searchParams.get('code') ?? ''
  }
  const open = (code: string, site: Parameters<typeof from>[0]) => server.fetch(`/sign-in?code=${code}`, { headers: from(site) })

  it('a link asks first, and a GET never signs in', async () => {
    const code = await codeOf(server.stranger.token)
    for (const [site, sends_itself] of [
      ['none', true],
      ['same-origin', true],
      ['same-site', false],
      ['cross-site', false],
    ] as const) {
      const response = await open(code, site)
      const text = await response.text()
      expect([
        site,
        response.status,
        response.headers.get('set-cookie'),
        text.includes('data-sends-itself'),
        text.includes('You came here from another page'),
      ]).toEqual([site, 200, null, sends_itself, !sends_itself])
      expect(response.headers.get('cache-control')).toBe('no-store')
    }
    expect((await post({ code }, from('same-origin'))).status).toBe(200)
    expect((await open(code, 'none')).status).toBe(401)
  })

  it('the owner’s own link skips the question, whichever page led to it', async () => {
    expect(await (await open(await codeOf(server.owner.token), 'cross-site')).text()).toContain('data-sends-itself')
  })

  it.each(['cross-site', 'same-site', 'none'] as const)('a form from %s redeems no code', async (site) => {
    const code = await codeOf(server.stranger.token)
    const refused = await server.fetch('/sign-in', { method: 'POST', body: new URLSearchParams({ code }), headers: from(site) })
    expect([refused.status, refused.headers.get('set-cookie')]).toEqual([403, null])
    expect((await post({ code }, from('same-origin'))).status).toBe(200)
  })

  it.each([
    ['a code', async () => ({ code: await codeOf(server.owner.token) })],
    ['a password', async () => good],
  ])('%s creates a session that is in no cookie', async (_, given) => {
    const page = await post(await given(), from('same-origin'))
    const session = /<data id="session" value="([^"]+)">/.exec(await page.text())?.[1] ?? ''
    expect([page.status, page.headers.get('set-cookie'), page.headers.get('cache-control')]).toEqual([200, null, 'no-store'])
    expect((await server.fetch('/instance/session', { headers: { 'x-homeport-session': session } })).status).toBe(200)

    const script = await post(await given(), { ...program, 'sec-fetch-site': 'same-origin' })
    expect([script.headers.get('set-cookie'), await script.json()]).toEqual([null, { ok: true, location: '/app/', session: expect.any(String) }])
  })
})

describe('sign-up', () => {
  const password = 'long enough a password'

  it('is linked from the sign-in page, and its pages have no scripts and submit only to this instance', async () => {
    expect(await (await server.fetch('/sign-in', { headers: html })).text()).toContain('href="/sign-up"')
    const verify = `/verify?code=${await newLink('/instance/verification-links', 'new@example.com')}`
    const join = `/join?code=${await newLink('/instance/team/invitations', 'new@example.com')}`
    for (const path of ['/sign-up', verify, join]) {
      const response = await server.fetch(path, { headers: html })
      const text = await response.text()
      expect([path, response.status, text.includes('<script'), response.headers.get('referrer-policy')]).toEqual([path, 200, false, 'same-origin'])
      expect(response.headers.get('content-security-policy')).toContain("form-action 'self'")
      expect(text).toMatch(/<label for="(email|password)">/)
    }
  })
  it.each([
    ['/verify', 400, { password: 'short' }],
    ['/join', 400, { password: 'short' }],
    ['/join', 401, { email: good.email, password: 'wrong' }],
  ] as const)('%s: an error is shown in the form with %i', async (path, status, fields) => {
    const email = `${path.slice(1)}@example.com`
    const code = await newLink(path === '/verify' ? '/instance/verification-links' : '/instance/team/invitations', email)
    const page = await post({ code, email, ...fields }, html, path)
    const text = await page.text()
    expect([page.status, page.headers.get('set-cookie'), text.includes('role="alert"'), text.includes('<script')]).toEqual([
      status,
      null,
      true,
      false,
    ])
    const json = await post({ code, email, ...fields }, {}, path)
    expect([json.status, await json.json()]).toEqual([status, expect.objectContaining({ message: expect.any(String) as string })])
  })
  it.each(['/verify', '/join'])('%s: an invalid link is 401', async (path) => {
    for (const code of ['used', '', '"><script>']) {
      const response = await post({ code, email: '"><script>', password }, html, path)
      expect([response.status, response.headers.get('set-cookie'), (await response.text()).includes('<script')]).toEqual([401, null, false])
    }
  })
  it('input in the invitation form is escaped', async () => {
    const code = await newLink('/instance/team/invitations', 'new@example.com')
    const response = await post({ code, email: '"><script>', password }, html, '/join')
    expect([response.status, (await response.text()).includes('<script')]).toEqual([401, false])
  })
  it.each(['/verify', '/join'] as const)('%s: an API client gets a session', async (path) => {
    const email = `program${path.slice(1)}@example.com`
    const code = await newLink(path === '/verify' ? '/instance/verification-links' : '/instance/team/invitations', email)
    const response = await post({ code, email, password }, {}, path)
    expect([response.status, await response.json(), response.headers.get('set-cookie')?.startsWith(server.cookie_name)]).toEqual([
      200,
      { ok: true, location: '/app/' },
      true,
    ])
  })
  it('counts towards the rate limit of the address, opened links too', async () => {
    const slow = await startApiServer({ rate_limits: () => ({ authenticated: 1000, anonymous: 2 }) })
    const look = async () =>
      (await slow.fetch('/join?code=guess', { headers: { accept: 'text/html', authorization: `Bearer ${slow.owner.token}` } })).status
    expect([await look(), await look(), await look()]).toEqual([401, 401, 429])
    await slow.close()
  })
})

describe('an API client', () => {
  it('gets JSON, whatever content type it sends', async () => {
    const byForm = await post(good, program)
    expect([byForm.status, await byForm.json()]).toEqual([200, { ok: true, location: '/app/' }])
    expect(byForm.headers.get('set-cookie')).toContain(server.cookie_name)
    const byJson = await server.fetch('/sign-in', {
      method: 'POST',
      body: JSON.stringify(good),
      headers: { origin: server.url, 'content-type': 'application/json' },
    })
    expect(byJson.status).toBe(200)
  })
  it('gets an error envelope when it is refused', async () => {
    const wrong = await post({ ...good, password: 'wrong' }, program)
    expect([wrong.status, await wrong.json()]).toEqual([401, expect.objectContaining({ error: 'unauthorized' })])
  })
})

describe('only our own page can sign in', () => {
  it.each([
    ['another site', { origin: 'https://evil.example' }],
    ['an app on another port of this host', { origin: 'http://127.0.0.1:1' }],
    ['a sandboxed frame', { origin: 'null' }],
    ['cross-site, according to the browser', { 'sec-fetch-site': 'cross-site' }],
    ['same-site only, according to the browser', { 'sec-fetch-site': 'same-site' }],
  ])('%s is 403 and gets no session', async (_, headers) => {
    for (const accept of [html, program]) {
      const response = await post(good, { ...headers, ...accept })
      expect([response.status, response.headers.get('set-cookie')]).toEqual([403, null])
    }
  })
  it('so is a request without an origin', async () => {
    const response = await server.fetch('/sign-in', { method: 'POST', body: new URLSearchParams(good) })
    expect([response.status, await response.json()]).toEqual([403, expect.objectContaining({ error: 'origin_not_allowed' })])
  })
  it('`Sec-Fetch-Site: same-origin` is enough', async () => {
    const response = await server.fetch('/sign-in', {
      method: 'POST',
      body: new URLSearchParams(good),
      headers: { 'sec-fetch-site': 'same-origin', ...program },
    })
    expect(response.status).toBe(200)
  })
})

/** Password checks are slow on purpose: here none succeeds. */
describe('form input', () => {
  let quick: ApiServer
  let anonymous = 1_000_000
  beforeAll(async () => {
    const rate_limits = () => ({ authenticated: 1000, anonymous })
    quick = await startApiServer({ rate_limits, overrides: () => ({ signInByPassword: async () => ({ wrong: true }) }) })
  })
  afterAll(() => quick.close())
  const send = (body: string | Buffer, headers: Record<string, string>) =>
    sendRequest(`${quick.url}/sign-in`, { method: 'POST', body: Buffer.from(body), headers: { origin: quick.url, ...headers } })

  it.each([
    ['text/plain', 'email=owner@example.com', 415],
    ['application/json', '{"email":', 400],
    ['application/json', 'null', 401],
    ['application/json', '{"email":{"a":1},"password":["x"]}', 401],
    ['application/x-www-form-urlencoded', '', 401],
    ['application/x-www-form-urlencoded', 'email=%ff%fe&password=%00', 401],
  ])('%s %j is %i', async (type, body, status) => {
    expect((await send(body, { 'content-type': type })).status).toBe(status)
  })

  it('any input gets a valid refusal', async () => {
    const type = fc.constantFrom(
      'application/x-www-form-urlencoded',
      'application/json',
      'application/json; charset=utf-16',
      'multipart/form-data',
      '',
    )
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      fc.json().map((text) => Buffer.from(text)),
      fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
    )
    const property = fc.asyncProperty(type, body, fc.constantFrom(html, program, {}), async (type, body, accept) => {
      const response = await send(body, { 'content-type': type, ...accept })
      expect([400, 401, 415]).toContain(response.status)
      expect([response.headers['set-cookie'], typeof response.headers['x-request-id']]).toEqual([undefined, 'string'])
    })
    await fc.assert(property, { numRuns: 150, seed: 20_261_121 })
  })

  it('counts towards the rate limit of the address', async () => {
    await quick.clock.advance(60_000)
    anonymous = 3
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await send('', { 'content-type': 'application/x-www-form-urlencoded' })).status)
    expect(statuses).toEqual([401, 401, 401, 429])
  })
})
