import type { DockerEngine } from './engine.ts'
import { getStatusCode } from './errors.ts'

/** `bind`: the address to listen on, null for loopback. */
export interface HostAddress {
  host: string
  bind: string | null
  /** The network from which containers connect; null if unknown. */
  subnet: string | null
}

/**
 * How containers reach this machine: if container addresses are reachable from here, at the gateway of the instance's network, which is an address
 * of this machine; otherwise by the name that engines in a virtual machine give to its loopback. Undefined if the network does not exist and
 * `isNeeded` is false.
 */
export async function findDockerHostAddress(engine: DockerEngine, isNeeded: boolean): Promise<HostAddress | undefined> {
  const { docker, hasDirectNetwork } = await engine.connection()
  if (!hasDirectNetwork) return { host: 'host.docker.internal', bind: null, subnet: null }
  const network = docker.getNetwork(isNeeded ? await engine.ensureNetwork() : engine.network_name)
  const found = await network.inspect().catch((error: unknown) => (getStatusCode(error) === 404 ? undefined : Promise.reject(error)))
  if (!found) return undefined
  const { IPAM } = found
  const config = IPAM?.Config?.find(({ Gateway }) => Gateway !== undefined && Gateway.includes('.'))
  if (config?.Gateway === undefined) throw new Error('The network of the instance has no gateway.')
  return { host: config.Gateway, bind: config.Gateway, subnet: config.Subnet ?? null }
}
