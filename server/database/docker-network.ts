import { createHash } from 'node:crypto'
import type Docker from 'dockerode'
import { type DockerEngine, getStatusCode } from '../runtime/docker/engine.ts'
import { DatabaseUnavailableError } from './database-server.ts'

/** Networks of sixteen addresses each, in 10.213.0.0/16. */
const smallNetworkCount = 4096

/** The host name in a project's network; it does not exist outside. */
export const databaseAlias = 'database.homeport.internal'

/** Connects the server to a project’s network, where the project's containers find it by name. */
export async function connectServer(engine: DockerEngine, docker: Docker, network: string): Promise<void> {
  try {
    await docker.getNetwork(network).connect({ Container: engine.createName('databases'), EndpointConfig: { Aliases: [databaseAlias] } })
  } catch (error) {
    // 403: the server is connected already.
    if (getStatusCode(error) !== 403 && !/already exists/.test(String(error))) throw error
  }
}

/** Networks being created, by name, because Docker would create two with the same name for concurrent requests and then find neither by name. */
const pendingNetworks = new Map<string, Promise<string>>()

export function ensureProjectNetwork(engine: DockerEngine, docker: Docker, projectId: string): Promise<string> {
  const name = engine.getDatabaseNetworkName(projectId)
  const pending = pendingNetworks.get(name) ?? createProjectNetwork(engine, docker, projectId).finally(() => pendingNetworks.delete(name))
  pendingNetworks.set(name, pending)
  return pending
}

async function createProjectNetwork(engine: DockerEngine, docker: Docker, projectId: string): Promise<string> {
  const network = {
    Name: engine.getDatabaseNetworkName(projectId),
    CheckDuplicate: true,
    Driver: 'bridge',
    Internal: true,
    Labels: engine.createLabels('database', { project_id: projectId }),
  }
  try {
    await docker.createNetwork(network)
  } catch (error) {
    // Docker has about thirty default address ranges; after that, small ranges are assigned here.
    if (/non-overlapping|fully subnetted/.test(String(error))) await createSmallNetwork(docker, network)
    // 409: the network exists already.
    else if (getStatusCode(error) !== 409) throw error
  }
  return network.Name
}

async function createSmallNetwork(docker: Docker, network: Docker.NetworkCreateOptions): Promise<void> {
  const first = createHash('sha256').update(network.Name).digest().readUInt16BE(0)
  for (let step = 0; step < smallNetworkCount; step++) {
    const index = (first + step * 31) % smallNetworkCount
    const Subnet = `10.213.${index >> 4}.${(index & 15) * 16}/28`
    try {
      await docker.createNetwork({ ...network, IPAM: { Driver: 'default', Config: [{ Subnet }] } })
      return
    } catch (error) {
      if (getStatusCode(error) === 409) return
      if (!/overlap/i.test(String(error))) throw error
    }
  }
  throw new DatabaseUnavailableError(
    'Docker has no free address range for the network of this database.',
    'Remove unused networks with docker network prune, then try again.',
  )
}

export const removeProjectNetwork = (engine: DockerEngine, docker: Docker, projectId: string): Promise<void> =>
  removeNetwork(docker, engine.getDatabaseNetworkName(projectId))

/** Containers that are still connected lose only their access to the database. */
export async function removeNetwork(docker: Docker, name: string): Promise<void> {
  const network = docker.getNetwork(name)
  const { Containers = {} } = (await network.inspect().catch(ignoreMissing)) ?? {}
  for (const id of Object.keys(Containers)) await network.disconnect({ Container: id, Force: true }).catch(ignoreMissing)
  await network.remove().catch(ignoreMissing)
}

function ignoreMissing(error: unknown): undefined {
  if (getStatusCode(error) !== 404) throw error
}
