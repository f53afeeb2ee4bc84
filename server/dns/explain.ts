import type { DomainCheck } from '../contract/domains.ts'
import type { Answer, Sight } from './look.ts'
import { placeOf } from './places.ts'

/** `unknown`: DNS could not be asked, so nothing is proved either way. */
export type Verdict = 'here' | 'elsewhere' | 'unknown'

export interface Examination {
  verdict: Verdict
  /** Why it is not `here`, in plain words. */
  error: string | null
  checks: DomainCheck[]
}

/** What was seen of a name, as checks with what was expected, what was found, and what to do. The A record alone decides. */
export function explainSight(name: string, platform_ip: string, sight: Sight, hasNetwork: boolean): Examination {
  const a = explainA(name, platform_ip, sight, hasNetwork)
  const { aaaa, cname } = sight
  const checks: DomainCheck[] = [{ type: 'A', name, expected: platform_ip, found: recordsOf(sight.a), ok: a.verdict === 'here', message: a.message }]
  if (cname.state === 'found') {
    const ok = a.verdict === 'here'
    const message = `The name is an alias of ${cname.records.join(', ')}${ok ? ', which leads here.' : '. Replace the alias (CNAME) by the A record.'}`
    checks.push({ type: 'CNAME', name, expected: ok ? 'any that leads here' : 'none', found: cname.records, ok, message })
  }
  if (aaaa.state === 'found') {
    const ok = platform_ip.startsWith('127.') && aaaa.records.every((one) => one === '::1')
    const message = ok
      ? 'Leads to this machine as well.'
      : `Visitors with IPv6 are led to ${shown(aaaa.records)} and never come here. Remove the AAAA record${plural(aaaa.records)}. The verification does not need it.`
    checks.push({ type: 'AAAA', name, expected: 'none', found: aaaa.records, ok, message })
  }
  return { verdict: a.verdict, error: a.verdict === 'here' ? null : a.message, checks }
}

function explainA(name: string, platform_ip: string, sight: Sight, hasNetwork: boolean): { verdict: Verdict; message: string } {
  const { a, aaaa, cname } = sight
  const mend = `Set an A record for ${name} to ${platform_ip}`
  const alias = cname.state === 'found' ? cname.records.join(', ') : undefined
  if (a.state === 'silent' || a.state === 'refused') return { verdict: 'unknown', message: explainSilence(name, a, sight.resolvers, hasNetwork) }
  if (a.state === 'no_name') {
    const what = alias === undefined ? `DNS does not know ${name}.` : `${name} is an alias (CNAME) of ${alias}, which DNS does not know.`
    const how = alias === undefined ? `${mend}; the domain itself has to be registered.` : `Remove the CNAME record and ${lower(mend)}.`
    return { verdict: 'elsewhere', message: `${what} ${how} ${patience(null)}` }
  }
  if (a.state === 'no_record') {
    const what =
      alias !== undefined
        ? `${name} is an alias (CNAME) of ${alias}, which has no A record. Remove the CNAME record and ${lower(mend)}.`
        : aaaa.state === 'found'
          ? `${name} has an IPv6 address alone (AAAA ${shown(aaaa.records)}), and no A record. ${mend}.`
          : `${name} is known to DNS, and has no A record. ${mend}.`
    return { verdict: 'elsewhere', message: `${what} ${patience(null)}` }
  }

  const others = a.records.filter((one) => one !== platform_ip)
  if (others.length === 0) return { verdict: 'here', message: `${name} leads here.` }
  if (others.length < a.records.length)
    return {
      verdict: 'elsewhere',
      message: `${name} leads here, and to ${shown(others)} as well, so some visitors never come here. Remove the other A record${plural(others)}. ${patience(a.ttl_s)}`,
    }
  const places = others.map(placeOf)
  if (places.some((one) => one?.is_proxy === true))
    return {
      verdict: 'elsewhere',
      message: `${name} leads to ${shown(others)}, which hides what is behind it. ${mend}, and turn the proxy off for it (“DNS only”). ${patience(a.ttl_s)}`,
    }
  const via = alias === undefined ? '' : `, as an alias (CNAME) of ${alias}`
  const how = alias === undefined ? `Change the A record to ${platform_ip}.` : `Remove the CNAME record and ${lower(mend)}.`
  return { verdict: 'elsewhere', message: `${name} leads to ${shown(others)}${via}. ${how} ${patience(a.ttl_s)}` }
}

function explainSilence(name: string, answer: Extract<Answer, { code: string }>, resolvers: readonly string[], hasNetwork: boolean): string {
  const asked = resolvers.join(', ') || 'no resolver'
  if (answer.state === 'refused')
    return answer.code === 'ESERVFAIL'
      ? `The name servers of ${name} fail to answer (SERVFAIL from ${asked}). Check the zone at your DNS provider, DNSSEC above all, and try again.`
      : `The resolver (${asked}) refuses to answer for ${name} (${answer.code}). Name another one in the setting dns_resolvers.`
  if (!hasNetwork) return 'This machine is offline, so DNS could not be asked. Connect it and check again.'
  return `DNS could not be asked: no answer from ${asked} (${answer.code}). Check the connection, or name other resolvers in the setting dns_resolvers, and check again.`
}

/** Resolvers keep what they have seen: a record that was mended is not seen at once. */
function patience(ttl_s: number | null): string {
  if (ttl_s === null) return 'A new record can take up to an hour to be seen.'
  return `What was there before may be seen for ${ttl_s < 120 ? `${ttl_s} more seconds` : `${Math.ceil(ttl_s / 60)} more minutes`}.`
}

function shown(addresses: string[]): string {
  const names = new Set(addresses.flatMap((one) => placeOf(one)?.name ?? []))
  return `${addresses.join(', ')}${names.size === 0 ? '' : ` (${[...names].join(', ')})`}`
}

const recordsOf = (answer: Answer): string[] => (answer.state === 'found' ? answer.records : [])
const plural = (list: string[]): string => (list.length === 1 ? '' : 's')
const lower = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1)
