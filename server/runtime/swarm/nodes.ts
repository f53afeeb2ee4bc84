import type Docker from 'dockerode'
import { Problem } from '../../contract/errors.ts'
import { type Clock, sleep, systemClock, withTimeout } from '../../lib/clock.ts'
import { formatHost } from '../../lib/format-host.ts'
import type { DockerEngine } from '../docker/engine.ts'
import { getStatusCode } from '../docker/errors.ts'
import type { WithPlainFailures } from '../docker/translate-failures.ts'
import { BuildFailure } from '../runtime.ts'
import type { PlacedReplica, RuntimeNode, RuntimeNodes } from '../nodes.ts'
import type { ClusterRegistry } from './cluster-registry.ts'
import { listNodes, parseLabelConstraint, requireManager, type RawNode, type SwarmNode } from './cluster.ts'
import type { NodeProbes } from './node-probes.ts'
import { hasEnded, isUnwanted, listTasks, type SwarmTask } from './tasks.ts'

/** The port on which managers accept nodes, if the swarm reports none. */
const managerPort = 2377

const listing_ms = 5_000
const createUnanswered = () =>
  new BuildFailure(
    'runtime_unavailable',
    'The swarm does not answer.',
    'If it has just lost a manager, try again in half a minute; else run homeport doctor.',
  )

const swarmAvailability = { active: 'active', cordoned: 'pause', draining: 'pause', drained: 'drain' } as const
/** Marks a node whose replicas are being moved, by the instance that moves them. */
const drainingLabel = 'homeport.draining'
const ownLabels = 'homeport.'

type NodeSpec = NonNullable<RawNode['Spec']>

/** The nodes of the swarm. `withPlainFailures` translates the errors of the engine. */
export function createSwarmNodes(
  engine: DockerEngine,
  {
    registry,
    edges,
    probes,
    withPlainFailures,
    clock = systemClock,
  }: {
    registry: ClusterRegistry
    edges: Pick<RuntimeNodes, 'applyEdges'>
    probes: Pick<NodeProbes, 'isSilent'>
    withPlainFailures: WithPlainFailures
    clock?: Clock
  },
): RuntimeNodes {
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await withPlainFailures(new AbortController().signal, work)
    } catch (error) {
      if (!(error instanceof BuildFailure)) throw error
      throw new Problem('runtime_unavailable', `${error.message} ${error.hint}`, { cause: error })
    }
  }

  /** A node may be changed by somebody else between the reading and the writing of its specification. */
  const updateSpec = async (docker: Docker, nodeId: string, change: (spec: NodeSpec) => NodeSpec): Promise<void> => {
    for (let attempt = 0; ; attempt++) {
      const { Version, Spec } = (await docker.getNode(nodeId).inspect()) as { Version: { Index: number }; Spec: NodeSpec }
      try {
        await docker.getNode(nodeId).update({ version: Version.Index, ...change(Spec) })
        return
      } catch (error) {
        if (attempt >= 5 || !/out of sequence/i.test(String(error))) throw error
        await sleep(systemClock, 100 * 2 ** attempt)
      }
    }
  }

  return {
    list: () =>
      guard(async () => {
        const { docker, swarm } = await requireManager(engine)
        const labels = engine.createOwnFilters({ 'homeport.role': 'replica' })
        const reading = Promise.all([listNodes(docker, swarm), docker.listServices({ filters: labels }), listTasks(docker, labels)])
        // A manager whose leader has just been lost answers after 20 s.
        const found = await withTimeout(clock, listing_ms, reading)
        if (!found) throw createUnanswered()
        const [nodes, services, tasks] = found
        const byId = new Map(services.map((service) => [service.ID, service]))
        const placed = (nodeId: string) => tasks.filter(({ node_id, service_id }) => node_id === nodeId && byId.has(service_id)).filter(isPresent)
        return nodes.map(({ labels: nodeLabels, ...node }): RuntimeNode => {
          const own = placed(node.id)
          return {
            ...node,
            is_ready: node.is_ready && !probes.isSilent(node.id),
            labels: Object.fromEntries(Object.entries(nodeLabels).filter(([key]) => !key.startsWith(ownLabels))),
            availability: readAvailability(node.availability, nodeLabels[drainingLabel] === engine.options.instance_id),
            is_control_plane: node.id === swarm.node_id,
            reserved_mb: own.reduce((sum, { service_id }) => sum + readReservation(byId.get(service_id)), 0),
            replicas: own.map((task) => describeReplica(task, byId.get(task.service_id))),
          }
        })
      }),

    setAvailability: (nodeId, availability) =>
      guard(async () => {
        const { docker } = await requireManager(engine)
        await updateSpec(docker, nodeId, ({ Labels: { [drainingLabel]: _, ...others } = {}, ...spec }) => ({
          ...spec,
          Availability: swarmAvailability[availability],
          Labels: availability === 'draining' ? { ...others, [drainingLabel]: engine.options.instance_id } : others,
        }))
      }),

    setLabels: (nodeId, labels) =>
      guard(async () => {
        const { docker } = await requireManager(engine)
        await updateSpec(docker, nodeId, ({ Labels, ...spec }) => {
          const changed = Object.entries({ ...Labels, ...labels }).filter((entry): entry is [string, string] => entry[1] !== null)
          return { ...spec, Labels: Object.fromEntries(changed) }
        })
      }),

    remove: (nodeId) =>
      guard(async () => {
        const { docker } = await requireManager(engine)
        const { Spec } = (await docker.getNode(nodeId).inspect()) as RawNode
        if (Spec?.Role === 'manager') await updateSpec(docker, nodeId, (spec) => ({ ...spec, Role: 'worker' }))
        for (let attempt = 0; ; attempt++) {
          try {
            await docker.getNode(nodeId).remove({ force: true })
            return
          } catch (error) {
            if (getStatusCode(error) === 404) return
            // A manager that was made a worker is one until it has left the others.
            if (attempt >= 10) throw error
            await sleep(systemClock, 100 * 2 ** Math.min(attempt, 4))
          }
        }
      }),

    applyEdges: (program, claimRestart) => guard(() => edges.applyEdges(program, claimRestart)),

    readJoinToken: (role) =>
      guard(async () => {
        const { docker, swarm } = await requireManager(engine)
        const { JoinTokens } = (await docker.swarmInspect()) as { JoinTokens: { Worker: string; Manager: string } }
        const own = ((await docker.getNode(swarm.node_id).inspect()) as RawNode).ManagerStatus?.Addr
        const port = /:(\d+)$/.exec(own ?? '')?.[1] ?? managerPort
        const reference = await registry.getReference()
        return {
          address: `${formatHost(swarm.node_address)}:${port}`,
          token: role === 'manager' ? JoinTokens.Manager : JoinTokens.Worker,
          registry: reference,
        }
      }),
  }
}

function readAvailability(availability: SwarmNode['availability'], isDraining: boolean): RuntimeNode['availability'] {
  if (availability === 'pause') return isDraining ? 'draining' : 'cordoned'
  return availability === 'drain' ? 'drained' : 'active'
}

/** Whether a task still has its node; one that ends there does too. */
const isPresent = (task: SwarmTask): boolean => !hasEnded(task)

const readReservation = (service: Docker.Service | undefined): number => {
  const { Spec } = (service ?? {}) as { Spec?: { TaskTemplate?: { Resources?: { Reservations?: { MemoryBytes?: number } } } } }
  return Math.round((Spec?.TaskTemplate?.Resources?.Reservations?.MemoryBytes ?? 0) / 2 ** 20)
}

function describeReplica(task: SwarmTask, service: Docker.Service | undefined): PlacedReplica {
  const labels = service?.Spec?.Labels ?? {}
  return {
    id: task.service_id,
    project_id: labels['homeport.project'] ?? '',
    deployment_id: labels['homeport.deployment'] ?? '',
    service: labels['homeport.service'] || null,
    replica: Number(labels['homeport.replica'] ?? 1),
    node_labels: readConstraints(service).flatMap((one) => parseLabelConstraint(one) ?? []),
    state: isUnwanted(task) ? 'stopping' : task.state === 'running' ? 'running' : 'starting',
  }
}

function readConstraints(service: Docker.Service | undefined): string[] {
  const { Spec } = (service ?? {}) as { Spec?: { TaskTemplate?: { Placement?: { Constraints?: string[] } } } }
  return Spec?.TaskTemplate?.Placement?.Constraints ?? []
}
