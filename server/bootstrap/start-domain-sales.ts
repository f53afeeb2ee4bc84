import type { DoctorCheck } from '../contract/instance.ts'
import { createDnsServer } from '../dns/dns-server.ts'
import { createDomainOrders, type DomainOrderDeps } from '../features/domain-orders.ts'
import { createDomainRenewals } from '../features/domain-renewals.ts'
import { runDnsChecks } from '../features/dns-checks.ts'
import type { DomainSales } from '../features/deps.ts'
import type { SettingsService } from '../features/settings.ts'
import { isoTime } from '../lib/clock.ts'
import type { PlatformOptions } from '../options.ts'
import { createRegistrars } from '../registrar/index.ts'
import { countLocalDomains, findLocalZone, listFailingDomains } from '../store/owned-domains.ts'
import type { PeriodicJobs } from '../maintenance/periodic-jobs.ts'

type StartDomainSalesOptions = Omit<DomainOrderDeps, 'registrars'> & {
  options: Pick<PlatformOptions, 'registrar'>
  settings: SettingsService
  rounds: PeriodicJobs
}

/** Starts domain sales: the registrar, hourly renewals, and the DNS server for local domains. */
export async function startDomainSales({
  options,
  settings,
  rounds,
  ...shared
}: StartDomainSalesOptions): Promise<DomainSales & { checks(): Promise<DoctorCheck[]>; close(): Promise<void> }> {
  const { db, clock, log, platformIp } = shared
  const orderDeps = { ...shared, registrars: createRegistrars(options.registrar, clock) }
  const now = () => isoTime(clock.now())
  const orders = createDomainOrders(orderDeps)
  rounds.add('bought_names', createDomainRenewals(orderDeps, orders))

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
    close: dns.close,
  }
}
