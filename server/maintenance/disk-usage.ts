import { access, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { CleanableKind, DiskKind, DiskUsage } from '../contract/maintenance.ts'
import type { DeploymentService } from '../deployments/service.ts'
import type { EdgeCache } from '../edge/edge.ts'
import { type Clock, withTimeout } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { DockerDisk } from '../runtime/docker/disk-usage.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { hasDeployment, hasArtifacts, listLogOwnerIds } from '../store/deployments.ts'
import type { Db, Store } from '../store/store.ts'
import { listDataFolderUnits, type DataFolderUnit } from './data-folder.ts'
import { findDiskNote, formatSize, stillCountingNote } from './disk-notes.ts'
import { createFolderSizes, sizeOnDisk } from './folder-sizes.ts'

/** Measures the disk space of this instance's files and Docker resources, and cleans them up. */
export interface DiskManager {
  measure(): Promise<{ kinds: DiskUsage[]; total_bytes: number; data_dir: string; free_bytes: number }>
  clean(kinds?: readonly CleanableKind[]): Promise<{ freed: FreedSpace[]; freed_bytes: number }>
}

export interface FreedSpace {
  kind: CleanableKind
  bytes: number
  count: number
  note: string | null
}

export interface DiskManagerOptions {
  data_dir: string
  store: Store
  deployments: Pick<DeploymentService, 'getResourcesInUse' | 'prune' | 'quarantine'>
  docker: DockerDisk
  /** Whether Docker may contain resources of this instance. */
  usesDocker(): Promise<boolean>
  cache: Pick<EdgeCache, 'purge'>
  clock: Clock
  log: Log
}

/** The longest time of a measurement; an incomplete result is marked. */
const measureTimeout_ms = 3_000
const engineMeasureTimeout_ms = 6_000
const probeTimeout_ms = 2_000
/** An engine that hangs must not delay the rest of a cleanup. */
const engineCleanTimeout_ms = 120_000

/** The order of a cleanup: on a full disk, kinds whose removal needs no database write go first. */
const cleanOrder: readonly CleanableKind[] = [
  'build_cache',
  'volumes',
  'screenshots',
  'edge_cache',
  'bundles',
  'images',
  'unknown_apps',
  'other',
  'logs',
]
const defaultCleanKinds = cleanOrder.filter((kind) => kind !== 'edge_cache' && kind !== 'unknown_apps')
const dataFolderKinds = [
  'build_cache',
  'logs',
  'bundles',
  'screenshots',
  'edge_cache',
  'metrics',
  'databases',
  'dumps',
  'app_volumes',
  'volume_snapshots',
  'backups',
  'instance_database',
  'other',
] as const satisfies DiskKind[]
const isEngineKind = (kind: CleanableKind): kind is 'images' | 'build_cache' | 'volumes' | 'other' =>
  kind === 'images' || kind === 'build_cache' || kind === 'volumes' || kind === 'other'

export function createDiskManager(options: DiskManagerOptions): DiskManager {
  const { store, data_dir } = options
  const sizes = createFolderSizes(options.clock)
  const isKnown = (id: string) => store.db.readSync((tx) => hasDeployment(tx, id))
  const readUnits = () => listDataFolderUnits(data_dir, options.clock.now(), isKnown)
  let engineMeasurement: ReturnType<DockerDisk['measure']> | undefined
  let cleaning: Promise<unknown> = Promise.resolve()

  const measureDataFolder = async (): Promise<DiskUsage[]> => {
    const currentUnits = await readUnits()
    const found = await sizes.measure(
      currentUnits.map(({ path }) => path),
      measureTimeout_ms,
    )
    const needs = await options.deployments.getResourcesInUse()
    const sumBytes = (some: DataFolderUnit[]) => some.reduce((total, { path }) => total + (found.get(path) ?? 0), 0)
    return dataFolderKinds.map((kind) => {
      const here = currentUnits.filter((unit) => unit.kind === kind)
      const bytes = sumBytes(here)
      const is_whole = here.every(({ path }) => found.has(path))
      const free = sumBytes(here.filter((unit) => !unit.is_needed(needs)))
      const reclaimable_bytes = kind === 'edge_cache' ? bytes : kind === 'logs' ? store.logs.freeBytes() : is_whole ? free : null
      const count = kind === 'bundles' || kind === 'screenshots' ? here.length : null
      return {
        kind,
        location: 'data_folder',
        bytes,
        count,
        reclaimable_bytes,
        note: is_whole ? findDiskNote(kind, 'data_folder') : stillCountingNote,
      }
    })
  }

  const measureEngine = async (): Promise<DiskUsage[]> => {
    if (!(await options.usesDocker())) return []
    const unknown = (note: string): DiskUsage[] =>
      (['images', 'build_cache', 'volumes'] as const).map((kind) => ({
        kind,
        location: 'engine',
        bytes: 0,
        count: null,
        reclaimable_bytes: null,
        note,
      }))
    engineMeasurement ??= options.deployments.getResourcesInUse().then((needs) => options.docker.measure(needs))
    const measurement = engineMeasurement
    const done = measurement.then(
      (found) => ({ found }),
      (error: unknown) => ({ error }),
    )
    const answer = await withTimeout(options.clock, engineMeasureTimeout_ms, done)
    if (answer === undefined) return unknown('Docker is still calculating. Check again in a moment.')
    engineMeasurement = undefined
    if ('error' in answer) return unknown('Docker is not responding, so its disk usage is unknown.')
    const { kinds, shared_build_cache_bytes } = answer.found
    return kinds
      .filter(({ kind, count }) => count > 0 || (kind !== 'databases' && kind !== 'app_volumes' && kind !== 'other'))
      .map((one) => ({
        ...one,
        location: 'engine',
        note:
          one.kind === 'build_cache' && shared_build_cache_bytes > 0
            ? `${findDiskNote(one.kind, 'engine')} Docker also keeps a shared build cache of ${formatSize(shared_build_cache_bytes)} for Dockerfile builds on this machine. Homeport does not remove it; run docker builder prune.`
            : findDiskNote(one.kind, 'engine'),
      }))
  }

  const cleanData = async (kind: CleanableKind): Promise<FreedSpace> => {
    const before = await options.deployments.getResourcesInUse()
    const removable = []
    for (const unit of await readUnits())
      if (unit.kind === kind && !unit.is_needed(before)) removable.push({ unit, bytes: await sizeOnDisk(unit.path) })
    if (kind === 'bundles') await options.deployments.prune()
    const freed: FreedSpace = { kind, bytes: 0, count: 0, note: null }
    for (const { unit, bytes } of removable) {
      // Rows still refer to resources that could not be released, for example on a full disk.
      if (!unit.is_needed(await options.deployments.getResourcesInUse(true))) await remove(unit.path)
      if (await fileExists(unit.path)) continue
      freed.bytes += bytes
      freed.count++
    }
    return freed
  }

  const remove = (path: string): Promise<void> =>
    rm(path, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) => options.log.warn('disk_cleanup_failed', { path, error }))

  const cleanEngine = async (kind: 'images' | 'build_cache' | 'volumes' | 'other'): Promise<FreedSpace> => {
    let pruned: Promise<void> | undefined
    const needs = async () => {
      if (kind === 'images') await (pruned ??= options.deployments.prune())
      return options.deployments.getResourcesInUse(true)
    }
    try {
      const done = await withTimeout(options.clock, engineCleanTimeout_ms, options.docker.clean(kind, needs))
      if (done) return { kind, ...done, note: 'In Docker.' }
      throw new Error('Docker did not respond in time.')
    } catch (error) {
      options.log.warn('disk_cleanup_failed', { kind, error })
      return { kind, bytes: 0, count: 0, note: 'Docker is not responding, so nothing was removed there.' }
    }
  }

  const cleanLogs = async (): Promise<FreedSpace> => {
    const files = ['', '-wal', '-shm'].map((end) => join(data_dir, `logs.db${end}`))
    const size = async () => (await Promise.all(files.map(sizeOnDisk))).reduce((a, b) => a + b, 0)
    const before = await size()
    const known = new Set(await store.db.read(listLogOwnerIds))
    // Log streams of previews and of services start with the id of their project.
    const orphaned = store.logs.listStreams().filter((stream) => !known.has(stream.replace(/(_[0-9a-f]{12})?(\..*)?$/, '')))
    for (const stream of orphaned) await store.logs.remove(stream)
    await store.logs.vacuum()
    return { kind: 'logs', bytes: Math.max(0, before - (await size())), count: orphaned.length, note: null }
  }

  const cleanEdgeCache = async (): Promise<FreedSpace> => {
    const folder = join(data_dir, 'cache', 'edge')
    const before = await sizeOnDisk(folder)
    let count = 0
    for (const id of (await options.deployments.getResourcesInUse()).projects) count += await options.cache.purge(id, { all: true })
    return { kind: 'edge_cache', bytes: Math.max(0, before - (await sizeOnDisk(folder))), count, note: null }
  }

  const cleanAll = async (kinds: readonly CleanableKind[]): Promise<FreedSpace[]> => {
    const freed: FreedSpace[] = []
    const usesDocker = await options.usesDocker()
    for (const kind of cleanOrder) {
      if (!kinds.includes(kind)) continue
      if (kind === 'logs') freed.push(await cleanLogs())
      else if (kind === 'edge_cache') freed.push(await cleanEdgeCache())
      else if (kind === 'unknown_apps') freed.push({ kind, bytes: 0, count: await options.deployments.quarantine.stopAll(), note: null })
      else if (kind === 'build_cache' || kind === 'bundles' || kind === 'screenshots') freed.push(await cleanData(kind))
      if (isEngineKind(kind) && usesDocker) freed.push(await cleanEngine(kind))
    }
    return freed
  }

  return {
    async measure() {
      const [here, there, { bavail, bsize }] = await Promise.all([measureDataFolder(), measureEngine(), statfs(data_dir)])
      const unknownApps = new Set((await options.deployments.quarantine.list()).map(({ deployment_id }) => deployment_id)).size
      const kinds = [...there, ...here, ...(unknownApps > 0 ? [createUnknownAppsUsage(unknownApps)] : [])]
      return { kinds, total_bytes: kinds.reduce((total, { bytes }) => total + bytes, 0), data_dir, free_bytes: bavail * bsize }
    },

    async clean(kinds = defaultCleanKinds) {
      const turn = cleaning.then(() => cleanAll(kinds))
      cleaning = turn.catch(() => {})
      const freed = await turn
      return { freed, freed_bytes: freed.reduce((total, { bytes }) => total + bytes, 0) }
    },
  }
}

const createUnknownAppsUsage = (count: number): DiskUsage => ({
  kind: 'unknown_apps',
  location: 'engine',
  bytes: 0,
  count,
  reclaimable_bytes: null,
  note: findDiskNote('unknown_apps', 'engine'),
})

const fileExists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Whether Docker may contain resources of this instance: an engine is available, or this instance used one before. */
export const usesDocker =
  (db: Db, docker: Pick<Runtime, 'name' | 'probe'>, clock: Clock): DiskManagerOptions['usesDocker'] =>
  async () =>
    // An engine that hangs may contain resources.
    ((await withTimeout(clock, probeTimeout_ms, docker.probe()))?.available ?? true) || (await db.read((tx) => hasArtifacts(tx, docker.name)))
