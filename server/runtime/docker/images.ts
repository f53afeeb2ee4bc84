import { posix } from 'node:path'
import type Docker from 'dockerode'
import type { StepLog } from '../../contract/build-log.ts'
import type { ServerPlan } from '../../contract/build-plan.ts'
import { getRegistryHost, hasMovingTag, isOfficialImage } from '../../lib/image-name.ts'
import { toReadable, type DockerEngine } from './engine.ts'
import { getStatusCode } from './errors.ts'
import { appRoot, createSearchPath } from './build-runner.ts'
import { createPullOptions } from './registry-access.ts'
import { explainRefusal } from './registry-refusal.ts'
import { BuildFailure, type Artifact, type BuildRequest, type ImageRequest } from '../runtime.ts'
import type { RegistryAccess } from '../registries.ts'
import { classifyFetchError, findNearestVersion, createUnavailableFailure } from '../unavailable-failure.ts'

/** Returns the base image for a Node version, and pulls it when it is missing. */
export async function ensureBaseImage(
  engine: DockerEngine,
  version: string,
  note: (line: string) => void,
  { registries, signal }: Pick<BuildRequest, 'registries' | 'signal'>,
): Promise<string> {
  const { docker } = await engine.connection()
  const requested = version === 'auto' ? '24' : version.replace(/^v/, '')
  const image = `node:${requested}-bookworm-slim`
  if (await findImageId(docker, image)) return image
  note(`Pulling the base image ${image}.`)
  try {
    await pullImage(engine, docker, image, registries, signal)
    return image
  } catch (error) {
    signal.throwIfAborted()
    const major = `node:${requested.split('.')[0]}-bookworm-slim`
    if (major !== image && (await findImageId(docker, major))) {
      note(`${image} could not be pulled; using ${major} from this machine instead.`)
      return major
    }
    const localTags = await listLocalTags(docker, 'node')
    const isAvailable = classifyFetchError(error)?.cause === 'name' && major !== image && (await isInRegistry(docker, major))
    const nearest = isAvailable
      ? requested.split('.')[0]
      : findNearestVersion(
          requested,
          localTags.flatMap((tag) => /^([\d.]+)-bookworm-slim$/.exec(tag)?.[1] ?? []),
        )
    const refusal = await explainPullRefusal(engine, registries, image, `The base image ${image} for Node ${requested}`, error)
    if (refusal && !nearest) throw refusal
    throw createUnavailableFailure('build_failed', {
      what: `The base image ${image} for Node ${requested}`,
      registry: 'the Docker registry',
      error,
      remedy: nearest ? `The nearest version ${isAvailable ? 'available' : 'on this machine'} is ${nearest}: set the Node version to it.` : '',
    })
  }
}

/**
 * The artifact of a prebuilt image, which is pulled if it is missing or if its tag may have moved. It keeps its name, so it is never removed with a
 * deployment.
 */
export async function useReadyImage(engine: DockerEngine, { image, registries, refreshes, signal }: ImageRequest, log: StepLog): Promise<Artifact> {
  const { docker } = await engine.connection()
  const present = await findImage(docker, image)
  const mayBeUsed = present !== undefined && (await isOpenTo(engine, docker, registries, image))
  // An image without a digest was built here. A pull could replace it with another person's image.
  const isFromRegistry = (present?.RepoDigests ?? []).length > 0
  const isRefreshed = isFromRegistry && !image.includes('@') && (refreshes === 'all' || (refreshes === 'moving_tags' && hasMovingTag(image)))
  if (!mayBeUsed || isRefreshed) {
    log.note(present === undefined ? `Pulling ${image}.` : `Checking ${image} for a newer version.`)
    await pullImage(engine, docker, image, registries, signal).catch(async (error: unknown) => {
      signal.throwIfAborted()
      const failure = await explainPullFailure(engine, registries, image, error)
      if (!mayBeUsed) throw failure
      log.note(`${failure.message} The version on this machine is used.`)
    })
  }
  const { Id, Size } = await docker.getImage(image).inspect()
  return { kind: 'image', image, id: Id, port: null, bytes: Size }
}

/**
 * Whether a project may use an image on this machine. The user of this machine may. Another project may have pulled it with credentials that
 * this project does not have, so its registry is queried, unless it is an official image.
 */
export async function isOpenTo(engine: DockerEngine, docker: Docker, access: RegistryAccess, image: string): Promise<boolean> {
  if (access.uses_docker_login || isOfficialImage(image)) return true
  const { options } = await createPullOptions(engine, access, image)
  return isInRegistry(docker, image, options)
}

/** Why the registry of an image refused it; undefined for another problem. */
export async function explainPullRefusal(
  engine: DockerEngine,
  access: RegistryAccess,
  image: string,
  subject: string,
  error: unknown,
): Promise<BuildFailure | undefined> {
  const { login } = await createPullOptions(engine, access, image)
  return explainRefusal(subject, getRegistryHost(image), login, error)
}

async function explainPullFailure(engine: DockerEngine, access: RegistryAccess, image: string, error: unknown): Promise<BuildFailure> {
  const { docker } = await engine.connection()
  const refusal = await explainPullRefusal(engine, access, image, `The image ${image}`, error)
  const repository = image.replace(/(?::[\w.-]+|@[\w:]+)$/, '')
  const nearest = findNearestVersion(image.slice(repository.length + 1), await listLocalTags(docker, repository))
  const remedy = nearest ? `This machine has ${repository}:${nearest}.` : ''
  return refusal
    ? new BuildFailure(refusal.code, refusal.message, `${refusal.hint} ${remedy}`.trim(), error)
    : createUnavailableFailure('build_failed', { what: `The image ${image}`, registry: 'the registry', error, remedy })
}

/** Tags of a repository on this machine. */
export async function listLocalTags(docker: Docker, repository: string): Promise<string[]> {
  const images = await docker.listImages({ filters: JSON.stringify({ reference: [repository] }) })
  return images.flatMap(({ RepoTags }) =>
    (RepoTags ?? []).flatMap((name) => (name.startsWith(`${repository}:`) ? [name.slice(repository.length + 1)] : [])),
  )
}

const isInRegistry = (docker: Docker, image: string, options: Docker.ImageDistributionOptions = {}): Promise<boolean> =>
  docker
    .getImage(image)
    .distribution(options)
    .then(
      () => true,
      () => false,
    )

/** The credentials are in a header, never in the URL of the request. */
async function pullImage(engine: DockerEngine, docker: Docker, image: string, access: RegistryAccess, signal: AbortSignal): Promise<void> {
  const { options } = await createPullOptions(engine, access, image)
  const stream = toReadable(await docker.pull(image, { abortSignal: signal, ...options }))
  await new Promise<void>((resolve, reject) => {
    const abort = () => void stream.destroy()
    signal.addEventListener('abort', abort, { once: true })
    docker.modem.followProgress(stream, (error) => {
      signal.removeEventListener('abort', abort)
      if (error) reject(error)
      else resolve()
    })
  })
}

const findImage = (docker: Docker, name: string): Promise<Docker.ImageInspectInfo | undefined> =>
  docker
    .getImage(name)
    .inspect()
    .catch((error: unknown) => (getStatusCode(error) === 404 ? undefined : Promise.reject(error)))

export const findImageId = async (docker: Docker, name: string): Promise<string | undefined> => (await findImage(docker, name))?.Id

/** Commits a container as an image; returns its name, or its id when it has no name. */
export async function commitContainer(container: Docker.Container, name: string | null, config: Record<string, unknown>): Promise<string> {
  const [repo, tag] = name?.split(':') ?? []
  const committed: { Id: string } = await container.commit({
    _query: { container: container.id, pause: false, ...(repo ? { repo, tag } : {}) },
    _body: config,
  })
  return name ?? committed.Id
}

export async function commitServerImage(
  engine: DockerEngine,
  docker: Docker,
  container: Docker.Container,
  request: BuildRequest,
  plan: ServerPlan,
): Promise<Artifact> {
  const name = engine.getImageName(request.project_id, request.deployment_id, request.service)
  const earlier = await findImageId(docker, name)
  const variables = { NODE_ENV: 'production', ...plan.variables, PATH: createSearchPath(plan) }
  const image = await commitContainer(container, name, {
    Cmd: plan.start_command,
    Env: Object.entries(variables).map(([key, value]) => `${key}=${value}`),
    WorkingDir: posix.join(appRoot, plan.app_directory),
    OpenStdin: false,
    StdinOnce: false,
    AttachStdin: false,
    Labels: engine.createLabels('image', { project_id: request.project_id, deployment_id: '' }),
  })
  if (request.signal.aborted) {
    await docker
      .getImage(image)
      .remove({ force: true })
      .catch(() => {})
    request.signal.throwIfAborted()
  }
  await removeReplacedImage(docker, earlier, name)
  const { Size } = await docker.getImage(image).inspect()
  return { kind: 'image', image, port: null, bytes: Size }
}

/** Removes the image of an earlier attempt of the same deployment, which has lost its name to this one. */
export async function removeReplacedImage(docker: Docker, id: string | undefined, name: string): Promise<void> {
  if (id === undefined || (await findImageId(docker, name)) === id) return
  await docker
    .getImage(id)
    .remove()
    .catch(() => {})
}

/** Sets of dependencies to keep per project; the oldest is removed. */
const maxDependencyImages = 3

export async function removeOldDependencyImages(engine: DockerEngine, docker: Docker, projectId: string, current: string): Promise<void> {
  const filters = engine.createOwnFilters({ 'homeport.role': 'dependencies', 'homeport.project': projectId })
  const images = (await docker.listImages({ filters: JSON.stringify(filters) })).filter((image) =>
    image.RepoTags?.some((tag) => tag.includes(':dependencies-')),
  )
  for (const image of images.toSorted((a, b) => b.Created - a.Created).slice(maxDependencyImages)) {
    // Removing the name keeps the layers that other images use.
    for (const tag of image.RepoTags ?? [])
      if (tag !== current)
        await docker
          .getImage(tag)
          .remove()
          .catch(() => {})
  }
}
