import { randomBytes } from 'node:crypto'
import type Docker from 'dockerode'
import { sleep, systemClock } from '../../lib/clock.ts'
import { createContainerStats } from '../docker/container-stats.ts'
import type { DockerEngine } from '../docker/engine.ts'
import { getStatusCode } from '../docker/errors.ts'
import { describeAppContainer } from '../docker/app-container.ts'
import { holdNetwork } from '../docker/networks.ts'
import { getServiceNetworkName } from '../docker/service-container.ts'
import type { NodeAgents } from './node-agents.ts'
import type { NodeProbes } from './node-probes.ts'
import { choosePlacement } from './choose-placement.ts'
import { describeTask, formatServiceCommand } from './describe-task.ts'
import { monitorService, type ServiceMonitor } from './service-monitor.ts'
import { createServiceRemovals, inspectService } from './service-removals.ts'
import { createServicePorts } from './service-ports.ts'
import { isPortTaken, isStartError, isWithoutRoom, toStartFailure } from './start-failures.ts'
import { createServiceSpec, pinToNode } from './service-spec.ts'
import { createTaskPoller, hasEnded, isUnwanted, listTasks, readTaskExit, type SwarmTask } from './tasks.ts'
import type { SharedImage, SharedImages } from './shared-images.ts'
import { isWithoutLeader, requireManager } from './cluster.ts'
import { StartFailure, type ExistingReplica, type Replica, type ReplicaObserver, type Runtime, type StartRequest } from '../runtime.ts'

/** For how long a start waits for a swarm that elects a leader, which takes 10 to 30 s, or still finds a network that was removed. */
const swarmPatience_ms = 40_000
const creationPause_ms = 500

export interface ServiceReplicas extends Pick<Runtime, 'start' | 'list' | 'adopt' | 'stop' | 'freeze' | 'thaw' | 'usage' | 'close'> {
  /** The container of a replica, if its node is this one or has an agent that answers. */
  findContainer(replicaId: string): Promise<Docker.Container | undefined>
}

/** Ids of services are shorter than those of containers. */
export const isServiceId = (id: string): boolean => /^[0-9a-z]{25}$/.test(id)

const startPoll_ms = 100
/** How many ports of nodes in use for something else a start tries. */
const mostPortFailures = 5
/** How long a start waits for the end of other replicas that have the memory, before it takes any node. */
const spreading_ms = 2_000
/** How long a start waits for a node with room. */
const placement_ms = 10_000

/** Replicas as services of a swarm: a service each, so that a replica is replaced, moved and stopped on its own. */
export function createServiceReplicas(
  engine: DockerEngine,
  { share: shareImage }: Pick<SharedImages, 'share'>,
  { agents, probes }: { agents: Pick<NodeAgents, 'connect' | 'ensure'>; probes: NodeProbes },
): ServiceReplicas {
  const monitors = new Map<string, ServiceMonitor>()
  const poller = createTaskPoller(engine, probes.refresh)
  const removals = createServiceRemovals(engine)
  const servicePorts = createServicePorts(engine)
  const stats = createContainerStats()
  /** The last placement of each deployment, so that its replicas see each other's nodes. */
  const placements = new Map<string, Promise<unknown>>()

  const filterOf = (labels: Record<string, string>) => engine.createOwnFilters(labels)

  const startMonitor = (task: SwarmTask, observer: ReplicaObserver, since_ms: number | null): void => {
    const { service_id } = task
    const monitor = monitorService(
      engine,
      { poller, connect: agents.connect, isSilent: probes.isSilent },
      { service_id, task_id: task.id, since_ms },
      {
        onLine: observer.onLine,
        onExit(exit) {
          monitors.delete(service_id)
          observer.onExit(exit)
        },
      },
      () => removeReplicaService(service_id),
    )
    monitors.set(service_id, monitor)
  }

  const removeReplicaService = (serviceId: string): Promise<void> => {
    stats.forget(serviceId)
    return removals.remove(serviceId)
  }
  const findService = (docker: Docker, id: string) => inspectService(docker, id, engine.options.instance_id)

  /** The newest task that the swarm wants, else the newest. */
  const findTask = async (docker: Docker, serviceId: string): Promise<SwarmTask | undefined> => {
    const tasks = await listTasks(docker, { service: [serviceId] })
    return tasks.findLast((task) => !hasEnded(task) && !isUnwanted(task)) ?? tasks.at(-1)
  }

  /** Waits until the first task runs and its ports are known. */
  const waitUntilRunning = async (
    docker: Docker,
    serviceId: string,
    { request, isSpread, onPlaced }: { request: StartRequest; isSpread: boolean; onPlaced: () => void },
  ): Promise<SwarmTask> => {
    const command = formatServiceCommand(request)
    const began = performance.now()
    let answeredAt = began
    for (;;) {
      request.signal.throwIfAborted()
      const [task] = await listTasks(docker, { service: [serviceId] }).then(
        (tasks) => ((answeredAt = performance.now()), tasks),
        (error: unknown) => {
          if (!isWithoutLeader(error) || performance.now() - answeredAt > swarmPatience_ms) throw error
          return []
        },
      )
      if (task?.node_id) onPlaced()
      if (task && probes.isSilent(task.node_id)) throw new UnsuitableNode()
      if (task && isPortTaken(task)) throw new UnsuitableNode(toStartFailure(task, command))
      if (task && isSpread && isWithoutRoom(task) && performance.now() - began > spreading_ms) throw new NoRoomToSpread()
      // A task that ran and ended is a start, whose exit the monitor reports.
      if (task && (task.state === 'running' || (hasEnded(task) && task.exit_code !== null && !isStartError(task)))) {
        if (task.ports.length > 0 || hasEnded(task)) return task
      } else if (task && hasEnded(task)) throw toStartFailure(task, command)
      if (task?.state === 'pending' && task.message !== '' && performance.now() - began > placement_ms)
        throw new StartFailure(
          'start_failed',
          `The app did not start, because no node of the swarm can take it: ${task.message}.`,
          request.node_labels?.length
            ? `Its node needs the labels ${request.node_labels.join(', ')} (homeport node list, homeport node label) and enough free memory.`
            : 'Add a node or more memory, or lower the memory limit in the project settings.',
        )
      await sleep(systemClock, startPoll_ms, request.signal)
    }
  }

  /** Runs a placement after those of the same deployment that have no node yet. */
  const inTurn = async <T>(deploymentId: string, work: (onPlaced: () => void) => Promise<T>): Promise<T> => {
    const previous = placements.get(deploymentId)
    const placed = Promise.withResolvers<void>()
    placements.set(deploymentId, placed.promise)
    await previous
    try {
      return await work(placed.resolve)
    } finally {
      placed.resolve()
      if (placements.get(deploymentId) === placed.promise) placements.delete(deploymentId)
    }
  }

  const createNetworks = async (docker: Docker, { project_id, deployment_id, service }: StartRequest) => {
    // An app without named networks is alone with its replicas.
    const wanted = service?.networks.length ? service.networks : [{ name: deployment_id, host_names: [] }]
    const Labels = engine.createLabels('network', { project_id })
    const names = wanted.map(({ name }) => getServiceNetworkName(engine, name))
    for (const Name of names) await engine.createPrivateNetwork(docker, { Name, Internal: false, Labels })
    const database = engine.getDatabaseNetworkName(project_id)
    const all = [...wanted.map(({ host_names }, index) => ({ name: names[index]!, host_names })), { name: database, host_names: [] as string[] }]
    const found = await Promise.all(
      all.map(async ({ name, host_names }) => {
        const network: { Id: string; Scope: string } | undefined = await docker
          .getNetwork(name)
          .inspect()
          .catch((error: unknown) => (getStatusCode(error) === 404 ? undefined : Promise.reject(error)))
        return network?.Scope === 'swarm' ? [{ id: network.Id, host_names }] : []
      }),
    )
    return found.flat()
  }

  const createInNetworks = async (
    docker: Docker,
    request: StartRequest,
    { shared, isSpread }: { shared: SharedImage; isSpread: boolean },
  ): Promise<string> => {
    const { limitCpus } = await engine.connection()
    const hold = (names: string[], work: () => Promise<string>): Promise<string> => {
      const [name, ...others] = names
      return name === undefined ? work() : holdNetwork(getServiceNetworkName(engine, name), () => hold(others, work))
    }
    const names = request.service?.networks.length ? request.service.networks.map(({ name }) => name) : [request.deployment_id]
    const name = engine.createName(request.deployment_id, randomBytes(4).toString('hex'))
    const ports = await servicePorts.take(docker, describeAppContainer(engine, request).ports.length)
    const create = async (): Promise<string> => {
      const spec = createServiceSpec(engine, name, request, {
        image: shared.image,
        networks: await createNetworks(docker, request),
        constraints: await choosePlacement(engine, docker, { request, probes, isSpread }),
        ports,
        limitCpus,
      })
      const { id } = shared.authconfig ? await docker.createService(shared.authconfig, spec) : await docker.createService(spec)
      return id
    }
    const createWithPatience = async (): Promise<string> => {
      const began = performance.now()
      for (;;) {
        try {
          return await create()
        } catch (error) {
          // A swarm that lost its leader meanwhile may have accepted an earlier attempt, although it answered with an error.
          const accepted = getStatusCode(error) === 409 ? await findService(docker, name) : undefined
          if (accepted) return accepted.ID
          // A network whose removal has just been accepted is still found by its name, for some seconds if one of its nodes is lost: alone, or beside
          // the new one of that name.
          const isPassing = isWithoutLeader(error) || /network .*(?:not found|is ambiguous)/i.test(String(error))
          if (!isPassing || performance.now() - began > swarmPatience_ms) throw error
          await sleep(systemClock, creationPause_ms, request.signal)
        }
      }
    }
    return hold(names, () =>
      createWithPatience().catch((error: unknown) => {
        void removals.remove(name)
        throw error
      }),
    )
  }

  const toReplica = async (docker: Docker, task: SwarmTask, deploymentId: string, listenPort: number | null): Promise<Replica> => {
    const service = await findService(docker, task.service_id)
    return describeTask(engine, agents.connect, task, { deployment_id: deploymentId, listen_port: listenPort, spec: service?.Spec ?? {} })
  }

  const findContainer = async (replicaId: string): Promise<Docker.Container | undefined> => {
    const { docker } = await requireManager(engine)
    const task = await findTask(docker, replicaId)
    if (!task || task.node_id === '' || task.container_id === '') return undefined
    return (await agents.connect(task.node_id))?.getContainer(task.container_id)
  }

  const keepOnNode = async (docker: Docker, { service_id, node_id }: SwarmTask): Promise<void> => {
    try {
      const found = await findService(docker, service_id)
      if (found?.Spec) await docker.getService(service_id).update({ ...pinToNode(found.Spec, node_id), version: found.Version?.Index })
    } catch (error) {
      engine.options.log.warn('swarm_service_not_kept_on_node', { service: service_id, error })
    }
  }

  /** Ends the task of a service on another node and waits until it reports its end, which it could not once the service is removed. */
  const stopOnOtherNode = async (docker: Docker, serviceId: string): Promise<void> => {
    const found = await findService(docker, serviceId)
    if (!found?.Spec) return
    const { TaskTemplate } = found.Spec
    await docker
      .getService(serviceId)
      .update({ ...found.Spec, version: found.Version?.Index, TaskTemplate: { ...TaskTemplate, Placement: { Constraints: ['node.id==none'] } } })
  }

  return {
    findContainer,

    async start(request) {
      request.signal.throwIfAborted()
      const { docker } = await engine.connection()
      const shared = await shareImage(request)
      agents.ensure()
      let failures = 0
      let isSpread = true
      for (;;) {
        let serviceId: string | undefined
        try {
          const task = await inTurn(request.deployment_id, async (onPlaced) => {
            serviceId = await createInNetworks(docker, request, { shared, isSpread })
            return waitUntilRunning(docker, serviceId, { request, isSpread, onPlaced })
          })
          const [replica] = await Promise.all([toReplica(docker, task, request.deployment_id, request.listen_port), keepOnNode(docker, task)])
          startMonitor(task, request, null)
          return replica
        } catch (error) {
          if (serviceId !== undefined) await removeReplicaService(serviceId)
          // No replica is placed on a lost node, or gets the same port, again.
          if (error instanceof NoRoomToSpread) isSpread = false
          else if (!(error instanceof UnsuitableNode)) throw error
          else if (error.cause && ++failures === mostPortFailures) throw error.cause
        }
      }
    },

    async list() {
      const { docker } = await engine.connection()
      const labels = filterOf({ 'homeport.role': 'replica' })
      const [services, tasks] = await Promise.all([docker.listServices({ filters: labels }), listTasks(docker, labels)])
      return services.map(({ ID, Spec }): ExistingReplica => {
        const own = tasks.filter((task) => task.service_id === ID)
        const task = own.findLast((one) => !hasEnded(one) && !isUnwanted(one)) ?? own.at(-1)
        // One without a node waits for the one that it was on.
        const running = task !== undefined && !hasEnded(task) && task.node_id !== ''
        const Labels = Spec?.Labels ?? {}
        return {
          id: ID,
          project_id: Labels['homeport.project'] ?? '',
          deployment_id: Labels['homeport.deployment'] ?? '',
          service: Labels['homeport.service'] ?? null,
          definition: Labels['homeport.definition'] ?? null,
          replica: Number(Labels['homeport.replica'] ?? 1),
          running,
          frozen: false,
          exit: running || !task ? null : readTaskExit(task),
          adoptable: true,
          last_line_at: null,
          listen_port: null,
        }
      })
    },

    async adopt(found, observer) {
      const { docker } = await engine.connection()
      const task = (await findService(docker, found.id)) && (await findTask(docker, found.id))
      if (!task) return undefined
      // A container that was paused is resumed at its next request.
      const container = await findContainer(found.id)
      if (container && (await isPaused(container))) await container.unpause().catch(() => {})
      startMonitor(task, observer, found.last_line_at)
      return toReplica(docker, task, found.deployment_id, found.listen_port)
    },

    async stop(replicaId, grace_ms) {
      // It has ended, and its service is removed as soon as the swarm accepts that.
      if (removals.isRemoving(replicaId)) return
      const { docker } = await engine.connection()
      if (!(await findService(docker, replicaId))) return
      const container = await findContainer(replicaId)
      const isStopped = container !== undefined && (await stopContainer(container, grace_ms, container.modem === docker.modem))
      if (!isStopped && monitors.has(replicaId)) await stopOnOtherNode(docker, replicaId)
      await monitors.get(replicaId)?.ended
      await removeReplicaService(replicaId)
    },

    async freeze(replicaId) {
      const container = await findContainer(replicaId)
      if (!container) throw new Error('The agent of the node of this replica does not answer, so the replica cannot be frozen.')
      // 409: the container is paused already or does not run.
      await container.pause().catch((error: unknown) => {
        if (getStatusCode(error) !== 409 && getStatusCode(error) !== 404) throw error
      })
    },

    async thaw(replicaId) {
      const { docker } = await engine.connection()
      const gone = (error?: unknown) => new StartFailure('start_failed', 'The app is no longer running.', 'Start it again.', error)
      const container = (await findService(docker, replicaId)) && (await findContainer(replicaId))
      if (!container) throw gone()
      await container.unpause().catch(async (error: unknown) => {
        const state = await container.inspect().then(
          ({ State }) => State,
          () => undefined,
        )
        if (!state?.Running || state.Paused) throw gone(error)
      })
    },

    async usage(replicaId, options) {
      const container = await findContainer(replicaId).catch(() => undefined)
      return container ? stats.read(replicaId, container, options) : null
    },

    async close() {
      poller.close()
      removals.close()
      for (const monitor of monitors.values()) monitor.close()
      monitors.clear()
    },
  }
}

/** The node of a replica was lost while it started, or its port is in use there; then the cause says so. */
class UnsuitableNode extends Error {
  constructor(cause?: StartFailure) {
    super('The replica could not start on this node.', { cause })
  }
}

/** The nodes with the fewest replicas of the app have no memory left. */
class NoRoomToSpread extends Error {}

const isPaused = (container: Docker.Container): Promise<boolean> =>
  container.inspect().then(
    ({ State }) => State.Paused,
    () => false,
  )

/** False: the agent of its node could not stop it. */
async function stopContainer(container: Docker.Container, grace_ms: number, isOnOwnNode: boolean): Promise<boolean> {
  if (await isPaused(container)) await container.unpause().catch(() => {})
  return container.stop({ t: Math.ceil(grace_ms / 1_000) }).then(
    () => true,
    (error: unknown) => {
      if (getStatusCode(error) === 304 || getStatusCode(error) === 404) return true
      if (isOnOwnNode) throw error
      return false
    },
  )
}
