import type { Registrant } from '../../contract/domains.ts'
import { Problem } from '../../contract/errors.ts'
import { type Clock, isoTime } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import type { Log } from '../../lib/log.ts'
import { type Registrar, RegistrarError, type Registrars, type DomainRegistration, addYears } from '../registrar/registrar.ts'
import { findDomainByHostname, insertDomain, updateDomain } from '../../store/domains.ts'
import type { Db, Tx } from '../../store/store.ts'
import {
  findOwnedDomain,
  findOwnedDomainByHostname,
  refundDomainCredits,
  insertOwnedDomain,
  listPendingDomainOrders,
  deleteOwnedDomain,
  spendDomainCredits,
  updateOwnedDomain,
} from '../../store/owned-domains.ts'
import { findProject } from '../../store/projects.ts'
import type { Sealer } from '../../store/sealer.ts'
import type { OwnedDomainRow } from '../../store/tables.ts'

export interface DomainOrderDeps {
  db: Db
  registrars: Registrars
  sealer: Sealer
  clock: Clock
  log: Log
  /** The IP address for the A records of bought domains. */
  platformIp(): string
  /** Called when the verified domains of a project change. */
  refreshHosts(projectId: string): void
}

export interface DomainPurchase {
  account_id: string
  project_id: string
  hostname: string
  period_years: number
  auto_renew: boolean
  price_cents: number
  credits: number
  registrant: Registrant | null
  /** Runs in the transaction of the reservation; throws if the domain is no longer available. */
  assertAvailable(tx: Tx): void
}

/** Buys domains. The row is written before the order, so that an order interrupted by a crash is completed or undone. */
export interface DomainOrders {
  /** Resolves when the domain is bought and routed. */
  purchase(registrar: Registrar, purchase: DomainPurchase): Promise<void>
  /** Assigns a domain that the account already owns to one of its projects. */
  assignToProject(owned: OwnedDomainRow, projectId: string): Promise<void>
  /** Resolves interrupted orders. */
  resolveInterruptedOrders(signal: AbortSignal): Promise<void>
  /** Points a domain to this instance. A failure is recorded and retried periodically. */
  setAddressRecord(owned: OwnedDomainRow): Promise<void>
}

/** An expired domain is reserved for its account for this long, as with registries. */
export const expiryGracePeriod_ms = 30 * 24 * 3_600_000

export function createDomainOrders(deps: DomainOrderDeps): DomainOrders {
  const { db, registrars, sealer, clock, log } = deps
  const ordersInProgress = new Set<string>()

  const cancelReservation = (id: string): Promise<void> =>
    db.write((tx) => {
      const row = findOwnedDomain(tx, id)
      if (!row || row.is_registered === 1) return
      refundDomainCredits(tx, row.account_id, row.credits_used)
      deleteOwnedDomain(tx, id)
    })

  const completeOrder = async (id: string, { reference, expires_at }: DomainRegistration): Promise<void> => {
    const row = await db.write((tx) => {
      updateOwnedDomain(tx, id, { reference, expires_at, is_registered: 1 })
      const owned = findOwnedDomain(tx, id)
      if (owned?.project_id && findProject(tx, owned.project_id)) assignOwnedDomain(tx, owned, owned.project_id, isoTime(clock.now()))
      if (owned?.project_id) tx.publish({ type: 'project_changed', id: owned.project_id })
      return owned
    })
    if (!row) return
    if (row.is_pointed === 0) await setAddressRecord(row)
    if (row.project_id) deps.refreshHosts(row.project_id)
  }

  const setAddressRecord = async (owned: OwnedDomainRow): Promise<void> => {
    try {
      await requireRegistrarOf(registrars, owned).pointToAddress(owned.hostname, deps.platformIp())
      await db.write((tx) => updateOwnedDomain(tx, owned.id, { is_pointed: 1, last_error: null }))
    } catch (error) {
      if (!(error instanceof RegistrarError)) throw error
      log.warn('domain_dns_update_failed', { hostname: owned.hostname, error })
      const last_error = `You own the domain, but its A record could not be set to ${deps.platformIp()}: ${error.message} Homeport tries again every hour.`
      await db.write((tx) => updateOwnedDomain(tx, owned.id, { last_error }))
    }
  }

  /** Resolves an order whose response was lost: bought, not bought, or still unknown. */
  const resolveOutcome = async (
    registrar: Registrar,
    { id, hostname }: { id: string; hostname: string },
  ): Promise<'bought' | 'not_bought' | 'unknown'> => {
    try {
      const found = await registrar.findRegistration(hostname)
      if (found) await completeOrder(id, found)
      else await cancelReservation(id)
      return found ? 'bought' : 'not_bought'
    } catch (error) {
      if (!(error instanceof RegistrarError)) throw error
      return 'unknown'
    }
  }

  return {
    setAddressRecord,
    async purchase(registrar, purchase) {
      const id = newId('own')
      const now = clock.now()
      await db.write((tx) => {
        purchase.assertAvailable(tx)
        const expired = findOwnedDomainByHostname(tx, purchase.hostname)
        if (expired) deleteExpiredDomain(tx, expired, purchase.account_id, now)
        if (purchase.credits > 0 && !spendDomainCredits(tx, purchase.account_id, purchase.credits))
          throw new Problem('price_changed', 'The free domains of this account have been used in the meantime. Check the price again.')
        insertOwnedDomain(tx, {
          id,
          account_id: purchase.account_id,
          hostname: purchase.hostname,
          registrar: registrar.name,
          reference: '',
          expires_at: addYears(now, purchase.period_years),
          auto_renew: purchase.auto_renew ? 1 : 0,
          sealed_registrant:
            purchase.registrant && sealer.seal(ownedDomainEncryptionContext('sealed_registrant', id), JSON.stringify(purchase.registrant)),
          sealed_auth_code: null,
          transfer_requested_at: null,
          created_at: isoTime(now),
          is_registered: 0,
          is_pointed: registrar.name === 'local' ? 1 : 0,
          project_id: purchase.project_id,
          credits_used: purchase.credits,
          last_error: null,
        })
      })
      ordersInProgress.add(id)
      try {
        await completeOrder(id, await registrar.register({ ...purchase, key: id }))
      } catch (error) {
        if (!(error instanceof RegistrarError)) throw error
        log.warn('domain_purchase_failed', { hostname: purchase.hostname, outcome: error.outcome, error })
        if (error.outcome === 'refused') {
          await cancelReservation(id)
          throw error
        }
        const outcome = await resolveOutcome(registrar, { id, hostname: purchase.hostname })
        if (outcome === 'bought') return
        if (outcome === 'not_bought') throw error
        throw new RegistrarError(
          'unknown',
          `The registrar did not confirm whether ${purchase.hostname} was bought. Homeport checks again within the hour and then lists or releases it.`,
          error,
        )
      } finally {
        ordersInProgress.delete(id)
      }
    },
    async assignToProject(owned, projectId) {
      await db.write((tx) => {
        assignOwnedDomain(tx, owned, projectId, isoTime(clock.now()))
        tx.publish({ type: 'project_changed', id: projectId })
      })
      deps.refreshHosts(projectId)
    },
    async resolveInterruptedOrders(signal) {
      for (const row of await db.read(listPendingDomainOrders)) {
        if (signal.aborted) return
        const registrar = registrars.get(row.registrar)
        if (ordersInProgress.has(row.id) || !registrar) continue
        log.info('domain_order_resolved', { hostname: row.hostname, outcome: await resolveOutcome(registrar, row) })
      }
    },
  }
}

export const ownedDomainEncryptionContext = (column: 'sealed_registrant' | 'sealed_auth_code', row: string) => ({
  table: 'owned_domains',
  column,
  row,
})

/** The driver from which a domain was bought. */
export function requireRegistrarOf(registrars: Registrars, { registrar }: { registrar: string }): Registrar {
  const driver = registrars.get(registrar)
  if (!driver) throw new RegistrarError('refused', `The registrar ${registrar}, where this domain was bought, is no longer configured.`)
  return driver
}

/** A bought domain is verified without a DNS check. */
function assignOwnedDomain(tx: Tx, owned: OwnedDomainRow, projectId: string, now: string): void {
  const existing = findDomainByHostname(tx, owned.hostname)
  if (existing) return updateDomain(tx, existing.id, { status: 'verified', verified_at: now, last_check_error: null, owned_domain_id: owned.id })
  insertDomain(tx, {
    id: newId('dom'),
    account_id: owned.account_id,
    project_id: projectId,
    hostname: owned.hostname,
    status: 'verified',
    verified_at: now,
    created_at: now,
    owned_domain_id: owned.id,
  })
}

function deleteExpiredDomain(tx: Tx, owned: OwnedDomainRow, accountId: string, now: number): void {
  const endedAt_ms = Date.parse(owned.expires_at)
  if (endedAt_ms > now || (owned.account_id !== accountId && endedAt_ms + expiryGracePeriod_ms > now))
    throw new Problem('domain_unavailable', `${owned.hostname} is already taken. Choose another domain.`)
  deleteOwnedDomain(tx, owned.id)
}
