import type { Registrant } from '../../contract/domains.ts'

/** The price of a domain for its first year and for each renewal. */
export interface DomainQuote {
  available: boolean
  premium: boolean
  /** null: not sold by this registrar. */
  price_cents: number | null
  renewal_price_cents: number | null
}

export interface RegistrationOrder {
  hostname: string
  period_years: number
  /** The quoted price; the order fails at another price. */
  price_cents: number
  registrant: Registrant | null
  /** Idempotency key: a repeated order is executed once. */
  key: string
}

export interface DomainRegistration {
  /** The registrar's own reference. */
  reference: string
  expires_at: string
}

/** A registrar. Every method can be retried; every failure is a `RegistrarError`. */
export interface Registrar {
  readonly name: string
  /** The suffixes that a search offers. The first is the default. */
  readonly suffixes: readonly string[]
  /** ISO 4217. */
  readonly currency: string
  /** The longest period of one order. */
  readonly max_years: number
  quote(hostname: string): Promise<DomainQuote>
  /** The price of one more year for a domain that this account owns. */
  getRenewalPrice(hostname: string): Promise<number>
  register(order: RegistrationOrder): Promise<DomainRegistration>
  /** The registration of a domain that this account owns, else undefined. Shows whether an interrupted order was executed. */
  findRegistration(hostname: string): Promise<DomainRegistration | undefined>
  /** Points the domain to an IP address. */
  pointToAddress(hostname: string, address: string): Promise<void>
  /** Adds one year after `expires_at`. */
  renew(of: { hostname: string; expires_at: string; price_cents: number }): Promise<{ expires_at: string }>
  /** The code with which another registrar can take the domain over. */
  getAuthCode(hostname: string): Promise<string>
}

export interface Registrars {
  /** The registrar that sells domains; null: none. */
  readonly active: Registrar | null
  /** The registrar that sold a domain earlier; undefined if it is no longer configured. */
  get(name: string): Registrar | undefined
}

/**
 * `refused`: nothing was done. `unknown`: it may have been done, for example if the response was lost. The message is for the client.
 */
export class RegistrarError extends Error {
  readonly outcome: 'refused' | 'unknown'
  constructor(outcome: 'refused' | 'unknown', message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'RegistrarError'
    this.outcome = outcome
  }
}

/** The same date and time after `years` years; 29 February becomes 1 March. */
export function addYears(ms: number, years: number): string {
  const date = new Date(ms)
  date.setUTCFullYear(date.getUTCFullYear() + years)
  return date.toISOString()
}
