import type { DomainCheck } from '../contract/domains.ts'
import type { DnsAnswer, DnsResult } from './dns-resolver.ts'
import { findAddressOwner } from './address-owners.ts'

/** `unknown`: DNS could not be asked, so nothing is proved either way. */
export type DomainVerdict = 'here' | 'elsewhere' | 'unknown'

export interface DomainCheckResult {
  verdict: DomainVerdict
  /** Why it is not `here`, in plain words. */
  error: string | null
  checks: DomainCheck[]
}

/** What was seen of a name, as checks with what was expected, what was found, and what to do. The A record alone decides. */
export function explainDnsResult(name: string, platform_ip: string, result: DnsResult, hasNetwork: boolean): DomainCheckResult {
  const a = explainARecord(name, platform_ip, result, hasNetwork)
  const { aaaa, cname } = result
  const checks: DomainCheck[] = [
    { type: 'A', name, expected: platform_ip, found: foundRecords(result.a), ok: a.verdict === 'here', message: a.message },
  ]
  if (cname.state === 'found') {
    const ok = a.verdict === 'here'
    const message = `The name is an alias of ${cname.records.join(', ')}${ok ? ', which leads here.' : '. Replace the alias (CNAME) by the A record.'}`
    checks.push({ type: 'CNAME', name, expected: ok ? 'any that leads here' : 'none', found: cname.records, ok, message })
  }
  if (aaaa.state === 'found') {
    const ok = platform_ip.startsWith('127.') && aaaa.records.every((one) => one === '::1')
    const message = ok
      ? 'Leads to this machine as well.'
      : `Visitors with IPv6 are led to ${formatAddresses(aaaa.records)} and never come here. Remove the AAAA record${pluralSuffix(aaaa.records)}. The verification does not need it.`
    checks.push({ type: 'AAAA', name, expected: 'none', found: aaaa.records, ok, message })
  }
  return { verdict: a.verdict, error: a.verdict === 'here' ? null : a.message, checks }
}

function explainARecord(name: string, platform_ip: string, result: DnsResult, hasNetwork: boolean): { verdict: DomainVerdict; message: string } {
  const { a, aaaa, cname } = result
  const fix = `Set an A record for ${name} to ${platform_ip}`
  const alias = cname.state === 'found' ? cname.records.join(', ') : undefined
  if (a.state === 'silent' || a.state === 'refused') return { verdict: 'unknown', message: explainNoAnswer(name, a, result.resolvers, hasNetwork) }
  if (a.state === 'no_name') {
    const what = alias === undefined ? `DNS does not know ${name}.` : `${name} is an alias (CNAME) of ${alias}, which DNS does not know.`
    const how = alias === undefined ? `${fix}; the domain itself has to be registered.` : `Remove the CNAME record and ${lowercaseFirst(fix)}.`
    return { verdict: 'elsewhere', message: `${what} ${how} ${formatPropagationNotice(null)}` }
  }
  if (a.state === 'no_record') {
    const what =
      alias !== undefined
        ? `${name} is an alias (CNAME) of ${alias}, which has no A record. Remove the CNAME record and ${lowercaseFirst(fix)}.`
        : aaaa.state === 'found'
          ? `${name} has an IPv6 address alone (AAAA ${formatAddresses(aaaa.records)}), and no A record. ${fix}.`
          : `${name} is known to DNS, and has no A record. ${fix}.`
    return { verdict: 'elsewhere', message: `${what} ${formatPropagationNotice(null)}` }
  }

  const others = a.records.filter((one) => one !== platform_ip)
  if (others.length === 0) return { verdict: 'here', message: `${name} leads here.` }
  if (others.length < a.records.length)
    return {
      verdict: 'elsewhere',
      message: `${name} leads here, and to ${formatAddresses(others)} as well, so some visitors never come here. Remove the other A record${pluralSuffix(others)}. ${formatPropagationNotice(a.ttl_s)}`,
    }
  const owners = others.map(findAddressOwner)
  if (owners.some((one) => one?.is_proxy === true))
    return {
      verdict: 'elsewhere',
      message: `${name} leads to ${formatAddresses(others)}, which hides what is behind it. ${fix}, and turn the proxy off for it (“DNS only”). ${formatPropagationNotice(a.ttl_s)}`,
    }
  const via = alias === undefined ? '' : `, as an alias (CNAME) of ${alias}`
  const how = alias === undefined ? `Change the A record to ${platform_ip}.` : `Remove the CNAME record and ${lowercaseFirst(fix)}.`
  return { verdict: 'elsewhere', message: `${name} leads to ${formatAddresses(others)}${via}. ${how} ${formatPropagationNotice(a.ttl_s)}` }
}

function explainNoAnswer(name: string, answer: Extract<DnsAnswer, { code: string }>, resolvers: readonly string[], hasNetwork: boolean): string {
  const resolverNames = resolvers.join(', ') || 'no resolver'
  if (answer.state === 'refused')
    return answer.code === 'ESERVFAIL'
      ? `The name servers of ${name} fail to answer (SERVFAIL from ${resolverNames}). Check the zone at your DNS provider, DNSSEC above all, and try again.`
      : `The resolver (${resolverNames}) refuses to answer for ${name} (${answer.code}). Name another one in the setting dns_resolvers.`
  if (!hasNetwork) return 'This machine is offline, so DNS could not be asked. Connect it and check again.'
  return `DNS could not be asked: no answer from ${resolverNames} (${answer.code}). Check the connection, or name other resolvers in the setting dns_resolvers, and check again.`
}

/** Resolvers keep what they have seen: a record that was mended is not seen at once. */
function formatPropagationNotice(ttl_s: number | null): string {
  if (ttl_s === null) return 'A new record can take up to an hour to be seen.'
  return `What was there before may be seen for ${ttl_s < 120 ? `${ttl_s} more seconds` : `${Math.ceil(ttl_s / 60)} more minutes`}.`
}

function formatAddresses(addresses: string[]): string {
  const names = new Set(addresses.flatMap((one) => findAddressOwner(one)?.name ?? []))
  return `${addresses.join(', ')}${names.size === 0 ? '' : ` (${[...names].join(', ')})`}`
}

const foundRecords = (answer: DnsAnswer): string[] => (answer.state === 'found' ? answer.records : [])
const pluralSuffix = (list: string[]): string => (list.length === 1 ? '' : 's')
const lowercaseFirst = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1)
