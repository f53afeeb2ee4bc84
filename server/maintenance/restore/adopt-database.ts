import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { getPreset, isPresetName } from '../../contract/service-presets.ts'
import { newSecret } from '../../lib/token.ts'
import { openSqlite } from '../../store/sqlite.ts'
import {
  deleteSealedColumns,
  replaceDatabasePasswords,
  replaceServicePasswords,
  resetInstance,
  rewriteArtifacts,
} from '../../store/restored-database.ts'
import { migrate } from '../../store/migrate.ts'
import { migrations } from '../../store/migrations/index.ts'
import type { Tx } from '../../store/store.ts'
import type { Sealer } from '../../store/sealer.ts'
import { locateArtifact } from '../backup/backup-format.ts'

export interface AdoptDatabaseOptions {
  /** The current folder of the files, and their final folder. */
  staging: string
  into: string
  /** The backup is from another platform: native code of bundles does not run here. */
  is_foreign: boolean
  /** Set when the backup's key is not available: encrypted values are lost, and new database passwords are encrypted with this sealer. */
  new_sealer: Sealer | undefined
}

/**
 * Converts the main database of a backup into one of a new instance: with a new id, so that it never touches resources of the old instance on this machine,
 * without sessions, and with relocated artifacts. Returns what is lost, as sentences.
 */
export async function adoptDatabase(path: string, options: AdoptDatabaseOptions): Promise<string[]> {
  const db = openSqlite({ path, durable: true })
  try {
    await migrate(db, migrations)
    const lost = await db.write((tx) => {
      resetInstance(tx, newInstanceId())
      rewriteArtifacts(tx, (artifact) => relocateArtifact(artifact, options))
      return options.new_sealer ? deleteSecrets(tx, options.new_sealer) : []
    })
    return lost
  } finally {
    await db.close()
  }
}

/** Like the end of other ids; the id is part of the names of containers and volumes. */
const newInstanceId = (): string => randomBytes(6).toString('hex')

/** Images exist only in the engine of the old machine, so the first start builds current deployments again. */
function relocateArtifact(artifact: string, { staging, into, is_foreign }: AdoptDatabaseOptions): string | null {
  const location = locateArtifact(artifact)
  if (!location || !existsSync(join(staging, 'bundles', location.id))) return null
  const value = JSON.parse(artifact) as { kind: string }
  if (value.kind !== 'static' && is_foreign) return null
  // Paths in commands and variables may also point to the old folder.
  const relocated: unknown = JSON.parse(artifact, (_key, one: unknown) => (typeof one === 'string' ? one.replaceAll(location.prefix, into) : one))
  return JSON.stringify({ ...(relocated as object), directory: join(into, 'bundles', location.id, ...location.rest) })
}

function deleteSecrets(tx: Tx, newSealer: Sealer): string[] {
  const deleted = deleteSealedColumns(tx)
  const sealNew = (table: string, row: string) => newSealer.seal({ table, column: 'sealed_password', row }, newSecret())
  const databases = replaceDatabasePasswords(tx, (row) => sealNew('databases', row))
  const services = replaceServicePasswords(tx, sealNew)
  return [
    ...deleted.variables.map(({ slug, keys }) => `Variables of ${slug}: ${keys}. Set them again.`),
    ...deleted.repositories.map((slug) => `Repository credentials of ${slug}. Enter them again.`),
    ...deleted.registries.map(({ slug, hosts }) => `Credentials of ${slug} for ${hosts}. Enter them again.`),
    ...services.map(({ slug, names }) => {
      const stored = names.filter(isPresetName).filter((name) => getPreset(name).keeps_password)
      const advice = stored.map((name) => ` ${getPreset(name).label}’s data has the old one: restore a dump into it.`).join('')
      return `Passwords of the managed services of ${slug}. New passwords were generated.${advice}`
    }),
    ...(deleted.authorities > 0 ? ['The local certificate authority. Run homeport trust to trust the new one.'] : []),
    ...(deleted.domains > 0 ? ['Registrant data and transfer codes of purchased domains. The registrar has both.'] : []),
    ...(deleted.notification_targets > 0 ? ['Notification targets. Add them again.'] : []),
    ...(deleted.log_drains > 0 ? ['Log drains. Add them again.'] : []),
    ...(deleted.remotes > 0 ? ['Tokens of connected instances. Enter a new token for each in the dashboard.'] : []),
    ...(databases > 0 ? ['Database passwords. New passwords were generated; the data is intact.'] : []),
  ]
}
