import type { Registrant } from '../contract/domains.ts'
import { Problem } from '../contract/errors.ts'
import type { Bus } from '../lib/bus.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { Log } from '../lib/log.ts'
import { type Registrar, RegistrarFailed, type Registrars, type Registration, yearsAfter } from '../registrar/registrar.ts'
import { findDomainByHostname, insertDomain, updateDomain } from '../store/domains.ts'
import type { Db, Tx } from '../store/open.ts'
import {
  findOwned,
  findOwnedByHostname,
  giveCredits,
  insertOwned,
  listOpenOrders,
  removeOwned,
  takeCredits,
  updateOwned,
} from '../store/owned-domains.ts'
import { findProject } from '../store/projects.ts'
import type { Sealer } from '../store/sealed.ts'
import type { OwnedDomainRow } from '../store/tables.ts'

export interface OrderParts {
  db: Db
  registrars: Registrars
  sealer: Sealer
  bus: Bus
  clock: Clock
  log: Log
  /** The address that a bought name is to lead to. */
  platformIp(): string
  /** The verified names of a project are others now. */
  refreshHosts(projectId: string): void
}

export interface Wish {
  account_id: string
  project_id: string
  hostname: string
  period_years: number
  auto_renew: boolean
  price_cents: number
  credits: number
  registrant: Registrant | null
  /** In the transaction of the reservation: throws when the name may not be had any more. */
  assertFree(tx: Tx): void
}

/** Buys names. The row stands before anything is bought, so that whatever a crash cuts off is finished or undone. */
export interface Orders {
  /** Resolves once the name is ours and routes. */
  place(registrar: Registrar, wish: Wish): Promise<void>
  /** A name that the account owns already goes to one of its projects. */
  attach(owned: OwnedDomainRow, projectId: string): Promise<void>
  /** Finds out what became of orders that were cut off. */
  settle(signal: AbortSignal): Promise<void>
  /** Has a name lead here; what fails is noted, and tried again by the round. */
  point(owned: OwnedDomainRow): Promise<void>
}

/** An ended name stays its account's so long, as with registries, before others may have it. */
export const grace_ms = 30 * 24 * 3_600_000

export function createOrders(parts: OrderParts): Orders {
  const { db, registrars, sealer, bus, clock, log } = parts
  const underWay = new Set<string>()

  const routed = (projectId: string) => {
    parts.refreshHosts(projectId)
    bus.emit(`project:${projectId}`)
  }

  const undo = (id: string): Promise<void> =>
    db.write((tx) => {
      const row = findOwned(tx, id)
      if (!row || row.is_registered === 1) return
      giveCredits(tx, row.account_id, row.credits_used)
      removeOwned(tx, id)
    })

  const finish = async (id: string, { reference, expires_at }: Registration): Promise<void> => {
    const row = await db.write((tx) => {
      updateOwned(tx, id, { reference, expires_at, is_registered: 1 })
      const owned = findOwned(tx, id)
      if (owned?.project_id && findProject(tx, owned.project_id)) give(tx, owned, owned.project_id, isoTime(clock.now()))
      return owned
    })
    if (!row) return
    if (row.is_pointed === 0) await point(row)
    if (row.project_id) routed(row.project_id)
  }

  const point = async (owned: OwnedDomainRow): Promise<void> => {
    try {
      await registrarOf(registrars, owned).point(owned.hostname, parts.platformIp())
      await db.write((tx) => updateOwned(tx, owned.id, { is_pointed: 1, last_error: null }))
    } catch (error) {
      if (!(error instanceof RegistrarFailed)) throw error
      log.warn('domain_not_pointed', { hostname: owned.hostname, error })
      const last_error = `The name is yours, but its A record could not be set to ${parts.platformIp()}: ${error.message} Homeport tries again every hour.`
      await db.write((tx) => updateOwned(tx, owned.id, { last_error }))
    }
  }

  /** An order whose answer was lost: bought, not bought, or not known yet. */
  const lookAfter = async (
    registrar: Registrar,
    { id, hostname }: { id: string; hostname: string },
  ): Promise<'bought' | 'not_bought' | 'unknown'> => {
    try {
      const found = await registrar.find(hostname)
      if (found) await finish(id, found)
      else await undo(id)
      return found ? 'bought' : 'not_bought'
    } catch (error) {
      if (!(error instanceof RegistrarFailed)) throw error
      return 'unknown'
    }
  }

  return {
    point,
    async place(registrar, wish) {
      const id = newId('own')
      const now = clock.now()
      await db.write((tx) => {
        wish.assertFree(tx)
        const ended = findOwnedByHostname(tx, wish.hostname)
        if (ended) removeEnded(tx, ended, wish.account_id, now)
        if (wish.credits > 0 && !takeCredits(tx, wish.account_id, wish.credits))
          throw new Problem('price_changed', 'The free names of this account were used up meanwhile. Look at the price again.')
        insertOwned(tx, {
          id,
          account_id: wish.account_id,
          hostname: wish.hostname,
          registrar: registrar.name,
          reference: '',
          expires_at: yearsAfter(now, wish.period_years),
          auto_renew: wish.auto_renew ? 1 : 0,
          sealed_registrant: wish.registrant && sealer.seal(placeOf('sealed_registrant', id), JSON.stringify(wish.registrant)),
          sealed_auth_code: null,
          transfer_requested_at: null,
          created_at: isoTime(now),
          is_registered: 0,
          is_pointed: registrar.name === 'local' ? 1 : 0,
          project_id: wish.project_id,
          credits_used: wish.credits,
          last_error: null,
        })
      })
      underWay.add(id)
      try {
        await finish(id, await registrar.register({ ...wish, key: id }))
      } catch (error) {
        if (!(error instanceof RegistrarFailed)) throw error
        log.warn('domain_not_bought', { hostname: wish.hostname, outcome: error.outcome, error })
        if (error.outcome === 'refused') {
          await undo(id)
          throw error
        }
        const outcome = await lookAfter(registrar, { id, hostname: wish.hostname })
        if (outcome === 'bought') return
        if (outcome === 'not_bought') throw error
        throw new RegistrarFailed(
          'unknown',
          `The registrar did not say whether ${wish.hostname} was bought. Homeport asks again within the hour and then lists it, or frees it.`,
          error,
        )
      } finally {
        underWay.delete(id)
      }
    },
    async attach(owned, projectId) {
      await db.write((tx) => give(tx, owned, projectId, isoTime(clock.now())))
      routed(projectId)
    },
    async settle(signal) {
      for (const row of await db.read(listOpenOrders)) {
        if (signal.aborted) return
        const registrar = registrars.of(row.registrar)
        if (underWay.has(row.id) || !registrar) continue
        log.info('domain_order_settled', { hostname: row.hostname, outcome: await lookAfter(registrar, row) })
      }
    },
  }
}

export const placeOf = (column: 'sealed_registrant' | 'sealed_auth_code', row: string) => ({ table: 'owned_domains', column, row })

/** The driver that a name was bought from. */
export function registrarOf(registrars: Registrars, { registrar }: { registrar: string }): Registrar {
  const driver = registrars.of(registrar)
  if (!driver) throw new RegistrarFailed('refused', `The registrar ${registrar}, where this name was bought, is not set up any more.`)
  return driver
}

/** An owned name is verified by being owned. */
function give(tx: Tx, owned: OwnedDomainRow, projectId: string, now: string): void {
  const there = findDomainByHostname(tx, owned.hostname)
  if (there) return updateDomain(tx, there.id, { status: 'verified', verified_at: now, last_check_error: null, owned_domain_id: owned.id })
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

function removeEnded(tx: Tx, owned: OwnedDomainRow, accountId: string, now: number): void {
  const ended = Date.parse(owned.expires_at)
  if (ended > now || (owned.account_id !== accountId && ended + grace_ms > now))
    throw new Problem('domain_unavailable', `${owned.hostname} belongs to somebody already. Choose another name.`)
  removeOwned(tx, owned.id)
}
