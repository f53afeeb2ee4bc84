import { Agent, request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../server/lib/clock.ts'
import { addressKey, createRateLimit } from '../../server/http/rate-limit.ts'
import { bearer, startDouble } from './double.ts'
import type { Double } from './double.ts'

/** A clock that a test turns. */
function handClock(): Clock & { forward(ms: number): void; wall: number } {
  let monotonic = 1000
  return {
    wall: Date.parse('2026-01-31T12:00:00.000Z'),
    now() {
      return this.wall
    },
    monotonic: () => monotonic,
    forward(ms) {
      monotonic += ms
      this.wall += ms
    },
  }
}

let double: Double
afterEach(() => double.close())

const limits = { authenticated: 300, anonymous: 30 }

async function start(clock = handClock()) {
  double = await startDouble({ rateLimits: () => limits, clock })
  return clock
}

const get = (path: string, headers: Record<string, string> = {}) => double.fetch(path, { headers })

describe('the rate limit', () => {
  it('lets exactly 300 of an account pass, and says when to come back', async () => {
    const clock = await start()
    const owner = bearer(double.owner.token)
    for (let i = 1; i <= 300; i++) {
      const answer = await get('/v1/projects', owner)
      expect([answer.status, answer.headers.get('x-ratelimit-limit'), answer.headers.get('x-ratelimit-remaining')]).toEqual([
        200,
        '300',
        String(300 - i),
      ])
      await answer.arrayBuffer()
    }
    const refused = await get('/v1/projects', owner)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ error: 'rate_limited' })
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(Number(refused.headers.get('x-ratelimit-reset'))).toBe(Date.parse('2026-01-31T12:01:00.000Z') / 1000)

    // Another account, and somebody who is not signed in, have windows of their own.
    expect((await get('/v1/projects', bearer(double.stranger.token))).status).toBe(200)
    expect((await get('/v1/projects')).status).toBe(401)

    clock.forward(59_999)
    expect((await get('/v1/projects', owner)).status).toBe(429)
    clock.forward(1)
    expect((await get('/v1/projects', owner)).status).toBe(200)
  })

  it.each([
    [300, 'of an account', 1],
    [300, 'of an account', 50],
    [30, 'without sign-in', 1],
    [30, 'without sign-in', 50],
  ])('lets exactly %i %s pass over %i connections, and the headers agree', async (limit, who, connections) => {
    const clock = await start()
    const headers = who === 'of an account' ? bearer(double.owner.token) : {}
    const agent = new Agent({ keepAlive: true, maxSockets: connections })
    const sockets = new Set<unknown>()
    const ask = () =>
      new Promise<{ status: number; said: (name: string) => number }>((resolve, reject) => {
        request({ host: '127.0.0.1', port: double.port, path: '/v1/projects', agent, headers }, (answer) => {
          const said = (name: string) => Number(answer.headers[name] ?? Number.NaN)
          answer.resume().on('end', () => resolve({ status: answer.statusCode ?? 0, said }))
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
    // Each of them took one, and nobody took the same.
    const left = passed.map(({ said }) => said('x-ratelimit-remaining')).toSorted((a, b) => b - a)
    expect(left).toEqual(Array.from({ length: limit }, (_, i) => limit - 1 - i))
    for (const { said } of refused) expect([said('x-ratelimit-remaining'), said('retry-after')]).toEqual([0, 60])
    for (const { said } of passed) expect(said('retry-after')).toBeNaN()
    const ends = new Set(answers.map(({ said }) => said('x-ratelimit-reset')))
    expect([...ends]).toEqual([Math.ceil(clock.wall / 1000) + 60])
  })

  it('lets 30 of an address pass without sign-in; a wrong token and borrowed addresses are no way around', async () => {
    await start()
    for (let i = 0; i < 30; i++) {
      const headers: Record<string, string> =
        i % 2 ? { authorization: `Bearer svc_${i}` } : { 'x-forwarded-for': `10.0.0.${i}`, forwarded: `for=10.0.0.${i}`, 'x-real-ip': `10.0.0.${i}` }
      expect((await get('/v1/projects', headers)).status).toBe(401)
    }
    const refused = await get('/v1/projects', { 'x-forwarded-for': '10.9.9.9' })
    expect([refused.status, refused.headers.get('x-ratelimit-limit')]).toEqual([429, '30'])
    expect((await get('/v1/projects', bearer(double.owner.token))).status).toBe(200)
  })

  it('counts aliases, /instance and sign-in; not health, docs, description and dashboard, which still tell', async () => {
    await start()
    for (const path of ['/healthz', '/openapi.json', '/docs', '/app/', '/app/projects', '/', '/healthz']) {
      const answer = await get(path)
      expect([path, answer.headers.get('x-ratelimit-remaining')]).toEqual([path, '30'])
      await answer.arrayBuffer()
    }
    for (const [i, path] of ['/v1/projects', '/projects', '/instance/session', '/sign-in?code=wrong'].entries()) {
      expect([path, (await get(path)).headers.get('x-ratelimit-remaining')]).toEqual([path, String(29 - i)])
    }
    for (let i = 0; i < 30; i++) await get('/v1/projects')
    expect((await get('/sign-in?code=good-code')).status).toBe(429)
    const health = await get('/healthz')
    expect([health.status, health.headers.get('x-ratelimit-remaining')]).toEqual([200, '0'])
  })

  it('is not moved by a jump of the wall clock', async () => {
    const clock = await start()
    for (let i = 0; i < 31; i++) await get('/v1/projects')
    clock.wall += 24 * 3_600_000
    expect((await get('/v1/projects')).status).toBe(429)
    clock.wall -= 48 * 3_600_000
    const refused = await get('/v1/projects')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(Number(refused.headers.get('x-ratelimit-reset'))).toBe(Math.ceil(clock.wall / 1000) + 60)
  })

  it('follows a changed setting at once', async () => {
    let anonymous = 5
    double = await startDouble({ rateLimits: () => ({ authenticated: 1, anonymous }), clock: handClock() })
    for (let i = 0; i < 5; i++) expect((await get('/v1/projects')).status).toBe(401)
    expect((await get('/v1/projects')).status).toBe(429)
    anonymous = 6
    expect((await get('/v1/projects')).status).toBe(401)
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
    double = { close: async () => {} } as Double
  })

  it('forgets the oldest window rather than grow', () => {
    const clock = handClock()
    const rate = createRateLimit({ clock, limits: () => ({ authenticated: 2, anonymous: 1 }) })
    for (let i = 0; i < 100_000; i++) rate.count({ key: `ip ${i}`, kind: 'anonymous' })
    expect(rate.count({ key: 'ip 99999', kind: 'anonymous' }).allowed).toBe(false)
    rate.count({ key: 'ip new', kind: 'anonymous' })
    expect(rate.look({ key: 'ip 0', kind: 'anonymous' }).remaining).toBe(1)
    expect(rate.look({ key: 'ip 50', kind: 'anonymous' }).remaining).toBe(0)
  })
})
