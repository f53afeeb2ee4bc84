import { isoTime } from '../lib/clock.ts'
import { RegistrarFailed } from '../registrar/registrar.ts'
import { failDomainsOf, listEnded, listRenewable, listUnpointed, removeOwned, takeCredits, updateOwned } from '../store/owned-domains.ts'
import { findAccount } from '../store/people.ts'
import type { OwnedDomainRow } from '../store/tables.ts'
import { grace_ms, type OrderParts, type Orders, registrarOf } from './domain-orders.ts'

const day_ms = 24 * 3_600_000
/** So long before its end a name is renewed; there is a month to put right what is in the way. */
const ahead_ms = 30 * day_ms

/** What bought names need every hour: orders settled, records set, renewed in time, and let go when they ended. */
export function createRenewals(parts: OrderParts, orders: Orders): (signal: AbortSignal) => Promise<void> {
  const { db, registrars, bus, clock, log } = parts
  const now = () => isoTime(clock.now())

  const renew = async (owned: OwnedDomainRow): Promise<void> => {
    const registrar = registrarOf(registrars, owned)
    // Renewed before, and cut off before it was written down: never paid for twice.
    const found = await registrar.find(owned.hostname)
    if (found && found.expires_at > owned.expires_at) return keep(owned, found.expires_at, 0)
    const price_cents = await registrar.renewalPrice(owned.hostname)
    const account = await db.read((tx) => findAccount(tx, owned.account_id))
    const credits = price_cents > 0 && (account?.free_domain_credits ?? 0) > 0 ? 1 : 0
    if (price_cents > 0 && credits === 0 && account?.has_payment_method !== 1)
      throw new RegistrarFailed('refused', 'The account has neither a free name left nor a payment method. Add a card.')
    const { expires_at } = await registrar.renew({ hostname: owned.hostname, expires_at: owned.expires_at, price_cents })
    await keep(owned, expires_at, credits)
  }

  const keep = async (owned: OwnedDomainRow, expires_at: string, credits: number): Promise<void> => {
    await db.write((tx) => {
      if (credits > 0) takeCredits(tx, owned.account_id, credits)
      updateOwned(tx, owned.id, { expires_at, last_error: null })
    })
    log.info('domain_renewed', { hostname: owned.hostname, expires_at })
    if (owned.project_id) bus.emit(`project:${owned.project_id}`)
  }

  const letGo = async (owned: OwnedDomainRow): Promise<void> => {
    const isOver = Date.parse(owned.expires_at) + grace_ms <= clock.now()
    const projects = await db.write((tx) => {
      const failed = failDomainsOf(
        tx,
        owned,
        `The name ended on ${owned.expires_at.slice(0, 10)} and was not renewed. Buy it again, or take it away.`,
      )
      if (isOver) removeOwned(tx, owned.id)
      return failed
    })
    for (const project of new Set(projects)) {
      parts.refreshHosts(project)
      bus.emit(`project:${project}`)
    }
    if (projects.length > 0 || isOver) log.info(isOver ? 'domain_let_go' : 'domain_ended', { hostname: owned.hostname })
  }

  return async (signal) => {
    await orders.settle(signal)
    for (const owned of await db.read((tx) => listUnpointed(tx, now()))) {
      if (signal.aborted) return
      await orders.point(owned)
    }
    for (const owned of await db.read((tx) => listRenewable(tx, now(), isoTime(clock.now() + ahead_ms)))) {
      if (signal.aborted) return
      try {
        await renew(owned)
      } catch (error) {
        if (!(error instanceof RegistrarFailed)) throw error
        log.warn('domain_not_renewed', { hostname: owned.hostname, expires_at: owned.expires_at, error })
        const last_error = `It ends on ${owned.expires_at.slice(0, 10)} and could not be renewed: ${error.message}`
        await db.write((tx) => updateOwned(tx, owned.id, { last_error }))
      }
    }
    for (const owned of await db.read((tx) => listEnded(tx, now()))) await letGo(owned)
  }
}
