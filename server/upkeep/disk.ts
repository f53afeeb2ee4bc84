import { access, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { CleanKind, DiskKind, DiskUse } from '../contract/upkeep.ts'
import type { Engine } from '../deploy/engine.ts'
import type { EdgeCache } from '../edge/edge.ts'
import { type Clock, withTimeout } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { EngineDisk } from '../runtime/docker-disk.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { hasDeployment } from '../store/deployments.ts'
import type { Db, Store } from '../store/open.ts'
import { listUnits, type Unit } from './data-folder.ts'
import { noteOf, sizeText, stillCounting } from './disk-notes.ts'
import { createFolderSizes, sizeOnDisk } from './folder-sizes.ts'

/** What takes which room, of ours alone, and how some of it is freed. */
export interface Disk {
  use(): Promise<{ kinds: DiskUse[]; total_bytes: number; data_dir: string; free_bytes: number }>
  clean(kinds?: readonly CleanKind[]): Promise<{ freed: Freed[]; freed_bytes: number }>
}

export interface Freed {
  kind: CleanKind
  bytes: number
  count: number
  note: string | null
}

export interface DiskDeps {
  data_dir: string
  store: Store
  engine: Pick<Engine, 'needs' | 'prune'>
  docker: EngineDisk
  /** Whether anything of ours may lie in a Docker engine. */
  usesDocker(): Promise<boolean>
  cache: Pick<EdgeCache, 'purge'>
  clock: Clock
  log: Log
}

/** A look takes no longer; what is not counted by then is said to be. */
const look_ms = 3_000
const engineLook_ms = 6_000
const probe_ms = 2_000
/** An engine that hangs does not hold up what can be freed elsewhere. */
const engineClean_ms = 120_000

/** In the order in which they are freed: where the disk is full, first what needs no word in a database. */
const all: readonly CleanKind[] = ['build_cache', 'volumes', 'screenshots', 'edge_cache', 'bundles', 'images', 'other', 'logs']
const safe = all.filter((kind) => kind !== 'edge_cache')
const dataKinds = [
  'build_cache',
  'logs',
  'bundles',
  'screenshots',
  'edge_cache',
  'metrics',
  'databases',
  'dumps',
  'backups',
  'ledger',
  'other',
] as const satisfies DiskKind[]
const inEngine = (kind: CleanKind): kind is 'images' | 'build_cache' | 'volumes' | 'other' =>
  kind === 'images' || kind === 'build_cache' || kind === 'volumes' || kind === 'other'

export function createDisk(deps: DiskDeps): Disk {
  const { store, data_dir } = deps
  const sizes = createFolderSizes(deps.clock)
  const isKnown = (id: string) => store.db.readNow((tx) => hasDeployment(tx, id))
  const units = () => listUnits(data_dir, deps.clock.now(), isKnown)
  let engineLook: ReturnType<EngineDisk['use']> | undefined
  let cleaning: Promise<unknown> = Promise.resolve()

  const dataUse = async (): Promise<DiskUse[]> => {
    const these = await units()
    const found = await sizes.of(
      these.map(({ path }) => path),
      look_ms,
    )
    const needs = await deps.engine.needs()
    const bytesOf = (some: Unit[]) => some.reduce((total, { path }) => total + (found.get(path) ?? 0), 0)
    return dataKinds.map((kind) => {
      const here = these.filter((unit) => unit.kind === kind)
      const bytes = bytesOf(here)
      const is_whole = here.every(({ path }) => found.has(path))
      const free = bytesOf(here.filter((unit) => !unit.is_needed(needs)))
      const reclaimable_bytes = kind === 'edge_cache' ? bytes : kind === 'logs' ? store.logs.freeBytes() : is_whole ? free : null
      const count = kind === 'bundles' || kind === 'screenshots' ? here.length : null
      return { kind, place: 'data_folder', bytes, count, reclaimable_bytes, note: is_whole ? noteOf(kind, 'data_folder') : stillCounting }
    })
  }

  const engineUse = async (): Promise<DiskUse[]> => {
    if (!(await deps.usesDocker())) return []
    const unknown = (note: string): DiskUse[] =>
      (['images', 'build_cache', 'volumes'] as const).map((kind) => ({
        kind,
        place: 'engine',
        bytes: 0,
        count: null,
        reclaimable_bytes: null,
        note,
      }))
    engineLook ??= deps.engine.needs().then((needs) => deps.docker.use(needs))
    const look = engineLook
    const done = look.then(
      (found) => ({ found }),
      (error: unknown) => ({ error }),
    )
    const answer = await withTimeout(deps.clock, engineLook_ms, done)
    if (answer === undefined) return unknown('Docker is still counting. Look again in a moment.')
    engineLook = undefined
    if ('error' in answer) return unknown('Docker does not answer, so what lies in it is not known now.')
    const { kinds, shared_build_cache_bytes } = answer.found
    return kinds
      .filter(({ kind, count }) => count > 0 || (kind !== 'databases' && kind !== 'other'))
      .map((one) => ({
        ...one,
        place: 'engine',
        note:
          one.kind === 'build_cache' && shared_build_cache_bytes > 0
            ? `${noteOf(one.kind, 'engine')} Besides, Docker keeps ${sizeText(shared_build_cache_bytes)} of layers for everybody who builds with a Dockerfile on this machine. Homeport cannot tell which of them are its own and leaves them: docker builder prune.`
            : noteOf(one.kind, 'engine'),
      }))
  }

  const cleanData = async (kind: CleanKind): Promise<Freed> => {
    const before = await deps.engine.needs()
    const going = []
    for (const unit of await units()) if (unit.kind === kind && !unit.is_needed(before)) going.push({ unit, bytes: await sizeOnDisk(unit.path) })
    if (kind === 'bundles') await deps.engine.prune()
    const freed: Freed = { kind, bytes: 0, count: 0, note: null }
    for (const { unit, bytes } of going) {
      // Rows still name what could not be let go of, as with a full disk.
      if (!unit.is_needed(await deps.engine.needs(true))) await remove(unit.path)
      if (await isThere(unit.path)) continue
      freed.bytes += bytes
      freed.count++
    }
    return freed
  }

  const remove = (path: string): Promise<void> =>
    rm(path, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) => deps.log.warn('not_cleaned', { path, error }))

  const cleanEngine = async (kind: 'images' | 'build_cache' | 'volumes' | 'other'): Promise<Freed> => {
    let pruned: Promise<void> | undefined
    const needs = async () => {
      if (kind === 'images') await (pruned ??= deps.engine.prune())
      return deps.engine.needs(true)
    }
    try {
      const done = await withTimeout(deps.clock, engineClean_ms, deps.docker.clean(kind, needs))
      if (done) return { kind, ...done, note: 'Inside the Docker engine.' }
      throw new Error('No answer in time.')
    } catch (error) {
      deps.log.warn('not_cleaned', { kind, error })
      return { kind, bytes: 0, count: 0, note: 'Docker does not answer, so nothing was freed in it.' }
    }
  }

  const cleanLogs = async (): Promise<Freed> => {
    const files = ['', '-wal', '-shm'].map((end) => join(data_dir, `logs.db${end}`))
    const size = async () => (await Promise.all(files.map(sizeOnDisk))).reduce((a, b) => a + b, 0)
    const before = await size()
    const known = new Set(
      await store.db.read((tx) => tx.sqlAll<{ id: string }>('SELECT id FROM deployments UNION SELECT id FROM projects').map((row) => row.id)),
    )
    // Those of previews are named after their project.
    const gone = store.logs.streams().filter((stream) => !known.has(stream) && !known.has(stream.replace(/_[0-9a-f]{12}$/, '')))
    for (const stream of gone) store.logs.remove(stream)
    await store.logs.shrink()
    return { kind: 'logs', bytes: Math.max(0, before - (await size())), count: gone.length, note: null }
  }

  const cleanEdgeCache = async (): Promise<Freed> => {
    const folder = join(data_dir, 'cache', 'edge')
    const before = await sizeOnDisk(folder)
    let count = 0
    for (const id of (await deps.engine.needs()).projects) count += await deps.cache.purge(id, { all: true })
    return { kind: 'edge_cache', bytes: Math.max(0, before - (await sizeOnDisk(folder))), count, note: null }
  }

  const cleanAll = async (kinds: readonly CleanKind[]): Promise<Freed[]> => {
    const freed: Freed[] = []
    const usesDocker = await deps.usesDocker()
    for (const kind of all) {
      if (!kinds.includes(kind)) continue
      if (kind === 'logs') freed.push(await cleanLogs())
      else if (kind === 'edge_cache') freed.push(await cleanEdgeCache())
      else if (kind === 'build_cache' || kind === 'bundles' || kind === 'screenshots') freed.push(await cleanData(kind))
      if (inEngine(kind) && usesDocker) freed.push(await cleanEngine(kind))
    }
    return freed
  }

  return {
    async use() {
      const [here, there, { bavail, bsize }] = await Promise.all([dataUse(), engineUse(), statfs(data_dir)])
      const kinds = [...there, ...here]
      return { kinds, total_bytes: kinds.reduce((total, { bytes }) => total + bytes, 0), data_dir, free_bytes: bavail * bsize }
    },

    async clean(kinds = safe) {
      const turn = cleaning.then(() => cleanAll(kinds))
      cleaning = turn.catch(() => {})
      const freed = await turn
      return { freed, freed_bytes: freed.reduce((total, { bytes }) => total + bytes, 0) }
    },
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Whether anything of ours may lie in a Docker engine: one answers, or something was made in one that does not answer now. */
export const usesDocker =
  (db: Db, docker: Pick<Runtime, 'probe'>, clock: Clock): DiskDeps['usesDocker'] =>
  async () =>
    // One that hangs may hold something.
    ((await withTimeout(clock, probe_ms, docker.probe()))?.available ?? true) ||
    (await db.read((tx) => tx.sqlFirst("SELECT 1 AS one FROM deployments WHERE runtime = 'docker' AND artifact IS NOT NULL"))) !== undefined
