import { Agent, request } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addressKey, createRateLimit } from '../../server/api/rate-limit.ts'
import { type ApiServer, bearer, startApiServer } from '../support/api-server.ts'
import { fixedClock } from '../support/test-clock.ts'

let server: ApiServer
let limits = { authenticated: 300, anonymous: 30 }

beforeAll(async () => {
  server = await startApiServer({ rate_limits: () => limits })
})
// The windows of the previous test have ended.
beforeEach(() => server.clock.advance(60_000))
afterAll(() => server.close())

const get = (path: string, headers: Record<string, string> = {}) => server.fetch(path, { headers })

describe('the rate limit', () => {
  it('allows exactly 300 requests of an account, and says when to retry', async () => {
    const owner = bearer(server.owner.token)
    for (let i = 1; i <= 300; i++) {
      const response = await get('/v1/projects', owner)
      expect([response.status, response.headers.get('x-ratelimit-limit'), response.headers.get('x-ratelimit-remaining')]).toEqual([
        200,
        '300',
        String(300 - i),
      ])
      await response.arrayBuffer()
    }
    const refused = await get('/v1/projects', owner)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ error: 'rate_limited' })
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(Number(refused.headers.get('x-ratelimit-reset'))).toBe(server.clock.now() / 1000 + 60)

    // Another account, and anonymous clients, have separate windows.
    expect((await get('/v1/projects', bearer(server.stranger.token))).status).toBe(200)
    expect((await get('/v1/projects')).status).toBe(401)

    await server.clock.advance(59_999)
    expect((await get('/v1/projects', owner)).status).toBe(429)
    await server.clock.advance(1)
    expect((await get('/v1/projects', owner)).status).toBe(200)
  })

  it.each([
    [300, 'of an account', 1],
    [300, 'of an account', 50],
    [30, 'without sign-in', 1],
    [30, 'without sign-in', 50],
  ])('allows exactly %i %s over %i connections, and the headers agree', async (limit, who, connections) => {
    const headers = who === 'of an account' ? bearer(server.owner.token) : {}
    const agent = new Agent({ keepAlive: true, maxSockets: connections })
    const sockets = new Set<unknown>()
    const ask = () =>
      new Promise<{ status: number; said: (name: string) => number }>((resolve, reject) => {
        request({ host: '127.0.0.1', port: server.port, path: '/v1/projects', agent, headers }, (response) => {
          const said = (name: string) => Number(response.headers[name] ?? Number.NaN)
          response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, said }))
        })
          .on('socket', (socket) => sockets.add(socket))
          .on('error', reject)
          .end()
      })
    const answers = await Promise.all(Array.from({ length: limit + 60 }, ask))
    agent.destroy()
    expect(sockets.size).toBe(connections)

    const passed = answers.filter(({ status }) => status !== 429)
    const refused = answers.filter(({ status }) => status === 429)
    expect([passed.length, refused.length]).toEqual([limit, 60])
    for (const { said } of answers) expect(said('x-ratelimit-limit')).toBe(limit)
    // Each of them used one, all of them different.
    const left = passed.map(({ said }) => said('x-ratelimit-remaining')).toSorted((a, b) => b - a)
    expect(left).toEqual(Array.from({ length: limit }, (_, i) => limit - 1 - i))
    for (const { said } of refused) expect([said('x-ratelimit-remaining'), said('retry-after')]).toEqual([0, 60])
    for (const { said } of passed) expect(said('retry-after')).toBeNaN()
    const ends = new Set(answers.map(({ said }) => said('x-ratelimit-reset')))
    expect([...ends]).toEqual([server.clock.now() / 1000 + 60])
  })

  it('allows 30 of an address without authentication; an invalid token or a forged address does not bypass it', async () => {
    for (let i = 0; i < 30; i++) {
      const headers: Record<string, string> =
        i % 2 ? { authorization: `Bearer svc_${i}` } : { 'x-forwarded-for': `10.0.0.${i}`, forwarded: `for=10.0.0.${i}`, 'x-real-ip': `10.0.0.${i}` }
      expect((await get('/v1/projects', headers)).status).toBe(401)
    }
    const refused = await get('/v1/projects', { 'x-forwarded-for': '10.9.9.9' })
    expect([refused.status, refused.headers.get('x-ratelimit-limit')]).toEqual([429, '30'])
    expect((await get('/v1/projects', bearer(server.owner.token))).status).toBe(200)
  })

  it('counts aliases, /instance and sign-in; health, docs, OpenAPI and dashboard report it without counting', async () => {
    for (const path of ['/healthz', '/openapi.json', '/docs', '/app/', '/app/projects', '/', '/healthz']) {
      const response = await get(path)
      expect([path, response.headers.get('x-ratelimit-remaining')]).toEqual([path, '30'])
      await response.arrayBuffer()
    }
    for (const [i, path] of ['/v1/projects', '/projects', '/instance/session', '/sign-in?code=wrong'].entries()) {
      expect([path, (await get(path)).headers.get('x-ratelimit-remaining')]).toEqual([path, String(29 - i)])
    }
    for (let i = 0; i < 30; i++) await get('/v1/projects')
    expect((await get(`/sign-in?code=${await server.newSignInCode()}`)).status).toBe(429)
    const health = await get('/healthz')
    expect([health.status, health.headers.get('x-ratelimit-remaining')]).toEqual([200, '0'])
  })

  it('is unaffected by a jump of the wall clock', () => {
    const clock = fixedClock('2026-01-31T12:00:00.000Z')
    let wall = clock.now()
    const rate = createRateLimit({ clock: { ...clock, now: () => wall }, limits: () => ({ authenticated: 2, anonymous: 1 }) })
    const count = () => rate.count({ key: 'ip 192.0.2.1', kind: 'anonymous' })
    expect(count().allowed).toBe(true)
    wall += 24 * 3_600_000
    expect(count().allowed).toBe(false)
    wall -= 48 * 3_600_000
    expect(count()).toEqual({ allowed: false, limit: 1, remaining: 0, retry_after_s: 60, reset_s: wall / 1000 + 60 })
  })

  it('applies a changed setting at once', async () => {
    const usual = limits
    limits = { authenticated: 1, anonymous: 5 }
    for (let i = 0; i < 5; i++) expect((await get('/v1/projects')).status).toBe(401)
    expect((await get('/v1/projects')).status).toBe(429)
    limits = { ...limits, anonymous: 6 }
    expect((await get('/v1/projects')).status).toBe(401)
    limits = usual
  })
})

describe('keys and memory', () => {
  it.each([
    ['192.0.2.1', 'ip 192.0.2.1'],
    ['::ffff:192.0.2.1', 'ip 192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', 'ip 2001:db8:1:2'],
    ['2001:db8:1:2::9', 'ip 2001:db8:1:2'],
    ['2001:db8::9', 'ip 2001:db8:0:0'],
    ['::1', 'ip 0:0:0:0'],
    ['fe80::1%eth0', 'ip fe80:0:0:0'],
    [undefined, 'ip unknown'],
  ])('%s counts as %s', (address, key) => {
    expect(addressKey(address)).toEqual({ key, kind: 'anonymous' })
  })

  it('evicts the oldest window when memory is full', () => {
    const rate = createRateLimit({ clock: fixedClock(0), limits: () => ({ authenticated: 2, anonymous: 1 }) })
    for (let i = 0; i < 100_000; i++) rate.count({ key: `ip ${i}`, kind: 'anonymous' })
    expect(rate.count({ key: 'ip 99999', kind: 'anonymous' }).allowed).toBe(false)
    rate.count({ key: 'ip new', kind: 'anonymous' })
    expect(rate.peek({ key: 'ip 0', kind: 'anonymous' }).remaining).toBe(1)
    expect(rate.peek({ key: 'ip 50', kind: 'anonymous' }).remaining).toBe(0)
  })
})
