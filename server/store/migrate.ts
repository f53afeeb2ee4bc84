import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { SqliteDatabase } from './sqlite.ts'
import { createPrivateFile } from './private-file.ts'

/** The file was written by a newer Homeport. It was neither read nor changed. */
export class NewerDatabaseError extends Error {
  constructor(found: number, supported: number) {
    super(
      `The data folder was written by a newer Homeport (database version ${found}; this one knows ${supported}). Update Homeport, or use another --data folder.`,
    )
    this.name = 'NewerDatabaseError'
  }
}

/**
 * Migrates a file to the current version, with one transaction per migration including the version number, so that a crash between two statements
 * leaves a valid version. A file that contains data is copied first.
 */
export async function migrate(db: SqliteDatabase, migrations: readonly { name: string; sql: string }[], backupFolder?: string): Promise<void> {
  const found = Number(db.raw.pragma('user_version', { simple: true }))
  if (found > migrations.length) throw new NewerDatabaseError(found, migrations.length)
  if (found === migrations.length) return
  if (found > 0 && backupFolder !== undefined) {
    mkdirSync(backupFolder, { recursive: true, mode: 0o700 })
    const copy = join(backupFolder, `before-version-${migrations.length}.db`)
    createPrivateFile(copy)
    await db.raw.backup(copy)
  }
  for (let version = found; version < migrations.length; version++) {
    db.writeSync(() => {
      db.raw.exec(migrations[version]?.sql ?? '')
      db.raw.pragma(`user_version = ${version + 1}`)
    })
  }
  await db.write(() => {})
}
