import type { RecordWithTtl } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { Clock } from '../lib/clock.ts'

/** The DNS records of one type of a name. */
export type DnsAnswer =
  | { state: 'found'; records: string[]; ttl_s: number | null }
  /** The name exists, with records of other types. */
  | { state: 'no_record' }
  | { state: 'no_name' }
  /** No resolver responded. */
  | { state: 'silent'; code: string }
  /** A resolver responded with an error. */
  | { state: 'refused'; code: string }

export interface DnsResult {
  a: DnsAnswer
  aaaa: DnsAnswer
  cname: DnsAnswer
  /** The resolvers that were queried. */
  resolvers: readonly string[]
}

export type ResolveDns = (hostname: string) => Promise<DnsResult>

export interface DnsResolverOptions {
  /** Read before every lookup; null: the resolvers of the system. */
  resolvers(): readonly string[] | null
  clock: Clock
  timeout_ms?: number
}

const refusalCodes = new Set(['EFORMERR', 'ESERVFAIL', 'ENOTIMP', 'EREFUSED', 'EBADRESP'])

/** Queries DNS directly, because the hosts file of this machine does not affect other machines. */
export function createDnsResolver({ resolvers, clock, timeout_ms = 5_000 }: DnsResolverOptions): ResolveDns {
  return async (hostname) => {
    // A new resolver per lookup uses the current network configuration of the system.
    const resolver = new Resolver({ timeout: Math.ceil(timeout_ms / 3), tries: 2 })
    const servers = resolvers()
    if (servers !== null) resolver.setServers(servers)
    // The resolver's own timeout grows with every server that does not respond.
    const timer = clock.setTimeout(() => resolver.cancel(), timeout_ms)
    try {
      const [a, aaaa, cname] = await Promise.all([
        toDnsAnswer(resolver.resolve4(hostname, { ttl: true })),
        toDnsAnswer(resolver.resolve6(hostname, { ttl: true })),
        toDnsAnswer(resolver.resolveCname(hostname)),
      ])
      return { a, aaaa, cname, resolvers: resolver.getServers() }
    } finally {
      timer.cancel()
    }
  }
}

async function toDnsAnswer(lookup: Promise<(string | RecordWithTtl)[]>): Promise<DnsAnswer> {
  try {
    const found = await lookup
    if (found.length === 0) return { state: 'no_record' }
    const times = found.flatMap((one) => (typeof one === 'string' ? [] : [one.ttl]))
    return {
      state: 'found',
      records: [...new Set(found.map((one) => (typeof one === 'string' ? one : one.address)))].toSorted(),
      ttl_s: times.length === 0 ? null : Math.min(...times),
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN'
    if (code === 'ENODATA') return { state: 'no_record' }
    if (code === 'ENOTFOUND') return { state: 'no_name' }
    return { state: refusalCodes.has(code) ? 'refused' : 'silent', code }
  }
}
