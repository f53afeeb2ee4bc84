import { type RuntimeName, runtimeNames, runtimes } from '../contract/runtimes.ts'
import type { DatabaseServer } from './database-server.ts'
import { createDockerDatabaseServer, type DockerDatabaseOptions } from './docker-server.ts'
import { createEmbeddedDatabaseServer, type EmbeddedDatabaseOptions } from './embedded-server.ts'

const kinds = { container: createDockerDatabaseServer, embedded: createEmbeddedDatabaseServer }

/** The servers by the name of their runtime. Creating them starts nothing; a server starts at its first use. */
export function createDatabaseServers(
  options: Omit<DockerDatabaseOptions & EmbeddedDatabaseOptions, 'runtime'>,
): Record<RuntimeName, DatabaseServer> {
  const servers = runtimeNames.map((runtime) => [runtime, kinds[runtimes[runtime].database_server]({ ...options, runtime })])
  return Object.fromEntries(servers) as Record<RuntimeName, DatabaseServer>
}
