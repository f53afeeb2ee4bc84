import type { Insertable } from 'kysely'
import type { Tx } from './store.ts'
import type { DomainRow, OwnedDomainRow, Tables } from './tables.ts'

export type DomainStatus = DomainRow['status']

/** A domain with its project, and with the purchase that it came with. Those of projects that were removed are no more. */
export interface DomainView extends DomainRow {
  project_slug: string
  project_name: string
  /** The account of the project, which is whose the domain is. */
  project_account_id: string
  registrar: string | null
  reference: string | null
  expires_at: string | null
  auto_renew: 0 | 1 | null
  sealed_registrant: Uint8Array | null
  transfer_requested_at: string | null
  /** What went wrong with the purchase, such as its renewal. */
  owned_error: string | null
}

const domainViewSql = `SELECT d.*, p.slug AS project_slug, p.name AS project_name, p.account_id AS project_account_id,
    o.registrar, o.reference, o.expires_at, o.auto_renew, o.sealed_registrant, o.transfer_requested_at, o.last_error AS owned_error
  FROM domains d JOIN projects p ON p.id = d.project_id AND p.deleted_at IS NULL
  LEFT JOIN owned_domains o ON o.id = d.owned_domain_id`

export function findDomainView(tx: Tx, id: string): DomainView | undefined {
  return tx.sqlFirst(`${domainViewSql} WHERE d.id = ?`, id)
}

export function findDomainByHostname(tx: Tx, hostname: string): DomainView | undefined {
  return tx.sqlFirst(`${domainViewSql} WHERE d.hostname = ?`, hostname)
}

/** Newest first. */
export function listDomainsOfProject(tx: Tx, projectId: string): DomainView[] {
  return tx.sqlAll(`${domainViewSql} WHERE d.project_id = ? ORDER BY d.seq DESC`, projectId)
}

/** Of all projects of these accounts, newest first. */
export function listDomainsOfAccounts(tx: Tx, accounts: readonly string[]): DomainView[] {
  return tx.sqlAll(`${domainViewSql} WHERE p.account_id IN (${accounts.map(() => '?').join(', ')}) ORDER BY d.seq DESC`, ...accounts)
}

/** Verified names that were last looked at before then, or whose last look found a fault. */
export function listDomainsDueForCheck(tx: Tx, before: string): { id: string }[] {
  return tx.sqlAll(
    `SELECT d.id FROM domains d JOIN projects p ON p.id = d.project_id AND p.deleted_at IS NULL
     WHERE d.status = 'verified' AND (d.last_check_error IS NOT NULL OR coalesce(d.last_check_at, d.verified_at, '') < ?)
     ORDER BY d.last_check_at`,
    before,
  )
}

export function updateDomain(tx: Tx, id: string, change: Partial<Omit<DomainRow, 'seq' | 'id'>>): void {
  tx.run(tx.query.updateTable('domains').set(change).where('id', '=', id))
}

export function deleteDomain(tx: Tx, id: string): void {
  tx.run(tx.query.deleteFrom('domains').where('id', '=', id))
}

/** The purchase, not run out, of a name or of the nearest name above it. */
export function findCoveringOwnedDomain(tx: Tx, hostname: string, now: string): OwnedDomainRow | undefined {
  const labels = hostname.split('.')
  const names = labels.map((_, i) => labels.slice(i).join('.'))
  return tx.sqlFirst(
    `SELECT * FROM owned_domains WHERE hostname IN (${names.map(() => '?').join(', ')}) AND expires_at > ? ORDER BY length(hostname) DESC`,
    ...names,
    now,
  )
}

/** Hostnames that route, of one project or of all that live: only verified ones do. */
export function listVerifiedHostnames(tx: Tx, projectId: string): string[] {
  return tx
    .sqlAll<{ hostname: string }>(`SELECT hostname FROM domains WHERE project_id = ? AND status = 'verified' ORDER BY seq`, projectId)
    .map((row) => row.hostname)
}

export function listProjectIdsWithHostnames(tx: Tx): string[] {
  return tx
    .sqlAll<{ id: string }>(
      `SELECT DISTINCT p.id FROM domains d JOIN projects p ON p.id = d.project_id WHERE d.status = 'verified' AND p.deleted_at IS NULL`,
    )
    .map((row) => row.id)
}

export function insertDomain(tx: Tx, domain: Insertable<Tables['domains']>): void {
  tx.run(tx.query.insertInto('domains').values(domain))
}

/** A name is free for others as soon as its project is gone. */
export function deleteDomainsOfProject(tx: Tx, projectId: string): void {
  tx.run(tx.query.deleteFrom('domains').where('project_id', '=', projectId))
}

/** Every name of this instance that the system's resolver has to know, in a steady order. */
export function listLocalHostnames(tx: Tx): string[] {
  return tx
    .sqlAll<{ name: string }>(
      `SELECT slug || '.localhost' AS name, seq, 0 AS kind FROM projects WHERE deleted_at IS NULL
       UNION ALL SELECT d.hostname, d.seq, 1 FROM domains d JOIN projects p ON p.id = d.project_id
         WHERE d.status = 'verified' AND d.hostname NOT LIKE '%.localhost' AND p.deleted_at IS NULL
       UNION ALL SELECT v.host, v.rowid, 2 FROM previews v JOIN projects p ON p.id = v.project_id WHERE p.deleted_at IS NULL
       ORDER BY 3, 2`,
    )
    .map((row) => row.name)
}
