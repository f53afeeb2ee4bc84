import { createReadStream, existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Log } from '../../lib/log.ts'
import { listCurrentDeployments, listOpenDeployments } from '../../store/deployments.ts'
import type { Db } from '../../store/store.ts'
import { databasesFolder, restoredFile, restoringFolder, volumesFolder } from '../backup/backup-format.ts'

/** Throws when a restore into this folder was interrupted, because its content is incomplete and a new instance must not start there. */
export function assertRestoreComplete(dataDir: string): void {
  if (!existsSync(join(dataDir, restoringFolder))) return
  throw new Error(`A restore into ${dataDir} was interrupted, so its content is incomplete. Run it again: homeport restore FILE --data ${dataDir}`)
}

/** Deploys the source of a deployment again. */
export type RebuildDeployment = (row: { id: string; project_id: string }) => Promise<unknown>

export interface FinishRestoreOptions {
  data_dir: string
  db: Db
  log: Log
  /** Creates a database from its row and fills it; can be repeated. */
  restoreDatabase(db_name: string, sql: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>
  /** Creates a volume from a tar stream; false when it exists already, because an app has used it since. */
  restoreVolume(runtime: string, id: string, archive: Readable): Promise<boolean>
}

/** Completes a restore on a running instance: fills databases and builds deployments that are not in the backup. */
export interface RestoreFinisher {
  /** Databases and volumes. Runs before the apps start. Steps that fail because Docker is unavailable are retried every hour. */
  restoreDatabases(signal: AbortSignal): Promise<void>
  /** Runs after the deployment service has started. Returns notices for the user. */
  finish(rebuild: RebuildDeployment): Promise<string[]>
}

export async function createRestoreFinisher(options: FinishRestoreOptions): Promise<RestoreFinisher> {
  const { data_dir, db, log } = options
  const markerFile = join(data_dir, restoredFile)
  const folder = join(data_dir, databasesFolder)
  const archivesFolder = join(data_dir, volumesFolder)
  let restoreRecord = await readMarker(markerFile)

  return {
    async restoreDatabases(signal) {
      if (!restoreRecord) return
      for (const name of await listDumps(folder)) {
        const file = join(folder, name)
        try {
          await options.restoreDatabase(name.replace(/\.sql$/, ''), createReadStream(file), signal)
          await rm(file)
        } catch (error) {
          log.warn('database_restore_failed', { database: name, error })
        }
      }
      for (const { runtime, id, file } of await listArchives(archivesFolder)) {
        try {
          if (await options.restoreVolume(runtime, id, createReadStream(file))) await rm(file)
        } catch (error) {
          log.warn('volume_restore_failed', { volume: id, error })
        }
      }
      if ((await listDumps(folder)).length > 0 || (await listArchives(archivesFolder)).length > 0) return
      await rm(folder, { recursive: true, force: true })
      await rm(archivesFolder, { recursive: true, force: true })
      if (!restoreRecord.is_rebuilt) return
      await rm(markerFile, { force: true })
      restoreRecord = undefined
    },

    async finish(rebuild) {
      if (!restoreRecord) return []
      const unbuilt = await db.read((tx) =>
        listCurrentDeployments(tx).filter((row) => row.artifact === null && listOpenDeployments(tx, row.project_id).length === 0),
      )
      for (const row of unbuilt) {
        await rebuild(row).catch((error: unknown) => log.error('rebuild_failed', { deployment: row.id, error }))
      }
      const pendingDumps = await listDumps(folder)
      const notices = [`This instance was restored from the backup of ${restoreRecord.created_at}.`]
      if (unbuilt.length > 0)
        notices.push(
          `${unbuilt.length} ${unbuilt.length === 1 ? 'app is' : 'apps are'} being built again, because backups do not contain Docker images.`,
        )
      if (pendingDumps.length > 0)
        notices.push(
          `${pendingDumps.length} databases could not be restored yet. Their dumps are in ${folder}. Homeport retries every hour and at each start.`,
        )
      const archives = await listArchives(archivesFolder)
      if (archives.length > 0)
        notices.push(`${archives.length} volumes could not be restored. Their files are in ${archivesFolder}, as one .tar for each.`)
      log.info('restore_completed', { created_at: restoreRecord.created_at, rebuilt: unbuilt.length, databases_waiting: pendingDumps.length })
      restoreRecord.is_rebuilt = true
      if (pendingDumps.length === 0 && archives.length === 0) {
        await rm(markerFile, { force: true })
        restoreRecord = undefined
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

async function listDumps(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => /^[A-Za-z0-9_]{1,63}\.sql$/.test(name)).sort()
}

async function listArchives(folder: string): Promise<{ runtime: string; id: string; file: string }[]> {
  const runtimes = await readdir(folder).catch((): string[] => [])
  const archives = await Promise.all(
    runtimes.map(async (runtime) =>
      (await readdir(join(folder, runtime)).catch((): string[] => []))
        .filter((name) => name.endsWith('.tar'))
        .map((name) => ({ runtime, id: name.slice(0, -'.tar'.length), file: join(folder, runtime, name) })),
    ),
  )
  return archives.flat()
}
