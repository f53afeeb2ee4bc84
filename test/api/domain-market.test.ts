import { Resolver } from 'node:dns/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Domain, DomainOffer } from '../../server/contract/domains.ts'
import type { DoctorCheck } from '../../server/contract/instance.ts'
import { startTestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { expectError, issuePaths, createApiContext, type ApiResponse, type Caller, type ApiContext } from './api-context.ts'
import { fullTest } from '../support/full-test.ts'

let context: ApiContext
const at = (slug: string) => `/v1/projects/${slug}/domains/purchase`
const buy = (hostname: string, more: object = {}, who: Parameters<ApiContext['request']>[0] = 'owner', slug = 'shop'): Promise<ApiResponse> =>
  context.request(who, 'POST', at(slug), { hostname, ...more })
const bought = async (hostname: string, more: object = {}): Promise<Domain> => {
  const response = await buy(hostname, more)
  expect([response.status, response.text]).toEqual([201, expect.any(String)])
  return response.body.domain as Domain
}
const offers = async (q: string, who: Caller = 'owner') =>
  (await context.request(who, 'GET', `/v1/domains/search?q=${encodeURIComponent(q)}`)).body.results as DomainOffer[]
const isRouted = async (host: string) => (await context.platform.fetchEdge(host)).body.includes('Not deployed yet')

beforeAll(async () => {
  context = await createApiContext()
  await context.platform.createProject({ slug: 'shop' })
  await context.platform.createProject({ slug: 'blog' })
  await context.request('stranger', 'POST', '/v1/projects', { name: 'n', slug: 'strange' })
})
afterAll(() => context.close())

describe('GET domains/search', () => {
  test('200 with the exact name first, then the same label under other endings', async () => {
    const response = await context.request('owner', 'GET', '/v1/domains/search?q=garden.internal')
    const offer = {
      available: true,
      premium: false,
      price_cents: 0,
      renewal_price_cents: 0,
      currency: 'USD',
      period_years: 1,
      free_with_credit: false,
    }
    expect(response.body).toEqual({
      query: 'garden.internal',
      purchase_enabled: true,
      results: ['garden.internal', 'garden.test', 'garden.home.arpa'].map((hostname) => ({ hostname, ...offer })),
    })
  })

  test.each([
    ['garden', ['garden.test', 'garden.internal', 'garden.home.arpa']],
    ['  My Gärden! ', ['my-garden.test', 'my-garden.internal', 'my-garden.home.arpa']],
    ['https://Garden.test/path?x', ['garden.test', 'garden.internal', 'garden.home.arpa']],
    ['garden.home.arpa', ['garden.home.arpa', 'garden.test', 'garden.internal']],
    ['garden.com', ['garden.com', 'garden.test', 'garden.internal', 'garden.home.arpa']],
    ['www.garden.test', ['www.garden.test', 'garden.test', 'garden.internal', 'garden.home.arpa']],
  ])('%s', async (q, names) => {
    expect((await offers(q)).map((one) => one.hostname)).toEqual(names)
  })

  test('a name that this registrar does not sell has no price', async () => {
    expect((await offers('garden.com'))[0]).toMatchObject({ hostname: 'garden.com', available: false, price_cents: null })
  })

  test('a registered domain is unavailable to every account', async () => {
    await bought('had.test')
    for (const who of ['owner', 'stranger'] as const) expect((await offers('had', who))[0]).toMatchObject({ hostname: 'had.test', available: false })
  })

  test('400 for an empty query', async () => {
    for (const q of ['', '...', '!!', '😀', 'a'.repeat(64)]) {
      const response = await context.request('owner', 'GET', `/v1/domains/search?q=${encodeURIComponent(q)}`)
      expectError(response, 400, 'invalid_input')
      expect(issuePaths(response)).toEqual(['q'])
    }
  })
})

describe('POST domains/purchase', () => {
  test('201 verified and routed at once, with its expiry date', async () => {
    const domain = await bought('first.test')
    expect(domain).toMatchObject({
      hostname: 'first.test',
      status: 'verified',
      account_owned_domain_id: expect.stringMatching(/^own_/),
      auto_renew: true,
      transfer_requested_at: null,
      project_slug: 'shop',
    })
    const days = (Date.parse(domain.expires_at ?? '') - Date.parse(domain.created_at)) / 86_400_000
    expect(Math.round(days)).toBeGreaterThanOrEqual(365)
    expect(Math.round(days)).toBeLessThanOrEqual(366)
    expect(await isRouted('first.test')).toBe(true)
  })

  test('the registrant is stored encrypted, and returned only for a single domain', async () => {
    const registrant = {
      name: 'Ada',
      email: 'ada@example.com',
      address: 'Street 1',
      city: 'London',
      country: 'GB',
      postal_code: 'N1',
      phone: '+44 20 1234567',
    }
    const { id } = await bought('ada.test', { registrant, auto_renew: false, period_years: 3 })
    const { domain } = (await context.request('owner', 'GET', `/v1/domains/${id}`)).body
    expect(domain).toMatchObject({ registrant, registrar: { name: 'local', reference: expect.any(String) }, auto_renew: false })
  })

  test('a removed domain stays with the account, and is added to another project at no further cost', async () => {
    const first = await bought('kept.test')
    expect((await context.request('owner', 'DELETE', `/v1/domains/${first.id}`)).status).toBe(204)
    expect(await isRouted('kept.test')).toBe(false)
    expectError(await buy('kept.test', {}, 'stranger', 'strange'), 402, 'payment_method_required')
    const again = (await buy('kept.test', {}, 'owner', 'blog')).body.domain as Domain
    expect(again).toMatchObject({
      status: 'verified',
      account_owned_domain_id: first.account_owned_domain_id,
      expires_at: first.expires_at,
      project_slug: 'blog',
    })
  })

  test('409 hostname_taken for a name of any owner', async () => {
    await bought('taken.test')
    expectError(await buy('taken.test'), 409, 'hostname_taken')
    const { token } = await context.addPerson('rich@example.com', { plan: 'pro', card: true })
    await context.request({ token }, 'POST', '/v1/projects', { name: 'n', slug: 'rich' })
    const response = await buy('taken.test', {}, { token }, 'rich')
    expectError(response, 409, 'hostname_taken')
    expect(response.text).not.toContain('shop')
  })

  test.each(['shop.com', 'a.b.test', 'test.example', 'x.home.test'])('409 domain_unavailable: %s', async (hostname) => {
    expectError(await buy(hostname), 409, 'domain_unavailable')
  })

  test('409 price_changed when the price differs from the expected one, and nothing is bought', async () => {
    expectError(await buy('dear.test', { expected_price_cents: 100 }), 409, 'price_changed')
    expect((await offers('dear'))[0]).toMatchObject({ available: true })
    await bought('dear.test', { expected_price_cents: 0 })
  })

  test.each([
    ['0x7f.1', 'hostname'],
    ['a.localhost', 'hostname'],
    [`${'a'.repeat(64)}.test`, 'hostname'],
    ['Shop.test', 'hostname'],
  ])('400 %s', async (hostname, fault) => {
    const response = await buy(hostname)
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual([fault])
  })

  test('400 for 0 years, for 11 years, and for a registrant without an address', async () => {
    for (const more of [{ period_years: 0 }, { period_years: 11 }, { registrant: { name: 'A' } }, { more: 1 }])
      expectError(await buy('bad.test', more), 400, 'invalid_input')
  })

  test('402 on starter without a card', async () => {
    expectError(await buy('starter.test', {}, 'stranger', 'strange'), 402, 'payment_method_required')
  })

  test('of two concurrent purchases exactly one succeeds', async () => {
    const answers = await Promise.all([buy('race.test'), buy('race.test', {}, 'owner', 'blog')])
    const statuses = answers.map((one) => one.status).toSorted((a, b) => a - b)
    // The slower request may find the domain already owned by its own account.
    expect(statuses[0]).toBe(201)
    expect(
      ((await context.request('owner', 'GET', '/v1/domains')).body.domains as Domain[]).filter((one) => one.hostname === 'race.test'),
    ).toHaveLength(1)
  })
})

describe('POST transfer', () => {
  test('200 with the transfer code, the same one on repeat; the domain is no longer routed', async () => {
    const { id } = await bought('leaves.test')
    const first = await context.request('owner', 'POST', `/v1/domains/${id}/transfer`)
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({
      domain: { status: 'transfer_requested', transfer_requested_at: expect.any(String) },
      auth_code: expect.stringMatching(/^\S{16,}$/),
    })
    expect((await context.request('owner', 'POST', `/v1/domains/${id}/transfer`)).body).toEqual(first.body)
    expect(await isRouted('leaves.test')).toBe(false)
    const { domain } = (await context.request('owner', 'GET', `/v1/domains/${id}`)).body
    expect(domain).not.toHaveProperty('auth_code')
  })

  test('verify cancels the transfer: the domain is routed again, and the next code is a new one', async () => {
    const { id } = await bought('stays.test')
    const { auth_code } = (await context.request('owner', 'POST', `/v1/domains/${id}/transfer`)).body
    expect((await context.request('owner', 'POST', `/v1/domains/${id}/verify`)).body.domain).toMatchObject({
      status: 'verified',
      transfer_requested_at: null,
    })
    expect(await isRouted('stays.test')).toBe(true)
    expect((await context.request('owner', 'POST', `/v1/domains/${id}/transfer`)).body.auth_code).not.toBe(auth_code)
  })

  test('409 transfer_not_allowed for a domain that was not bought here', async () => {
    const { domain } = (await context.request('owner', 'POST', '/v1/projects/shop/domains', { hostname: 'brought.example.com' })).body as {
      domain: Domain
    }
    expectError(await context.request('owner', 'POST', `/v1/domains/${domain.id}/transfer`), 409, 'transfer_not_allowed')
  })
})

fullTest(
  'the whole lifecycle offline: search, buy, resolve with the instance’s DNS server, open through the edge, renew, transfer',
  async () => {
    const repository = makeRepository(tinyServer('one'))
    const platform = await startTestPlatform({ runtime: 'process' })
    onTestFinished(() => repository.remove())
    await platform.createProject({ slug: 'alive', repo_url: repository.url })
    await platform.waitForEnd('alive', (await platform.deploy('alive')).id)
    const { body: found } = await platform.api<{ results: DomainOffer[] }>('GET', '/v1/domains/search?q=life')
    expect(found.results[0]).toMatchObject({ hostname: 'life.test', available: true, price_cents: 0 })
    const { domain } = (await platform.api<{ domain: Domain }>('POST', at('alive'), { hostname: 'life.test', expected_price_cents: 0 })).body
    expect(await platform.fetchEdge('life.test')).toMatchObject({ status: 200, body: expect.stringContaining('one') })

    // The setting starts the DNS server at once; the doctor reports its address and which resolver to configure.
    await platform.api('PATCH', '/instance/settings', { dns_server: 0 })
    const { checks } = (await platform.api<{ checks: DoctorCheck[] }>('GET', '/instance/doctor')).body
    const check = checks.find(({ name }) => name === 'dns server')
    const port = /127\.0\.0\.1:(\d+)/.exec(check?.message ?? '')?.[1]
    const resolver = new Resolver({ timeout: 5_000 })
    resolver.setServers([`127.0.0.1:${port}`])
    expect(await resolver.resolve4('life.test')).toEqual(['127.0.0.1'])
    await expect(resolver.resolve4('nobody.test')).rejects.toMatchObject({ code: 'EREFUSED' })
    await platform.api('PATCH', '/instance/settings', { dns_server: null })
    await expect(resolver.resolve4('life.test')).rejects.toMatchObject({ code: 'ECONNREFUSED' })

    // Eleven months later it is renewed automatically, soon after the start.
    await platform.handle.stop()
    const { data_dir } = platform
    const again = await startTestPlatform({ runtime: 'process', data_dir, ahead_ms: 340 * 86_400_000 })
    onTestFinished(() => again.remove())
    const now = async () => (await again.api<{ domain: Domain }>('GET', `/v1/domains/${domain.id}`)).body.domain
    const renewed = await until(
      async () => {
        const domainNow = await now()
        return domainNow.expires_at !== domain.expires_at ? domainNow : undefined
      },
      { what: 'the renewal' },
    )
    expect(renewed.expires_at?.slice(0, 4)).toBe(String(Number(domain.expires_at?.slice(0, 4)) + 1))
    expect(renewed.status).toBe('verified')
    expect(await until(async () => ((await again.fetchEdge('life.test')).status === 200 ? true : undefined), { what: 'the app' })).toBe(true)

    const left = await again.api<{ domain: Domain; auth_code: string }>('POST', `/v1/domains/${domain.id}/transfer`)
    expect([left.status, left.body.domain.status]).toEqual([200, 'transfer_requested'])
    expect((await again.fetchEdge('life.test')).status).toBe(404)
  },
  240_000,
)
