import { type Insertable, sql } from 'kysely'
import { all, first, run, tables } from './query.ts'
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

const domainsOfProjects = tables
  .selectFrom('domains as d')
  .innerJoin('projects as p', (join) => join.onRef('p.id', '=', 'd.project_id').on('p.deleted_at', 'is', null))
const domainViews = domainsOfProjects
  .leftJoin('owned_domains as o', 'o.id', 'd.owned_domain_id')
  .selectAll('d')
  .select(['p.slug as project_slug', 'p.name as project_name', 'p.account_id as project_account_id'])
  .select([
    'o.registrar',
    'o.reference',
    'o.expires_at',
    'o.auto_renew',
    'o.sealed_registrant',
    'o.transfer_requested_at',
    'o.last_error as owned_error',
  ])

export const findDomainView = first((id: string) => domainViews.where('d.id', '=', id))

export const findDomainByHostname = first((hostname: string) => domainViews.where('d.hostname', '=', hostname))

/** Newest first. */
export const listDomainsOfProject = all((projectId: string) => domainViews.where('d.project_id', '=', projectId).orderBy('d.seq', 'desc'))

/** Of all projects of these accounts, newest first. */
export function listDomainsOfAccounts(tx: Tx, accounts: readonly string[]): DomainView[] {
  return tx.all(domainViews.where('p.account_id', 'in', accounts).orderBy('d.seq', 'desc'))
}

/** Verified domains whose last check is older than `before` or failed. */
export const listDomainsDueForCheck = all((before: string) =>
  domainsOfProjects
    .select('d.id')
    .where('d.status', '=', 'verified')
    .where((eb) => eb.or([eb('d.last_check_error', 'is not', null), eb(eb.fn.coalesce('d.last_check_at', 'd.verified_at', eb.val('')), '<', before)]))
    .orderBy('d.last_check_at'),
)

export function updateDomain(tx: Tx, id: string, change: Partial<Omit<DomainRow, 'seq' | 'id'>>): void {
  tx.run(tables.updateTable('domains').set(change).where('id', '=', id))
}

export const deleteDomain = run((id: string) => tables.deleteFrom('domains').where('id', '=', id))

/** The unexpired purchase of a hostname or of its nearest parent domain. */
export function findCoveringOwnedDomain(tx: Tx, hostname: string, now: string): OwnedDomainRow | undefined {
  return tx.first(selectCoveringDomains(hostname, now).selectAll())
}

/** The unexpired purchases of a hostname and of its parent domains, the nearest first. */
export function selectCoveringDomains(hostname: string, now: string) {
  const labels = hostname.split('.')
  const names = labels.map((_, i) => labels.slice(i).join('.'))
  return tables
    .selectFrom('owned_domains')
    .where('hostname', 'in', names)
    .where('expires_at', '>', now)
    .orderBy((eb) => eb.fn('length', ['hostname']), 'desc')
}

const listVerified = all((projectId: string) =>
  tables.selectFrom('domains').select('hostname').where('project_id', '=', projectId).where('status', '=', 'verified').orderBy('seq'),
)
/** The verified hostnames of a project. Only verified hostnames are routed. */
export const listVerifiedHostnames = (tx: Tx, projectId: string): string[] => listVerified(tx, projectId).map((row) => row.hostname)

const listVerifiedProjects = all(() => domainsOfProjects.select('p.id').distinct().where('d.status', '=', 'verified'))
export const listProjectIdsWithHostnames = (tx: Tx): string[] => listVerifiedProjects(tx).map((row) => row.id)

export function insertDomain(tx: Tx, domain: Insertable<Tables['domains']>): void {
  tx.run(tables.insertInto('domains').values(domain))
}

/** Frees the hostnames of a deleted project for others. */
export const deleteDomainsOfProject = run((projectId: string) => tables.deleteFrom('domains').where('project_id', '=', projectId))

const listProjectHosts = all(() =>
  tables
    .selectFrom('projects')
    .select((eb) => eb('slug', '||', eb.val('.localhost')).as('name'))
    .where('deleted_at', 'is', null)
    .orderBy('seq'),
)
const listCustomHosts = all(() =>
  domainsOfProjects.select('d.hostname as name').where('d.status', '=', 'verified').where('d.hostname', 'not like', '%.localhost').orderBy('d.seq'),
)
/** Verified custom domains of all projects. */
export const listVerifiedDomains = all(() => domainsOfProjects.select('d.hostname').where('d.status', '=', 'verified').orderBy('d.seq'))

/** Whether a hostname is known on this machine alone, because its domain was bought from the local registrar. */
export const isBoughtLocally = (tx: Tx, hostname: string, now: string): boolean => findCoveringOwnedDomain(tx, hostname, now)?.registrar === 'local'

const listPreviewHosts = all(() =>
  tables
    .selectFrom('previews as v')
    .innerJoin('projects as p', 'p.id', 'v.project_id')
    .select('v.host as name')
    .where('p.deleted_at', 'is', null)
    .orderBy(sql.ref('v.rowid')),
)

/** Every hostname of this instance that the system's resolver must know, in a stable order. */
export const listLocalHostnames = (tx: Tx): string[] =>
  [...listProjectHosts(tx), ...listCustomHosts(tx), ...listPreviewHosts(tx)].map((row) => row.name)
