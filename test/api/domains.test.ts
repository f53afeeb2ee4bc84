import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Domain, DomainCheck } from '../../server/contract/domains.ts'
import { type FakeDns, startFakeDns } from '../support/fake-dns.ts'
import { openTlsSocket } from '../support/tls.ts'
import { expectError, issuePaths, createApiContext, type Caller, type ApiContext } from './api-context.ts'

let context: ApiContext
let dns: FakeDns
/** Another account, on a plan with custom domains. */
let neighbour: { token: string }
const ip = '127.0.0.1'
const at = (slug: string) => `/v1/projects/${slug}/domains`

beforeAll(async () => {
  context = await createApiContext()
  dns = await startFakeDns()
  await context.request('instance_owner', 'PATCH', '/instance/settings', { dns_resolvers: [dns.address] })
  await context.platform.createProject({ slug: 'shop' })
  await context.platform.createProject({ slug: 'blog' })
  neighbour = await context.addPerson('neighbour@example.com', { plan: 'basic' })
  await context.request(neighbour, 'POST', '/v1/projects', { name: 'n', slug: 'strange' })
})
afterAll(async () => {
  await context.request('instance_owner', 'PATCH', '/instance/settings', { dns_resolvers: null })
  await context.close()
  await dns.close()
})
beforeEach(() => {
  dns.zone = {}
})

async function add(host: string, slug = 'shop', who: Parameters<ApiContext['request']>[0] = 'owner'): Promise<Domain> {
  const response = await context.request(who, 'POST', at(slug), { hostname: host })
  expect(response.status).toBe(201)
  return response.body.domain as Domain
}
async function verify(id: string, who: Caller = 'owner'): Promise<{ domain: Domain; checks: DomainCheck[] }> {
  const response = await context.request(who, 'POST', `/v1/domains/${id}/verify`)
  expect(response.status).toBe(200)
  return response.body as unknown as { domain: Domain; checks: DomainCheck[] }
}
/** Whether the edge has a route for the hostname. The project behind it is not deployed. */
const isRouted = async (host: string) => (await context.platform.fetchEdge(host)).body.includes('Not deployed yet')

describe('POST domains of a project', () => {
  test('201 pending, with every field of the contract; not routed yet', async () => {
    const response = await context.request('owner', 'POST', at('shop'), { hostname: 'www.example.com' })
    expect(response.status).toBe(201)
    const project = await context.platform.getProject('shop')
    expect(response.body).toEqual({
      domain: {
        id: expect.stringMatching(/^dom_/),
        hostname: 'www.example.com',
        status: 'pending',
        verified_at: null,
        last_check_at: null,
        last_check_error: null,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/),
        account_owned_domain_id: null,
        expires_at: null,
        auto_renew: null,
        transfer_requested_at: null,
        project_id: project.id,
        project_slug: 'shop',
        project_name: 'shop',
        certificate: null,
      },
    })
    expect(await isRouted('www.example.com')).toBe(false)
  })

  test.each([
    ['1.2.3.4', 'IP address'],
    ['127.1', 'IP address'],
    ['0x7f.1', 'IP address'],
    ['shop.0x7f000001', 'IP address'],
    ['shop.2130706433', 'IP address'],
    ['shop.localhost', 'under localhost'],
    ['a.b.localhost', 'under localhost'],
    [`${'a'.repeat(64)}.example.com`, 'at most 63'],
    ['xn--a.example.com', 'not valid Punycode'],
    [`${hostname().split('.')[0]?.toLowerCase()}.local`, 'of the instance itself'],
  ])('400 for %s, although the pattern allows it', async (host, why) => {
    const response = await context.request('owner', 'POST', at('shop'), { hostname: host })
    expectError(response, 400, 'invalid_input')
    expect(response.body.issues).toEqual([{ path: 'hostname', message: expect.stringContaining(why) }])
  })

  test.each([
    'localhost',
    '2130706433',
    'Shop.example.com',
    '-a.example.com',
    'a..com',
    'a.com.',
    'a_b.com',
    'ab',
    `${'a.'.repeat(130)}com`,
    '',
    7,
    null,
  ])('400 for %s, which the pattern refuses', async (host) => {
    const response = await context.request('owner', 'POST', at('shop'), { hostname: host })
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual(['hostname'])
  })

  test('accepts hostnames that only resemble refused ones', async () => {
    for (const host of ['a.b', 'xn--bcher-kva.example', '1.example.com', '0x7f.com', 'localhost.example.com'])
      expect((await add(host)).hostname).toBe(host)
  })

  test('409 hostname_taken within the account and across accounts, without naming the owner', async () => {
    await add('taken.example.com')
    const own = await context.request('owner', 'POST', at('blog'), { hostname: 'taken.example.com' })
    expectError(own, 409, 'hostname_taken')
    expect(own.body.message).toContain('project shop')
    const other = await context.request(neighbour, 'POST', at('strange'), { hostname: 'taken.example.com' })
    expectError(other, 409, 'hostname_taken')
    expect(other.text).not.toContain('shop')
  })

  test('of twenty concurrent requests exactly one succeeds', async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) => context.request('owner', 'POST', at(i % 2 ? 'shop' : 'blog'), { hostname: 'race.example.com' })),
    )
    expect(all.map((one) => String(one.status)).toSorted()).toEqual(['201', ...Array.from({ length: 19 }, () => '409')])
  })

  test('402 on starter without a card, after 400 and before 409; accepted with a card', async () => {
    const poor = await context.addPerson('poor@example.com', { plan: 'starter' })
    await context.request(poor, 'POST', '/v1/projects', { name: 'n', slug: 'poor' })
    expectError(await context.request(poor, 'POST', at('poor'), { hostname: 'poor.example.com' }), 402, 'payment_method_required')
    expectError(await context.request(poor, 'POST', at('poor'), { hostname: 'poor.localhost' }), 400, 'invalid_input')
    await add('rich.example.com')
    expectError(await context.request(poor, 'POST', at('poor'), { hostname: 'rich.example.com' }), 402, 'payment_method_required')
    const carded = await context.addPerson('carded@example.com', { plan: 'starter', card: true })
    await context.request(carded, 'POST', '/v1/projects', { name: 'n', slug: 'carded' })
    expect((await context.request(carded, 'POST', at('carded'), { hostname: 'carded.example.com' })).status).toBe(201)
  })
})

describe('GET domains', () => {
  test('200 for one project, and for everything visible to the caller, newest first', async () => {
    await context.platform.createProject({ slug: 'lists' })
    const one = await add('one.example.net', 'lists')
    const two = await add('two.example.net', 'lists')
    const theirs = await add('theirs.example.net', 'strange', neighbour)
    const list = (await context.request('owner', 'GET', at('lists'))).body
    expect(list).toEqual({ platform_ip: ip, purchase_enabled: expect.any(Boolean), domains: [two, one] })
    for (const who of ['owner', 'member'] as const) {
      const { domains } = (await context.request(who, 'GET', '/v1/domains')).body as { domains: Domain[] }
      expect(domains.slice(0, 2)).toEqual([two, one])
      expect(domains.map(({ id }) => id)).not.toContain(theirs.id)
    }
    expect((await context.request(neighbour, 'GET', '/v1/domains')).body).toMatchObject({ domains: [theirs] })
  })

  test('200 for a single domain, with registrar and registrant', async () => {
    const domain = await add('single.example.net')
    const response = await context.request('owner', 'GET', `/v1/domains/${domain.id}`)
    expect(response.body).toEqual({ platform_ip: ip, domain: { ...domain, registrar: null, registrant: null } })
    expect((await context.request('owner', 'GET', `/domains/${domain.id}`)).headers.get('deprecation')).toBe('true')
  })

  test('404 for another account’s domain, byte for byte the same as for an unknown one', async () => {
    const { id } = await add('hidden.example.net')
    for (const [method, path] of [
      ['GET', '/v1/domains/ID'],
      ['POST', '/v1/domains/ID/verify'],
      ['DELETE', '/v1/domains/ID'],
    ] as const) {
      const answers = await Promise.all(
        [id, 'dom_00000000000000000000000000'].map((one) => context.request('stranger', method, path.replace('ID', one))),
      )
      for (const response of answers) expectError(response, 404, 'domain_not_found')
      const [hidden, missing] = answers.map((one) => one.text.replace(one.headers.get('x-request-id') ?? '', ''))
      expect(hidden).toBe(missing)
    }
    expect((await context.request('owner', 'GET', `/v1/domains/${id}`)).status).toBe(200)
  })

  test('platform_ip is the value of the setting, if there is one', async () => {
    await context.request('instance_owner', 'PATCH', '/instance/settings', { platform_ip: '203.0.113.7' })
    expect((await context.request('owner', 'GET', '/v1/domains')).body.platform_ip).toBe('203.0.113.7')
    await context.request('instance_owner', 'PATCH', '/instance/settings', { platform_ip: null })
    expect((await context.request('owner', 'GET', '/v1/domains')).body.platform_ip).toBe(ip)
  })

  test.each([['1.1.1'], ['dns.example.com'], ['1.1.1.1:0'], ['1.1.1.1:70000'], ['[1.1.1.1]:53'], []])(
    '400 for an invalid resolver: %s',
    async (...list) => {
      expectError(
        await context.request('instance_owner', 'PATCH', '/instance/settings', { dns_resolvers: list.filter((one) => typeof one === 'string') }),
        400,
        'invalid_input',
      )
    },
  )
})

describe('POST verify', () => {
  test('200 verified when the A record points here: routed at once, over HTTP and in the list of local names', async () => {
    const { id } = await add('good.example.com')
    dns.zone = { 'good.example.com': { A: [ip] } }
    const { domain, checks } = await verify(id)
    expect(domain).toMatchObject({
      id,
      status: 'verified',
      last_check_error: null,
      verified_at: expect.any(String),
      last_check_at: domain.verified_at,
    })
    expect(checks).toEqual([
      { type: 'A', name: 'good.example.com', expected: ip, found: [ip], ok: true, message: 'good.example.com points to this instance.' },
    ])
    expect(await isRouted('good.example.com')).toBe(true)
    expect((await context.request('owner', 'GET', `/v1/domains/${id}`)).body.domain).toMatchObject(domain)
    expect((await verify(id)).domain.verified_at).toBe(domain.verified_at)
  })

  test('HTTPS presents a certificate for it while it is verified', async () => {
    const port = Number(new URL(context.platform.handle.instance.edge_https_url ?? '').port)
    await context.request('instance_owner', 'POST', '/instance/https/trust')
    const authority = new X509Certificate(readFileSync(join(context.platform.data_dir, 'authority.crt')))
    const servername = 'safe.example.com'
    const ask = async () => {
      const socket = await openTlsSocket(port, { servername })
      const certificate = socket.getPeerX509Certificate()
      // Without its dates, because the clock of the shared platform may be ahead of this process.
      expect([certificate?.checkHost(servername), certificate?.verify(authority.publicKey)]).toEqual([servername, true])
      socket.write(`GET / HTTP/1.1\r\nhost: ${servername}:${port}\r\nconnection: close\r\n\r\n`)
      return (await socket.setEncoding('utf8').toArray()).join('')
    }
    const { id } = await add('safe.example.com')
    await expect(ask()).rejects.toThrow()
    dns.zone = { 'safe.example.com': { A: [ip] } }
    await verify(id)
    expect(await ask()).toContain('Not deployed yet')
    await context.request('owner', 'DELETE', `/v1/domains/${id}`)
    await expect(ask()).rejects.toThrow()
  })

  test('200 failed with the reason when it points elsewhere; fixed, it is verified; pointed away again, it is no longer routed', async () => {
    const { id } = await add('moves.example.com', 'blog')
    const missing = await verify(id)
    expect(missing.domain).toMatchObject({
      status: 'failed',
      verified_at: null,
      last_check_error: expect.stringContaining('moves.example.com does not exist in DNS'),
    })
    expect(missing.checks[0]).toMatchObject({ type: 'A', expected: ip, found: [], ok: false })

    dns.zone = { 'moves.example.com': { A: [ip] } }
    expect((await verify(id)).domain.status).toBe('verified')
    expect(await isRouted('moves.example.com')).toBe(true)

    dns.zone = { 'moves.example.com': { A: ['198.51.100.4'] } }
    const away = await verify(id)
    expect(away.domain).toMatchObject({ status: 'failed', verified_at: null, last_check_error: expect.stringContaining('198.51.100.4') })
    expect(await isRouted('moves.example.com')).toBe(false)
  })

  test('a DNS failure decides nothing: a verified domain stays verified, a pending one does not become verified', async () => {
    const [known, fresh] = [await add('known.example.com'), await add('fresh.example.com')]
    dns.zone = { 'known.example.com': { A: [ip] } }
    await verify(known.id)
    dns.zone = { 'known.example.com': 'SERVFAIL', 'fresh.example.com': 'SERVFAIL' }
    const after = await verify(known.id)
    expect(after.domain).toMatchObject({ status: 'verified', last_check_error: expect.stringContaining('SERVFAIL') })
    expect(after.checks[0]?.ok).toBe(false)
    expect(await isRouted('known.example.com')).toBe(true)
    expect((await verify(fresh.id)).domain).toMatchObject({ status: 'failed', last_check_error: expect.stringContaining('SERVFAIL') })
  })

  test('concurrent checks of one domain share DNS lookups', async () => {
    const { id } = await add('once.example.com')
    dns.zone = { 'once.example.com': { A: [ip] } }
    const all = await Promise.all(Array.from({ length: 10 }, () => verify(id, 'member')))
    expect(new Set(all.map((one) => one.domain.status))).toEqual(new Set(['verified']))
    expect(dns.queries.filter((one) => one === 'A once.example.com').length).toBeLessThan(10)
  })

  test('hostile text in DNS records is reported as text', async () => {
    const { id } = await add('odd.example.com')
    dns.zone = { 'odd.example.com': { CNAME: '<script>alert(1)</script>.example.net' } }
    expect((await verify(id)).domain.last_check_error).toContain('<script>')
  })
})

describe('a domain that was bought here', () => {
  test('is verified by ownership, with its subdomains; other accounts cannot claim it, and only its owner can remove it', async () => {
    const bought = await context.request('owner', 'POST', `${at('shop')}/purchase`, { hostname: 'mine.test' })
    expect(bought.status).toBe(201)
    const { id } = bought.body.domain as Domain
    expect(await isRouted('mine.test')).toBe(true)
    const single = (await context.request('member', 'GET', `/v1/domains/${id}`)).body.domain
    expect(single).toMatchObject({ status: 'verified', registrar: { name: 'local', reference: expect.any(String) }, registrant: null })

    for (const host of ['mine.test', 'www.mine.test'])
      expectError(await context.request(neighbour, 'POST', at('strange'), { hostname: host }), 409, 'hostname_taken')
    const below = await add('www.mine.test', 'blog')
    expect([below.status, below.account_owned_domain_id]).toEqual(['pending', null])
    expect((await verify(below.id)).domain.status).toBe('verified')
    expect(dns.queries.filter((one) => one.endsWith('mine.test'))).toEqual([])

    expectError(await context.request('member', 'DELETE', `/v1/domains/${id}`), 403, 'forbidden')
    expect((await context.request('owner', 'DELETE', `/v1/domains/${id}`)).status).toBe(204)
    expect(await isRouted('mine.test')).toBe(false)
    const again = await add('mine.test', 'blog')
    expect(again).toMatchObject({ status: 'pending', account_owned_domain_id: expect.any(String), auto_renew: true })
    expect((await verify(again.id)).domain.status).toBe('verified')
  })
})

describe('DELETE', () => {
  test('204: no longer routed, and available to other accounts', async () => {
    const { id } = await add('leaves.example.com')
    dns.zone = { 'leaves.example.com': { A: [ip] } }
    await verify(id)
    expect(await isRouted('leaves.example.com')).toBe(true)
    expect((await context.request('owner', 'DELETE', `/v1/domains/${id}`)).status).toBe(204)
    expect(await isRouted('leaves.example.com')).toBe(false)
    expectError(await context.request('owner', 'DELETE', `/v1/domains/${id}`), 404, 'domain_not_found')
    expect((await add('leaves.example.com', 'strange', neighbour)).status).toBe('pending')
  })

  test('deleting its project removes a domain and makes it available to other accounts', async () => {
    await context.platform.createProject({ slug: 'short' })
    const { id } = await add('short.example.com', 'short')
    dns.zone = { 'short.example.com': { A: [ip] } }
    await verify(id)
    await context.request('owner', 'DELETE', '/v1/projects/short')
    expect(await isRouted('short.example.com')).toBe(false)
    expectError(await context.request('owner', 'GET', `/v1/domains/${id}`), 404, 'domain_not_found')
    await add('short.example.com', 'strange', neighbour)
  })
})
