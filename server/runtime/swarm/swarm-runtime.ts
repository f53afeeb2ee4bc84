import type { Artifact, ImageRequest, Runtime, RuntimeOptions, StartRequest } from '../runtime.ts'
import { BuildFailure, ReplicaCommandError } from '../runtime.ts'
import { systemClock } from '../../lib/clock.ts'
import { createDockerRuntime } from '../docker/docker-runtime.ts'
import { createDockerEngine, type DockerEngine } from '../docker/engine.ts'
import { runInContainer } from '../docker/replica-command.ts'
import { exportWrittenContainerFiles, listWrittenContainerFiles } from '../docker/written-files.ts'
import { translateFailures } from '../docker/translate-failures.ts'
import { createExternalRegistry } from './cluster-registry.ts'
import { createManagedRegistry } from './managed-registry.ts'
import { createClusterEngine, isWithoutLeader, listNodes, requireManager } from './cluster.ts'
import { createIdentityReader } from './cluster-identity.ts'
import { createNodeAgents } from './node-agents.ts'
import { createNodeProbes } from './node-probes.ts'
import { createSwarmEdges } from './swarm-edges.ts'
import { createServiceReplicas, isServiceId } from './service-replicas.ts'
import { createSwarmNodes } from './nodes.ts'
import { checkSwarm } from './swarm-checks.ts'
import { createSharedImages } from './shared-images.ts'
import { sumAvailableMemory } from './service-spec.ts'
import { listTasks } from './tasks.ts'

/**
 * Runs apps as services of the swarm that the engine manages. Builds, volumes, one-off commands and services with volumes stay on the engine of this node:
 * they are those of the docker runtime, in the networks of the swarm.
 */
export function createSwarmRuntime(options: RuntimeOptions, engine: DockerEngine = createDockerEngine(options)): Runtime {
  const cluster = createClusterEngine(engine)
  const local = createDockerRuntime(options, cluster)
  const prefix = options.docker?.registry
  const readIdentity = createIdentityReader(options.docker?.cluster_secrets, options.clock ?? systemClock)
  const registry = prefix === undefined ? createManagedRegistry(engine, readIdentity) : createExternalRegistry(cluster, prefix)
  const images = createSharedImages(cluster, registry)
  const agents = createNodeAgents(cluster, { registry, images, readIdentity })
  const probes = createNodeProbes(cluster)
  const services = createServiceReplicas(cluster, images, { agents, probes })

  const withPlainFailures = translateFailures(engine, (error) =>
    isWithoutLeader(error)
      ? new BuildFailure(
          'runtime_unavailable',
          'The swarm has no quorum: most of its managers do not answer.',
          'Start the managers, then deploy again.',
          error,
        )
      : undefined,
  )

  /** Copies an image to the registry of the swarm while its deployment has a log. */
  const publish = async <T extends Artifact>(artifact: T, request: { signal: AbortSignal }, note: (line: string) => void): Promise<T> => {
    if (artifact.kind === 'image') await images.publish(artifact, request.signal, note)
    agents.ensure()
    return artifact
  }

  const usesService = ({ service }: StartRequest): boolean => (service?.volumes ?? []).length === 0

  return {
    ...local,
    name: 'swarm',
    nodes: createSwarmNodes(engine, { registry, edges: createSwarmEdges(cluster, { images, readIdentity }), probes, withPlainFailures }),

    async probe() {
      let is_member = true
      try {
        is_member = (await engine.connection()).isInSwarm
        const { docker, swarm, version, address } = await requireManager(engine)
        await docker.ping()
        const nodes = await listNodes(docker, swarm)
        const plural = nodes.length === 1 ? '1 node' : `${nodes.length} nodes`
        const reason = `Docker ${version} at ${address} manages a swarm of ${plural}.`
        return { available: true, version, reason, nodes: nodes.length, is_member }
      } catch (error) {
        const unavailable = { available: false, version: null, is_member }
        if (isWithoutLeader(error)) return { ...unavailable, reason: 'The swarm has no quorum: most of its managers do not answer.' }
        if (!(error instanceof BuildFailure)) engine.forgetConnection()
        return { ...unavailable, reason: error instanceof BuildFailure ? `${error.message} ${error.hint}` : 'Docker stopped responding.' }
      }
    },

    check: () => checkSwarm(engine, registry, agents),

    openBuild(request) {
      const build = local.openBuild(request)
      return {
        ...build,
        build: async (log) => withPlainFailures(request.signal, async () => publish(await build.build(log), request, log.note)),
      }
    },

    useImage: (request: ImageRequest, log) =>
      withPlainFailures(request.signal, async () => publish(await local.useImage(request, log), request, log.note)),

    start: (request) => (usesService(request) ? withPlainFailures(request.signal, () => services.start(request)) : local.start(request)),

    async list() {
      return [...(await services.list()), ...(await local.list())]
    },
    adopt: (found, observer) => (isServiceId(found.id) ? services : local).adopt(found, observer),
    stop: (replicaId, grace_ms) => (isServiceId(replicaId) ? services : local).stop(replicaId, grace_ms),
    freeze: (replicaId) => (isServiceId(replicaId) ? services : local).freeze(replicaId),
    thaw: (replicaId) => (isServiceId(replicaId) ? services : local).thaw(replicaId),
    usage: (replicaId, more) => (isServiceId(replicaId) ? services : local).usage(replicaId, more),

    async readAvailableMemory() {
      const { docker, swarm } = await requireManager(engine)
      const nodes = await listNodes(docker, swarm)
      return nodes.length > 1 ? sumAvailableMemory(nodes, await listTasks(docker, {})) : local.readAvailableMemory()
    },

    async *runInReplica(replicaId, command, input, signal) {
      if (!isServiceId(replicaId)) return yield* local.runInReplica(replicaId, command, input, signal)
      const container = await services.findContainer(replicaId)
      if (!container) throw new ReplicaCommandError(null, 'The agent of the node of the replica does not answer, so no command can be run there.')
      yield* runInContainer(container, command, input, signal)
    },

    async listWrittenFiles(owner) {
      if (owner.replica_id === null || !isServiceId(owner.replica_id)) return local.listWrittenFiles(owner)
      const container = await services.findContainer(owner.replica_id)
      return container && listWrittenContainerFiles(container)
    },
    async exportWrittenFiles(owner, path, isFile) {
      if (owner.replica_id === null || !isServiceId(owner.replica_id)) return local.exportWrittenFiles(owner, path, isFile)
      const container = await services.findContainer(owner.replica_id)
      return container && exportWrittenContainerFiles(container, path, isFile)
    },

    async discard(deploymentId, artifact) {
      const own = (await services.list()).filter(({ deployment_id }) => deployment_id === deploymentId)
      for (const { id } of own) await services.stop(id, 0)
      const removed = await images.discard(artifact)
      await agents.removeImages(removed)
      await local.discard(deploymentId, artifact)
    },

    async pruneImages(usedIds) {
      const { docker, swarm } = await requireManager(engine)
      if ((await listNodes(docker, swarm)).length > 1) await agents.pruneImages(await images.prune(usedIds))
    },

    async close() {
      await services.close()
      await local.close()
    },
  }
}
