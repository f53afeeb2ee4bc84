import type Docker from 'dockerode'
import type { Clock } from '../../lib/clock.ts'
import type { DockerEngine } from './engine.ts'
import { type EngineDiskTotals, measureEngineDisk } from './engine-disk.ts'
import { getStatusCode } from './errors.ts'
import { createLayerReader, type ImageLayer } from './image-layers.ts'

/** Resources in use; all other resources of this instance in Docker may be removed. Requested again right before a removal. */
export interface DockerResourcesInUse {
  projects: ReadonlySet<string>
  /** Projects with a running build. */
  busy: ReadonlySet<string>
  /** Deployments that are being built. */
  open: ReadonlySet<string>
  /** Deployments that are live or asleep. */
  serving: ReadonlySet<string>
  images: ReadonlySet<string>
}

export type DockerDiskKind = 'images' | 'build_cache' | 'volumes' | 'app_volumes' | 'databases' | 'other'
export type DockerCleanKind = Exclude<DockerDiskKind, 'app_volumes' | 'databases'>

export interface DockerDiskUse {
  kind: DockerDiskKind
  bytes: number
  count: number
  reclaimable_bytes: number | null
}

/** The resources of this instance in Docker, found only by labels; resources that others derived from them are not touched. */
export interface DockerDisk {
  /** `shared_build_cache_bytes`: BuildKit's cache for all users of this engine. Throws when Docker is not available. */
  measure(inUse: DockerResourcesInUse): Promise<{ kinds: DockerDiskUse[]; shared_build_cache_bytes: number }>
  /** Removes unused resources of one kind and returns what was removed. */
  clean(kind: DockerCleanKind, inUse: () => Promise<DockerResourcesInUse>): Promise<{ bytes: number; count: number }>
}

interface OwnImage {
  id: string
  /** The names to remove; empty when others have tagged the image, because it is theirs then. */
  names: string[]
  kind: 'images' | 'build_cache'
  layers: ImageLayer[]
  isRemovable: (inUse: DockerResourcesInUse) => boolean
}

interface OwnResource {
  kind: 'volumes' | 'app_volumes' | 'databases' | 'other'
  bytes: number
  isRemovable: (inUse: DockerResourcesInUse) => boolean
  remove: () => Promise<unknown>
}

/** Resources newer than this may belong to a deployment without a row yet. */
const minimumAge_ms = 10 * 60_000

export function createDockerDisk(engine: DockerEngine, clock: Pick<Clock, 'now'>): DockerDisk {
  const readLayers = createLayerReader()
  const filters = () => JSON.stringify(engine.createOwnFilters())

  /** Images of this instance, with the layers that no other image uses. */
  const listOwnImages = async (docker: Docker): Promise<OwnImage[]> => {
    const all = await docker.listImages()
    const isOwn = (image: Docker.ImageInfo) =>
      image.Labels?.['homeport.instance'] === engine.options.instance_id &&
      engine.getOwnImageNames(image).length > 0 &&
      !engine.isPossiblyDerived(image)
    const foreign = new Set<string>()
    for (const image of all) if (!isOwn(image)) for (const { id } of await readLayers(docker, image.Id)) foreign.add(id)
    const found: OwnImage[] = []
    for (const image of all) {
      if (!isOwn(image)) continue
      const labels = image.Labels ?? {}
      const names = engine.getOwnImageNames(image)
      const is_shared = (image.RepoTags ?? []).some((tag) => tag !== '<none>:<none>' && !engine.isOwnTag(tag))
      found.push({
        id: image.Id,
        names,
        kind: labels['homeport.role'] === 'image' ? 'images' : 'build_cache',
        layers: is_shared ? [] : (await readLayers(docker, image.Id)).filter(({ id }) => !foreign.has(id)),
        isRemovable: createRemovableCheck(labels, names),
      })
    }
    return found
  }

  /** A build is needed while a row refers to it; a set of dependencies while its project has a running build. */
  const createRemovableCheck =
    (labels: Record<string, string>, names: string[]) =>
    (inUse: DockerResourcesInUse): boolean => {
      if (labels['homeport.role'] !== 'image') return !inUse.busy.has(labels['homeport.project'] ?? '')
      return !names.some((name) => inUse.images.has(name) || [...inUse.open].some((id) => engine.isImageOf(name, id)))
    }

  /** Containers, networks and volumes of this instance. */
  const listOwnResources = async (docker: Docker, totals: EngineDiskTotals | undefined): Promise<OwnResource[]> => {
    const containers = (await docker.listContainers({ all: true, size: true, filters: filters() })).filter((one) => engine.isOwnContainer(one.Labels))
    const networks = await docker.listNetworks({ filters: filters() })
    const { Volumes } = await docker.listVolumes({ filters: filters() })
    const sizes = new Map(totals?.Volumes?.map((one) => [one.Name, one.UsageData?.Size ?? 0]))
    return [
      ...containers.map((one): OwnResource => {
        const deployment = one.Labels['homeport.deployment'] ?? ''
        return {
          kind: 'other',
          bytes: getContainerSize(one),
          isRemovable: (inUse) => !inUse.open.has(deployment) && !inUse.serving.has(deployment) && clock.now() - one.Created * 1000 > minimumAge_ms,
          remove: () => docker.getContainer(one.Id).remove({ force: true, v: true }),
        }
      }),
      // Networks shared by all apps have no project. Docker refuses to remove a network in use.
      ...networks
        .filter((one) => one.Labels?.['homeport.project'] !== undefined)
        .map((one): OwnResource => {
          const project = one.Labels?.['homeport.project'] ?? ''
          return { kind: 'other', bytes: 0, isRemovable: (inUse) => !inUse.projects.has(project), remove: () => docker.getNetwork(one.Id).remove() }
        }),
      ...(Volumes ?? []).map((one): OwnResource => {
        const role = one.Labels['homeport.role']
        const project = one.Labels['homeport.project'] ?? ''
        return {
          kind: role === 'database' ? 'databases' : role === 'volume' ? 'app_volumes' : 'volumes',
          bytes: Math.max(0, sizes.get(one.Name) ?? 0),
          isRemovable: (inUse) => role === 'cache' && !inUse.busy.has(project),
          remove: () => docker.getVolume(one.Name).remove(),
        }
      }),
    ]
  }

  const cleanImages = async (docker: Docker, kind: 'images' | 'build_cache', inUse: () => Promise<DockerResourcesInUse>) => {
    const before = await listOwnImages(docker)
    let count = 0
    for (const image of before) {
      if (image.kind !== kind || !image.isRemovable(await inUse())) continue
      // Without force, so that Docker refuses to remove resources in use.
      const removals = await Promise.all(
        image.names.map((name) =>
          docker
            .getImage(name)
            .remove()
            .then(() => true, ignoreMissingOrInUse),
        ),
      )
      if (removals.every(Boolean)) count++
    }
    const remainingIds = new Set((await listOwnImages(docker)).flatMap(({ layers }) => layers.map(({ id }) => id)))
    return { bytes: sum(distinct(before.flatMap(({ layers }) => layers)).filter(({ id }) => !remainingIds.has(id))), count }
  }

  return {
    async measure(inUse) {
      const { docker } = await engine.connection()
      const ownImages = await listOwnImages(docker)
      const totals = await measureEngineDisk(docker)
      const ownResources = await listOwnResources(docker, totals)
      const buildLayers = distinct(ownImages.filter(({ kind }) => kind === 'images').flatMap(({ layers }) => layers))
      const buildLayerIds = new Set(buildLayers.map(({ id }) => id))
      const cacheLayers = distinct(ownImages.filter(({ kind }) => kind === 'build_cache').flatMap(({ layers }) => layers)).filter(
        ({ id }) => !buildLayerIds.has(id),
      )
      /** Layers used only by removable images. */
      const sumReclaimable = (kind: OwnImage['kind'], layers: ImageLayer[]) => {
        const neededIds = new Set(
          ownImages.filter((one) => one.kind !== kind || !one.isRemovable(inUse)).flatMap((one) => one.layers.map(({ id }) => id)),
        )
        return sum(layers.filter(({ id }) => !neededIds.has(id)))
      }
      const countOf = (kind: OwnImage['kind']) => ownImages.filter((one) => one.kind === kind).length
      const kinds: DockerDiskUse[] = [
        { kind: 'images', bytes: sum(buildLayers), count: countOf('images'), reclaimable_bytes: sumReclaimable('images', buildLayers) },
        {
          kind: 'build_cache',
          bytes: sum(cacheLayers),
          count: countOf('build_cache'),
          reclaimable_bytes: sumReclaimable('build_cache', cacheLayers),
        },
      ]
      for (const kind of ['volumes', 'app_volumes', 'databases', 'other'] as const) {
        const resources = ownResources.filter((one) => one.kind === kind)
        const reclaimable = sum(resources.filter((one) => one.isRemovable(inUse)))
        kinds.push({ kind, bytes: sum(resources), count: resources.length, reclaimable_bytes: kind === 'other' || totals ? reclaimable : null })
      }
      return { kinds, shared_build_cache_bytes: totals?.BuilderSize ?? 0 }
    },

    async clean(kind, inUse) {
      const { docker } = await engine.connection()
      if (kind === 'images' || kind === 'build_cache') return cleanImages(docker, kind, inUse)
      let [bytes, count] = [0, 0]
      for (const resource of await listOwnResources(docker, await measureEngineDisk(docker))) {
        if (resource.kind !== kind || !resource.isRemovable(await inUse())) continue
        if (!(await resource.remove().then(() => true, ignoreMissingOrInUse))) continue
        bytes += resource.bytes
        count++
      }
      return { bytes, count }
    },
  }
}

const sum = (resources: readonly { bytes: number }[]): number => resources.reduce((total, { bytes }) => total + bytes, 0)
const distinct = (layers: ImageLayer[]): ImageLayer[] => [...new Map(layers.map((layer) => [layer.id, layer])).values()]
const getContainerSize = (container: object): number => ('SizeRw' in container && typeof container.SizeRw === 'number' ? container.SizeRw : 0)

/** 404: already removed. 409 and 403: in use. */
function ignoreMissingOrInUse(error: unknown): false {
  const status = getStatusCode(error)
  if (status === 404 || status === 409 || status === 403) return false
  throw error
}
