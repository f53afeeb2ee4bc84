import type Docker from 'dockerode'
import { createEngine, type Engine, isConnectionError, removeContainer, statusOf } from './docker-engine.ts'
import { buildDockerfile } from './docker-file-build.ts'
import { createInstances } from './docker-instances.ts'
import { buildNode } from './docker-node.ts'
import { dropBundles } from './files.ts'
import { BuildFailure, type Runtime, type RuntimeOptions } from './runtime.ts'

/** Builds and runs apps in containers of a Docker engine (or one that speaks its API). Touches only what bears our label. */
export function createDockerRuntime(options: RuntimeOptions, engine: Engine = createEngine(options)): Runtime {
  const instances = createInstances(engine)

  /** Says in plain words that the engine is full, or went away; and looks for it anew the next time. */
  const explain = (error: unknown): unknown => {
    if (!(error instanceof BuildFailure) && /no space left on device/i.test(String(error))) return engineFull(error)
    if (!isConnectionError(error)) return error
    engine.lost()
    return new BuildFailure('runtime_unavailable', 'The Docker engine stopped answering.', 'Start Docker again, then deploy again.', error)
  }

  /** An image that a container of ours still runs goes later; one that somebody else's runs is let go of. */
  const unlessOurs = async (error: unknown, docker: Docker, image: string): Promise<void> => {
    ignoreMissing(error)
    const users = statusOf(error) === 409 ? await docker.listContainers({ filters: JSON.stringify({ ancestor: [image] }) }) : []
    if (users.some((one) => engine.isOurContainer(one.Labels))) throw error
  }

  return {
    name: 'docker',
    isolates: true,

    async probe() {
      try {
        const { version, address, docker } = await engine.connection()
        await docker.ping()
        return { available: true, version, reason: `Docker ${version} answers at ${address}.` }
      } catch (error) {
        engine.lost()
        const reason = error instanceof BuildFailure ? `${error.message} ${error.hint}` : 'The Docker engine stopped answering.'
        return { available: false, version: null, reason }
      }
    },

    async build(request) {
      request.signal.throwIfAborted()
      try {
        const plan = request.plan.work
        return plan.kind === 'dockerfile' ? await buildDockerfile(engine, request, plan) : await buildNode(engine, request, plan)
      } catch (error) {
        request.signal.throwIfAborted()
        throw explain(error)
      }
    },

    async start(request) {
      try {
        return await instances.start(request)
      } catch (error) {
        request.signal.throwIfAborted()
        throw explain(error)
      }
    },

    list: () => instances.list(),
    adopt: (found, observer) => instances.adopt(found, observer),
    stop: (instanceId, grace_ms) => instances.stop(instanceId, grace_ms),
    freeze: (instanceId) => instances.freeze(instanceId),
    thaw: (instanceId) => instances.thaw(instanceId),
    usage: (instanceId) => instances.usage(instanceId),

    async forget(projectId) {
      await engine.settled()
      const { docker } = await engine.connection()
      const filters = JSON.stringify(engine.ours({ 'homeport.project': projectId }))
      const images = await docker.listImages({
        filters: JSON.stringify(engine.ours({ 'homeport.project': projectId, 'homeport.role': 'dependencies' })),
      })
      for (const image of images)
        for (const tag of image.RepoTags ?? [])
          await docker
            .getImage(tag)
            .remove()
            .catch(() => {})
      const { Volumes } = await docker.listVolumes({ filters })
      for (const volume of Volumes ?? []) await docker.getVolume(volume.Name).remove().catch(ignoreMissing)
    },

    async discard(deploymentId, artifact) {
      await dropBundles(options.data_dir, deploymentId, artifact)
      await engine.settled()
      if (artifact?.kind === 'static' && artifact.directory.startsWith(options.data_dir)) return
      const { docker } = await engine.connection()
      const filters = JSON.stringify(engine.ours({ 'homeport.deployment': deploymentId }))
      for (const container of await docker.listContainers({ all: true, filters }))
        if (engine.isOurContainer(container.Labels)) await removeContainer(docker.getContainer(container.Id))
      // An attempt that begins again takes the name from what the one before left.
      const found = (await docker.listImages({ filters })).filter((image) => artifact === null || !engine.mayBeBuiltFrom(image))
      const images = found.flatMap((image) => engine.ourNames(image))
      // That of a roll-back bears the name of the deployment that built it.
      if (artifact?.kind === 'image' && engine.isOurName(artifact.image)) images.push(artifact.image)
      for (const name of images)
        await docker
          .getImage(name)
          .remove({ force: true })
          .catch((error: unknown) => unlessOurs(error, docker, name))
    },

    async close() {
      await engine.settled()
      await instances.close()
    },
  }
}

const engineFull = (cause: unknown): BuildFailure =>
  new BuildFailure(
    'storage_full',
    'The Docker engine has no space left.',
    'Free some space (homeport disk clean, docker system df shows the rest) and deploy again.',
    cause,
  )

/** 404: gone already. 409: something else still stands on it, and takes it along later. */
function ignoreMissing(error: unknown): void {
  const status = statusOf(error)
  if (status !== 404 && status !== 409) throw error
}
