import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'
import type Docker from 'dockerode'
import { Problem } from '../../contract/errors.ts'
import { formatHost } from '../../lib/format-host.ts'
import { connectToDocker, findDockerAddresses } from '../docker/connection.ts'
import { getStatusCode } from '../docker/errors.ts'

/** The bridge on which the engine of a node publishes ports of apps. Without one of these options it does so at all addresses, and apps reach each other. */
const gateway = {
  Name: 'docker_gwbridge',
  options: (address: string) => ({
    'com.docker.network.bridge.name': 'docker_gwbridge',
    'com.docker.network.bridge.enable_icc': 'false',
    'com.docker.network.bridge.host_binding_ipv4': address,
  }),
}

/**
 * Adds the Docker engine of this machine to a swarm. `manager`: `host:port` of one of its managers. `address`: of this machine for the other nodes; without
 * it, the one from which the manager is reached. Returns it. Throws a `Problem`.
 */
export async function joinSwarm(request: {
  docker_host: string | undefined
  manager: string
  token: string
  address: string | undefined
}): Promise<{ address: string }> {
  const docker = await connectOutsideSwarm(request.docker_host)
  const address = request.address ?? (await findLocalAddress(request.manager))
  await createGateway(docker, address)
  try {
    await docker.swarmJoin({
      ListenAddr: `${formatHost(address)}:2377`,
      AdvertiseAddr: address,
      RemoteAddrs: [request.manager],
      JoinToken: request.token,
    })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (/token/i.test(message))
      throw new Problem('runtime_unavailable', 'The token is not one of this cluster. Copy it again from homeport node token.', { cause: error })
    throw new Problem(
      'runtime_unavailable',
      `The manager at ${request.manager} was not reached. Check the address, and that the ports 2377 (TCP), 7946 (TCP and UDP) and 4789 (UDP) are open between the nodes.`,
      { cause: error },
    )
  }
  return { address }
}

/** Makes the Docker engine of this machine the first node of a new swarm. `address`: of this machine for the other nodes. Throws a `Problem`. */
export async function initSwarm({ docker_host, address }: { docker_host: string | undefined; address: string }): Promise<void> {
  if (isIP(address) === 0) throw new Problem('invalid_input', 'The address is an IP address of this machine in the network of the nodes.')
  const docker = await connectOutsideSwarm(docker_host)
  await createGateway(docker, address)
  try {
    await docker.swarmInit({
      ListenAddr: `${formatHost(address)}:2377`,
      AdvertiseAddr: address,
    })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Problem('runtime_unavailable', `Docker could not start the cluster: ${reason}. Check that ${address} is an address of this machine.`, {
      cause: error,
    })
  }
}

/** The engine of this machine, unless it is part of a swarm. */
async function connectOutsideSwarm(docker_host: string | undefined): Promise<Docker> {
  const found = await connectToDocker(await findDockerAddresses(docker_host === undefined ? {} : { host: docker_host }))
  if ('tried' in found) throw new Problem('runtime_unavailable', 'Docker does not answer on this machine. Install and start it, then try again.')
  const { docker } = found
  const { Swarm } = (await docker.info()) as { Swarm?: { LocalNodeState?: string } }
  if (Swarm?.LocalNodeState === undefined || Swarm.LocalNodeState === 'inactive') return docker
  throw new Problem('runtime_unavailable', 'This machine is part of a cluster already. Run docker swarm leave first.')
}

/** Creates it, or replaces one that is left from an earlier swarm or that Docker made with its own options. */
async function createGateway(docker: Docker, address: string): Promise<void> {
  const options = gateway.options(address)
  const network = docker.getNetwork(gateway.Name)
  const found: { Options?: Record<string, string> } | undefined = await network
    .inspect()
    .catch((error: unknown) => (getStatusCode(error) === 404 ? undefined : Promise.reject(error)))
  if (found && Object.entries(options).every(([name, value]) => found.Options?.[name] === value)) return
  if (found) await network.remove()
  await docker.createNetwork({ Name: gateway.Name, Driver: 'bridge', Options: options })
}

/** The address of this machine from which another is reached. Nothing is sent. */
async function findLocalAddress(remote: string): Promise<string> {
  const { hostname } = new URL(`tcp://${remote}`)
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = createSocket(isIP(host) === 6 ? 'udp6' : 'udp4')
  try {
    await new Promise<void>((resolve, reject) => socket.once('error', reject).connect(2377, host, resolve))
    return socket.address().address
  } catch (error) {
    throw new Problem('runtime_unavailable', `There is no route to ${host}. Check the address of the manager.`, { cause: error })
  } finally {
    socket.close()
  }
}
