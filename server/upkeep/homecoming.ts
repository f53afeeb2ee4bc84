import { createReadStream, existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../lib/log.ts'
import { listCurrent, listOpenOf } from '../store/deployments.ts'
import type { Db } from '../store/open.ts'
import { databasesFolder, restoredFile, restoringFolder } from './backup-format.ts'

/** A restore into this folder was cut off: what is in it is not whole, and no new instance begins beside it. */
export function refuseHalfRestored(dataDir: string): void {
  if (!existsSync(join(dataDir, restoringFolder))) return
  throw new Error(`A restore into ${dataDir} was cut off, so nothing in it is whole. Run it again: homeport restore FILE --data ${dataDir}`)
}

export interface HomecomingOptions {
  data_dir: string
  db: Db
  log: Log
  /** Makes a database of its row and fills it; may be repeated. */
  putBack(db_name: string, sql: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>
  /** Deploys the very source of a deployment again. */
  rebuild(row: { id: string; project_id: string }): Promise<unknown>
}

/** What a restored folder needs of a running instance: its databases filled, and built again what was not in the backup. */
export interface Homecoming {
  /** Before the apps start. What cannot be done now, because an engine is away, is tried again every hour. */
  putDatabasesBack(signal: AbortSignal): Promise<void>
  /** Once the engine runs. Returns what a person should know. */
  finish(): Promise<string[]>
}

export async function createHomecoming(options: HomecomingOptions): Promise<Homecoming> {
  const { data_dir, db, log } = options
  const marker = join(data_dir, restoredFile)
  const folder = join(data_dir, databasesFolder)
  let restored = await readMarker(marker)

  return {
    async putDatabasesBack(signal) {
      if (!restored) return
      for (const name of await dumpsIn(folder)) {
        const file = join(folder, name)
        try {
          await options.putBack(name.replace(/\.sql$/, ''), createReadStream(file), signal)
          await rm(file)
        } catch (error) {
          log.warn('database_not_put_back', { database: name, error })
        }
      }
      if ((await dumpsIn(folder)).length > 0) return
      await rm(folder, { recursive: true, force: true })
      if (!restored.is_rebuilt) return
      await rm(marker, { force: true })
      restored = undefined
    },

    async finish() {
      if (!restored) return []
      const due = await db.read((tx) => listCurrent(tx).filter((row) => row.artifact === null && listOpenOf(tx, row.project_id).length === 0))
      for (const row of due) {
        await options.rebuild(row).catch((error: unknown) => log.error('not_rebuilt', { deployment: row.id, error }))
      }
      const waiting = await dumpsIn(folder)
      const notices = [`This instance was restored from the backup of ${restored.created_at}.`]
      if (due.length > 0)
        notices.push(`${due.length} ${due.length === 1 ? 'app is' : 'apps are'} being built again: what they were built to is not in a backup.`)
      if (waiting.length > 0)
        notices.push(
          `${waiting.length} databases could not be put back yet. Their dumps lie in ${folder}; it is tried again every hour and at each start.`,
        )
      log.info('restored', { created_at: restored.created_at, rebuilt: due.length, databases_waiting: waiting.length })
      restored.is_rebuilt = true
      if (waiting.length === 0) {
        await rm(marker, { force: true })
        restored = undefined
      }
      return notices
    },
  }
}

async function readMarker(path: string): Promise<{ created_at: string; is_rebuilt: boolean } | undefined> {
  try {
    const { created_at } = JSON.parse(await readFile(path, 'utf8')) as { created_at?: unknown }
    return { created_at: String(created_at), is_rebuilt: false }
  } catch {
    return undefined
  }
}

async function dumpsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => /^[A-Za-z0-9_]{1,63}\.sql$/.test(name)).sort()
}
