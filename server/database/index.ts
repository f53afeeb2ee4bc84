import { type PostgresVersion, postgresVersions } from '../contract/postgres-versions.ts'
import { type RuntimeName, runtimeNames, runtimes } from '../contract/runtimes.ts'
import type { DatabaseServer } from './database-server.ts'
import { createDockerDatabaseServer, type DockerDatabaseOptions } from './docker-server.ts'
import { createEmbeddedDatabaseServer, type EmbeddedDatabaseOptions } from './embedded-server.ts'

const kinds = { container: createDockerDatabaseServer, embedded: createEmbeddedDatabaseServer }

/** The servers by runtime and major version. */
export type DatabaseServers = Record<RuntimeName, Record<PostgresVersion, DatabaseServer>>

/** Creating servers starts nothing; a server starts at its first use. */
export function createDatabaseServers({
  cluster_engine,
  ...options
}: Omit<DockerDatabaseOptions & EmbeddedDatabaseOptions, 'runtime' | 'version'> & {
  /** The engine as runtimes of several machines use it. */
  cluster_engine: DockerDatabaseOptions['engine']
}): DatabaseServers {
  const createVersions = (runtime: RuntimeName) => {
    const engine = runtimes[runtime].is_cluster ? cluster_engine : options.engine
    return Object.fromEntries(
      postgresVersions.map((version) => [version, kinds[runtimes[runtime].database_server]({ ...options, engine, runtime, version })]),
    )
  }
  return Object.fromEntries(runtimeNames.map((runtime) => [runtime, createVersions(runtime)])) as DatabaseServers
}
