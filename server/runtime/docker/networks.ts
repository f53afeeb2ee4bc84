import { createHash } from 'node:crypto'
import type Docker from 'dockerode'
import { sleep, systemClock } from '../../lib/clock.ts'
import { getStatusCode } from './errors.ts'

/** Networks of sixteen addresses each, in 10.213.0.0/16. Docker's own address ranges suffice for about thirty networks. */
const small = { count: 4096, getSubnet: (index: number) => `10.213.${index >> 4}.${(index & 15) * 16}/28` }
/** Networks of a thousand addresses each, in 10.212.0.0/16. */
const large = { count: 64, getSubnet: (index: number) => `10.212.${index * 4}.0/22` }

/** Thrown when every address range is taken. */
export class NetworksExhaustedError extends Error {}

/** Networks being created, by name, because Docker would create two with the same name for concurrent requests and then find neither by name. */
const pendingNetworks = new Map<string, Promise<void>>()

export interface PrivateNetwork {
  Name: string
  Internal: boolean
  Labels: Record<string, string>
}

/** Creates a bridge network with a small address range, unless it exists. */
export const ensureSmallNetwork = (docker: Docker, network: PrivateNetwork): Promise<void> =>
  createOnce(network.Name, () => createInRange(docker, network, small))

/** Creates a network of all nodes of the swarm, which containers can join too, unless it exists. */
export const ensureOverlayNetwork = (docker: Docker, network: PrivateNetwork): Promise<void> =>
  createOnce(network.Name, async () => {
    await docker.createNetwork({ ...network, CheckDuplicate: true, Driver: 'overlay', Attachable: true }).catch((error: unknown) => {
      if (getStatusCode(error) !== 409) throw error
    })
  })

function createOnce(name: string, create: () => Promise<void>): Promise<void> {
  const pending = pendingNetworks.get(name) ?? create().finally(() => pendingNetworks.delete(name))
  pendingNetworks.set(name, pending)
  return pending
}

/** Creates a bridge network in an address range of Docker's choice, or in one of ours if Docker has none left; unless it exists. */
export async function ensureLargeNetwork(docker: Docker, network: Docker.NetworkCreateOptions): Promise<void> {
  try {
    await docker.createNetwork({ ...network, CheckDuplicate: true, Driver: 'bridge' })
  } catch (error) {
    if (getStatusCode(error) === 409) return
    if (!/available.*address pool|fully subnetted/i.test(String(error))) throw error
    await createInRange(docker, network, large)
  }
}

async function createInRange(docker: Docker, network: Docker.NetworkCreateOptions, { count, getSubnet }: typeof small): Promise<void> {
  const first = createHash('sha256').update(network.Name).digest().readUInt16BE(0)
  for (let step = 0; step < count; step++) {
    const Subnet = getSubnet((first + step * 31) % count)
    try {
      await docker.createNetwork({ ...network, CheckDuplicate: true, Driver: 'bridge', IPAM: { Driver: 'default', Config: [{ Subnet }] } })
      return
    } catch (error) {
      // 409: the network exists already.
      if (getStatusCode(error) === 409) return
      if (!/overlap/i.test(String(error))) throw error
    }
  }
  throw new NetworksExhaustedError('Docker has no free address range for another network. Remove unused networks with docker network prune.')
}

/** Connects a container under these host names; no error if it is connected already. */
export async function connectContainer(docker: Docker, network: string, containerId: string, hostNames: string[]): Promise<void> {
  try {
    await docker.getNetwork(network).connect({ Container: containerId, EndpointConfig: { Aliases: hostNames } })
  } catch (error) {
    if (getStatusCode(error) !== 403 && !/already (exists|attached)/.test(String(error))) throw error
  }
}

/** Starts in progress, by network. A container that has not started yet does not keep Docker from removing its network. */
const starting = new Map<string, number>()
const removing = new Map<string, Promise<void>>()

/** Runs a start in a network, which is not removed meanwhile. */
export async function holdNetwork<T>(name: string, start: () => Promise<T>): Promise<T> {
  starting.set(name, (starting.get(name) ?? 0) + 1)
  try {
    await removing.get(name)
    return await start()
  } finally {
    const left = (starting.get(name) ?? 1) - 1
    if (left > 0) starting.set(name, left)
    else starting.delete(name)
  }
}

/**
 * Removes a network that no container uses or is about to use. A removal in progress may have seen the container that has just been removed, so another
 * one follows it. `id`: of one that may share its name with another.
 */
export async function removeUnusedNetwork(docker: Docker, name: string, id = name): Promise<void> {
  if (starting.has(name)) return
  const previous = removing.get(name)?.catch(() => {})
  const removal = (previous ?? Promise.resolve())
    .then(() => removeOnceFree(docker, id))
    .finally(() => {
      if (removing.get(name) === removal) removing.delete(name)
    })
  removing.set(name, removal)
  await removal
}

/** Docker frees the address of a removed container a moment later. */
async function removeOnceFree(docker: Docker, id: string): Promise<void> {
  const network = docker.getNetwork(id)
  for (let attempt = 0; attempt < 20; attempt++) {
    const found = await network.inspect().catch(ignoreMissing)
    if (!found || (await isAnyThere(docker, Object.keys(found.Containers ?? {})))) return
    try {
      return void (await network.remove())
    } catch (error) {
      const status = getStatusCode(error)
      // A network of a swarm that other nodes use, or that another removal has just removed.
      if (status === 404 || /in use by service|network .*not found/.test(String(error))) return
      if (status !== 403 && status !== 409 && !/in use by task/.test(String(error))) throw error
      await sleep(systemClock, 100)
    }
  }
}

async function isAnyThere(docker: Docker, containerIds: readonly string[]): Promise<boolean> {
  for (const id of containerIds) if (await docker.getContainer(id).inspect().catch(ignoreMissing)) return true
  return false
}

/** Removes a network; containers that are still connected lose only their access to it. */
export async function removeNetwork(docker: Docker, name: string): Promise<void> {
  const network = docker.getNetwork(name)
  const { Containers = {} } = (await network.inspect().catch(ignoreMissing)) ?? {}
  for (const id of Object.keys(Containers)) await network.disconnect({ Container: id, Force: true }).catch(ignoreMissing)
  await network.remove().catch(ignoreMissing)
}

function ignoreMissing(error: unknown): undefined {
  if (getStatusCode(error) !== 404) throw error
}
