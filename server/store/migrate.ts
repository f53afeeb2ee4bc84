import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from './database.ts'
import { makePrivateFile } from './private-file.ts'

/** The file was written by a newer Homeport. Nothing of it was read or changed. */
export class NewerDatabase extends Error {
  constructor(found: number, known: number) {
    super(
      `The data folder was written by a newer Homeport (database version ${found}; this one knows ${known}). Update Homeport, or use another --data folder.`,
    )
    this.name = 'NewerDatabase'
  }
}

/**
 * Brings a file up to date: one transaction per migration, version included, so that a kill between any two statements
 * leaves a whole version behind. A file with data in it is copied aside first.
 */
export async function migrate<T>(db: Database<T>, migrations: readonly { name: string; sql: string }[], backupFolder?: string): Promise<void> {
  const found = Number(db.raw.pragma('user_version', { simple: true }))
  if (found > migrations.length) throw new NewerDatabase(found, migrations.length)
  if (found === migrations.length) return
  if (found > 0 && backupFolder !== undefined) {
    mkdirSync(backupFolder, { recursive: true, mode: 0o700 })
    const copy = join(backupFolder, `before-version-${migrations.length}.db`)
    makePrivateFile(copy)
    await db.raw.backup(copy)
  }
  for (let version = found; version < migrations.length; version++) {
    db.writeNow(() => {
      db.raw.exec(migrations[version]?.sql ?? '')
      db.raw.pragma(`user_version = ${version + 1}`)
    })
  }
  await db.write(() => {})
}
