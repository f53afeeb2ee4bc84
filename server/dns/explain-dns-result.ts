import type { DomainCheck } from '../contract/domains.ts'
import type { DnsAnswer, DnsResult } from './dns-resolver.ts'
import { findAddressOwner } from './address-owners.ts'

/** `unknown`: DNS could not be queried, so neither is proven. */
export type DomainCheckOutcome = 'valid' | 'misconfigured' | 'unknown'

export interface DomainCheckResult {
  outcome: DomainCheckOutcome
  /** Why the outcome is not `valid`, for the user. */
  error: string | null
  checks: DomainCheck[]
}

/** Converts a DNS result to checks with expected and found records and a fix. Only the A record decides the outcome. */
export function explainDnsResult(name: string, platform_ip: string, result: DnsResult, hasNetwork: boolean): DomainCheckResult {
  const a = explainARecord(name, platform_ip, result, hasNetwork)
  const { aaaa, cname } = result
  const checks: DomainCheck[] = [
    { type: 'A', name, expected: platform_ip, found: foundRecords(result.a), ok: a.outcome === 'valid', message: a.message },
  ]
  if (cname.state === 'found') {
    const ok = a.outcome === 'valid'
    const message = `The name is an alias of ${cname.records.join(', ')}${ok ? ', which points to this instance.' : '. Replace the alias (CNAME) with an A record.'}`
    checks.push({ type: 'CNAME', name, expected: ok ? 'any that points here' : 'none', found: cname.records, ok, message })
  }
  if (aaaa.state === 'found') {
    const ok = platform_ip.startsWith('127.') && aaaa.records.every((one) => one === '::1')
    const message = ok
      ? 'Also points to this machine.'
      : `Visitors with IPv6 go to ${formatAddresses(aaaa.records)} instead of this instance. Remove the AAAA record${pluralSuffix(aaaa.records)}. This does not affect the verification.`
    checks.push({ type: 'AAAA', name, expected: 'none', found: aaaa.records, ok, message })
  }
  return { outcome: a.outcome, error: a.outcome === 'valid' ? null : a.message, checks }
}

function explainARecord(name: string, platform_ip: string, result: DnsResult, hasNetwork: boolean): { outcome: DomainCheckOutcome; message: string } {
  const { a, aaaa, cname } = result
  const fix = `Set an A record for ${name} to ${platform_ip}`
  const alias = cname.state === 'found' ? cname.records.join(', ') : undefined
  if (a.state === 'silent' || a.state === 'refused') return { outcome: 'unknown', message: explainNoAnswer(name, a, result.resolvers, hasNetwork) }
  if (a.state === 'no_name') {
    const problem = alias === undefined ? `${name} does not exist in DNS.` : `${name} is an alias (CNAME) of ${alias}, which does not exist in DNS.`
    const advice = alias === undefined ? `${fix}. The domain itself must be registered.` : `Remove the CNAME record and ${lowercaseFirst(fix)}.`
    return { outcome: 'misconfigured', message: `${problem} ${advice} ${formatPropagationNotice(null)}` }
  }
  if (a.state === 'no_record') {
    const problem =
      alias !== undefined
        ? `${name} is an alias (CNAME) of ${alias}, which has no A record. Remove the CNAME record and ${lowercaseFirst(fix)}.`
        : aaaa.state === 'found'
          ? `${name} has only an IPv6 address (AAAA ${formatAddresses(aaaa.records)}) and no A record. ${fix}.`
          : `${name} exists in DNS but has no A record. ${fix}.`
    return { outcome: 'misconfigured', message: `${problem} ${formatPropagationNotice(null)}` }
  }

  const others = a.records.filter((one) => one !== platform_ip)
  if (others.length === 0) return { outcome: 'valid', message: `${name} points to this instance.` }
  if (others.length < a.records.length)
    return {
      outcome: 'misconfigured',
      message: `${name} points to this instance and also to ${formatAddresses(others)}, so some visitors do not reach this instance. Remove the other A record${pluralSuffix(others)}. ${formatPropagationNotice(a.ttl_s)}`,
    }
  const owners = others.map(findAddressOwner)
  if (owners.some((one) => one?.is_proxy === true))
    return {
      outcome: 'misconfigured',
      message: `${name} points to ${formatAddresses(others)}, which hides the address behind it. ${fix}, and turn off the proxy for this record (“DNS only”). ${formatPropagationNotice(a.ttl_s)}`,
    }
  const via = alias === undefined ? '' : `, as an alias (CNAME) of ${alias}`
  const advice = alias === undefined ? `Change the A record to ${platform_ip}.` : `Remove the CNAME record and ${lowercaseFirst(fix)}.`
  return { outcome: 'misconfigured', message: `${name} points to ${formatAddresses(others)}${via}. ${advice} ${formatPropagationNotice(a.ttl_s)}` }
}

function explainNoAnswer(name: string, answer: Extract<DnsAnswer, { code: string }>, resolvers: readonly string[], hasNetwork: boolean): string {
  const resolverNames = resolvers.join(', ') || 'no resolver'
  if (answer.state === 'refused')
    return answer.code === 'ESERVFAIL'
      ? `The name servers of ${name} fail to answer (SERVFAIL from ${resolverNames}). Check the zone at your DNS provider, DNSSEC above all, and try again.`
      : `The resolver (${resolverNames}) refuses to answer for ${name} (${answer.code}). Set another resolver in dns_resolvers.`
  if (!hasNetwork) return 'DNS could not be reached because this machine is offline. Connect it to a network and check again.'
  return `DNS could not be reached: no answer from ${resolverNames} (${answer.code}). Check the network connection, or set other resolvers in dns_resolvers, and check again.`
}

/** Resolvers cache records, so a fixed record is not visible at once. */
function formatPropagationNotice(ttl_s: number | null): string {
  if (ttl_s === null) return 'A new record can take up to an hour to become visible.'
  return `The old record may stay cached for ${ttl_s < 120 ? `${ttl_s} more seconds` : `${Math.ceil(ttl_s / 60)} more minutes`}.`
}

function formatAddresses(addresses: string[]): string {
  const names = new Set(addresses.flatMap((one) => findAddressOwner(one)?.name ?? []))
  return `${addresses.join(', ')}${names.size === 0 ? '' : ` (${[...names].join(', ')})`}`
}

const foundRecords = (answer: DnsAnswer): string[] => (answer.state === 'found' ? answer.records : [])
const pluralSuffix = (list: string[]): string => (list.length === 1 ? '' : 's')
const lowercaseFirst = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1)
