import { posix } from 'node:path'
import type Docker from 'dockerode'
import type { ServerPlan } from '../contract/build-plan.ts'
import { readable, statusOf, type Engine } from './docker-engine.ts'
import { appRoot, searchPath } from './docker-steps.ts'
import type { Artifact, BuildRequest } from './runtime.ts'
import { causeOf, nearestVersion, unavailable } from './unavailable.ts'

/** The image that a version of Node runs on, fetched when it is not there. */
export async function baseImage(docker: Docker, version: string, note: (line: string) => void, signal: AbortSignal): Promise<string> {
  const wanted = version === 'auto' ? '24' : version.replace(/^v/, '')
  const image = `node:${wanted}-bookworm-slim`
  if (await imageId(docker, image)) return image
  note(`Fetching the base image ${image}.`)
  try {
    await pull(docker, image, signal)
    return image
  } catch (error) {
    signal.throwIfAborted()
    const major = `node:${wanted.split('.')[0]}-bookworm-slim`
    if (major !== image && (await imageId(docker, major))) {
      note(`${image} could not be fetched; ${major}, which is here, is used instead.`)
      return major
    }
    const here = await tagsHere(docker, 'node')
    const isOffered = causeOf(error)?.cause === 'name' && major !== image && (await isInRegistry(docker, major))
    const nearest = isOffered
      ? wanted.split('.')[0]
      : nearestVersion(
          wanted,
          here.flatMap((tag) => /^([\d.]+)-bookworm-slim$/.exec(tag)?.[1] ?? []),
        )
    throw unavailable('build_failed', {
      what: `The base image ${image} for Node ${wanted}`,
      registry: 'the Docker registry',
      error,
      remedy: nearest ? `The nearest version ${isOffered ? 'available' : 'on this machine'} is ${nearest}: set the Node version to it.` : '',
    })
  }
}

/** Tags of a repository that are on this machine. */
export async function tagsHere(docker: Docker, repository: string): Promise<string[]> {
  const images = await docker.listImages({ filters: JSON.stringify({ reference: [repository] }) })
  return images.flatMap(({ RepoTags }) =>
    (RepoTags ?? []).flatMap((name) => (name.startsWith(`${repository}:`) ? [name.slice(repository.length + 1)] : [])),
  )
}

const isInRegistry = (docker: Docker, image: string): Promise<boolean> =>
  docker
    .getImage(image)
    .distribution()
    .then(
      () => true,
      () => false,
    )

async function pull(docker: Docker, image: string, signal: AbortSignal): Promise<void> {
  const stream = readable(await docker.pull(image, { abortSignal: signal }))
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

export const imageId = (docker: Docker, name: string): Promise<string | undefined> =>
  docker
    .getImage(name)
    .inspect()
    .then(
      (found) => found.Id,
      (error: unknown) => (statusOf(error) === 404 ? undefined : Promise.reject(error)),
    )

/** Makes an image of a container; the answer is its name, or its id when it has none. */
export async function commit(container: Docker.Container, name: string | null, config: Record<string, unknown>): Promise<string> {
  const [repo, tag] = name?.split(':') ?? []
  const made: { Id: string } = await container.commit({
    _query: { container: container.id, pause: false, ...(repo ? { repo, tag } : {}) },
    _body: config,
  })
  return name ?? made.Id
}

export async function commitServer(
  engine: Engine,
  docker: Docker,
  container: Docker.Container,
  request: BuildRequest,
  plan: ServerPlan,
): Promise<Artifact> {
  const name = engine.imageName(request.project_id, request.deployment_id)
  const variables = { NODE_ENV: 'production', ...plan.variables, PATH: searchPath(plan) }
  const image = await commit(container, name, {
    Cmd: plan.start_command,
    Env: Object.entries(variables).map(([key, value]) => `${key}=${value}`),
    WorkingDir: posix.join(appRoot, plan.app_directory),
    OpenStdin: false,
    StdinOnce: false,
    AttachStdin: false,
    Labels: engine.labels('image', { project_id: request.project_id, deployment_id: request.deployment_id }),
  })
  if (request.signal.aborted) {
    await docker
      .getImage(image)
      .remove({ force: true })
      .catch(() => {})
    request.signal.throwIfAborted()
  }
  const { Size } = await docker.getImage(image).inspect()
  return { kind: 'image', image, port: null, bytes: Size }
}

/** Sets of dependencies that are kept for one project; the oldest goes. */
const keptSets = 3

export async function dropOldDependencies(engine: Engine, docker: Docker, projectId: string, current: string): Promise<void> {
  const filters = engine.ours({ 'homeport.role': 'dependencies', 'homeport.project': projectId })
  const images = (await docker.listImages({ filters: JSON.stringify(filters) })).filter((image) =>
    image.RepoTags?.some((tag) => tag.includes(':dependencies-')),
  )
  for (const image of images.toSorted((a, b) => b.Created - a.Created).slice(keptSets)) {
    // Images built from it keep its layers; only its name goes.
    for (const tag of image.RepoTags ?? [])
      if (tag !== current)
        await docker
          .getImage(tag)
          .remove()
          .catch(() => {})
  }
}
