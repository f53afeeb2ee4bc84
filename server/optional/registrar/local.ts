import type { Clock } from '../../lib/clock.ts'
import { localSuffixes } from '../../lib/local-suffixes.ts'
import { newSecret } from '../../lib/token.ts'
import { type Registrar, addYears } from './registrar.ts'

/**
 * Sells names for this instance, free of charge and without a network. The instance's own table of bought domains is the registry, so
 * nothing is looked up here. The instance's own DNS server answers for the names.
 */
export function createLocalRegistrar(clock: Clock): Registrar {
  return {
    name: 'local',
    suffixes: localSuffixes,
    currency: 'USD',
    max_years: 10,
    async quote(hostname) {
      const isOffered = localSuffixes.some((suffix) => hostname.endsWith(`.${suffix}`) && !hostname.slice(0, -suffix.length - 1).includes('.'))
      return { available: isOffered, premium: false, price_cents: isOffered ? 0 : null, renewal_price_cents: isOffered ? 0 : null }
    },
    getRenewalPrice: async () => 0,
    register: async (order) => ({ reference: `local-${order.key}`, expires_at: addYears(clock.now(), order.period_years) }),
    findRegistration: async () => undefined,
    pointToAddress: async () => {},
    renew: async ({ expires_at }) => ({ expires_at: addYears(Date.parse(expires_at), 1) }),
    getAuthCode: async () => newSecret(),
  }
}
