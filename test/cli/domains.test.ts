import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandLine, commandLine } from '../support/command.ts'
import { type FakeDns, startFakeDns } from '../support/fake-dns.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
let run: CommandLine
let dns: FakeDns

beforeAll(async () => {
  dns = await startFakeDns()
  platform = await startTestPlatform({ runtime: 'process' })
  run = commandLine(platform.handle.instance, '.')
  await platform.createProject({ slug: 'shop' })
})
afterAll(async () => {
  await platform.remove()
  await dns.close()
})

test('a list of resolvers is comma-separated', async () => {
  expect((await run('settings', 'set', 'dns_resolvers', `${dns.address},${dns.address}`)).out).toContain(
    `dns_resolvers is now ${dns.address},${dns.address}.`,
  )
  expect((await run('settings', 'set', 'dns_resolvers', dns.address)).code).toBe(0)
  expect(await run('settings', 'set', 'dns_resolvers', 'dns.example.com')).toMatchObject({ code: 1, err: expect.stringContaining('invalid_input') })
})

test('a domain is added, verified once its record exists, listed and removed', async () => {
  expect((await run('domains')).out).toContain('No domains yet.')
  const added = await run('domains', 'add', 'shop', 'www.example.com')
  expect(added).toMatchObject({ code: 0, out: expect.stringContaining('www.example.com.  A  127.0.0.1') })

  const early = await run('domains', 'verify', 'www.example.com')
  expect(early.code).toBe(1)
  expect(early.out).toMatch(/wrong +A +expected 127\.0\.0\.1, found nothing\n +www\.example\.com does not exist in DNS\./)
  expect((await run('domains', 'list', 'shop')).out).toMatch(/www\.example\.com +shop +Not pointing here +www\.example\.com does not exist in DNS/)

  dns.zone = { 'www.example.com': { A: ['127.0.0.1'] } }
  const verified = await run('domains', 'verify', 'www.example.com')
  expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('www.example.com is verified and points to shop.') })
  expect((await run('domains')).out).toMatch(/www\.example\.com +shop +Verified\n/)
  expect((await platform.fetchEdge('www.example.com')).body).toContain('Not deployed yet')
  expect(await run.json('domains')).toMatchObject({
    platform_ip: '127.0.0.1',
    domains: [{ hostname: 'www.example.com', status: 'verified' }],
  })

  expect((await run('domains', 'remove', 'www.example.com')).out).toContain('It no longer gets traffic.')
  expect((await platform.fetchEdge('www.example.com')).body).not.toContain('Not deployed yet')
})

test('usage errors and refusals', async () => {
  expect(await run('domains', 'fold')).toMatchObject({ code: 2, err: expect.stringContaining('Use list, add, verify, remove') })
  expect(await run('domains', 'add', 'shop')).toMatchObject({ code: 2, err: expect.stringContaining('HOST is missing') })
  // An unknown domain is refused as by the API: code, message, request id.
  expect(await run('domains', 'verify', 'nowhere.example.com')).toMatchObject({ code: 1, err: expect.stringMatching(/^domain_not_found: [^]*req_/) })
  expect(await run('domains', 'add', 'shop', '127.1')).toMatchObject({ code: 1, err: expect.stringContaining('IP address') })
})

test('domains search, buy and transfer, offline', async () => {
  expect((await run('domains', 'search', 'garden')).out).toMatch(/garden\.test +available +0\.00 USD a year/)
  expect(await run('domains', 'buy', 'shop', 'garden.test')).toMatchObject({
    code: 0,
    out: expect.stringContaining('Bought garden.test for shop.'),
  })
  expect((await run('domains', 'search', 'garden')).out).toMatch(/garden\.test +not available/)
  expect(await run('domains', 'transfer', 'garden.test')).toMatchObject({ code: 0, out: expect.stringMatching(/\n\S{16,}/) })
})
