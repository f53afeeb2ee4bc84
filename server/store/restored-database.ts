import { deleteProjectRows } from './deployments.ts'
import { tables } from './query.ts'
import { writeSetting } from './settings.ts'
import type { Tx } from './store.ts'

/** Deletes data that is only valid on the machine of the backup: deleted projects, due clean-ups, sessions and run tokens. */
export function resetInstance(tx: Tx, instanceId: string): void {
  for (const { id } of tx.all(tables.selectFrom('projects').select('id').where('deleted_at', 'is not', null))) {
    tx.run(tables.deleteFrom('databases').where('project_id', '=', id))
    deleteProjectRows(tx, id)
  }
  for (const table of ['cleanups', 'sessions', 'sign_in_codes'] as const) tx.run(tables.deleteFrom(table))
  tx.run(tables.deleteFrom('tokens').where('kind', '=', 'run'))
  tx.run(tables.deleteFrom('settings').where('key', 'in', ['cookie_name', 'recovered']))
  writeSetting(tx, 'instance_id', instanceId)
}

/** Replaces the artifact of every deployment that has one. */
export function rewriteArtifacts(tx: Tx, rewrite: (artifact: string) => string | null): void {
  const built = tables.selectFrom('deployments').select((eb) => ['id', eb.ref('artifact').$notNull().as('artifact')])
  for (const { id, artifact } of tx.all(built.where('artifact', 'is not', null)))
    tx.run(
      tables
        .updateTable('deployments')
        .set({ artifact: rewrite(artifact) })
        .where('id', '=', id),
    )
}

/** Deletes all encrypted values, including the stored responses of idempotency keys, and returns what was deleted. */
export function deleteSealedColumns(tx: Tx) {
  const lost = {
    variables: tx.all(
      tables
        .selectFrom('env_vars as e')
        .innerJoin('projects as p', 'p.id', 'e.project_id')
        .select((eb) => ['p.slug', eb.fn<string>('group_concat', ['e.key', eb.val(', ')]).as('keys')])
        .groupBy('p.id')
        .orderBy('p.slug'),
    ),
    repositories: tx
      .all(tables.selectFrom('projects').select('slug').where('sealed_repo_credentials', 'is not', null).orderBy('slug'))
      .map((row) => row.slug),
    registries: tx.all(
      tables
        .selectFrom('registries as r')
        .innerJoin('projects as p', 'p.id', 'r.project_id')
        .select((eb) => ['p.slug', eb.fn<string>('group_concat', ['r.host', eb.val(', ')]).as('hosts')])
        .groupBy('p.id')
        .orderBy('p.slug'),
    ),
    authorities: tx.run(tables.deleteFrom('authorities')),
    domains: tx.run(
      tables
        .updateTable('owned_domains')
        .set({ sealed_registrant: null, sealed_auth_code: null })
        .where((eb) => eb.or([eb('sealed_registrant', 'is not', null), eb('sealed_auth_code', 'is not', null)])),
    ),
    notification_targets: tx.run(tables.deleteFrom('notification_targets')),
    log_drains: tx.run(tables.deleteFrom('log_drains')),
    remotes: tx.run(tables.updateTable('remotes').set({ sealed_token: null }).where('sealed_token', 'is not', null)),
  }
  for (const table of ['env_vars', 'registries', 'idempotency_keys', 'cluster_identities'] as const) tx.run(tables.deleteFrom(table))
  tx.run(tables.updateTable('projects').set({ sealed_repo_credentials: null }))
  tx.run(tables.deleteFrom('settings').where('key', '=', 'key_check'))
  return lost
}

/** Gives every database a new encrypted password. Returns the number of databases. */
export function replaceDatabasePasswords(tx: Tx, sealNew: (dbName: string) => Uint8Array): number {
  const databases = tx.all(tables.selectFrom('databases').select('db_name'))
  for (const { db_name } of databases)
    tx.run(
      tables
        .updateTable('databases')
        .set({ sealed_password: sealNew(db_name) })
        .where('db_name', '=', db_name),
    )
  return databases.length
}

/** Gives every managed service and mailbox a new encrypted password. Returns the projects with managed services and their names. */
export function replaceServicePasswords(
  tx: Tx,
  sealNew: (table: 'managed_services' | 'mailboxes', row: string) => Uint8Array,
): { slug: string; names: string[] }[] {
  for (const { project_id } of tx.all(tables.selectFrom('mailboxes').select('project_id')))
    tx.run(
      tables
        .updateTable('mailboxes')
        .set({ sealed_password: sealNew('mailboxes', project_id) })
        .where('project_id', '=', project_id),
    )
  const services = tx.all(
    tables
      .selectFrom('managed_services as s')
      .innerJoin('projects as p', 'p.id', 's.project_id')
      .select(['s.project_id', 's.name', 'p.slug'])
      .orderBy('p.slug')
      .orderBy('s.name'),
  )
  for (const { project_id, name } of services)
    tx.run(
      tables
        .updateTable('managed_services')
        .set({ sealed_password: sealNew('managed_services', `${project_id} ${name}`) })
        .where('project_id', '=', project_id)
        .where('name', '=', name),
    )
  const slugs = [...new Set(services.map(({ slug }) => slug))]
  return slugs.map((slug) => ({ slug, names: services.filter((one) => one.slug === slug).map(({ name }) => name) }))
}
