import { describe, expect, test } from 'vitest'
import { type PlatformFlags, readOptions, UsageError } from '../../server/options.ts'

const read = (flags: PlatformFlags, env: Record<string, string> = {}) => {
  const { apps_domain, acme } = readOptions({ data: '/tmp/nothing', ...flags }, env)
  return { apps_domain, acme }
}
const accepted = { 'acme-email': 'ops@example.com', 'acme-accept-terms': true } as const

describe('the options of public names', () => {
  test('without them there is neither an apps domain nor an authority', () => expect(read({})).toEqual({ apps_domain: null, acme: null }))

  test('by flag and by variable', () => {
    const env = { HOMEPORT_APPS_DOMAIN: 'Apps.Example.com', HOMEPORT_ACME_EMAIL: 'ops@example.com', HOMEPORT_ACME_ACCEPT_TERMS: 'true' }
    const acme = { directory: 'https://acme-v02.api.letsencrypt.org/directory', email: 'ops@example.com', dns: null }
    expect(read({}, env)).toEqual({ apps_domain: 'apps.example.com', acme })
    expect(read({ ...accepted, 'apps-domain': 'apps.example.org' }, env)).toEqual({ apps_domain: 'apps.example.org', acme })
  })

  test('staging, and the directory of another authority', () => {
    expect(read({ ...accepted, 'acme-directory': 'staging' }).acme?.directory).toBe('https://acme-staging-v02.api.letsencrypt.org/directory')
    expect(read({ ...accepted, 'acme-directory': 'https://ca.example/dir' }).acme?.directory).toBe('https://ca.example/dir')
  })

  test('the drivers of a wildcard certificate', () => {
    const flags = { ...accepted, 'apps-domain': 'apps.example.com' }
    expect(read(flags, { HOMEPORT_ACME_DNS: 'cloudflare', HOMEPORT_CLOUDFLARE_API_TOKEN: 'secret' }).acme?.dns).toEqual({
      name: 'cloudflare',
      token: 'secret',
      api_base: null,
    })
    expect(read(flags, { HOMEPORT_ACME_DNS: 'webhook', HOMEPORT_ACME_DNS_URL: 'https://dns.example/hook' }).acme?.dns).toEqual({
      name: 'webhook',
      url: 'https://dns.example/hook',
      token: null,
    })
  })

  test.each<[string, PlatformFlags, Record<string, string>]>([
    ['a name without a dot', { 'apps-domain': 'apps' }, {}],
    ['a name below localhost', { 'apps-domain': 'apps.localhost' }, {}],
    ['an address', { 'apps-domain': '192.0.2.1' }, {}],
    ['a URL', { 'apps-domain': 'https://apps.example.com' }, {}],
    ['a wildcard', { 'apps-domain': '*.apps.example.com' }, {}],
    ['a dashboard where a project could be', { 'apps-domain': 'apps.example.com', host: 'home.apps.example.com' }, {}],
    ['terms that are not accepted', { 'acme-email': 'ops@example.com' }, {}],
    ['an address without a name', { ...accepted, 'acme-email': 'example.com' }, {}],
    ['an authority without TLS', { ...accepted, 'acme-directory': 'http://ca.example/dir' }, {}],
    ['a driver without an apps domain', accepted, { HOMEPORT_ACME_DNS: 'cloudflare', HOMEPORT_CLOUDFLARE_API_TOKEN: 'x' }],
    ['a driver without its token', { ...accepted, 'apps-domain': 'apps.example.com' }, { HOMEPORT_ACME_DNS: 'cloudflare' }],
    ['a driver that does not exist', { ...accepted, 'apps-domain': 'apps.example.com' }, { HOMEPORT_ACME_DNS: 'route53' }],
    [
      'a webhook on another machine without TLS',
      { ...accepted, 'apps-domain': 'apps.example.com' },
      { HOMEPORT_ACME_DNS: 'webhook', HOMEPORT_ACME_DNS_URL: 'http://dns.example' },
    ],
  ])('refuses %s', (_, flags, env) => expect(() => read(flags, env)).toThrow(UsageError))
})
