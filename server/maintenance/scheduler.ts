import { timeoutSignal } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Db } from '../store/store.ts'
import type { BackupOptions } from './backup/write-backup.ts'
import { type Backups, createBackups } from './backup/backups.ts'
import { createRestoreFinisher, type FinishRestoreOptions, type RebuildDeployment } from './restore/finish-restore.ts'
import { createPeriodicJobs, type PeriodicJobs } from './periodic-jobs.ts'

/** How an instance looks after itself: backups, what is due every hour, and what a restored one has to catch up on. */
export interface MaintenanceScheduler {
  backups: Backups
  jobs: PeriodicJobs
  /** Of a restored folder, before the apps start. */
  restoreDatabases(): Promise<void>
  /** The engine runs: begins the rounds. Returns what a person should know. */
  start(rebuild: RebuildDeployment): Promise<string[]>
  close(): Promise<void>
}

/** A start does not wait for databases longer than this; the hourly round goes on with them. */
const restoreTimeout_ms = 600_000

export async function createMaintenanceScheduler(
  options: BackupOptions & { db: Db; log: Log } & Pick<FinishRestoreOptions, 'restoreDatabase'>,
): Promise<MaintenanceScheduler> {
  const backups = await createBackups(options)
  const jobs = createPeriodicJobs(options)
  const restoreFinisher = await createRestoreFinisher(options)
  jobs.add('safe_copy', () => backups.createHourlyCopy())
  jobs.add('restored_databases', restoreFinisher.restoreDatabases)
  return {
    backups,
    jobs,
    restoreDatabases: () => restoreFinisher.restoreDatabases(timeoutSignal(options.clock, restoreTimeout_ms)),
    async start(rebuild) {
      jobs.start()
      return restoreFinisher.finish(rebuild)
    },
    async close() {
      await jobs.close()
      await backups.close()
    },
  }
}
