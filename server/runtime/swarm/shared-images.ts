import type { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { systemClock } from '../../lib/clock.ts'
import { type DockerEngine, toReadable } from '../docker/engine.ts'
import { getStatusCode } from '../docker/errors.ts'
import { raceAbort } from '../race-abort.ts'
import { BuildFailure, StartFailure, type Artifact, type StartRequest } from '../runtime.ts'
import { listNodes, requireManager } from './cluster.ts'
import type { ClusterRegistry } from './cluster-registry.ts'

type ImageArtifact = Extract<Artifact, { kind: 'image' }>

/** An image that every node can have, and the credentials with which nodes pull it. */
export interface SharedImage {
  image: string
  authconfig?: Docker.AuthConfig
}

export interface SharedImages {
  /** The image of an app as every node can get it. */
  share(request: Pick<StartRequest, 'artifact' | 'signal'>): Promise<SharedImage>
  /** Puts an image into the registry, if the swarm has more than one node. */
  publish(artifact: ImageArtifact, signal: AbortSignal, note: (line: string) => void): Promise<void>
  /** Removes the names that `publish` gave to an image. Returns those with a digest that no other deployment uses. */
  discard(artifact: Artifact | null): Promise<string[]>
  /**
   * Removes from the registry what it has of prebuilt images that neither a deployment, by their ids, nor a service uses, and from this machine what came
   * from the registry and nothing uses. Returns the images that nodes should keep, as `repository@digest`.
   */
  prune(usedIds: ReadonlySet<string>): Promise<Set<string>>
}

/** An image is shared just before its service is created. */
const sharing_ms = 10 * 60_000

/** The images of apps in the registry from which the nodes pull them. A swarm of one node needs none. */
export function createSharedImages(engine: DockerEngine, registry: ClusterRegistry): SharedImages {
  const { clock = systemClock } = engine.options
  /** When images were shared, by id. */
  const sharedAt = new Map<string, number>()
  const isBeingShared = (id: string): boolean => clock.monotonic() - (sharedAt.get(id) ?? -Infinity) < sharing_ms

  const hasOtherNodes = async (): Promise<boolean> => {
    const { docker, swarm } = await requireManager(engine)
    return (await listNodes(docker, swarm)).length > 1
  }

  const findImage = async (docker: Docker, { id, image }: ImageArtifact): Promise<Docker.ImageInspectInfo | undefined> => {
    // A prebuilt image whose name was moved to a newer one still exists by its id.
    for (const name of id === undefined ? [image] : [id, image]) {
      const found = await docker
        .getImage(name)
        .inspect()
        .catch((error: unknown) => (getStatusCode(error) === 404 ? undefined : Promise.reject(error)))
      if (found) return found
    }
    return undefined
  }
  const inspectImage = async (docker: Docker, artifact: ImageArtifact): Promise<Docker.ImageInspectInfo> => {
    const found = await findImage(docker, artifact)
    if (found) return found
    throw new StartFailure('start_failed', 'The image of this version no longer exists.', 'Deploy the project again.')
  }

  /** The name of a built image in the registry says its deployment; that of a prebuilt one says which image it is. */
  const getSharedName = async (id: string, image: string): Promise<{ repository: string; tag: string }> => {
    const prefix = await registry.getPrefix()
    const [name = '', tag = ''] = image.split(':')
    if (engine.isOwnTag(image)) return { repository: `${prefix}/${name}`, tag }
    return { repository: `${prefix}/${engine.createName('images')}`, tag: id.replace('sha256:', '') }
  }

  /** Gets an image that another machine has pushed, such as that of the instance in whose place this one leads. */
  const pullShared = async (docker: Docker, { id = '', image }: ImageArtifact, signal: AbortSignal): Promise<void> => {
    if (id === '' && !engine.isOwnTag(image)) return
    const { repository, tag } = await getSharedName(id, image)
    const [repo = ''] = image.split(':')
    try {
      const authconfig = await registry.getLogin()
      const stream = toReadable(await docker.pull(`${repository}:${tag}`, { abortSignal: signal, ...(authconfig && { authconfig }) }))
      await finish(docker, stream, signal)
      if (engine.isOwnTag(image)) await docker.getImage(`${repository}:${tag}`).tag({ repo, tag })
    } catch (error) {
      signal.throwIfAborted()
      // The registry does not have it either.
      if (getStatusCode(error) === 404 || /manifest unknown|not found/i.test(String(error))) return
      throw new StartFailure(
        'start_failed',
        `The image of this version could not be pulled from the registry of the swarm, ${await registry.getHost()}.`,
        'Run homeport doctor, which checks the registry. If it was lost with its machine, deploy the project again.',
        error,
      )
    }
  }

  const findDigest = ({ RepoDigests }: Docker.ImageInspectInfo, repository: string): string | undefined =>
    RepoDigests.find((name) => name.startsWith(`${repository}@`))

  const push = async (
    docker: Docker,
    found: Docker.ImageInspectInfo,
    { repository, tag }: { repository: string; tag: string },
    signal: AbortSignal,
  ) => {
    await registry.start()
    await docker.getImage(found.Id).tag({ repo: repository, tag })
    // A push needs the header even without credentials.
    const authconfig = (await registry.getLogin()) ?? {}
    const name = `${repository}:${tag}`
    const stream = toReadable(await docker.getImage(name).push({ authconfig, abortSignal: signal }))
    await finish(docker, stream, signal).catch(async (error: unknown) => {
      signal.throwIfAborted()
      throw new BuildFailure(
        'start_failed',
        `The image could not be pushed to the registry of the swarm, ${await registry.getHost()}.`,
        'Run homeport doctor, which checks the registry, then deploy again.',
        error,
      )
    })
  }

  const ensurePushed = async (artifact: ImageArtifact, signal: AbortSignal, note: (line: string) => void): Promise<string> => {
    const { docker } = await engine.connection()
    if (!(await findImage(docker, artifact))) await pullShared(docker, artifact, signal)
    const found = await inspectImage(docker, artifact)
    sharedAt.set(found.Id, clock.monotonic())
    const name = await getSharedName(found.Id, artifact.image)
    const known = findDigest(found, name.repository)
    if (known !== undefined) return known
    note(`Pushing the image to the registry of the swarm, ${await registry.getHost()}.`)
    await registry.whilePushing(signal, () => push(docker, found, name, signal))
    const digest = findDigest(await docker.getImage(`${name.repository}:${name.tag}`).inspect(), name.repository)
    if (digest === undefined) throw new Error('The registry returned no digest.')
    return digest
  }

  return {
    async share({ artifact, signal }) {
      if (artifact.kind !== 'image') throw new StartFailure('start_failed', 'This version was built without Docker.', 'Deploy the project again.')
      const { docker } = await engine.connection()
      // By its id an image is never looked for in a registry.
      if (!(await hasOtherNodes())) return { image: (await inspectImage(docker, artifact)).Id }
      const image = await ensurePushed(artifact, signal, () => {})
      const authconfig = await registry.getLogin()
      return { image, ...(authconfig && { authconfig }) }
    },
    async publish(artifact, signal, note) {
      if (await hasOtherNodes()) await ensurePushed(artifact, signal, note)
    },
    async discard(artifact) {
      if (artifact?.kind !== 'image' || !engine.isOwnTag(artifact.image)) return []
      const removed: string[] = []
      const { docker } = await engine.connection()
      const images = await docker.listImages({ filters: JSON.stringify(engine.createOwnFilters({ 'homeport.role': 'image' })) })
      for (const { Id, RepoTags, RepoDigests } of images) {
        const name = RepoTags?.find((one) => one.endsWith(`/${artifact.image}`))
        if (name === undefined) continue
        const repository = name.slice(0, name.lastIndexOf(':') + 1)
        // An equal image of another deployment has the same digest there.
        const isShared = RepoTags?.some((one) => one !== name && one.startsWith(repository)) === true
        const digests = isShared ? [] : (RepoDigests ?? []).filter((one) => one.startsWith(`${repository.slice(0, -1)}@`))
        // First, because the names are what a repetition after a failure goes by.
        await registry.discard(digests)
        await docker
          .getImage(name)
          .remove()
          .catch(() => {})
        if (!isShared) sharedAt.delete(Id)
        removed.push(...digests)
      }
      return removed
    },
    async prune(usedIds) {
      for (const id of sharedAt.keys()) if (!isBeingShared(id)) sharedAt.delete(id)
      const { docker } = await engine.connection()
      const prefix = await registry.getPrefix()
      const repository = `${prefix}/${engine.createName('images')}`
      const services = await docker.listServices({ filters: JSON.stringify(engine.createOwnFilters()) })
      const kept = new Set(services.map(({ Spec }) => getServiceImage(Spec)))
      for (const { Id, RepoTags, RepoDigests } of await docker.listImages()) {
        const digests = (RepoDigests ?? []).filter((one) => one.startsWith(`${repository}@`) || one.startsWith(`${prefix}/${engine.createName()}/`))
        const tags = (RepoTags ?? []).filter((one) => one.startsWith(`${repository}:`))
        const isOfDeployment = RepoTags?.some((one) => engine.isOwnTag(one)) === true
        if (isOfDeployment || usedIds.has(Id) || isBeingShared(Id) || digests.some((one) => kept.has(one))) {
          for (const one of digests) kept.add(one)
          continue
        }
        await registry.discard(digests.filter((one) => one.startsWith(`${repository}@`)))
        // The swarm may have pulled an image by its digest after it was discarded, for a task in place of one that was stopped.
        for (const one of tags.length > 0 ? tags : digests)
          await docker
            .getImage(one)
            .remove()
            .catch(() => {})
      }
      return kept
    },
  }
}

const getServiceImage = (spec: Docker.ServiceSpec | undefined): string =>
  spec?.TaskTemplate && 'ContainerSpec' in spec.TaskTemplate ? (spec.TaskTemplate.ContainerSpec?.Image ?? '') : ''

/** Resolves at the end of a push or pull. */
function finish(docker: Docker, stream: Readable, signal: AbortSignal): Promise<void> {
  const finished = new Promise<void>((resolve, reject) => docker.modem.followProgress(stream, (error) => (error ? reject(error) : resolve())))
  return raceAbort(finished, signal)
}
