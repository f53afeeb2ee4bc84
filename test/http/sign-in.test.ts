/** Sign-in by email and password at the gate; what it takes to be right is the features' matter. */
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask } from '../support/ask.ts'
import { cookieName, startDouble } from './double.ts'
import type { Double } from './double.ts'

let double: Double
beforeAll(async () => {
  double = await startDouble()
})
afterAll(() => double.close())

const good = { email: 'owner@example.com', password: 'correct horse' }
const html = { accept: 'text/html,application/xhtml+xml' }
const program = { accept: 'application/json' }

function post(fields: Record<string, string>, headers: Record<string, string> = {}) {
  return double.fetch('/sign-in', { method: 'POST', body: new URLSearchParams(fields), headers: { origin: double.url, ...headers } })
}

describe('the form', () => {
  it('asks for email and password, by labels, and sends them nowhere but here', async () => {
    const answer = await double.fetch('/sign-in', { headers: html })
    const text = await answer.text()
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).toMatch(/<label for="email">/)
    expect(text).toMatch(/<label for="password">/)
    expect(text).toMatch(/type="password"[^>]*autocomplete="current-password"/)
    expect(text).toContain('value="owner@example.com"')
    expect(text).not.toContain('<script')
    expect(answer.headers.get('content-security-policy')).toContain("form-action 'self'")
    // Under `no-referrer` a browser would say `Origin: null`, which no form of ours may.
    expect(answer.headers.get('referrer-policy')).toBe('same-origin')
  })

  it('a right password gives the session cookie and the dashboard', async () => {
    const answer = await post(good, html)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/app/'])
    const cookie = answer.headers.get('set-cookie') ?? ''
    expect(cookie.startsWith(`${cookieName}=`)).toBe(true)
    expect(cookie.split('; ').slice(1).toSorted()).toEqual(['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Strict'])
    expect((await double.fetch('/v1/projects', { headers: { cookie: cookie.split(';')[0] ?? '' } })).status).toBe(200)
  })

  it('a wrong one gets the same page with what was typed, escaped, and no hint which part was wrong', async () => {
    const pages = await Promise.all(
      [
        { ...good, password: 'wrong' },
        { email: 'nobody@example.com', password: 'correct horse' },
      ].map(async (fields) => {
        const answer = await post(fields, html)
        expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
        return (await answer.text()).replaceAll(fields.email, 'EMAIL')
      }),
    )
    expect(pages[0]).toBe(pages[1])
    expect(pages[0]).toContain('role="alert"')

    const hostile = await post({ email: '"><script>alert(1)</script>', password: 'x' }, html)
    expect(await hostile.text()).not.toContain('<script')
  })

  it('after too many it says how long to wait', async () => {
    const answer = await post({ ...good, password: 'too often' }, html)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7'])
    expect(await answer.text()).toContain('Wait 7 s')
  })
})

describe('the way in for somebody new', () => {
  const send = (path: string, form: Record<string, string>, headers: Record<string, string>) =>
    double.fetch(path, { method: 'POST', body: new URLSearchParams(form), headers: { origin: double.url, ...headers } })
  const password = 'long enough a password'

  it('is shown where one signs in, and every page of it has no script and sends its form nowhere but here', async () => {
    expect(await (await double.fetch('/sign-in', { headers: html })).text()).toContain('href="/sign-up"')
    for (const path of ['/sign-up', '/forgot', '/verify?code=good', '/join?code=good']) {
      const answer = await double.fetch(path, { headers: html })
      const text = await answer.text()
      expect([path, answer.status, text.includes('<script'), answer.headers.get('referrer-policy')]).toEqual([path, 200, false, 'same-origin'])
      expect(answer.headers.get('content-security-policy')).toContain("form-action 'self'")
      expect(text).toMatch(/<label for="(email|password)">/)
    }
  })
  it.each(['/verify', '/join'])('%s: what is wrong is said in the form, and what is typed is escaped', async (path) => {
    for (const [given, status] of [
      ['short', 400],
      ['wrong', 401],
      ['too often', 429],
    ] as const) {
      const answer = await send(path, { code: 'good', email: '"><script>', password: given }, html)
      const text = await answer.text()
      expect([answer.status, answer.headers.get('set-cookie'), text.includes('role="alert"'), text.includes('<script')]).toEqual([
        status,
        null,
        true,
        false,
      ])
      const program = await send(path, { code: 'good', email: 'a@example.com', password: given }, {})
      expect([program.status, await program.json()]).toEqual([status, expect.objectContaining({ message: expect.any(String) as string })])
    }
    for (const code of ['used', '', '"><script>']) {
      const answer = await send(path, { code, email: 'a@example.com', password }, html)
      expect([answer.status, answer.headers.get('set-cookie'), (await answer.text()).includes('<script')]).toEqual([401, null, false])
    }
    const program = await send(path, { code: 'good', email: 'a@example.com', password }, {})
    expect([program.status, await program.json(), program.headers.get('set-cookie')?.startsWith(cookieName)]).toEqual([
      200,
      { ok: true, location: '/app/' },
      true,
    ])
  })
  it('counts towards the rate of the address, looks at links too', async () => {
    const slow = await startDouble({ rateLimits: () => ({ authenticated: 1000, anonymous: 2 }) })
    const look = async () =>
      (await slow.fetch('/join?code=guess', { headers: { accept: 'text/html', authorization: `Bearer ${slow.owner.token}` } })).status
    expect([await look(), await look(), await look()]).toEqual([401, 401, 429])
    await slow.close()
  })
})

describe('a program', () => {
  it('gets JSON, whichever way it sends', async () => {
    const byForm = await post(good, program)
    expect([byForm.status, await byForm.json()]).toEqual([200, { ok: true, location: '/app/' }])
    expect(byForm.headers.get('set-cookie')).toContain(cookieName)
    const byJson = await double.fetch('/sign-in', {
      method: 'POST',
      body: JSON.stringify(good),
      headers: { origin: double.url, 'content-type': 'application/json' },
    })
    expect(byJson.status).toBe(200)
  })
  it('gets the envelope when it is refused', async () => {
    const wrong = await post({ ...good, password: 'wrong' }, program)
    expect([wrong.status, await wrong.json()]).toEqual([401, expect.objectContaining({ error: 'unauthorized' })])
    const waits = await post({ ...good, password: 'too often' }, program)
    expect([waits.status, waits.headers.get('retry-after'), await waits.json()]).toEqual([
      429,
      '7',
      expect.objectContaining({ error: 'rate_limited' }),
    ])
  })
  it.each([
    ['text/plain', 'email=owner@example.com', 415],
    ['application/json', '{"email":', 400],
    ['application/json', 'null', 401],
    ['application/json', '{"email":{"a":1},"password":["x"]}', 401],
    ['application/x-www-form-urlencoded', '', 401],
    ['application/x-www-form-urlencoded', 'email=%ff%fe&password=%00', 401],
  ])('%s %j is %i', async (type, body, status) => {
    const answer = await double.fetch('/sign-in', { method: 'POST', body, headers: { origin: double.url, 'content-type': type } })
    expect(answer.status).toBe(status)
  })
})

it('whatever is sent, it is refused in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('application/x-www-form-urlencoded', 'application/json', 'application/json; charset=utf-16', 'multipart/form-data', ''),
      fc.oneof(
        fc.uint8Array({ maxLength: 300 }),
        fc.json().map((text) => Buffer.from(text)),
        fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
      ),
      fc.constantFrom(html, program, {}),
      async (type, body, accept) => {
        const answer = await ask(`${double.url}/sign-in`, {
          method: 'POST',
          body: Buffer.from(body),
          headers: { origin: double.url, 'content-type': type, ...accept },
        })
        expect([400, 401, 415]).toContain(answer.status)
        expect([answer.headers['set-cookie'], typeof answer.headers['x-request-id']]).toEqual([undefined, 'string'])
      },
    ),
    { numRuns: 300 },
  )
})

describe('only our own page signs in', () => {
  it.each([
    ['another site', { origin: 'https://evil.example' }],
    ['an app on another port of this host', { origin: 'http://127.0.0.1:1' }],
    ['a sandboxed frame', { origin: 'null' }],
    ['what the browser calls another site', { 'sec-fetch-site': 'cross-site' }],
    ['what the browser calls the same site only', { 'sec-fetch-site': 'same-site' }],
  ])('%s is 403 and gets no session', async (_, headers) => {
    for (const accept of [html, program]) {
      const answer = await post(good, { ...headers, ...accept })
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null])
    }
  })
  it('nor does a request that does not say where it comes from', async () => {
    const answer = await double.fetch('/sign-in', { method: 'POST', body: new URLSearchParams(good) })
    expect([answer.status, await answer.json()]).toEqual([403, expect.objectContaining({ error: 'origin_not_allowed' })])
  })
  it('`Sec-Fetch-Site: same-origin` is enough', async () => {
    const answer = await double.fetch('/sign-in', {
      method: 'POST',
      body: new URLSearchParams(good),
      headers: { 'sec-fetch-site': 'same-origin', ...program },
    })
    expect(answer.status).toBe(200)
  })
})

it('sign-in counts towards the rate of the address', async () => {
  const slow = await startDouble({ rateLimits: () => ({ authenticated: 1000, anonymous: 3 }) })
  const attempt = () =>
    slow.fetch('/sign-in', { method: 'POST', body: new URLSearchParams({ ...good, password: 'wrong' }), headers: { origin: slow.url } })
  expect([(await attempt()).status, (await attempt()).status, (await attempt()).status, (await attempt()).status]).toEqual([401, 401, 401, 429])
  await slow.close()
})
