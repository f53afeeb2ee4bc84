import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { migrate } from '../../store/migrate.ts'
import { migrations } from '../../store/migrations/index.ts'
import { rewriteArtifacts } from '../../store/restored-database.ts'
import { openSqlite } from '../../store/sqlite.ts'
import { locateArtifact, mainDatabaseFile } from '../backup/backup-format.ts'

/** Makes the database of a standby that of the instance: static files are in the folder of this machine. */
export async function promoteReplica(data_dir: string): Promise<void> {
  const db = openSqlite({ path: join(data_dir, mainDatabaseFile), durable: true })
  try {
    await migrate(db, migrations)
    await db.write((tx) => rewriteArtifacts(tx, (artifact) => relocate(artifact, data_dir)))
  } finally {
    await db.close()
  }
}

/** Images stay as they are. Files that have not arrived are built again. */
function relocate(artifact: string, data_dir: string): string | null {
  const location = locateArtifact(artifact)
  if (!location) return artifact
  const directory = join(data_dir, 'bundles', location.id, ...location.rest)
  return existsSync(directory) ? JSON.stringify({ ...(JSON.parse(artifact) as object), directory }) : null
}
