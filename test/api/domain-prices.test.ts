import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import type { Domain, DomainOffer } from '../../server/contract/domains.ts'
import { createClient, startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { type FakePorkbun, startFakePorkbun } from '../support/fake-porkbun.ts'

let platform: TestPlatform
const codeOf = ({ status, body }: { status: number; body: unknown }) => [status, (body as { error?: string }).error]
const buy = (hostname: string, more: object = {}) =>
  platform.api<{ domain?: Domain }>('POST', '/v1/projects/shop/domains/purchase', { hostname, ...more })

describe('a registrar that charges', () => {
  let porkbun: FakePorkbun
  beforeAll(async () => {
    porkbun = await startFakePorkbun()
    platform = await startTestPlatform({ runtime: 'process', registrar: porkbun.options })
    await platform.createProject({ slug: 'shop' })
  })
  afterAll(async () => {
    await platform.remove()
    await porkbun.close()
  })

  test('search returns its price', async () => {
    const { body } = await platform.api<{ purchase_enabled: boolean; results: DomainOffer[] }>('GET', '/v1/domains/search?q=harbour.com')
    expect(body.purchase_enabled).toBe(true)
    expect(body.results[0]).toMatchObject({ hostname: 'harbour.com', available: true, price_cents: 973, renewal_price_cents: 1108, currency: 'USD' })
  })

  test('402 without a card, and nothing is bought', async () => {
    await platform.api('PATCH', '/instance/settings', { payment_method: false })
    expect(codeOf(await buy('harbour.com'))).toEqual([402, 'payment_method_required'])
    expect(porkbun.charged).toEqual([])
    await platform.api('PATCH', '/instance/settings', { payment_method: true })
  })

  test('409 when the price differs or the domain is taken; nothing is bought', async () => {
    expect(codeOf(await buy('harbour.com', { expected_price_cents: 500 }))).toEqual([409, 'price_changed'])
    porkbun.taken.add('gone.com')
    expect(codeOf(await buy('gone.com'))).toEqual([409, 'domain_unavailable'])
    expect(porkbun.charged).toEqual([])
  })

  test('502 when the registrar fails, and nothing is left behind', async () => {
    porkbun.next_outcomes.set('domain/create', 'refused')
    expect(codeOf(await buy('harbour.com'))).toEqual([502, 'registrar_error'])
    expect((await platform.api<{ domains: Domain[] }>('GET', '/v1/domains')).body.domains).toEqual([])
  })

  test('201 with a card: charged once, verified, and its DNS record set', async () => {
    const { status, body } = await buy('harbour.com', { expected_price_cents: 973 })
    expect(status).toBe(201)
    expect(body.domain).toMatchObject({ hostname: 'harbour.com', status: 'verified', auto_renew: true })
    expect(porkbun.charged).toEqual([973])
    expect(porkbun.domains.get('harbour.com')?.records).toContainEqual({ type: 'A', content: '127.0.0.1' })
  })
})

fullTest('without a registrar search and purchase are 503, and external domains still work', async () => {
  const off = await startTestPlatform({ runtime: 'process', registrar: { name: 'off' } })
  try {
    const client = createClient(off.handle.instance)
    await client.createProject({ slug: 'shop' })
    expect(codeOf(await client.api('GET', '/v1/domains/search?q=harbour'))).toEqual([503, 'purchase_not_configured'])
    const purchase = await client.api('POST', '/v1/projects/shop/domains/purchase', { hostname: 'harbour.test' })
    expect(codeOf(purchase)).toEqual([503, 'purchase_not_configured'])
    expect((await client.api('GET', '/v1/domains')).body).toMatchObject({ purchase_enabled: false })
    expect((await client.api('POST', '/v1/projects/shop/domains', { hostname: 'harbour.example.com' })).status).toBe(201)
  } finally {
    await off.remove()
  }
})
