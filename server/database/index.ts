import type { RuntimeName } from '../contract/runtimes.ts'
import type { DatabaseServer } from './database-server.ts'
import { createDockerDatabaseServer, type DockerDatabaseOptions } from './docker-server.ts'
import { createEmbeddedDatabaseServer, type EmbeddedDatabaseOptions } from './embedded-server.ts'

/** The servers by name. Creating them starts nothing; a server starts at its first use. */
export function createDatabaseServers(options: DockerDatabaseOptions & EmbeddedDatabaseOptions): Record<RuntimeName, DatabaseServer> {
  return { docker: createDockerDatabaseServer(options), process: createEmbeddedDatabaseServer(options) }
}
