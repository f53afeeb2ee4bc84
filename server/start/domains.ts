import { hostname, networkInterfaces } from 'node:os'
import { isIPv4 } from 'node:net'
import { createDns } from '../dns/dns.ts'
import { createDomainDesk, type DomainDesk, type DomainDeskOptions } from '../features/domain-desk.ts'
import type { SettingsBook } from '../features/settings.ts'
import { isPrivate, readLanAddresses } from '../lan/addresses.ts'
import type { PlatformOptions } from '../options.ts'

type Parts = Pick<DomainDeskOptions, 'db' | 'bus' | 'clock' | 'refreshHosts'> & {
  options: Pick<PlatformOptions, 'host' | 'names' | 'registrar'>
  settings: SettingsBook
  /** Stand for those of this machine. */
  lan_addresses: (() => string[]) | undefined
}

/** The desk for names of one's own, with the DNS that it asks and the facts of this machine. */
export function openDomains({ options, settings, lan_addresses, ...parts }: Parts): DomainDesk {
  const ownNames = [`${hostname().split('.')[0]}.local`, ...options.names].map((name) => name.toLowerCase().replace(/:\d+$/, ''))
  return createDomainDesk({
    ...parts,
    dns: createDns({ resolvers: () => settings.current().dns_resolvers, clock: parts.clock }),
    platformIp: () => settings.current().platform_ip ?? reachedAt({ host: options.host, is_lan: settings.current().lan, lan_addresses }),
    ownAddresses: () => (settings.current().platform_ip === null ? addressesHere(options.host, settings.current().lan, lan_addresses) : []),
    purchaseEnabled: () => options.registrar.name !== 'off',
    ownNames: () => ownNames,
  })
}

/** What else an A record may name on a machine of one's own, where nobody said which address is the right one. */
function addressesHere(host: string, is_lan: boolean, lan_addresses: (() => string[]) | undefined): string[] {
  const isLocal = host === 'localhost' || host.startsWith('127.') || host === '::1'
  return isLocal ? ['127.0.0.1', ...(is_lan ? (lan_addresses ?? readLanAddresses)() : [])] : []
}

/** Where the edge is reached: what it listens at, or the best address of this machine when that is each of them. */
export function reachedAt({
  host,
  is_lan,
  lan_addresses = readLanAddresses,
  interfaces = networkInterfaces(),
}: {
  host: string
  is_lan: boolean
  lan_addresses?: (() => string[]) | undefined
  interfaces?: ReturnType<typeof networkInterfaces>
}): string {
  const isEach = host === '0.0.0.0' || host === '::'
  if (isIPv4(host) && !isEach && !host.startsWith('127.')) return host
  const around = is_lan || isEach ? lan_addresses().find(isIPv4) : undefined
  return (isEach ? publicAddress(interfaces) : undefined) ?? around ?? (isIPv4(host) && !isEach ? host : '127.0.0.1')
}

function publicAddress(interfaces: ReturnType<typeof networkInterfaces>): string | undefined {
  return Object.values(interfaces)
    .flatMap((list) => list ?? [])
    .filter((one) => !one.internal && isIPv4(one.address))
    .map((one) => one.address)
    .find((address) => !isPrivate(address) && !/^(169\.254|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./.test(address))
}
