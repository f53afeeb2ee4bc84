import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { SqliteDatabase } from './sqlite.ts'
import { createPrivateFile } from './private-file.ts'

/** The file was written by a newer Homeport. Nothing of it was read or changed. */
export class NewerDatabaseError extends Error {
  constructor(found: number, supported: number) {
    super(
      `The data folder was written by a newer Homeport (database version ${found}; this one knows ${supported}). Update Homeport, or use another --data folder.`,
    )
    this.name = 'NewerDatabase'
  }
}

/**
 * Brings a file up to date: one transaction per migration, version included, so that a kill between any two statements
 * leaves a whole version behind. A file with data in it is copied aside first.
 */
export async function migrate<T>(db: SqliteDatabase<T>, migrations: readonly { name: string; sql: string }[], backupFolder?: string): Promise<void> {
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
