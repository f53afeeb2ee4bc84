import type { Insertable } from 'kysely'
import type { Tx } from './open.ts'
import type { DomainRow, Tables } from './tables.ts'

export type DomainStatus = DomainRow['status']

/** Hostnames that route, of one project or of all that live: only verified ones do. */
export function listVerifiedHostnames(tx: Tx, projectId: string): string[] {
  return tx
    .sqlAll<{ hostname: string }>(`SELECT hostname FROM domains WHERE project_id = ? AND status = 'verified' ORDER BY seq`, projectId)
    .map((row) => row.hostname)
}

export function listProjectsWithHostnames(tx: Tx): string[] {
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
export function removeDomainsOf(tx: Tx, projectId: string): void {
  tx.run(tx.query.deleteFrom('domains').where('project_id', '=', projectId))
}

/** Every name of this instance that the system's resolver has to know, in a steady order. */
export function listLocalNames(tx: Tx): string[] {
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
