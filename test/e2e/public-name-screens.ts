import type { Page } from '@playwright/test'
import type { Domain } from '../../server/contract/domains.ts'
import type { PublicCertificate, PublicNames } from '../../server/contract/network.ts'
import type { Screen } from './screen.ts'

const issued: PublicCertificate = {
  name: 'harbour-shop.apps.example.com',
  status: 'issued',
  expires_at: '2027-02-24T12:00:00.000Z',
  failures: 0,
  last_error: null,
  last_attempt_at: '2026-11-26T12:00:00.000Z',
  next_attempt_at: null,
}
const failed: PublicCertificate = {
  ...issued,
  name: 'www.harbour.example',
  status: 'failed',
  expires_at: null,
  failures: 3,
  last_error:
    'No certificate for www.harbour.example: the certificate authority could not connect to www.harbour.example. (Connection refused) Its port 80 must lead to this instance’s HTTP port for apps: check the A record, the firewall and port forwarding.',
  next_attempt_at: '2026-11-26T12:45:00.000Z',
}
const public_names: PublicNames = {
  apps_domain: 'apps.example.com',
  apps_url: 'https://apps.example.com',
  authority: 'https://acme-v02.api.letsencrypt.org/directory',
  challenge: 'http-01',
  certificates: [issued, failed],
}

const answerNames = (page: Page) => page.route('**/instance/public-names', (route) => route.fulfill({ json: { public_names } }))

/** Adds certificates to the verified domains of the seeded platform. */
const answerDomains = (page: Page) =>
  page.route('**/v1/projects/harbour-shop/domains', async (route) => {
    const response = await route.fetch()
    const body = (await response.json()) as { domains: Domain[] }
    let certificate = failed
    const domains = body.domains.map((domain) => {
      if (domain.status !== 'verified') return domain
      const withCertificate = { ...domain, certificate }
      certificate = issued
      return withCertificate
    })
    await route.fulfill({ response, json: { ...body, domains } })
  })

/** Public names and their certificates, which need an authority. */
export const publicNameScreens: Screen[] = [
  { name: 'network-public', path: 'instance/network', before: answerNames, alters_page: true },
  { name: 'domains-certificates', path: 'projects/harbour-shop/domains', before: answerDomains, alters_page: true },
]
