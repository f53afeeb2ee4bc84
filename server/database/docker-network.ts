import type Docker from 'dockerode'
import type { PostgresVersion } from '../contract/postgres-versions.ts'
import type { DockerEngine } from '../runtime/docker/engine.ts'
import { connectContainer, NetworksExhaustedError, removeNetwork } from '../runtime/docker/networks.ts'
import { DatabaseUnavailableError } from './database-server.ts'

/** The host name in a project's network; it does not exist outside. */
export const getDatabaseHost = (version: PostgresVersion): string =>
  version === 15 ? 'database.homeport.internal' : `database-${version}.homeport.internal`

/** Connects the server to a project’s network, where the project's containers find it by name. */
export const connectServer = (docker: Docker, network: string, server: string, version: PostgresVersion): Promise<void> =>
  connectContainer(docker, network, server, [getDatabaseHost(version)])

export async function ensureProjectNetwork(engine: DockerEngine, docker: Docker, projectId: string): Promise<string> {
  const Name = engine.getDatabaseNetworkName(projectId)
  try {
    await engine.createPrivateNetwork(docker, { Name, Internal: true, Labels: engine.createLabels('database', { project_id: projectId }) })
    return Name
  } catch (error) {
    if (!(error instanceof NetworksExhaustedError)) throw error
    throw new DatabaseUnavailableError(
      'Docker has no free address range for the network of this database.',
      'Remove unused networks with docker network prune, then try again.',
    )
  }
}

export const removeProjectNetwork = (engine: DockerEngine, docker: Docker, projectId: string): Promise<void> =>
  removeNetwork(docker, engine.getDatabaseNetworkName(projectId))
