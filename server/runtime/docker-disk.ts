import { setTimeout as delay } from 'node:timers/promises'
import type Docker from 'dockerode'
import type { Clock } from '../lib/clock.ts'
import { within } from './docker-connect.ts'
import { type Engine, statusOf } from './docker-engine.ts'
import { imageLayers, type Layer } from './docker-layers.ts'

/** What is needed by now; all else that we made inside the engine may go. Asked anew right before anything is removed. */
export interface EngineNeeds {
  projects: ReadonlySet<string>
  /** Projects something of which is being built. */
  busy: ReadonlySet<string>
  /** Deployments that are being built. */
  open: ReadonlySet<string>
  /** Deployments that serve or sleep. */
  serving: ReadonlySet<string>
  images: ReadonlySet<string>
}

export type EngineKind = 'images' | 'build_cache' | 'volumes' | 'databases' | 'other'
export type EngineCleanKind = Exclude<EngineKind, 'databases'>

export interface EngineUse {
  kind: EngineKind
  bytes: number
  count: number
  reclaimable_bytes: number | null
}

/** What of this instance lies inside a Docker engine. Found by our labels and by nothing else; what others made of it stays theirs. */
export interface EngineDisk {
  /** `shared_build_cache_bytes`: what BuildKit keeps for all who build on this engine. Throws when none answers. */
  use(needs: EngineNeeds): Promise<{ kinds: EngineUse[]; shared_build_cache_bytes: number }>
  /** Frees of a kind what is not needed, and says what that was. */
  clean(kind: EngineCleanKind, needs: () => Promise<EngineNeeds>): Promise<{ bytes: number; count: number }>
}

interface OwnImage {
  id: string
  /** By what it is removed; empty: others have tagged it, and it is theirs now. */
  names: string[]
  kind: 'images' | 'build_cache'
  layers: Layer[]
  may_go: (needs: EngineNeeds) => boolean
}

interface Counted {
  Volumes?: { Name: string; UsageData?: { Size: number } | null }[] | null
  BuilderSize?: number
}

interface Part {
  kind: 'volumes' | 'databases' | 'other'
  bytes: number
  may_go: (needs: EngineNeeds) => boolean
  remove: () => Promise<unknown>
}

/** An engine counts its volumes by walking through them. */
const patience_ms = 8_000
/** What was made so lately may be of something that has no row yet. */
const young_ms = 10 * 60_000

export function createEngineDisk(engine: Engine, clock: Pick<Clock, 'now'>): EngineDisk {
  const layersOf = imageLayers()
  const filters = () => JSON.stringify(engine.ours())

  /** Images of ours with the layers that are in no image of others. */
  const images = async (docker: Docker): Promise<OwnImage[]> => {
    const all = await docker.listImages()
    const isOurs = (image: Docker.ImageInfo) =>
      image.Labels?.['homeport.instance'] === engine.options.instance_id && engine.ourNames(image).length > 0 && !engine.mayBeBuiltFrom(image)
    const foreign = new Set<string>()
    for (const image of all) if (!isOurs(image)) for (const { id } of await layersOf(docker, image.Id)) foreign.add(id)
    const found: OwnImage[] = []
    for (const image of all) {
      if (!isOurs(image)) continue
      const labels = image.Labels ?? {}
      const names = engine.ourNames(image)
      const is_shared = (image.RepoTags ?? []).some((tag) => tag !== '<none>:<none>' && !engine.isOurName(tag))
      found.push({
        id: image.Id,
        names,
        kind: labels['homeport.role'] === 'image' ? 'images' : 'build_cache',
        layers: is_shared ? [] : (await layersOf(docker, image.Id)).filter(({ id }) => !foreign.has(id)),
        may_go: mayGo(labels, names),
      })
    }
    return found
  }

  /** A build is needed while a row names it; a set of dependencies while something of its project is being built. */
  const mayGo =
    (labels: Record<string, string>, names: string[]) =>
    (needs: EngineNeeds): boolean => {
      const deployment = labels['homeport.deployment'] ?? ''
      if (labels['homeport.role'] !== 'image') return !needs.busy.has(labels['homeport.project'] ?? '')
      return !needs.open.has(deployment) && !names.some((name) => needs.images.has(name))
    }

  /** Containers, networks and volumes. */
  const parts = async (docker: Docker, counted: Counted | undefined): Promise<Part[]> => {
    const containers = (await docker.listContainers({ all: true, size: true, filters: filters() })).filter((one) => engine.isOurContainer(one.Labels))
    const networks = await docker.listNetworks({ filters: filters() })
    const { Volumes } = await docker.listVolumes({ filters: filters() })
    const sizes = new Map(counted?.Volumes?.map((one) => [one.Name, one.UsageData?.Size ?? 0]))
    return [
      ...containers.map((one): Part => {
        const deployment = one.Labels['homeport.deployment'] ?? ''
        return {
          kind: 'other',
          bytes: sizeOf(one),
          may_go: (needs) => !needs.open.has(deployment) && !needs.serving.has(deployment) && clock.now() - one.Created * 1000 > young_ms,
          remove: () => docker.getContainer(one.Id).remove({ force: true, v: true }),
        }
      }),
      // Ours that all apps share bears no project. One that is in use is refused by the engine.
      ...networks
        .filter((one) => one.Labels?.['homeport.project'] !== undefined)
        .map((one): Part => {
          const project = one.Labels?.['homeport.project'] ?? ''
          return { kind: 'other', bytes: 0, may_go: (needs) => !needs.projects.has(project), remove: () => docker.getNetwork(one.Id).remove() }
        }),
      ...(Volumes ?? []).map((one): Part => {
        const role = one.Labels['homeport.role']
        const project = one.Labels['homeport.project'] ?? ''
        return {
          kind: role === 'cache' ? 'volumes' : 'databases',
          bytes: Math.max(0, sizes.get(one.Name) ?? 0),
          may_go: (needs) => role === 'cache' && !needs.busy.has(project),
          remove: () => docker.getVolume(one.Name).remove(),
        }
      }),
    ]
  }

  /** What the engine alone can count. It does so once at a time, for whoever asks first; undefined: not now. */
  const askCounts = async (docker: Docker): Promise<Counted | undefined> => {
    const giveUpAt = performance.now() + patience_ms
    for (;;) {
      try {
        return (await within(patience_ms, docker.df())) as Counted
      } catch (error) {
        if (!/already running/.test(String(error)) || performance.now() > giveUpAt) return undefined
        await delay(100)
      }
    }
  }

  const cleanImages = async (docker: Docker, kind: 'images' | 'build_cache', needs: () => Promise<EngineNeeds>) => {
    const before = await images(docker)
    let count = 0
    for (const image of before) {
      if (image.kind !== kind || !image.may_go(await needs())) continue
      // Not by force: what something still stands on, or runs, is refused.
      const gone = await Promise.all(
        image.names.map((name) =>
          docker
            .getImage(name)
            .remove()
            .then(() => true, passOver),
        ),
      )
      if (gone.every(Boolean)) count++
    }
    const left = new Set((await images(docker)).flatMap(({ layers }) => layers.map(({ id }) => id)))
    return { bytes: sum(distinct(before.flatMap(({ layers }) => layers)).filter(({ id }) => !left.has(id))), count }
  }

  return {
    async use(needs) {
      const { docker } = await engine.connection()
      const own = await images(docker)
      const counted = await askCounts(docker)
      const others = await parts(docker, counted)
      const built = distinct(own.filter(({ kind }) => kind === 'images').flatMap(({ layers }) => layers))
      const isBuilt = new Set(built.map(({ id }) => id))
      const cached = distinct(own.filter(({ kind }) => kind === 'build_cache').flatMap(({ layers }) => layers)).filter(({ id }) => !isBuilt.has(id))
      /** Layers that nothing but what may go stands on. */
      const free = (kind: OwnImage['kind'], layers: Layer[]) => {
        const staying = new Set(own.filter((one) => one.kind !== kind || !one.may_go(needs)).flatMap((one) => one.layers.map(({ id }) => id)))
        return sum(layers.filter(({ id }) => !staying.has(id)))
      }
      const countOf = (kind: OwnImage['kind']) => own.filter((one) => one.kind === kind).length
      const kinds: EngineUse[] = [
        { kind: 'images', bytes: sum(built), count: countOf('images'), reclaimable_bytes: free('images', built) },
        { kind: 'build_cache', bytes: sum(cached), count: countOf('build_cache'), reclaimable_bytes: free('build_cache', cached) },
      ]
      for (const kind of ['volumes', 'databases', 'other'] as const) {
        const these = others.filter((one) => one.kind === kind)
        const free = sum(these.filter((one) => one.may_go(needs)))
        kinds.push({ kind, bytes: sum(these), count: these.length, reclaimable_bytes: kind === 'other' || counted ? free : null })
      }
      return { kinds, shared_build_cache_bytes: counted?.BuilderSize ?? 0 }
    },

    async clean(kind, needs) {
      const { docker } = await engine.connection()
      if (kind === 'images' || kind === 'build_cache') return cleanImages(docker, kind, needs)
      let [bytes, count] = [0, 0]
      for (const part of await parts(docker, await askCounts(docker))) {
        if (part.kind !== kind || !part.may_go(await needs())) continue
        if (!(await part.remove().then(() => true, passOver))) continue
        bytes += part.bytes
        count++
      }
      return { bytes, count }
    },
  }
}

const sum = (these: readonly { bytes: number }[]): number => these.reduce((total, { bytes }) => total + bytes, 0)
const distinct = (layers: Layer[]): Layer[] => [...new Map(layers.map((layer) => [layer.id, layer])).values()]
const sizeOf = (container: object): number => ('SizeRw' in container && typeof container.SizeRw === 'number' ? container.SizeRw : 0)

/** 404: gone already. 409 and 403: in use after all. */
function passOver(error: unknown): false {
  const status = statusOf(error)
  if (status === 404 || status === 409 || status === 403) return false
  throw error
}
