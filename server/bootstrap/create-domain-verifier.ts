import { hostname, networkInterfaces } from 'node:os'
import { isIPv4 } from 'node:net'
import { createDomainChecker } from '../dns/domain-checker.ts'
import { createDomainVerifier, type DomainVerifier, type DomainVerifierOptions } from '../features/domain-verifier.ts'
import { isLanAddress, readLanAddresses } from '../network/lan-addresses.ts'
import type { PlatformContext } from './context.ts'

/** Creates the verifier of custom domains, with its DNS client and the addresses of this machine. */
export function createPlatformDomainVerifier(
  { options, host, store, settings, clock }: PlatformContext,
  { refreshHosts }: Pick<DomainVerifierOptions, 'refreshHosts'>,
): DomainVerifier {
  const { lan_addresses } = host
  const instanceHostnames = [
    `${hostname().split('.')[0]}.local`,
    ...(options.apps_domain === null ? [] : [`*.${options.apps_domain}`]),
    ...options.hostnames,
  ].map((name) => name.toLowerCase().replace(/:\d+$/, ''))
  return createDomainVerifier({
    db: store.db,
    clock,
    refreshHosts,
    dns: createDomainChecker({ resolvers: () => settings.current().dns_resolvers, clock }),
    platformIp: () => settings.current().platform_ip ?? findEdgeAddress({ host: options.host, is_lan: settings.current().lan, lan_addresses }),
    instanceAddresses: () =>
      settings.current().platform_ip === null ? loopbackAndLanAddresses(options.host, settings.current().lan, lan_addresses) : [],
    isPurchaseEnabled: () => options.registrar.name !== 'off',
    instanceHostnames: () => instanceHostnames,
  })
}

/** Addresses that an A record may also contain on a local machine when no platform IP is configured. */
function loopbackAndLanAddresses(host: string, is_lan: boolean, lan_addresses: (() => string[]) | undefined): string[] {
  const isLocal = host === 'localhost' || host.startsWith('127.') || host === '::1'
  return isLocal ? ['127.0.0.1', ...(is_lan ? (lan_addresses ?? readLanAddresses)() : [])] : []
}

/** The address of the edge: the one it listens on, or the best address of this machine if it listens on all. */
export function findEdgeAddress({
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
  const isWildcard = host === '0.0.0.0' || host === '::'
  if (isIPv4(host) && !isWildcard && !host.startsWith('127.')) return host
  const lanAddress = is_lan || isWildcard ? lan_addresses().find(isIPv4) : undefined
  return (isWildcard ? publicAddress(interfaces) : undefined) ?? lanAddress ?? (isIPv4(host) && !isWildcard ? host : '127.0.0.1')
}

function publicAddress(interfaces: ReturnType<typeof networkInterfaces>): string | undefined {
  return Object.values(interfaces)
    .flatMap((list) => list ?? [])
    .filter((entry) => !entry.internal && isIPv4(entry.address))
    .map((entry) => entry.address)
    .find((address) => !isLanAddress(address) && !/^(169\.254|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./.test(address))
}
