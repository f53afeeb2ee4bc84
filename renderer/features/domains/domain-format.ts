import type { DomainOffer } from '../../../server/contract/domains.ts'

/** Normalizes a pasted or typed domain: removes URL parts, capitals and the trailing dot. */
export function parseHostname(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/[/?#].*$/, '')
    .replace(/:\d+$/, '')
    .replace(/\.$/, '')
}

/**
 * The host part that many registrars expect instead of the full name. Public suffixes of two labels, such as co.uk, cannot be recognized from the
 * name.
 */
export function dnsHostLabel(hostname: string): string {
  const labels = hostname.split('.')
  return labels.length <= 2 ? '@' : labels.slice(0, -2).join('.')
}

/** Scope of an IP address that is not publicly reachable. */
export function addressScope(address: string): 'machine' | 'network' | null {
  if (address.startsWith('127.') || address === '::1') return 'machine'
  return /^(10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./.test(address) ? 'network' : null
}

/** URL of a domain at the edge, with the edge's port on a local instance. */
export function domainUrl(hostname: string, edgeUrl: string): string | null {
  if (!/^https?:\/\//.test(edgeUrl) || !URL.canParse(edgeUrl)) return null
  const edge = new URL(edgeUrl)
  return `${edge.protocol}//${hostname}${edge.port ? `:${edge.port}` : ''}`
}

/** Names outside public DNS, which this instance sells and its DNS server resolves. */
export function isPrivateName(hostname: string): boolean {
  return /\.(test|internal|home\.arpa)$/.test(hostname)
}

export function formatMoney(cents: number, currency: string): string {
  try {
    return new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(cents / 100)
  } catch {
    // A currency unknown to this browser.
    return `${(cents / 100).toFixed(2)} ${currency}`
  }
}

/** Price of an offer for a number of years, before credits; null if unknown. */
export function totalPrice_cents(offer: DomainOffer, years: number): number | null {
  return offer.price_cents === null ? null : sum(pricePerYear(offer, years))
}

/** Amount due: each credit pays one year, starting with the first; premium domains are excluded. */
export function amountDue_cents(offer: DomainOffer, years: number, credits: number): number | null {
  if (offer.price_cents === null) return null
  return sum(pricePerYear(offer, years).slice(offer.premium ? 0 : credits))
}

function pricePerYear({ price_cents, renewal_price_cents }: DomainOffer, years: number): number[] {
  const first = price_cents ?? 0
  return Array.from({ length: years }, (_, index) => (index === 0 ? first : (renewal_price_cents ?? first)))
}

function sum(prices: readonly number[]): number {
  return prices.reduce((total, price) => total + price, 0)
}
