import type { RuntimeName } from '../contract/deployments.ts'
import type { DatabaseServer } from './database.ts'
import { createDockerServer, type DockerServerOptions } from './docker-server.ts'
import { createEmbeddedServer, type EmbeddedServerOptions } from './embedded-server.ts'

/** The servers by name. Making them opens nothing and starts nothing: one starts when it is first needed. */
export function createDatabaseServers(options: DockerServerOptions & EmbeddedServerOptions): Record<RuntimeName, DatabaseServer> {
  return { docker: createDockerServer(options), process: createEmbeddedServer(options) }
}
