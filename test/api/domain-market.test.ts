import { Resolver } from 'node:dns/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Domain, Offer } from '../../server/contract/domains.ts'
import type { Check } from '../../server/contract/instance.ts'
import { startTestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { expectRefusal, faults, startWorld } from './world.ts'
import type { Answer, Who, World } from './world.ts'

let world: World
const at = (slug: string) => `/v1/projects/${slug}/domains/purchase`
const buy = (hostname: string, more: object = {}, who: Parameters<World['ask']>[0] = 'owner', slug = 'shop'): Promise<Answer> =>
  world.ask(who, 'POST', at(slug), { hostname, ...more })
const bought = async (hostname: string, more: object = {}): Promise<Domain> => {
  const answer = await buy(hostname, more)
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
  return answer.body.domain as Domain
}
const offers = async (q: string, who: Who = 'owner') =>
  (await world.ask(who, 'GET', `/v1/domains/search?q=${encodeURIComponent(q)}`)).body.results as Offer[]
const isLed = async (host: string) => (await world.home.edge(host)).body.includes('Not deployed yet')

beforeAll(async () => {
  world = await startWorld()
  await world.home.createProject({ slug: 'shop' })
  await world.home.createProject({ slug: 'blog' })
  await world.ask('stranger', 'POST', '/v1/projects', { name: 'n', slug: 'strange' })
})
afterAll(() => world.close())

describe('GET domains/search', () => {
  test('200 the exact name first, then the same label under the other endings', async () => {
    const answer = await world.ask('owner', 'GET', '/v1/domains/search?q=garden.internal')
    const offer = {
      available: true,
      premium: false,
      price_cents: 0,
      renewal_price_cents: 0,
      currency: 'USD',
      period_years: 1,
      free_with_credit: false,
    }
    expect(answer.body).toEqual({
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

  test('what somebody has is not available, whoever asks', async () => {
    await bought('had.test')
    for (const who of ['owner', 'stranger'] as const) expect((await offers('had', who))[0]).toMatchObject({ hostname: 'had.test', available: false })
  })

  test('400 nothing to look for', async () => {
    for (const q of ['', '...', '!!', '😀', 'a'.repeat(64)]) {
      const answer = await world.ask('owner', 'GET', `/v1/domains/search?q=${encodeURIComponent(q)}`)
      expectRefusal(answer, 400, 'invalid_input')
      expect(faults(answer)).toEqual(['q'])
    }
  })
})

describe('POST domains/purchase', () => {
  test('201 verified and routed at once, with when it ends', async () => {
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
    expect(await isLed('first.test')).toBe(true)
  })

  test('the registrant is kept sealed, and shown with the one domain', async () => {
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
    const { domain } = (await world.ask('owner', 'GET', `/v1/domains/${id}`)).body
    expect(domain).toMatchObject({ registrant, registrar: { name: 'local', reference: expect.any(String) }, auto_renew: false })
  })

  test('taken away it is the account’s still, and goes to another project at no further cost', async () => {
    const first = await bought('kept.test')
    expect((await world.ask('owner', 'DELETE', `/v1/domains/${first.id}`)).status).toBe(204)
    expect(await isLed('kept.test')).toBe(false)
    expectRefusal(await buy('kept.test', {}, 'stranger', 'strange'), 402, 'payment_method_required')
    const again = (await buy('kept.test', {}, 'owner', 'blog')).body.domain as Domain
    expect(again).toMatchObject({
      status: 'verified',
      account_owned_domain_id: first.account_owned_domain_id,
      expires_at: first.expires_at,
      project_slug: 'blog',
    })
  })

  test('409 hostname_taken, by whomever', async () => {
    await bought('taken.test')
    expectRefusal(await buy('taken.test'), 409, 'hostname_taken')
    const { token } = await world.add('rich@example.com', { plan: 'pro', card: true })
    await world.ask({ token }, 'POST', '/v1/projects', { name: 'n', slug: 'rich' })
    const answer = await buy('taken.test', {}, { token }, 'rich')
    expectRefusal(answer, 409, 'hostname_taken')
    expect(answer.text).not.toContain('shop')
  })

  test.each(['shop.com', 'a.b.test', 'test.example', 'x.home.test'])('409 domain_unavailable: %s', async (hostname) => {
    expectRefusal(await buy(hostname), 409, 'domain_unavailable')
  })

  test('409 price_changed: nothing is bought at another price than expected', async () => {
    expectRefusal(await buy('dear.test', { expected_price_cents: 100 }), 409, 'price_changed')
    expect((await offers('dear'))[0]).toMatchObject({ available: true })
    await bought('dear.test', { expected_price_cents: 0 })
  })

  test.each([
    ['0x7f.1', 'hostname'],
    ['a.localhost', 'hostname'],
    [`${'a'.repeat(64)}.test`, 'hostname'],
    ['Shop.test', 'hostname'],
  ])('400 %s', async (hostname, fault) => {
    const answer = await buy(hostname)
    expectRefusal(answer, 400, 'invalid_input')
    expect(faults(answer)).toEqual([fault])
  })

  test('400 a period of no years, of eleven, a registrant without an address', async () => {
    for (const more of [{ period_years: 0 }, { period_years: 11 }, { registrant: { name: 'A' } }, { more: 1 }])
      expectRefusal(await buy('bad.test', more), 400, 'invalid_input')
  })

  test('402 on starter without a card', async () => {
    expectRefusal(await buy('starter.test', {}, 'stranger', 'strange'), 402, 'payment_method_required')
  })

  test('two at once: one has it', async () => {
    const answers = await Promise.all([buy('race.test'), buy('race.test', {}, 'owner', 'blog')])
    const statuses = answers.map((one) => one.status).toSorted((a, b) => a - b)
    // The loser may come late enough to find it owned by its own account.
    expect(statuses[0]).toBe(201)
    expect(((await world.ask('owner', 'GET', '/v1/domains')).body.domains as Domain[]).filter((one) => one.hostname === 'race.test')).toHaveLength(1)
  })
})

describe('POST transfer', () => {
  test('200 with the code, the same one when asked twice; it routes no more', async () => {
    const { id } = await bought('leaves.test')
    const first = await world.ask('owner', 'POST', `/v1/domains/${id}/transfer`)
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({
      domain: { status: 'transfer_requested', transfer_requested_at: expect.any(String) },
      auth_code: expect.stringMatching(/^\S{16,}$/),
    })
    expect((await world.ask('owner', 'POST', `/v1/domains/${id}/transfer`)).body).toEqual(first.body)
    expect(await isLed('leaves.test')).toBe(false)
    const { domain } = (await world.ask('owner', 'GET', `/v1/domains/${id}`)).body
    expect(domain).not.toHaveProperty('auth_code')
  })

  test('verify takes it back: it routes again, and the code is another one from then on', async () => {
    const { id } = await bought('stays.test')
    const { auth_code } = (await world.ask('owner', 'POST', `/v1/domains/${id}/transfer`)).body
    expect((await world.ask('owner', 'POST', `/v1/domains/${id}/verify`)).body.domain).toMatchObject({
      status: 'verified',
      transfer_requested_at: null,
    })
    expect(await isLed('stays.test')).toBe(true)
    expect((await world.ask('owner', 'POST', `/v1/domains/${id}/transfer`)).body.auth_code).not.toBe(auth_code)
  })

  test('409 transfer_not_allowed for a name that was brought along', async () => {
    const { domain } = (await world.ask('owner', 'POST', '/v1/projects/shop/domains', { hostname: 'brought.example.com' })).body as { domain: Domain }
    expectRefusal(await world.ask('owner', 'POST', `/v1/domains/${domain.id}/transfer`), 409, 'transfer_not_allowed')
  })
})

test('a whole life with no network: search, buy, open by the own DNS server and the edge, renew, transfer', async () => {
  const repository = makeRepository(tinyServer('one'))
  const home = await startTestPlatform({ runtime: 'process' })
  onTestFinished(() => repository.remove())
  await home.createProject({ slug: 'alive', repo_url: repository.url })
  await home.ended('alive', (await home.deploy('alive')).id)
  const { body: found } = await home.api<{ results: Offer[] }>('GET', '/v1/domains/search?q=life')
  expect(found.results[0]).toMatchObject({ hostname: 'life.test', available: true, price_cents: 0 })
  const { domain } = (await home.api<{ domain: Domain }>('POST', at('alive'), { hostname: 'life.test', expected_price_cents: 0 })).body
  expect(await home.edge('life.test')).toMatchObject({ status: 200, body: expect.stringContaining('one') })

  // The setting opens the DNS server at once; the doctor says where it is and who has to be told.
  await home.api('PATCH', '/instance/settings', { dns_server: 0 })
  const { checks } = (await home.api<{ checks: Check[] }>('GET', '/instance/doctor')).body
  const check = checks.find(({ name }) => name === 'dns server')
  const port = /127\.0\.0\.1:(\d+)/.exec(check?.message ?? '')?.[1]
  const resolver = new Resolver({ timeout: 5_000 })
  resolver.setServers([`127.0.0.1:${port}`])
  expect(await resolver.resolve4('life.test')).toEqual(['127.0.0.1'])
  await expect(resolver.resolve4('nobody.test')).rejects.toMatchObject({ code: 'EREFUSED' })
  await home.api('PATCH', '/instance/settings', { dns_server: null })
  await expect(resolver.resolve4('life.test')).rejects.toMatchObject({ code: 'ECONNREFUSED' })

  // Eleven months later it is renewed by itself, soon after the start.
  await home.platform.stop()
  const { data_dir } = home
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
  expect(await until(async () => ((await again.edge('life.test')).status === 200 ? true : undefined), { what: 'the app' })).toBe(true)

  const left = await again.api<{ domain: Domain; auth_code: string }>('POST', `/v1/domains/${domain.id}/transfer`)
  expect([left.status, left.body.domain.status]).toEqual([200, 'transfer_requested'])
  expect((await again.edge('life.test')).status).toBe(404)
}, 240_000)
