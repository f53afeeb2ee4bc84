import { createDatabaseService } from '../database/database-service.ts'
import { createPostgresDumpSource } from '../database/dump-source.ts'
import { createDumpStore } from '../database/dump-store.ts'
import { createDatabaseServers } from '../database/index.ts'
import { createClusterEngine } from '../runtime/swarm/cluster.ts'
import type { PlatformContext } from './context.ts'
import type { PlatformRuntimes } from './start-runtimes.ts'

/** Starts the databases of projects and the store of their dumps. */
export async function startDatabases(context: PlatformContext, { docker, runtime, runNpm }: PlatformRuntimes) {
  const { options, host, data_dir, store, sealer, events, clock, log, onClose } = context
  const dumps = await createDumpStore({ db: store.db, data_dir, clock, log })
  onClose(() => dumps.close())
  const databases = createDatabaseService({
    db: store.db,
    sealer,
    events,
    clock,
    log,
    servers: createDatabaseServers({
      engine: docker,
      cluster_engine: createClusterEngine(docker),
      runNpm,
      data_dir,
      clock,
      log,
      environment: options.environment,
    }),
    default_runtime: runtime.name,
    beforeReplace: async (opened, signal) => (await dumps.write(createPostgresDumpSource(opened), 'restore', signal)).id,
    rewind: (opened, dumpId, signal) => dumps.rewind(createPostgresDumpSource(opened), dumpId, signal),
    ...(host.database_version === undefined ? {} : { default_version: host.database_version }),
    beforeDrop: async (opened) => void (await dumps.write(createPostgresDumpSource(opened), 'drop')),
  })
  await databases.start()
  return { databases, dumps }
}
