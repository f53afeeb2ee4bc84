import { timeoutSignal } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Db } from '../store/store.ts'
import type { BackupOptions } from './backup/write-backup.ts'
import { type Backups, createBackups } from './backup/backups.ts'
import { createRestoreFinisher, type FinishRestoreOptions, type RebuildDeployment } from './restore/finish-restore.ts'
import { createPeriodicJobs, type PeriodicJobs } from './periodic-jobs.ts'
import { createReplicationSource, type ReplicationSource } from './standby/replication-source.ts'

/** Maintenance of an instance: backups, hourly jobs, and the remaining steps of a restore. */
export interface MaintenanceScheduler {
  backups: Backups
  jobs: PeriodicJobs
  /** What standbys copy. */
  replication: ReplicationSource
  /** Restores databases and volumes in a restored folder, before the apps start. */
  restoreDatabases(): Promise<void>
  /** Starts the hourly jobs after the deployment service has started. Returns notices for the user. */
  start(rebuild: RebuildDeployment): Promise<string[]>
  close(): Promise<void>
}

/** The startup waits for databases no longer than this; the hourly job continues with them. */
const restoreTimeout_ms = 600_000

export async function createMaintenanceScheduler(
  options: BackupOptions & { db: Db; log: Log } & Pick<FinishRestoreOptions, 'restoreDatabase' | 'restoreVolume'>,
): Promise<MaintenanceScheduler> {
  const backups = await createBackups(options)
  const jobs = createPeriodicJobs(options)
  const restoreFinisher = await createRestoreFinisher(options)
  const replication = await createReplicationSource(options)
  jobs.add('safe_copy', () => backups.createHourlyCopy())
  jobs.add('restored_databases', restoreFinisher.restoreDatabases)
  return {
    backups,
    jobs,
    replication,
    restoreDatabases: () => restoreFinisher.restoreDatabases(timeoutSignal(options.clock, restoreTimeout_ms)),
    async start(rebuild) {
      jobs.start()
      return restoreFinisher.finish(rebuild)
    },
    async close() {
      await jobs.close()
      await replication.close()
      await backups.close()
    },
  }
}
