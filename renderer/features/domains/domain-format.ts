import type { DomainOffer } from '../../../server/contract/domains.ts'

/** What a person pastes or types for a name: an address, capitals, a last dot. */
export function parseHostname(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/[/?#].*$/, '')
    .replace(/:\d+$/, '')
    .replace(/\.$/, '')
}

/** The part that many registrars want instead of the whole name. Which names end in two parts, such as co.uk, nobody can tell from the name. */
export function dnsHostLabel(hostname: string): string {
  const labels = hostname.split('.')
  return labels.length <= 2 ? '@' : labels.slice(0, -2).join('.')
}

/** Whose reach an address has, where it is less than the whole internet. */
export function addressScope(address: string): 'machine' | 'network' | null {
  if (address.startsWith('127.') || address === '::1') return 'machine'
  return /^(10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./.test(address) ? 'network' : null
}

/** Where the edge serves a name: at the port of the edge, which a local instance has of its own. */
export function domainUrl(hostname: string, edgeUrl: string): string | null {
  if (!/^https?:\/\//.test(edgeUrl) || !URL.canParse(edgeUrl)) return null
  const edge = new URL(edgeUrl)
  return `${edge.protocol}//${hostname}${edge.port ? `:${edge.port}` : ''}`
}

/** Names that no DNS of the world knows: this instance sells them, and its own DNS server answers for them. */
export function isPrivateName(hostname: string): boolean {
  return /\.(test|internal|home\.arpa)$/.test(hostname)
}

export function formatMoney(cents: number, currency: string): string {
  try {
    return new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(cents / 100)
  } catch {
    // A currency that this browser has not heard of.
    return `${(cents / 100).toFixed(2)} ${currency}`
  }
}

/** The price of an offer for so many years, before credits; null when it is not told. */
export function totalPrice_cents(offer: DomainOffer, years: number): number | null {
  return offer.price_cents === null ? null : sum(pricePerYear(offer, years))
}

/** What is left to pay: each credit takes a year, the first ones first; premium names are not given away. */
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
