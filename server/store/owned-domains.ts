import { hasLocalSuffix } from '../lib/local-suffixes.ts'
import { selectCoveringDomains } from './domains.ts'
import { all, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { OwnedDomainRow } from './tables.ts'

export const findOwnedDomain = first((id: string) => tables.selectFrom('owned_domains').selectAll().where('id', '=', id))

export const findOwnedDomainByHostname = first((hostname: string) => tables.selectFrom('owned_domains').selectAll().where('hostname', '=', hostname))

export function insertOwnedDomain(tx: Tx, row: OwnedDomainRow): void {
  tx.run(tables.insertInto('owned_domains').values(row))
}

export function updateOwnedDomain(tx: Tx, id: string, change: Partial<Omit<OwnedDomainRow, 'id'>>): void {
  tx.run(tables.updateTable('owned_domains').set(change).where('id', '=', id))
}

/** Deletes a purchased domain and its use by projects. */
export function deleteOwnedDomain(tx: Tx, id: string): void {
  tx.run(tables.deleteFrom('domains').where('owned_domain_id', '=', id))
  tx.run(tables.deleteFrom('owned_domains').where('id', '=', id))
}

/** Orders whose outcome is not recorded. */
export const listPendingDomainOrders = all(() => tables.selectFrom('owned_domains').selectAll().where('is_registered', '=', 0).orderBy('created_at'))

const registeredDomains = tables.selectFrom('owned_domains').where('is_registered', '=', 1)

/** Domains to renew because they expire before `before`, the most urgent first. Expired domains cannot be renewed. */
export const listRenewableDomains = all((now: string, before: string) =>
  registeredDomains
    .selectAll()
    .where('auto_renew', '=', 1)
    .where('transfer_requested_at', 'is', null)
    .where('expires_at', '>', now)
    .where('expires_at', '<=', before)
    .orderBy('expires_at'),
)

/** Purchased domains whose A record does not point here yet. */
export const listDomainsWithoutAddressRecord = all((now: string) =>
  registeredDomains.selectAll().where('is_pointed', '=', 0).where('expires_at', '>', now),
)

export const listExpiredDomains = all((before: string) => registeredDomains.selectAll().where('expires_at', '<=', before).orderBy('expires_at'))

/** Fails an expired domain, and the subdomains that were verified by owning it. Returns the ids of their projects. */
export function failDomainsOfOwned(tx: Tx, { id, hostname, account_id, registrar }: OwnedDomainRow, message: string): string[] {
  const change = tables
    .updateTable('domains')
    .set({ status: 'failed', last_check_error: message })
    .where('status', 'in', ['verified', 'transfer_requested'])
    .where((eb) =>
      registrar === 'local'
        ? eb.or([eb('owned_domain_id', '=', id), eb.and([eb('account_id', '=', account_id), eb('hostname', 'like', `%.${hostname}`)])])
        : eb('owned_domain_id', '=', id),
    )
  return tx.all(change.returning('project_id')).map((row) => row.project_id)
}

const subtractCredits = run((accountId: string, credits: number) =>
  tables
    .updateTable('accounts')
    .set((eb) => ({ free_domain_credits: eb('free_domain_credits', '-', credits) }))
    .where('id', '=', accountId)
    .where('free_domain_credits', '>=', credits),
)
/** Spends credits; false if the account has too few. */
export const spendDomainCredits = (tx: Tx, accountId: string, credits: number): boolean => subtractCredits(tx, accountId, credits) === 1

export const refundDomainCredits = run((accountId: string, credits: number) =>
  tables
    .updateTable('accounts')
    .set((eb) => ({ free_domain_credits: eb('free_domain_credits', '+', credits) }))
    .where('id', '=', accountId),
)

/** Cancels a transfer: the domain is renewed and routed again, and its transfer code is discarded. */
export function cancelDomainTransfer(tx: Tx, id: string): void {
  updateOwnedDomain(tx, id, { transfer_requested_at: null, sealed_auth_code: null })
}

const findUseOfHostname = first((hostname: string) =>
  tables
    .selectFrom('domains as d')
    .innerJoin('projects as p', 'p.id', 'd.project_id')
    .select(['d.status', 'd.account_id'])
    .where('p.deleted_at', 'is', null)
    .where('d.hostname', '=', hostname),
)

/**
 * How the instance's own DNS server answers for a name: its zone, and whether the name exists. A purchased domain exists, and so does each subdomain
 * that the same account added. Other names exist only under a local suffix and if verified.
 */
export function findLocalZone(tx: Tx, name: string, now: string): { zone: string; has_host: boolean } | undefined {
  if (!hasLocalSuffix(name)) return undefined
  const owned = tx.first(
    selectCoveringDomains(name, now)
      .select(['hostname', 'account_id'])
      .where('registrar', '=', 'local')
      .where('is_registered', '=', 1)
      .where('transfer_requested_at', 'is', null),
  )
  const domain = findUseOfHostname(tx, name)
  if (owned) return { zone: owned.hostname, has_host: owned.hostname === name || domain?.account_id === owned.account_id }
  return domain?.status === 'verified' ? { zone: name, has_host: true } : undefined
}

const countLocal = first((now: string) =>
  registeredDomains
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.max<string | null>('hostname').as('sample')])
    .where('registrar', '=', 'local')
    .where('expires_at', '>', now),
)
/** The number of purchased domains that the own DNS server answers for, and one of them. */
export const countLocalDomains = (tx: Tx, now: string): { count: number; sample: string | null } => countLocal(tx, now) ?? { count: 0, sample: null }

/** Purchased domains with an error, for the doctor. */
export const listFailingDomains = all(() =>
  registeredDomains
    .select((eb) => ['hostname', eb.ref('last_error').$notNull().as('last_error')])
    .where('last_error', 'is not', null)
    .orderBy('expires_at'),
)
