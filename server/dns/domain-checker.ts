import { networkInterfaces } from 'node:os'
import { type DomainCheckResult, explainDnsResult } from './explain-dns-result.ts'
import { createDnsResolver, type DnsResolverOptions } from './dns-resolver.ts'

export type { DomainCheckResult } from './explain-dns-result.ts'

/** Looks a domain up in DNS and explains the result. */
export interface DomainChecker {
  check(hostname: string, platform_ip: string): Promise<DomainCheckResult>
}

export function createDomainChecker(options: DnsResolverOptions & { hasNetwork?: () => boolean }): DomainChecker {
  const { hasNetwork = hasNetworkInterface } = options
  const resolveDns = createDnsResolver(options)
  return { check: async (hostname, platform_ip) => explainDnsResult(hostname, platform_ip, await resolveDns(hostname), hasNetwork()) }
}

/** Whether this machine has a network interface other than loopback. */
function hasNetworkInterface(): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some((one) => !one.internal && !one.address.startsWith('fe80:')))
}
