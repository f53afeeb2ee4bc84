import type { DoctorCheck } from '../contract/instance.ts'
import { createDnsServer } from '../optional/dns-server/dns-server.ts'
import { createDomainOrders, type DomainOrderDeps } from '../optional/domain-sales/orders.ts'
import { createDomainRenewals } from '../optional/domain-sales/renewals.ts'
import { runDnsChecks } from '../features/dns-checks.ts'
import type { DomainSales } from '../features/deps.ts'
import { isoTime } from '../lib/clock.ts'
import { createRegistrars } from '../optional/registrar/index.ts'
import { countLocalDomains, findLocalZone, listFailingDomains } from '../store/owned-domains.ts'
import type { PeriodicJobs } from '../maintenance/periodic-jobs.ts'
import type { PlatformContext } from './context.ts'

interface DomainSalesParts {
  deployments: Pick<DomainOrderDeps, 'refreshHosts'>
  domainVerifier: Pick<DomainOrderDeps, 'platformIp'>
  jobs: Pick<PeriodicJobs, 'add'>
}

/** Starts domain sales: the registrar, hourly renewals, and the DNS server for local domains. */
export async function startDomainSales(
  { options, store, sealer, settings, clock, log, onClose }: PlatformContext,
  { deployments, domainVerifier, jobs }: DomainSalesParts,
): Promise<DomainSales & { checks(): Promise<DoctorCheck[]> }> {
  const { db } = store
  const { platformIp } = domainVerifier
  const { refreshHosts } = deployments
  const orderDeps = { db, sealer, clock, log, platformIp, refreshHosts, registrars: createRegistrars(options.registrar, clock) }
  const now = () => isoTime(clock.now())
  const orders = createDomainOrders(orderDeps)
  jobs.add('bought_names', createDomainRenewals(orderDeps, orders))

  const dns = createDnsServer({
    log,
    zones: {
      find(name) {
        // `ns.` of a zone is the DNS server itself and has no row.
        const zone = db.readSync((tx) => findLocalZone(tx, name, now()))
        return zone && { zone: zone.zone, address: zone.has_host ? platformIp() : null }
      },
    },
  })
  const applyDnsServerSetting = () => dns.listen(settings.current().dns_server)
  await applyDnsServerSetting()
  onClose(() => dns.close())

  return {
    registrars: orderDeps.registrars,
    orders,
    applyDnsServerSetting,
    checks: async () => {
      const { names, troubled } = await db.read((tx) => ({ names: countLocalDomains(tx, now()), troubled: listFailingDomains(tx) }))
      return runDnsChecks({
        ...names,
        failing: troubled,
        configuredPort: settings.current().dns_server,
        port: dns.port(),
        listenError: dns.listenError(),
      })
    },
  }
}
