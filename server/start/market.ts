import type { Check } from '../contract/instance.ts'
import { createDnsServer } from '../dns/server.ts'
import { createOrders, type OrderParts } from '../features/domain-orders.ts'
import { createRenewals } from '../features/domain-renewals.ts'
import { dnsChecks } from '../features/dns-checks.ts'
import type { Market } from '../features/deps.ts'
import type { SettingsBook } from '../features/settings.ts'
import { isoTime } from '../lib/clock.ts'
import type { PlatformOptions } from '../options.ts'
import { createRegistrars } from '../registrar/index.ts'
import { countLocalNames, findLocalPlace, listTroubledNames } from '../store/owned-domains.ts'
import type { Rounds } from '../upkeep/rounds.ts'

type Parts = Omit<OrderParts, 'registrars'> & {
  options: Pick<PlatformOptions, 'registrar'>
  settings: SettingsBook
  rounds: Rounds
}

/** Where names are bought: the registrar, what its names need every hour, and the DNS server that answers for local ones. */
export async function openMarket({
  options,
  settings,
  rounds,
  ...shared
}: Parts): Promise<Market & { checks(): Promise<Check[]>; close(): Promise<void> }> {
  const { db, clock, log, platformIp } = shared
  const parts = { ...shared, registrars: createRegistrars(options.registrar, clock) }
  const now = () => isoTime(clock.now())
  const orders = createOrders(parts)
  rounds.add('bought_names', createRenewals(parts, orders))

  const dns = createDnsServer({
    log,
    zones: {
      find(name) {
        // `ns.` of a zone is where the server itself is; it is no row.
        const place = db.readNow((tx) => findLocalPlace(tx, name, now()))
        return place && { zone: place.zone, address: place.is_there ? platformIp() : null }
      },
    },
  })
  const followSetting = () => dns.listen(settings.current().dns_server)
  await followSetting()

  return {
    registrars: parts.registrars,
    orders,
    followSetting,
    checks: async () => {
      const { names, troubled } = await db.read((tx) => ({ names: countLocalNames(tx, now()), troubled: listTroubledNames(tx) }))
      return dnsChecks({ ...names, troubled, wanted: settings.current().dns_server, port: dns.port(), trouble: dns.trouble() })
    },
    close: dns.close,
  }
}
