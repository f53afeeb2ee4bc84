import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDomainChecker, type DomainChecker, type DomainCheckResult } from '../../server/dns/domain-checker.ts'
import { type FakeDns, startFakeDns } from '../support/fake-dns.ts'
import { createTestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

/* The system resolver against a server over UDP: results are distinguished and described in plain words. */

let dns: FakeDns
let asking: DomainChecker
const clock = createTestClock({ frozen_at: '2026-01-31T12:00:00Z' })
const ip = '203.0.113.7'
const name = 'blog.example.com'

beforeAll(async () => {
  dns = await startFakeDns()
  // The clock is frozen, so that a stalled machine does not look like a silent DNS.
  asking = createDomainChecker({ resolvers: () => [dns.address], clock, timeout_ms: 60_000, hasNetwork: () => true })
})
afterAll(() => dns.close())

async function examine(zone: FakeDns['zone'], platform_ip = ip): Promise<DomainCheckResult & { A: DomainCheckResult['checks'][number] }> {
  dns.zone = zone
  const seen = await asking.check(name, platform_ip)
  const [first] = seen.checks
  if (!first) throw new Error('there is no check')
  expect(first).toMatchObject({ type: 'A', name, expected: platform_ip, ok: seen.outcome === 'valid' })
  expect(seen.error === null).toBe(seen.outcome === 'valid')
  return { ...seen, A: first }
}

describe('points to this instance', () => {
  test('an A record with the platform’s address', async () => {
    const { outcome, checks } = await examine({ [name]: { A: [ip] } })
    expect([outcome, checks.length]).toEqual(['valid', 1])
    expect(checks[0]?.found).toEqual([ip])
  })

  test('a CNAME of a name that points to this instance', async () => {
    const { outcome, checks } = await examine({ [name]: { CNAME: 'home.example.net' }, 'home.example.net': { A: [ip] } })
    expect(outcome).toBe('valid')
    expect(checks[1]).toMatchObject({ type: 'CNAME', found: ['home.example.net'], ok: true })
  })

  test('an additional AAAA record is reported, but does not matter', async () => {
    const { outcome, checks } = await examine({ [name]: { A: [ip], AAAA: ['2001:db8::1'] } })
    expect(outcome).toBe('valid')
    expect(checks[1]).toMatchObject({ type: 'AAAA', expected: 'none', found: ['2001:db8::1'], ok: false })
    expect(checks[1]?.message).toContain('IPv6')
  })

  test('on loopback ::1 counts too', async () => {
    const { checks } = await examine({ [name]: { A: ['127.0.0.1'], AAAA: ['::1'] } }, '127.0.0.1')
    expect(checks.map((one) => one.ok)).toEqual([true, true])
  })
})

describe('points elsewhere', () => {
  test('a name that does not exist', async () => {
    const { outcome, error, A } = await examine({})
    expect([outcome, A.found]).toEqual(['misconfigured', []])
    expect(error).toContain(`${name} does not exist in DNS. Set an A record for ${name} to ${ip}`)
  })

  test('a name without an A record', async () => {
    const { outcome, error } = await examine({ [name]: {} })
    expect(outcome).toBe('misconfigured')
    expect(error).toContain('exists in DNS but has no A record.')
  })

  test('only an IPv6 address', async () => {
    const { outcome, error, checks } = await examine({ [name]: { AAAA: ['2001:db8::1'] } })
    expect(outcome).toBe('misconfigured')
    expect(error).toContain('has only an IPv6 address (AAAA 2001:db8::1)')
    expect(checks.map((one) => one.type)).toEqual(['A', 'AAAA'])
  })

  test('another address, with the TTL of the old one', async () => {
    const { outcome, error, A } = await examine({ [name]: { A: ['198.51.100.4'], ttl: 3600 } })
    expect([outcome, A.found]).toEqual(['misconfigured', ['198.51.100.4']])
    expect(error).toContain('points to 198.51.100.4. Change the A record to 203.0.113.7.')
    expect(error).toContain('60 more minutes')
  })

  test('this address and another one', async () => {
    const { outcome, error } = await examine({ [name]: { A: [ip, '198.51.100.4'] } })
    expect(outcome).toBe('misconfigured')
    expect(error).toContain('points to this instance and also to 198.51.100.4')
  })

  test('a CNAME of another name', async () => {
    const { error, checks } = await examine({ [name]: { CNAME: 'shops.example.net' }, 'shops.example.net': { A: ['198.51.100.4'] } })
    expect(error).toContain('as an alias (CNAME) of shops.example.net. Remove the CNAME record and set an A record')
    expect(checks[1]).toMatchObject({ type: 'CNAME', found: ['shops.example.net'], ok: false })
  })

  test('a CNAME without a target', async () => {
    const { outcome, error } = await examine({ [name]: { CNAME: 'gone.example.net' } })
    expect(outcome).toBe('misconfigured')
    expect(error).toContain('an alias (CNAME) of gone.example.net, which does not exist in DNS')
  })

  test.each([
    ['104.21.3.4', 'Cloudflare’s proxy', 'turn off the proxy'],
    ['185.199.109.153', 'GitHub Pages', 'Change the A record'],
    ['192.168.1.9', 'a private network', 'Change the A record'],
    ['127.0.1.1', 'each visitor’s own machine', 'Change the A record'],
  ])('%s is %s', async (address, range, what) => {
    const { outcome, error } = await examine({ [name]: { A: [address] } })
    expect(outcome).toBe('misconfigured')
    expect(error).toContain(`${address} (${range})`)
    expect(error).toContain(what)
  })
})

describe('unknown', () => {
  test('name servers that fail', async () => {
    const { outcome, error } = await examine({ [name]: 'SERVFAIL' })
    expect(outcome).toBe('unknown')
    expect(error).toContain('SERVFAIL')
  })

  test('a resolver that refuses', async () => {
    const { outcome, error } = await examine({ [name]: 'REFUSED' })
    expect(outcome).toBe('unknown')
    expect(error).toContain('refuses to answer')
  })

  test('a timeout names the resolver', async () => {
    dns.zone = { [name]: 'silent' }
    dns.queries.length = 0
    const answer = asking.check(name, ip)
    await until(() => dns.queries.length >= 3 || undefined, { what: 'the queries' })
    await clock.advance(60_000)
    const { outcome, error } = await answer
    expect(outcome).toBe('unknown')
    expect(error).toContain(`no answer from ${dns.address}`)
  })

  test('a missing internet connection is named as such', async () => {
    const closed = await startFakeDns()
    await closed.close()
    const offline = createDomainChecker({ resolvers: () => [closed.address], clock, timeout_ms: 60_000, hasNetwork: () => false })
    expect(await offline.check(name, ip)).toMatchObject({ outcome: 'unknown', error: expect.stringContaining('this machine is offline') })
  })
})

test('every check queries again, so that a fix is seen at once', async () => {
  dns.zone = { [name]: { A: ['198.51.100.4'], ttl: 86_400 } }
  expect((await asking.check(name, ip)).outcome).toBe('misconfigured')
  dns.zone = { [name]: { A: [ip] } }
  expect((await asking.check(name, ip)).outcome).toBe('valid')
})
