import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Domain } from '../../server/contract/domains.ts'
import type { DoctorCheck } from '../../server/contract/instance.ts'
import type { PublicNames } from '../../server/contract/network.ts'
import { findFreePort } from '../../server/lib/free-port.ts'
import { startPebble, type Pebble } from '../support/pebble.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository, tinyServer } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { getHttps, openTlsSocket } from '../support/tls.ts'
import { isFullTier } from '../support/tier.ts'

const hasPebble = requires('pebble').ok
const day_ms = 24 * 3_600_000

async function startPublicPlatform(
  pebble: Pebble,
  options: { edge_port: number; edge_workers?: number; data_dir?: string },
  environment: Record<string, string> = {},
): Promise<TestPlatform> {
  vi.stubEnv('NODE_EXTRA_CA_CERTS', pebble.ca_file)
  vi.stubEnv('HOMEPORT_APPS_DOMAIN', 'apps.example.com')
  vi.stubEnv('HOMEPORT_ACME_EMAIL', 'ops@example.com')
  vi.stubEnv('HOMEPORT_ACME_ACCEPT_TERMS', 'true')
  vi.stubEnv('HOMEPORT_ACME_DIRECTORY', pebble.directory)
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  try {
    return await startTestPlatform({ runtime: 'process', ...options })
  } finally {
    vi.unstubAllEnvs()
  }
}

const httpsPortOf = (platform: TestPlatform) => Number(new URL(platform.handle.instance.edge_https_url ?? '').port)
const readNames = async (platform: TestPlatform) =>
  (await platform.api<{ public_names: PublicNames }>('GET', '/instance/public-names')).body.public_names
const readCertificate = async (platform: TestPlatform, name: string) => (await readNames(platform)).certificates.find((one) => one.name === name)

async function deploy(platform: TestPlatform, slug: string) {
  const deployment = await platform.waitForEnd(slug, (await platform.deploy(slug)).id)
  expect(deployment.status).toBe('ready')
  return deployment
}

/** The serial number of the certificate that the edge shows for a name. */
async function readSerial(platform: TestPlatform, name: string, ca: string): Promise<string> {
  const socket = await openTlsSocket(httpsPortOf(platform), { ca, servername: name })
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}

describe.runIf(hasPebble)('public names', () => {
  let pebble: Pebble
  let root: string
  let platform: TestPlatform
  let repository: Repository
  let edge_port: number

  beforeAll(async () => {
    edge_port = await findFreePort()
    pebble = await startPebble({ http_port: edge_port })
    root = await pebble.fetchRoot()
    platform = await startPublicPlatform(pebble, { edge_port })
    repository = makeRepository(tinyServer('public'))
    for (const slug of ['shop', 'broken', 'idle']) await platform.createProject({ slug, repo_url: repository.url })
  })
  afterAll(async () => {
    repository.remove()
    await platform.remove()
    await pebble.stop()
  })

  const getPublic = (name: string) => getHttps(httpsPortOf(platform), '/', { ca: root, servername: name })
  const findCheck = async () => {
    const { body } = await platform.api<{ checks: DoctorCheck[] }>('GET', '/instance/doctor?quick=true')
    return body.checks.find(({ name }) => name === 'public names')
  }

  test('a project gets a certificate when it is deployed, and answers with it', async () => {
    expect((await deploy(platform, 'shop')).url).toBe(`https://shop.apps.example.com:${httpsPortOf(platform)}`)
    expect(await until(() => getPublic('shop.apps.example.com'), { what: 'the certificate' })).toMatchObject({ status: 200, text: 'public' })
    for (const host of ['shop.apps.example.com', 'shop.localhost'])
      expect(await platform.fetchEdge(host)).toMatchObject({ status: 200, body: 'public' })
    expect(await readNames(platform)).toMatchObject({
      apps_domain: 'apps.example.com',
      apps_url: `https://apps.example.com:${httpsPortOf(platform)}`,
      challenge: 'http-01',
      certificates: [{ name: 'shop.apps.example.com', status: 'issued', last_error: null }],
    })
    expect(await findCheck()).toMatchObject({ status: 'ok', help: 'public-names' })
    // Names of this machine keep the certificate of the instance's own authority.
    await expect(getPublic('shop.localhost')).rejects.toThrow(/certificate/)
  })

  test('after the order, the app gets the path of challenges again', async () => {
    expect(await platform.fetchEdge('shop.apps.example.com', '/.well-known/acme-challenge/anything')).toMatchObject({ status: 200, body: 'public' })
  })

  test('an unknown name orders nothing', async () => {
    for (const servername of ['unknown.apps.example.com', 'www.unknown.org', 'a.shop.apps.example.com'])
      await expect(openTlsSocket(httpsPortOf(platform), { servername })).rejects.toThrow()
    expect((await readNames(platform)).certificates.map(({ name }) => name)).toEqual(['shop.apps.example.com'])
    expect(pebble.log.join('\n')).not.toMatch(/unknown/)
  })

  test('a project that is not deployed gets its certificate with its first visitor', async () => {
    expect(await readCertificate(platform, 'idle.apps.example.com')).toBeUndefined()
    // The first one sees the certificate of the instance's own authority.
    await expect(getPublic('idle.apps.example.com')).rejects.toThrow(/certificate/)
    await until(() => getPublic('idle.apps.example.com'), { what: 'the certificate' })
  })

  test('a name that fails is tried again later, and the reason is shown', async () => {
    const name = 'broken.apps.example.com'
    await pebble.changeDns('set-servfail', { host: `${name}.` })
    await deploy(platform, 'broken')
    const failed = await until(async () => ((await readCertificate(platform, name))?.last_error ? readCertificate(platform, name) : undefined), {
      what: 'the failure',
    })
    const pause_ms = Date.parse(failed?.next_attempt_at ?? '') - Date.parse(failed?.last_attempt_at ?? '')
    expect(pause_ms).toBeGreaterThan(3 * 60_000)
    expect(failed).toMatchObject({
      status: 'failed',
      expires_at: null,
      last_error: expect.stringMatching(/^No certificate for broken\.apps/) as string,
    })
    expect(await findCheck()).toMatchObject({
      status: 'failed',
      message: expect.stringContaining(name) as string,
      hint: expect.stringMatching(/port 80/) as string,
    })
    // Meanwhile visitors see the certificate of the instance's own authority.
    await expect(getPublic(name)).rejects.toThrow(/certificate/)
    await pebble.changeDns('clear-servfail', { host: `${name}.` })
    await until(() => platform.jump(60_000).then(() => getPublic(name)), { what: 'the certificate' })
    expect(await findCheck()).toMatchObject({ status: 'ok' })
  })

  test('a custom domain gets a certificate once it is verified; names of the apps domain cannot be added', async () => {
    await platform.api('PATCH', '/instance/settings', { dns_resolvers: [pebble.dns] })
    for (const hostname of ['apps.example.com', 'other.apps.example.com', 'a.b.apps.example.com'])
      expect(await platform.api('POST', '/v1/projects/shop/domains', { hostname })).toMatchObject({ status: 400, body: { error: 'invalid_input' } })
    const { body } = await platform.api<{ domain: Domain }>('POST', '/v1/projects/shop/domains', { hostname: 'www.shop.example.org' })
    expect(body.domain).toMatchObject({ status: 'pending', certificate: null })
    await platform.jump(120_000)
    expect(await readCertificate(platform, 'www.shop.example.org')).toBeUndefined()
    expect((await platform.api<{ domain: Domain }>('POST', `/v1/domains/${body.domain.id}/verify`)).body.domain.status).toBe('verified')
    expect(await until(() => getPublic('www.shop.example.org'), { what: 'the certificate' })).toMatchObject({ status: 200, text: 'public' })
    expect((await platform.api<{ domain: Domain }>('GET', `/v1/domains/${body.domain.id}`)).body.domain).toMatchObject({
      certificate: { name: 'www.shop.example.org', status: 'issued' },
    })
  })

  test('cached pages are purged by their public address', async () => {
    expect(await platform.api('POST', '/instance/projects/shop/cache/purge-urls', { urls: ['https://shop.apps.example.com/page'] })).toMatchObject({
      status: 200,
    })
  })

  test('a certificate is renewed, with the same account, also after a restart', async () => {
    const name = 'shop.apps.example.com'
    const first = await readSerial(platform, name, root)
    const { data_dir } = platform
    await platform.kill()
    platform = await startPublicPlatform(pebble, { edge_port, data_dir })
    expect(await readSerial(platform, name, root)).toBe(first)
    await platform.jump(61 * day_ms)
    await until(async () => ((await readSerial(platform, name, root)) === first ? undefined : true), { what: 'the renewed certificate' })
    expect(pebble.log.filter((line) => /There are now \d+ accounts in memory/.test(line)).at(-1)).toMatch(/now 1 accounts/)
  })
})

if (isFullTier)
  describe.runIf(hasPebble)('public names with an edge worker', () => {
    test('the certificate is ordered and served through the worker', async () => {
      const edge_port = await findFreePort()
      const pebble = await startPebble({ http_port: edge_port })
      const platform = await startPublicPlatform(pebble, { edge_port, edge_workers: 1 })
      const repository = makeRepository(tinyServer('public'))
      try {
        await platform.createProject({ slug: 'shop', repo_url: repository.url })
        await deploy(platform, 'shop')
        const ca = await pebble.fetchRoot()
        const get = () => getHttps(httpsPortOf(platform), '/', { ca, servername: 'shop.apps.example.com' })
        expect(await until(get, { what: 'the certificate' })).toMatchObject({ status: 200, text: 'public' })
        expect(await platform.fetchEdge('shop.apps.example.com', '/.well-known/acme-challenge/anything')).toMatchObject({
          status: 200,
          body: 'public',
        })
      } finally {
        repository.remove()
        await platform.remove()
        await pebble.stop()
      }
    })
  })

/** A DNS webhook in front of the DNS server of pebble. */
async function startDnsWebhook(pebble: Pebble) {
  const calls: { action: string; authorization: string | undefined; fqdn: string; value: string }[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (bytes: Buffer) => (text += bytes.toString()))
    request.on('end', () => {
      const { fqdn, value } = JSON.parse(text) as { fqdn: string; value: string }
      const action = request.url ?? ''
      calls.push({ action, authorization: request.headers.authorization, fqdn, value })
      const changed = action === '/present' ? pebble.changeDns('set-txt', { host: fqdn, value }) : pebble.changeDns('clear-txt', { host: fqdn })
      void changed.then(() => response.end())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

if (isFullTier)
  describe.runIf(hasPebble)('public names with a DNS driver', () => {
    test('one wildcard certificate serves all projects, and its records are removed', async () => {
      const edge_port = await findFreePort()
      const pebble = await startPebble({ http_port: edge_port })
      const webhook = await startDnsWebhook(pebble)
      const dns = { HOMEPORT_ACME_DNS: 'webhook', HOMEPORT_ACME_DNS_URL: webhook.url, HOMEPORT_ACME_DNS_TOKEN: 'user:secret' }
      const platform = await startPublicPlatform(pebble, { edge_port }, dns)
      const repository = makeRepository(tinyServer('public'))
      try {
        await platform.api('PATCH', '/instance/settings', { dns_resolvers: [pebble.dns] })
        for (const slug of ['shop', 'other']) await platform.createProject({ slug, repo_url: repository.url })
        await deploy(platform, 'shop')
        const ca = await pebble.fetchRoot()
        const get = (name: string) => getHttps(httpsPortOf(platform), '/', { ca, servername: name })
        expect(await until(() => get('shop.apps.example.com'), { what: 'the certificate' })).toMatchObject({ status: 200, text: 'public' })
        // A page with the status, as this one was never deployed.
        expect((await get('other.apps.example.com')).status).toBeGreaterThanOrEqual(200)
        expect(await readNames(platform)).toMatchObject({ challenge: 'dns-01', certificates: [{ name: '*.apps.example.com', status: 'issued' }] })
        expect(webhook.calls.map(({ action, fqdn, authorization }) => `${action} ${fqdn} ${authorization}`)).toEqual([
          `/present _acme-challenge.apps.example.com. Basic ${btoa('user:secret')}`,
          `/cleanup _acme-challenge.apps.example.com. Basic ${btoa('user:secret')}`,
        ])
        expect(platform.log.join('\n')).not.toContain('secret')
      } finally {
        repository.remove()
        await platform.remove()
        webhook.close()
        await pebble.stop()
      }
    })
  })
