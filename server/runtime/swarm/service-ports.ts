import { randomInt } from 'node:crypto'
import type Docker from 'dockerode'
import type { DockerEngine } from '../docker/engine.ts'
import { BuildFailure } from '../runtime.ts'

/** Below the ports that Linux chooses for connections and Docker for containers, and below those that a swarm chooses itself. */
export const servicePorts = { first: 20_000, last: 29_999 }

/** Ports that replicas have at the addresses of their nodes. */
export interface ServicePorts {
  /** Ports that no other replica of this instance has. */
  take(docker: Docker, count: number): Promise<number[]>
}

/**
 * A port belongs to one replica of this instance on all nodes, also when the swarm starts it again, and goes to another one only after all others (a restart
 * of Homeport begins anywhere): an edge whose routes are old reaches that replica or nothing. The swarm keeps other instances off a port that is in use.
 */
export function createServicePorts(engine: DockerEngine, { first, last } = servicePorts): ServicePorts {
  const size = last - first + 1
  let used: Set<number> | undefined
  let taken = randomInt(size)
  let end = taken + size

  const readUsed = async (docker: Docker): Promise<Set<number>> => {
    const services = await docker.listServices({ filters: engine.createOwnFilters({ 'homeport.role': 'replica' }) })
    return new Set(services.flatMap(({ Spec }) => (Spec?.EndpointSpec?.Ports ?? []).flatMap(({ PublishedPort }) => PublishedPort ?? [])))
  }
  let reading: Promise<void> = Promise.resolve()

  /** The next free one of this round; undefined at its end. */
  const next = (): number | undefined => {
    while (taken < end) {
      const port = first + (taken++ % size)
      if (used && !used.has(port)) return port
    }
    return undefined
  }
  const takeOne = async (docker: Docker): Promise<number> => {
    used ??= await readUsed(docker)
    const port = next()
    if (port !== undefined) return port
    used = await readUsed(docker)
    end += size
    const again = next()
    if (again !== undefined) return again
    throw new BuildFailure('runtime_unavailable', `All ports of replicas from ${first} to ${last} are in use.`, 'Remove projects or replicas.')
  }
  const takeAll = async (docker: Docker, count: number): Promise<number[]> => {
    const ports: number[] = []
    while (ports.length < count) ports.push(await takeOne(docker))
    return ports
  }

  return {
    take(docker, count) {
      const taking = reading.then(() => takeAll(docker, count))
      reading = taking.then(
        () => {},
        () => {},
      )
      return taking
    },
  }
}
