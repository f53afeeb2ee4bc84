import type { DatabaseService } from '../database/database-service.ts'
import type { DeploymentService } from '../deployments/service.ts'
import { restoreVolume } from '../deployments/volume-archives.ts'
import { createMaintenanceScheduler } from '../maintenance/scheduler.ts'
import { indexLogs } from '../features/log-index.ts'
import { deleteOldActivity } from '../store/activity.ts'
import type { PlatformContext } from './context.ts'
import type { PlatformRuntimes } from './start-runtimes.ts'

/** Creates backups, hourly jobs, and what finishes a restore. */
export async function createPlatformMaintenance(
  context: PlatformContext,
  { runtimes, databases, deployments }: { runtimes: PlatformRuntimes; databases: DatabaseService; deployments: DeploymentService },
) {
  const maintenance = await createMaintenanceScheduler({
    ...context,
    db: context.store.db,
    instance_id: context.identity.instance_id,
    key_kind: context.masterKey.kind,
    databases,
    volumes: deployments.volumes,
    restoreDatabase: databases.restoreDump,
    restoreVolume: (name, id, archive) => restoreVolume(runtimes.runtimes, name, id, archive),
  })
  context.onClose(() => maintenance.close())
  runtimes.lease?.watchStandbys((id) => maintenance.replication.listStandbys().some(({ name }) => name === id))
  maintenance.jobs.add('retention', () => deployments.prune())
  maintenance.jobs.add('activity_retention', () => context.store.db.write((tx) => deleteOldActivity(tx, context.clock.now())))
  maintenance.jobs.add('log_index', (signal) => indexLogs(context.store.logSearch, signal))
  return maintenance
}
