import { createHash } from 'node:crypto'
import type Docker from 'dockerode'
import { type Engine, statusOf } from '../runtime/docker-engine.ts'
import { DatabaseUnavailable } from './database.ts'

/** Of sixteen addresses each, in 10.213.0.0/16. */
const smallNetworks = 4096

/** In the network of a project; a name that is nobody's outside. */
export const alias = 'database.homeport.internal'

/** Connects the server to a project’s network, where the project's containers find it by name. */
export async function attach(engine: Engine, docker: Docker, network: string): Promise<void> {
  try {
    await docker.getNetwork(network).connect({ Container: engine.name('databases'), EndpointConfig: { Aliases: [alias] } })
  } catch (error) {
    // 403: it is connected already.
    if (statusOf(error) !== 403 && !/already exists/.test(String(error))) throw error
  }
}

/** Under way, by name: the engine itself would make two of one name for two who ask at once, and then find neither by it. */
const making = new Map<string, Promise<string>>()

export function makeNetwork(engine: Engine, docker: Docker, projectId: string): Promise<string> {
  const name = engine.databaseNetwork(projectId)
  const made = making.get(name) ?? createNetwork(engine, docker, projectId).finally(() => making.delete(name))
  making.set(name, made)
  return made
}

async function createNetwork(engine: Engine, docker: Docker, projectId: string): Promise<string> {
  const network = {
    Name: engine.databaseNetwork(projectId),
    CheckDuplicate: true,
    Driver: 'bridge',
    Internal: true,
    Labels: engine.labels('database', { project_id: projectId }),
  }
  try {
    await docker.createNetwork(network)
  } catch (error) {
    // The engine has some thirty ranges of addresses to give; after that we name small ones ourselves.
    if (/non-overlapping|fully subnetted/.test(String(error))) await makeSmallNetwork(docker, network)
    // 409: it is there already.
    else if (statusOf(error) !== 409) throw error
  }
  return network.Name
}

async function makeSmallNetwork(docker: Docker, network: Docker.NetworkCreateOptions): Promise<void> {
  const first = createHash('sha256').update(network.Name).digest().readUInt16BE(0)
  for (let step = 0; step < smallNetworks; step++) {
    const at = (first + step * 31) % smallNetworks
    const Subnet = `10.213.${at >> 4}.${(at & 15) * 16}/28`
    try {
      await docker.createNetwork({ ...network, IPAM: { Driver: 'default', Config: [{ Subnet }] } })
      return
    } catch (error) {
      if (statusOf(error) === 409) return
      if (!/overlap/i.test(String(error))) throw error
    }
  }
  throw new DatabaseUnavailable(
    'Docker has no free range of addresses for the network of this database.',
    'Remove networks that nothing uses (docker network prune), then try again.',
  )
}

export const dropNetwork = (engine: Engine, docker: Docker, projectId: string): Promise<void> =>
  removeNetwork(docker, engine.databaseNetwork(projectId))

/** Containers that are still connected lose the way to the database, and nothing else. */
export async function removeNetwork(docker: Docker, name: string): Promise<void> {
  const network = docker.getNetwork(name)
  const { Containers = {} } = (await network.inspect().catch(ignoreMissing)) ?? {}
  for (const id of Object.keys(Containers)) await network.disconnect({ Container: id, Force: true }).catch(ignoreMissing)
  await network.remove().catch(ignoreMissing)
}

function ignoreMissing(error: unknown): undefined {
  if (statusOf(error) !== 404) throw error
}
