import { posix } from 'node:path'
import type Docker from 'dockerode'
import { appRoot } from '../docker/build-runner.ts'
import type { DockerEngine } from '../docker/engine.ts'
import { readyImageCapabilities } from '../docker/service-container.ts'
import { appLogConfig, describeAppContainer, maxAppProcesses } from '../docker/app-container.ts'
import type { StartRequest } from '../runtime.ts'
import { canTakeTasks, type SwarmNode } from './cluster.ts'
import { hasEnded, type SwarmTask } from './tasks.ts'

const second_ns = 1e9

/**
 * How long the swarm waits before it restarts a task. Homeport sees an end within a second and then removes the service, so the swarm restarts only what
 * ends while Homeport is not there.
 */
const restartDelay_ns = 15 * second_ns

/** A node takes apps up to twice its memory, because few use their limit. */
const reservedShare = 0.5

/**
 * The limits of further apps, in MB, that the nodes have room for together. The swarm places by what it has reserved; an app with a limit above the room of
 * each node fits none of them nevertheless.
 */
export function sumAvailableMemory(nodes: readonly SwarmNode[], tasks: readonly SwarmTask[]): number {
  const rooms = nodes.filter(canTakeTasks).map(({ id, memory_mb }) => {
    const own = tasks.filter((task) => task.node_id === id && !hasEnded(task))
    return Math.max(0, memory_mb - own.reduce((sum, { reserved_bytes }) => sum + reserved_bytes, 0) / 2 ** 20)
  })
  return rooms.reduce((sum, room) => sum + room, 0) / reservedShare
}

/** The swarm takes it at the creation of a service and not at its end. */
const stopGrace_ns = 10 * second_ns

export interface Placing {
  /** The image as all nodes know it: by digest in the registry, or by id where there is one node. */
  image: string
  /** Ids of the networks, with the host names in each. */
  networks: { id: string; host_names: string[] }[]
  constraints: string[]
  /** Ports of its node, one for each that is published. */
  ports: number[]
  /** Reduces a limit to what an engine accepts. */
  limitCpus(cpus: number): number
}

/** The service of one replica. */
export function createServiceSpec(
  engine: DockerEngine,
  name: string,
  request: Omit<StartRequest, 'onLine' | 'onExit'>,
  placing: Placing,
): Docker.ServiceSpec {
  const { service } = request
  const { ports, environment, labels } = describeAppContainer(engine, request)
  const memory = request.memory_mb * 1024 * 1024
  return {
    Name: name,
    Labels: { ...labels, 'homeport.role': 'replica' },
    TaskTemplate: {
      ContainerSpec: {
        Image: placing.image,
        Labels: { ...labels, 'homeport.role': 'task' },
        Env: environment,
        ...(service?.entrypoint && { Command: service.entrypoint }),
        ...(service?.command && { Args: service.command }),
        ...(service && service.working_directory !== null && { Dir: posix.resolve(appRoot, service.working_directory) }),
        Init: true,
        CapabilityDrop: ['ALL'],
        ...(service?.is_ready_image && { CapabilityAdd: readyImageCapabilities }),
        // Older engines know it as a setting of the daemon only.
        Privileges: { NoNewPrivileges: true } as Docker.Privileges,
        StopGracePeriod: stopGrace_ns,
        // The swarm would hold back the ports of a task until its first check, and end it by its own rules.
        HealthCheck: { Test: ['NONE'] },
      },
      Resources: {
        Limits: { MemoryBytes: memory, NanoCPUs: Math.round(placing.limitCpus(request.cpus) * 1e9), Pids: maxAppProcesses },
        Reservations: { MemoryBytes: Math.round(memory * reservedShare) },
      },
      RestartPolicy: { Condition: 'any', Delay: restartDelay_ns },
      Placement: { Constraints: placing.constraints },
      Networks: placing.networks.map(({ id, host_names }) => ({ Target: id, Aliases: host_names })),
      LogDriver: { Name: 'json-file', Options: appLogConfig },
    },
    Mode: { Replicated: { Replicas: 1 } },
    // By the names of tasks and without virtual IPs, of which a network has few.
    EndpointSpec: { Mode: 'dnsrr', Ports: publishPorts(ports, placing.ports) },
  }
}

const publishPorts = (targets: number[], published: number[]): Docker.PortConfig[] =>
  targets.map((TargetPort, index) => ({ Protocol: 'tcp', TargetPort, PublishedPort: published[index], PublishMode: 'host' }))

/** The service, to stay on the node of its first task: an edge whose routes are old reaches it there also after the swarm has started it again. */
export function pinToNode(spec: Docker.ServiceSpec, nodeId: string): Docker.ServiceSpec {
  const template = spec.TaskTemplate
  const labels = (template?.Placement?.Constraints ?? []).filter((one) => !one.startsWith('node.id'))
  return { ...spec, TaskTemplate: { ...template, Placement: { ...template?.Placement, Constraints: [...labels, `node.id==${nodeId}`] } } }
}
