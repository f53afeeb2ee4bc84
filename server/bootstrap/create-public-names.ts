import { isIP } from 'node:net'
import type { DoctorCheck } from '../contract/instance.ts'
import type { PublicCertificate, PublicNames } from '../contract/network.ts'
import { hasTxtRecord } from '../dns/has-txt-record.ts'
import type { Edge } from '../edge/edge.ts'
import { checkPublicNames } from '../features/public-names-checks.ts'
import { isBelow, toLocalName, toPublicName } from '../lib/apps-domain.ts'
import { isoTime } from '../lib/clock.ts'
import { hasLocalSuffix } from '../lib/local-suffixes.ts'
import { findDomainByHostname, isBoughtLocally, listVerifiedDomains } from '../store/domains.ts'
import { listLiveProjects } from '../store/projects.ts'
import { createAcmeAccountStore, createPublicCertificateStore } from '../store/public-certificates.ts'
import { createAcmeIssuer } from '../tls/acme/acme-issuer.ts'
import { createDnsDriver } from '../tls/acme/dns-drivers.ts'
import { createPublicCertificates, type PublicCertificates } from '../tls/acme/public-certificates.ts'
import type { PlatformContext } from './context.ts'

export interface PublicNameService {
  find: PublicCertificates['find']
  status(): PublicNames
  /** The certificate of a custom domain; null if none is wanted. */
  describe(host: string): PublicCertificate | null
  retry(host: string): Promise<void>
  checks(): DoctorCheck[]
  load(): Promise<void>
  /** Orders certificates from now on. Called when the routes are set. */
  start(): void
  close(): Promise<void>
}

/** Projects that get their certificate before the first visitor. The others get it with that visitor. */
const maxWantedProjects = 1_000

/** The certificates of the apps domain and of custom domains. Without an authority none are ordered. */
export function createPublicNames(
  { options, store, sealer, settings, events, clock, log, urls }: PlatformContext,
  getEdge: () => Pick<Edge, 'getRoute' | 'setChallenges'>,
): PublicNameService {
  const { apps_domain, acme } = options
  const { db } = store
  const wildcard_domain = acme?.dns ? apps_domain : null
  const isPublicDomain = (hostname: string, now: string) =>
    db.read((tx) => !hasLocalSuffix(hostname) && findDomainByHostname(tx, hostname)?.status === 'verified' && !isBoughtLocally(tx, hostname, now))

  const certificates =
    acme &&
    createPublicCertificates({
      store: createPublicCertificateStore(db, sealer, acme.directory),
      clock,
      log,
      wildcard_domain,
      issue: createAcmeIssuer({
        ...acme,
        clock,
        accounts: createAcmeAccountStore(db, sealer),
        setChallenges: (host, responses) => getEdge().setChallenges(host, responses),
        dns: acme.dns && createDnsDriver(acme.dns, clock),
        hasTxtRecord: (name, value) => hasTxtRecord(settings.current().dns_resolvers, name, value),
      }),
      async isAllowed(name) {
        if (wildcard_domain !== null && name === `*.${wildcard_domain}`) return true
        if (!isBelow(name, apps_domain)) return isPublicDomain(name, isoTime(clock.now()))
        const local = toLocalName(name, apps_domain)
        return /^[^.]+\.localhost$/.test(local) && getEdge().getRoute(local) !== undefined
      },
      listWantedNames: () =>
        db.read((tx) => {
          const now = isoTime(clock.now())
          const live = apps_domain === null ? [] : listLiveProjects(tx, maxWantedProjects)
          return [
            ...live.map(({ slug }) => toPublicName(`${slug}.localhost`, apps_domain)),
            ...listVerifiedDomains(tx).flatMap(({ hostname }) => (hasLocalSuffix(hostname) || isBoughtLocally(tx, hostname, now) ? [] : [hostname])),
          ]
        }),
      onChange: (name) =>
        void db
          .write((tx) => {
            const domain = findDomainByHostname(tx, name)
            if (domain) tx.publish({ type: 'project_changed', id: domain.project_id })
          })
          .catch((error: unknown) => log.error('acme.change_not_published', { error })),
    })
  const unsubscribe = certificates && events.subscribe((event) => event.type === 'project_changed' && certificates.scheduleCheck())

  const status = (): PublicNames => ({
    apps_domain,
    apps_url: urls.apps,
    authority: acme?.directory ?? null,
    challenge: wildcard_domain === null ? 'http-01' : 'dns-01',
    certificates: certificates?.list() ?? [],
  })
  return {
    // Every handshake asks for an address first, which has no public certificate.
    find: async (host) => (isIP(host) !== 0 || host.endsWith('.localhost') ? undefined : certificates?.find(host)),
    status,
    describe: (host) => certificates?.describe(host) ?? null,
    retry: async (host) => certificates?.retry(host),
    checks: () => checkPublicNames(status(), { edge_url: urls.edge, now: clock.now() }),
    load: async () => certificates?.load(),
    start: () => certificates?.start(),
    async close() {
      unsubscribe?.()
      await certificates?.close()
    },
  }
}
