import type Docker from 'dockerode'
import type { StepLog } from '../../contract/build-log.ts'
import { createDockerEngine, type DockerEngine } from './engine.ts'
import { getStatusCode } from './errors.ts'
import { createCacheGenerations } from './cache-generation.ts'
import { buildDockerfile } from './dockerfile-build.ts'
import { useReadyImage } from './images.ts'
import { readEngineMemory } from './engine-memory.ts'
import { createDockerReplicas } from './replicas.ts'
import { openNodeBuild } from './node-build.ts'
import { removeReplica } from './service-container.ts'
import { translateFailures } from './translate-failures.ts'
import { listDockerVolumeFolder, readDockerVolumeFile } from './volume-files.ts'
import { runInContainer } from './replica-command.ts'
import { exportWrittenContainerFiles, listWrittenContainerFiles } from './written-files.ts'
import { copyDockerVolume } from './volume-copy.ts'
import { exportDockerVolume, importDockerVolume, listDockerVolumes, removeDockerVolume } from './volumes.ts'
import { getUntrustedOwner, removeBundles } from '../files.ts'
import { BuildFailure, type Runtime, type RuntimeOptions } from '../runtime.ts'

/** Builds and runs apps in containers of a Docker engine (or a compatible one). Only touches resources with this instance's labels. */
export function createDockerRuntime(options: RuntimeOptions, engine: DockerEngine = createDockerEngine(options)): Runtime {
  const replicas = createDockerReplicas(engine)
  const generations = createCacheGenerations(options.data_dir)
  const withPlainFailures = translateFailures(engine)

  /** An image in use by a container of this instance is removed later; an image in use by another container is released. */
  const ignoreUnlessOwn = async (error: unknown, docker: Docker, image: string): Promise<void> => {
    ignoreMissingOrInUse(error)
    const users = getStatusCode(error) === 409 ? await docker.listContainers({ filters: JSON.stringify({ ancestor: [image] }) }) : []
    if (users.some((one) => engine.isOwnContainer(one.Labels))) throw error
  }

  const removeProjectCaches = async (projectId: string): Promise<void> => {
    await engine.waitForBackground()
    for (const owner of [projectId, getUntrustedOwner(projectId)]) await generations.remove(owner)
    const { docker } = await engine.connection()
    const filters = JSON.stringify(engine.createOwnFilters({ 'homeport.project': projectId, 'homeport.role': 'cache' }))
    const images = await docker.listImages({
      filters: JSON.stringify(engine.createOwnFilters({ 'homeport.project': projectId, 'homeport.role': 'dependencies' })),
    })
    for (const image of images)
      for (const tag of image.RepoTags ?? [])
        await docker
          .getImage(tag)
          .remove()
          .catch(() => {})
    const { Volumes } = await docker.listVolumes({ filters })
    for (const volume of Volumes ?? []) await docker.getVolume(volume.Name).remove().catch(ignoreMissingOrInUse)
  }

  return {
    name: 'docker',

    async probe() {
      try {
        const { version, address, docker } = await engine.connection()
        await docker.ping()
        return { available: true, version, reason: `Docker ${version} is running at ${address}.` }
      } catch (error) {
        engine.forgetConnection()
        const reason = error instanceof BuildFailure ? `${error.message} ${error.hint}` : 'Docker stopped responding.'
        return { available: false, version: null, reason }
      }
    },

    openBuild(request) {
      const plan = request.plan.work
      if (plan.kind === 'toolchain') throw new Error('A plan for Docker uses no toolchains of the machine.')
      const build =
        plan.kind === 'dockerfile'
          ? { install: async () => {}, build: (log: StepLog) => buildDockerfile(engine, generations, request, plan, log), close: async () => {} }
          : openNodeBuild(engine, request, plan)
      return {
        install: (log) => withPlainFailures(request.signal, () => build.install(log)),
        build: (log) => withPlainFailures(request.signal, () => build.build(log)),
        close: build.close,
      }
    },

    useImage: (request, log) => withPlainFailures(request.signal, () => useReadyImage(engine, request, log)),

    start: (request) => withPlainFailures(request.signal, () => replicas.start(request)),

    startAttached: (request) => withPlainFailures(request.signal, () => replicas.startAttached(request)),

    list: () => replicas.list(),
    adopt: (found, observer) => replicas.adopt(found, observer),
    stop: (replicaId, grace_ms) => replicas.stop(replicaId, grace_ms),
    freeze: (replicaId) => replicas.freeze(replicaId),
    thaw: (replicaId) => replicas.thaw(replicaId),
    usage: replicas.usage,
    readAvailableMemory: () => readEngineMemory(engine),

    async *runInReplica(replicaId, command, input, signal) {
      const { docker } = await engine.connection()
      yield* runInContainer(docker.getContainer(replicaId), command, input, signal)
    },

    listVolumes: (prefix) => listDockerVolumes(engine, prefix),
    exportVolume: (id) => exportDockerVolume(engine, id),
    importVolume: (id, projectId, archive) => importDockerVolume(engine, id, projectId, archive),
    copyVolume: (from, to, projectId, signal) => copyDockerVolume(engine, from, to, projectId, signal),
    // Docker's volumes are not on this machine if Docker runs in a virtual machine.
    cloneVolume: async () => undefined,
    restoreClone: async () => false,
    listVolumeFolder: (id, path) => listDockerVolumeFolder(engine, id, path),
    readVolumeFile: (id, path) => readDockerVolumeFile(engine, id, path),
    removeVolume: (id) => removeDockerVolume(engine, id),
    async listWrittenFiles({ replica_id }) {
      if (replica_id === null) return undefined
      const { docker } = await engine.connection()
      return listWrittenContainerFiles(docker.getContainer(replica_id))
    },
    async exportWrittenFiles({ replica_id }, path, isFile) {
      if (replica_id === null) return undefined
      const { docker } = await engine.connection()
      return exportWrittenContainerFiles(docker.getContainer(replica_id), path, isFile)
    },

    async removeVolumes(prefix) {
      const { docker } = await engine.connection()
      const filters = JSON.stringify(engine.createOwnFilters({ 'homeport.role': 'volume' }))
      const { Volumes } = await docker.listVolumes({ filters })
      for (const { Name, Labels } of Volumes ?? [])
        if (Labels['homeport.volume']?.startsWith(prefix)) await docker.getVolume(Name).remove().catch(ignoreMissing)
    },

    removeProjectCaches,

    async clearBuildCache(projectId) {
      await removeProjectCaches(projectId)
      await generations.renew(projectId)
    },

    async discard(deploymentId, artifact) {
      await removeBundles(options.data_dir, deploymentId, artifact)
      await engine.waitForBackground()
      if (artifact?.kind === 'static' && artifact.directory.startsWith(options.data_dir)) return
      const { docker } = await engine.connection()
      const filters = JSON.stringify(engine.createOwnFilters({ 'homeport.deployment': deploymentId }))
      for (const container of await docker.listContainers({ all: true, filters }))
        if (engine.isOwnContainer(container.Labels)) await removeReplica(engine, docker, docker.getContainer(container.Id))
      const own = await docker.listImages({ filters: JSON.stringify(engine.createOwnFilters()) })
      const images = own.flatMap((image) => engine.getOwnImageNames(image)).filter((name) => engine.isImageOf(name, deploymentId))
      // The image of a rollback has the tag of the deployment that built it.
      if (artifact?.kind === 'image' && engine.isOwnTag(artifact.image)) images.push(artifact.image)
      for (const name of images)
        await docker
          .getImage(name)
          .remove({ force: true })
          .catch((error: unknown) => ignoreUnlessOwn(error, docker, name))
    },

    async close() {
      await engine.waitForBackground()
      await replicas.close()
    },
  }
}

function ignoreMissing(error: unknown): void {
  if (getStatusCode(error) !== 404) throw error
}

/** 404: already removed. 409: another image depends on it and removes it later. */
function ignoreMissingOrInUse(error: unknown): void {
  const status = getStatusCode(error)
  if (status !== 404 && status !== 409) throw error
}
