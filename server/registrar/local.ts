import type { Clock } from '../lib/clock.ts'
import { localEndings } from '../lib/local-endings.ts'
import { newSecret } from '../lib/token.ts'
import { type Registrar, yearsAfter } from './registrar.ts'

/**
 * Sells names for this very instance, at no charge and with no network. The ledger is the instance's own table of bought
 * names, so there is nothing to look up here; the instance's own DNS server answers for them.
 */
export function createLocalRegistrar(clock: Clock): Registrar {
  return {
    name: 'local',
    endings: localEndings,
    currency: 'USD',
    max_years: 10,
    async quote(hostname) {
      const isSold = localEndings.some((ending) => hostname.endsWith(`.${ending}`) && !hostname.slice(0, -ending.length - 1).includes('.'))
      return { available: isSold, premium: false, price_cents: isSold ? 0 : null, renewal_price_cents: isSold ? 0 : null }
    },
    renewalPrice: async () => 0,
    register: async (order) => ({ reference: `local-${order.key}`, expires_at: yearsAfter(clock.now(), order.period_years) }),
    find: async () => undefined,
    point: async () => {},
    renew: async ({ expires_at }) => ({ expires_at: yearsAfter(Date.parse(expires_at), 1) }),
    authCode: async () => newSecret(),
  }
}
