import { isoTime } from '../../lib/clock.ts'
import { RegistrarError } from '../registrar/registrar.ts'
import {
  failDomainsOfOwned,
  listExpiredDomains,
  listRenewableDomains,
  listDomainsWithoutAddressRecord,
  deleteOwnedDomain,
  spendDomainCredits,
  updateOwnedDomain,
} from '../../store/owned-domains.ts'
import { recordActivity } from '../../store/activity.ts'
import { findAccount } from '../../store/users.ts'
import type { OwnedDomainRow } from '../../store/tables.ts'
import { expiryGracePeriod_ms, type DomainOrderDeps, type DomainOrders, requireRegistrarOf } from './orders.ts'

const day_ms = 24 * 3_600_000
/** Time before expiry at which a domain is renewed, which leaves a month to fix problems. */
const renewalWindow_ms = 30 * day_ms

/** The hourly job for bought domains: resolves orders, sets records, renews, and releases expired domains. */
export function createDomainRenewals(deps: DomainOrderDeps, orders: DomainOrders): (signal: AbortSignal) => Promise<void> {
  const { db, registrars, clock, log } = deps
  const now = () => isoTime(clock.now())

  const renew = async (owned: OwnedDomainRow): Promise<void> => {
    const registrar = requireRegistrarOf(registrars, owned)
    // The renewal may have been interrupted before it was recorded. It must not be paid twice.
    const registration = await registrar.findRegistration(owned.hostname)
    if (registration && registration.expires_at > owned.expires_at) return recordRenewal(owned, registration.expires_at, 0)
    const price_cents = await registrar.getRenewalPrice(owned.hostname)
    const account = await db.read((tx) => findAccount(tx, owned.account_id))
    const credits = price_cents > 0 && (account?.free_domain_credits ?? 0) > 0 ? 1 : 0
    if (price_cents > 0 && credits === 0 && account?.has_payment_method !== 1)
      throw new RegistrarError('refused', 'The account has no free domain left and no payment method. Add a card.')
    const { expires_at } = await registrar.renew({ hostname: owned.hostname, expires_at: owned.expires_at, price_cents })
    await recordRenewal(owned, expires_at, credits)
  }

  const recordRenewal = async (owned: OwnedDomainRow, expires_at: string, credits: number): Promise<void> => {
    await db.write((tx) => {
      if (credits > 0) spendDomainCredits(tx, owned.account_id, credits)
      updateOwnedDomain(tx, owned.id, { expires_at, last_error: null })
      const target = { target_id: owned.id, target_name: owned.hostname }
      recordActivity(tx, now(), { action: 'domain.renewed', actor_kind: 'schedule', account_id: owned.account_id, is_outcome: 1, ...target })
      if (owned.project_id) tx.publish({ type: 'project_changed', id: owned.project_id })
    })
    log.info('domain_renewed', { hostname: owned.hostname, expires_at })
  }

  const expireDomain = async (owned: OwnedDomainRow): Promise<void> => {
    const isGraceOver = Date.parse(owned.expires_at) + expiryGracePeriod_ms <= clock.now()
    const projects = await db.write((tx) => {
      const failed = failDomainsOfOwned(
        tx,
        owned,
        `The domain expired on ${owned.expires_at.slice(0, 10)} and was not renewed. Buy it again, or remove it.`,
      )
      if (isGraceOver) deleteOwnedDomain(tx, owned.id)
      for (const project of failed) tx.publish({ type: 'project_changed', id: project })
      return failed
    })
    for (const project of new Set(projects)) deps.refreshHosts(project)
    if (projects.length > 0 || isGraceOver) log.info(isGraceOver ? 'domain_released' : 'domain_expired', { hostname: owned.hostname })
  }

  return async (signal) => {
    await orders.resolveInterruptedOrders(signal)
    for (const owned of await db.read((tx) => listDomainsWithoutAddressRecord(tx, now()))) {
      if (signal.aborted) return
      await orders.setAddressRecord(owned)
    }
    for (const owned of await db.read((tx) => listRenewableDomains(tx, now(), isoTime(clock.now() + renewalWindow_ms)))) {
      if (signal.aborted) return
      try {
        await renew(owned)
      } catch (error) {
        if (!(error instanceof RegistrarError)) throw error
        log.warn('domain_renewal_failed', { hostname: owned.hostname, expires_at: owned.expires_at, error })
        const last_error = `The domain expires on ${owned.expires_at.slice(0, 10)} and could not be renewed: ${error.message}`
        await db.write((tx) => updateOwnedDomain(tx, owned.id, { last_error }))
      }
    }
    for (const owned of await db.read((tx) => listExpiredDomains(tx, now()))) await expireDomain(owned)
  }
}
