import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { newSecret } from '../../lib/token.ts'
import { openSqlite } from '../../store/sqlite.ts'
import { deleteSealedColumns, replaceDatabasePasswords, resetInstance, rewriteArtifacts } from '../../store/restored-database.ts'
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
      resetInstance(tx, newInstanceId())
      rewriteArtifacts(tx, (artifact) => relocateArtifact(artifact, options))
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
function relocateArtifact(artifact: string, { staging, into, is_foreign }: AdoptDatabaseOptions): string | null {
  const location = locateArtifact(artifact)
  if (!location || !existsSync(join(staging, 'bundles', location.id))) return null
  const value = JSON.parse(artifact) as { kind: string }
  if (value.kind !== 'static' && is_foreign) return null
  // Paths of commands and variables may lead into the old folder too.
  const relocated: unknown = JSON.parse(artifact, (_key, one: unknown) => (typeof one === 'string' ? one.replaceAll(location.prefix, into) : one))
  return JSON.stringify({ ...(relocated as object), directory: join(into, 'bundles', location.id, ...location.rest) })
}

function deleteSecrets(tx: Tx, newSealer: Sealer): string[] {
  const deleted = deleteSealedColumns(tx)
  const databases = replaceDatabasePasswords(tx, (row) => newSealer.seal({ table: 'databases', column: 'sealed_password', row }, newSecret()))
  return [
    ...deleted.variables.map(({ slug, keys }) => `The variables of ${slug}: ${keys}. Set them again.`),
    ...deleted.repositories.map((slug) => `The credentials of the repository of ${slug}. Enter them again.`),
    ...(deleted.authorities > 0 ? ['The authority of local HTTPS. A new one is made: homeport trust'] : []),
    ...(deleted.domains > 0 ? ['The registrants of bought domains, and the codes that transfer them. The registrar has both.'] : []),
    ...(deleted.remotes > 0 ? ['The tokens of other instances. Open each in the dashboard, and give it a new one.'] : []),
    ...(databases > 0 ? ['The passwords of the databases. New ones were made; the data is there.'] : []),
  ]
}
