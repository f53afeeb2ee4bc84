import type { DockerEngine } from './engine.ts'

/**
 * How containers reach this machine: where container addresses can be reached from here, at the gateway of the instance's network, which is an address
 * of this machine; otherwise through the name that engines in a virtual machine give to its loopback.
 */
export async function findDockerHostAddress(engine: DockerEngine): Promise<{ host: string; bind: string | null }> {
  const { docker, hasDirectNetwork } = await engine.connection()
  if (!hasDirectNetwork) return { host: 'host.docker.internal', bind: null }
  const { IPAM } = await docker.getNetwork(await engine.ensureNetwork()).inspect()
  const gateway = IPAM?.Config?.map(({ Gateway }) => Gateway).find((address) => address !== undefined && address.includes('.'))
  if (gateway === undefined) throw new Error('The network of the instance has no gateway.')
  return { host: gateway, bind: gateway }
}
