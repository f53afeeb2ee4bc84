import type { Registrant } from '../contract/domains.ts'

/** What a name costs for its first year, and for each one after it. */
export interface DomainQuote {
  available: boolean
  premium: boolean
  /** null: this registrar does not sell it. */
  price_cents: number | null
  renewal_price_cents: number | null
}

export interface RegistrationOrder {
  hostname: string
  period_years: number
  /** The quote that it is bought at; another price is refused. */
  price_cents: number
  registrant: Registrant | null
  /** The same order asked twice is carried out once. */
  key: string
}

export interface DomainRegistration {
  /** What the registrar calls it. */
  reference: string
  expires_at: string
}

/** Who sells names. Every verb may be asked again; whatever fails is a RegistrarFailed. */
export interface Registrar {
  readonly name: string
  /** What a search offers a label under, the first one when nothing was said. */
  readonly suffixes: readonly string[]
  /** ISO 4217. */
  readonly currency: string
  /** The longest period of one order. */
  readonly max_years: number
  quote(hostname: string): Promise<DomainQuote>
  /** What one more year of a name that is ours costs. */
  getRenewalPrice(hostname: string): Promise<number>
  register(order: RegistrationOrder): Promise<DomainRegistration>
  /** A name that is ours; undefined: it is not. Tells what became of an order that was cut off. */
  findRegistration(hostname: string): Promise<DomainRegistration | undefined>
  /** Has the name lead to an address. */
  pointToAddress(hostname: string, address: string): Promise<void>
  /** One more year from `expires_at` on. */
  renew(of: { hostname: string; expires_at: string; price_cents: number }): Promise<{ expires_at: string }>
  /** What another registrar asks for to take the name over. */
  getAuthCode(hostname: string): Promise<string>
}

export interface Registrars {
  /** The one that sells; null: none does. */
  readonly active: Registrar | null
  /** The one that sold a name earlier; undefined when it is no longer set up. */
  get(name: string): Registrar | undefined
}

/**
 * `refused`: nothing was done. `unknown`: it may have been done, such as when the answer was lost. The message is a plain
 * sentence for whoever asked.
 */
export class RegistrarError extends Error {
  readonly outcome: 'refused' | 'unknown'
  constructor(outcome: 'refused' | 'unknown', message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'RegistrarFailed'
    this.outcome = outcome
  }
}

/** The same day and time so many years later; a 29 February becomes a 1 March. */
export function addYears(ms: number, years: number): string {
  const date = new Date(ms)
  date.setUTCFullYear(date.getUTCFullYear() + years)
  return date.toISOString()
}
