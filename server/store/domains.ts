import type { Insertable } from 'kysely'
import type { Tx } from './store.ts'
import type { DomainRow, OwnedDomainRow, Tables } from './tables.ts'

export type DomainStatus = DomainRow['status']

/** A domain with its project and its purchase. Excludes domains of deleted projects. */
export interface DomainView extends DomainRow {
  project_slug: string
  project_name: string
  /** The account of the project, which owns the domain. */
  project_account_id: string
  registrar: string | null
  reference: string | null
  expires_at: string | null
  auto_renew: 0 | 1 | null
  sealed_registrant: Uint8Array | null
  transfer_requested_at: string | null
  /** The error of the purchase, for example of its renewal. */
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

/** Verified domains whose last check is older than `before` or failed. */
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

/** The unexpired purchase of a hostname or of its nearest parent domain. */
export function findCoveringOwnedDomain(tx: Tx, hostname: string, now: string): OwnedDomainRow | undefined {
  const labels = hostname.split('.')
  const names = labels.map((_, i) => labels.slice(i).join('.'))
  return tx.sqlFirst(
    `SELECT * FROM owned_domains WHERE hostname IN (${names.map(() => '?').join(', ')}) AND expires_at > ? ORDER BY length(hostname) DESC`,
    ...names,
    now,
  )
}

/** The verified hostnames of a project. Only verified hostnames are routed. */
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

/** Frees the hostnames of a deleted project for others. */
export function deleteDomainsOfProject(tx: Tx, projectId: string): void {
  tx.run(tx.query.deleteFrom('domains').where('project_id', '=', projectId))
}

/** Every hostname of this instance that the system's resolver must know, in a stable order. */
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
