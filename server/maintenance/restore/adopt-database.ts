import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { newSecret } from '../../lib/token.ts'
import { openSqlite } from '../../store/sqlite.ts'
import { deleteProjectRows } from '../../store/deployments.ts'
import { migrate } from '../../store/migrate.ts'
import { migrations } from '../../store/migrations/index.ts'
import type { Tx } from '../../store/store.ts'
import type { Sealer } from '../../store/sealer.ts'
import type { Tables } from '../../store/tables.ts'
import { locateArtifact } from '../backup/backup-format.ts'

export interface AdoptDatabaseOptions {
  /** Where the files lie now, and where they will lie. */
  staging: string
  into: string
  /** Made on another kind of machine: native code of bundles does not run here. */
  is_foreign: boolean
  /** Given when the key of the backup is not: what was sealed is lost, and passwords that can be made anew are sealed with it. */
  new_sealer: Sealer | undefined
}

/**
 * Makes the ledger of a backup that of an instance in its own right: another id, so that it never touches what the old one has
 * on this machine, nobody signed in, and artifacts where they lie now. Returns what is lost, in sentences.
 */
export async function adoptDatabase(path: string, options: AdoptDatabaseOptions): Promise<string[]> {
  const db = openSqlite<Tables>({ path, durable: true })
  try {
    await migrate(db, migrations)
    const lost = await db.write((tx) => {
      for (const { id } of tx.sqlAll<{ id: string }>('SELECT id FROM projects WHERE deleted_at IS NOT NULL')) {
        tx.sqlRun('DELETE FROM databases WHERE project_id = ?', id)
        deleteProjectRows(tx, id)
      }
      // What was promised to be cleaned up is on the old machine.
      tx.sqlRun('DELETE FROM cleanups')
      tx.sqlRun("DELETE FROM tokens WHERE kind = 'run'")
      tx.sqlRun('DELETE FROM sessions')
      tx.sqlRun('DELETE FROM sign_in_codes')
      tx.sqlRun("DELETE FROM settings WHERE key IN ('cookie_name', 'recovered')")
      tx.sqlRun(
        "INSERT INTO settings (key, value) VALUES ('instance_id', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        JSON.stringify(newInstanceId()),
      )
      relocateArtifacts(tx, options)
      return options.new_sealer ? deleteSecrets(tx, options.new_sealer) : []
    })
    db.raw.pragma('wal_checkpoint(TRUNCATE)')
    return lost
  } finally {
    await db.close()
  }
}

/** Like the end of an id of ours: it stands in names of containers and volumes. */
const newInstanceId = (): string => randomBytes(6).toString('hex')

/** An image is in the engine of the old machine, if anywhere: what is current is built again by the first start. */
function relocateArtifacts(tx: Tx, { staging, into, is_foreign }: AdoptDatabaseOptions): void {
  for (const { id, artifact } of tx.sqlAll<{ id: string; artifact: string }>('SELECT id, artifact FROM deployments WHERE artifact IS NOT NULL')) {
    tx.sqlRun('UPDATE deployments SET artifact = ? WHERE id = ?', relocateArtifact(artifact, staging, into, is_foreign), id)
  }
}

function relocateArtifact(artifact: string, staging: string, into: string, isForeign: boolean): string | null {
  const location = locateArtifact(artifact)
  if (!location || !existsSync(join(staging, 'bundles', location.id))) return null
  const value = JSON.parse(artifact) as { kind: string }
  if (value.kind !== 'static' && isForeign) return null
  // Paths of commands and variables may lead into the old folder too.
  const relocated: unknown = JSON.parse(artifact, (_key, one: unknown) => (typeof one === 'string' ? one.replaceAll(location.prefix, into) : one))
  return JSON.stringify({ ...(relocated as object), directory: join(into, 'bundles', location.id, ...location.rest) })
}

function deleteSecrets(tx: Tx, newSealer: Sealer): string[] {
  const lost: string[] = []
  const variables = tx.sqlAll<{ slug: string; keys: string }>(
    "SELECT p.slug, group_concat(e.key, ', ') AS keys FROM env_vars e JOIN projects p ON p.id = e.project_id GROUP BY p.id ORDER BY p.slug",
  )
  for (const { slug, keys } of variables) lost.push(`The variables of ${slug}: ${keys}. Set them again.`)
  const credentials = tx.sqlAll<{ slug: string }>('SELECT slug FROM projects WHERE sealed_repo_credentials IS NOT NULL ORDER BY slug')
  for (const { slug } of credentials) lost.push(`The credentials of the repository of ${slug}. Enter them again.`)
  if (tx.sqlRun('DELETE FROM authorities') > 0) lost.push('The authority of local HTTPS. A new one is made: homeport trust')
  tx.sqlRun('DELETE FROM env_vars')
  tx.sqlRun('UPDATE projects SET sealed_repo_credentials = NULL')
  tx.sqlRun("DELETE FROM settings WHERE key = 'key_check'")
  // Kept answers cannot be read any more: who asks again with a key asks anew.
  tx.sqlRun('DELETE FROM idempotency_keys')
  if (
    tx.sqlRun(
      'UPDATE owned_domains SET sealed_registrant = NULL, sealed_auth_code = NULL WHERE sealed_registrant IS NOT NULL OR sealed_auth_code IS NOT NULL',
    ) > 0
  )
    lost.push('The registrants of bought domains, and the codes that transfer them. The registrar has both.')
  if (tx.sqlRun('UPDATE remotes SET sealed_token = NULL WHERE sealed_token IS NOT NULL') > 0)
    lost.push('The tokens of other instances. Open each in the dashboard, and give it a new one.')
  const databases = tx.sqlAll<{ db_name: string }>('SELECT db_name FROM databases')
  for (const { db_name } of databases) {
    const sealed = newSealer.seal({ table: 'databases', column: 'sealed_password', row: db_name }, newSecret())
    tx.sqlRun('UPDATE databases SET sealed_password = ? WHERE db_name = ?', sealed, db_name)
  }
  if (databases.length > 0) lost.push('The passwords of the databases. New ones were made; the data is there.')
  return lost
}
