import type { Registrant } from '../contract/domains.ts'
import { Problem } from '../contract/errors.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { Log } from '../lib/log.ts'
import { type Registrar, RegistrarError, type Registrars, type DomainRegistration, addYears } from '../registrar/registrar.ts'
import { findDomainByHostname, insertDomain, updateDomain } from '../store/domains.ts'
import type { Db, Tx } from '../store/store.ts'
import {
  findOwnedDomain,
  findOwnedDomainByHostname,
  refundDomainCredits,
  insertOwnedDomain,
  listPendingDomainOrders,
  deleteOwnedDomain,
  spendDomainCredits,
  updateOwnedDomain,
} from '../store/owned-domains.ts'
import { findProject } from '../store/projects.ts'
import type { Sealer } from '../store/sealer.ts'
import type { OwnedDomainRow } from '../store/tables.ts'

export interface DomainOrderDeps {
  db: Db
  registrars: Registrars
  sealer: Sealer
  clock: Clock
  log: Log
  /** The address that a bought name is to lead to. */
  platformIp(): string
  /** The verified names of a project are others now. */
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
  /** In the transaction of the reservation: throws when the name may not be had any more. */
  assertAvailable(tx: Tx): void
}

/** Buys names. The row stands before anything is bought, so that whatever a crash cuts off is finished or undone. */
export interface DomainOrders {
  /** Resolves once the name is ours and routes. */
  purchase(registrar: Registrar, purchase: DomainPurchase): Promise<void>
  /** A name that the account owns already goes to one of its projects. */
  assignToProject(owned: OwnedDomainRow, projectId: string): Promise<void>
  /** Finds out what became of orders that were cut off. */
  resolveInterruptedOrders(signal: AbortSignal): Promise<void>
  /** Has a name lead here; what fails is noted, and tried again by the round. */
  setAddressRecord(owned: OwnedDomainRow): Promise<void>
}

/** An ended name stays its account's so long, as with registries, before others may have it. */
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
      log.warn('domain_not_pointed', { hostname: owned.hostname, error })
      const last_error = `The name is yours, but its A record could not be set to ${deps.platformIp()}: ${error.message} Homeport tries again every hour.`
      await db.write((tx) => updateOwnedDomain(tx, owned.id, { last_error }))
    }
  }

  /** An order whose answer was lost: bought, not bought, or not known yet. */
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
          throw new Problem('price_changed', 'The free names of this account were used up meanwhile. Look at the price again.')
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
        log.warn('domain_not_bought', { hostname: purchase.hostname, outcome: error.outcome, error })
        if (error.outcome === 'refused') {
          await cancelReservation(id)
          throw error
        }
        const outcome = await resolveOutcome(registrar, { id, hostname: purchase.hostname })
        if (outcome === 'bought') return
        if (outcome === 'not_bought') throw error
        throw new RegistrarError(
          'unknown',
          `The registrar did not say whether ${purchase.hostname} was bought. Homeport asks again within the hour and then lists it, or frees it.`,
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
        log.info('domain_order_settled', { hostname: row.hostname, outcome: await resolveOutcome(registrar, row) })
      }
    },
  }
}

export const ownedDomainEncryptionContext = (column: 'sealed_registrant' | 'sealed_auth_code', row: string) => ({
  table: 'owned_domains',
  column,
  row,
})

/** The driver that a name was bought from. */
export function requireRegistrarOf(registrars: Registrars, { registrar }: { registrar: string }): Registrar {
  const driver = registrars.get(registrar)
  if (!driver) throw new RegistrarError('refused', `The registrar ${registrar}, where this name was bought, is not set up any more.`)
  return driver
}

/** An owned name is verified by being owned. */
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
    throw new Problem('domain_unavailable', `${owned.hostname} belongs to somebody already. Choose another name.`)
  deleteOwnedDomain(tx, owned.id)
}
