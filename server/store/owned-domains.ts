import { hasLocalSuffix } from '../lib/local-suffixes.ts'
import type { Tx } from './store.ts'
import type { OwnedDomainRow } from './tables.ts'

export function findOwnedDomain(tx: Tx, id: string): OwnedDomainRow | undefined {
  return tx.sqlFirst('SELECT * FROM owned_domains WHERE id = ?', id)
}

export function findOwnedDomainByHostname(tx: Tx, hostname: string): OwnedDomainRow | undefined {
  return tx.sqlFirst('SELECT * FROM owned_domains WHERE hostname = ?', hostname)
}

export function insertOwnedDomain(tx: Tx, row: OwnedDomainRow): void {
  tx.run(tx.query.insertInto('owned_domains').values(row))
}

export function updateOwnedDomain(tx: Tx, id: string, change: Partial<Omit<OwnedDomainRow, 'id'>>): void {
  tx.run(tx.query.updateTable('owned_domains').set(change).where('id', '=', id))
}

/** Deletes a purchased domain and its use by projects. */
export function deleteOwnedDomain(tx: Tx, id: string): void {
  tx.sqlRun('DELETE FROM domains WHERE owned_domain_id = ?', id)
  tx.sqlRun('DELETE FROM owned_domains WHERE id = ?', id)
}

/** Orders whose outcome is not recorded. */
export function listPendingDomainOrders(tx: Tx): OwnedDomainRow[] {
  return tx.sqlAll('SELECT * FROM owned_domains WHERE is_registered = 0 ORDER BY created_at')
}

/** Domains to renew because they expire before `before`, the most urgent first. Expired domains cannot be renewed. */
export function listRenewableDomains(tx: Tx, now: string, before: string): OwnedDomainRow[] {
  return tx.sqlAll(
    `SELECT * FROM owned_domains WHERE is_registered = 1 AND auto_renew = 1 AND transfer_requested_at IS NULL AND expires_at > ? AND expires_at <= ?
     ORDER BY expires_at`,
    now,
    before,
  )
}

/** Purchased domains whose A record does not point here yet. */
export function listDomainsWithoutAddressRecord(tx: Tx, now: string): OwnedDomainRow[] {
  return tx.sqlAll('SELECT * FROM owned_domains WHERE is_registered = 1 AND is_pointed = 0 AND expires_at > ?', now)
}

export function listExpiredDomains(tx: Tx, before: string): OwnedDomainRow[] {
  return tx.sqlAll('SELECT * FROM owned_domains WHERE is_registered = 1 AND expires_at <= ? ORDER BY expires_at', before)
}

/** Fails an expired domain, and the subdomains that were verified by owning it. Returns the ids of their projects. */
export function failDomainsOfOwned(tx: Tx, { id, hostname, account_id, registrar }: OwnedDomainRow, message: string): string[] {
  return tx
    .sqlAll<{ project_id: string }>(
      `UPDATE domains SET status = 'failed', last_check_error = ?
       WHERE status IN ('verified', 'transfer_requested') AND (owned_domain_id = ? OR (? = 'local' AND account_id = ? AND hostname LIKE '%.' || ?))
       RETURNING project_id`,
      message,
      id,
      registrar,
      account_id,
      hostname,
    )
    .map((row) => row.project_id)
}

/** Spends credits; false if the account has too few. */
export function spendDomainCredits(tx: Tx, accountId: string, credits: number): boolean {
  return (
    tx.sqlRun(
      'UPDATE accounts SET free_domain_credits = free_domain_credits - ? WHERE id = ? AND free_domain_credits >= ?',
      credits,
      accountId,
      credits,
    ) === 1
  )
}

export function refundDomainCredits(tx: Tx, accountId: string, credits: number): void {
  tx.sqlRun('UPDATE accounts SET free_domain_credits = free_domain_credits + ? WHERE id = ?', credits, accountId)
}

/** Cancels a transfer: the domain is renewed and routed again, and its transfer code is discarded. */
export function cancelDomainTransfer(tx: Tx, id: string): void {
  updateOwnedDomain(tx, id, { transfer_requested_at: null, sealed_auth_code: null })
}

/**
 * How the instance's own DNS server answers for a name: its zone, and whether the name exists. A purchased domain exists, and so does each subdomain
 * that the same account added. Other names exist only under a local suffix and if verified.
 */
export function findLocalZone(tx: Tx, name: string, now: string): { zone: string; has_host: boolean } | undefined {
  if (!hasLocalSuffix(name)) return undefined
  const labels = name.split('.')
  const ancestors = labels.map((_, i) => labels.slice(i).join('.'))
  const owned = tx.sqlFirst<{ hostname: string; account_id: string }>(
    `SELECT hostname, account_id FROM owned_domains
     WHERE hostname IN (${ancestors.map(() => '?').join(', ')}) AND registrar = 'local' AND is_registered = 1 AND transfer_requested_at IS NULL AND expires_at > ?
     ORDER BY length(hostname) DESC`,
    ...ancestors,
    now,
  )
  const domain = tx.sqlFirst<{ status: string; account_id: string }>(
    'SELECT d.status, d.account_id FROM domains d JOIN projects p ON p.id = d.project_id AND p.deleted_at IS NULL WHERE d.hostname = ?',
    name,
  )
  if (owned) return { zone: owned.hostname, has_host: owned.hostname === name || domain?.account_id === owned.account_id }
  return domain?.status === 'verified' ? { zone: name, has_host: true } : undefined
}

/** The number of purchased domains that the own DNS server answers for, and one of them. */
export function countLocalDomains(tx: Tx, now: string): { count: number; sample: string | null } {
  return (
    tx.sqlFirst(
      `SELECT count(*) AS count, max(hostname) AS sample FROM owned_domains WHERE registrar = 'local' AND is_registered = 1 AND expires_at > ?`,
      now,
    ) ?? {
      count: 0,
      sample: null,
    }
  )
}

/** Purchased domains with an error, for the doctor. */
export function listFailingDomains(tx: Tx): { hostname: string; last_error: string }[] {
  return tx.sqlAll('SELECT hostname, last_error FROM owned_domains WHERE is_registered = 1 AND last_error IS NOT NULL ORDER BY expires_at')
}
