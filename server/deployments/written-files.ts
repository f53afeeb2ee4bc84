import { posix } from 'node:path'
import { addAbortSignal, Readable } from 'node:stream'
import { limits } from '../contract/limits.ts'
import { runtimes } from '../contract/runtimes.ts'
import { appFolder, chooseVolumeName } from '../contract/volume-paths.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { Artifact } from '../runtime/runtime.ts'
import { deleteUnsavedFiles, insertUnsavedFiles, listProjectVolumes, listUnsavedFiles, updateUnsavedFiles } from '../store/project-volumes.ts'
import { findProject } from '../store/projects.ts'
import type { UnsavedFilesRow } from '../store/volume-tables.ts'
import type { DeploymentContext } from './context.ts'
import type { AppSpec } from './supervised-app.ts'
import { type FoundFiles, findUnsavedFiles, isAppPathWithin } from './unsaved-files.ts'
import { createVolumeSnapshots } from './volume-snapshots.ts'

/** A live version with its replicas by the name of their service; the main one is empty in a version without services. */
export interface InspectedApp {
  spec: AppSpec
  findReplica(service: string): string | null
}

export interface WrittenFilesInspector {
  /** Reports files that look like data and are outside of volumes, once per path. Resolves with the number of open reports. */
  inspect(app: InspectedApp): Promise<number>
  /**
   * Reports them, and saves them in snapshots, before the replicas end. `successor` is the version that replaces them, whose volumes already have
   * their files. Never throws.
   */
  saveBeforeEnd(app: InspectedApp, successor: AppSpec | null): Promise<void>
}

/** A save that takes longer is aborted, because a deployment waits for it. */
const saveTimeout_ms = 120_000

export function createWrittenFilesInspector(context: DeploymentContext, note: (spec: AppSpec, line: string) => void): WrittenFilesInspector {
  const snapshots = createVolumeSnapshots(context.data_dir)

  const find = async ({ spec, findReplica }: InspectedApp, successor: AppSpec | null): Promise<Found[]> => {
    const runtime = context.runtime(spec.runtime)
    const added = (await context.store.db.read((tx) => listProjectVolumes(tx, spec.project_id))).filter(({ removed_at }) => removed_at === null)
    const found: Found[] = []
    const folders = new Set<string>()
    for (const { name, service, artifact, replica } of listParts(spec)) {
      if (goesOn(spec, name, successor)) continue
      // In the process runtime, services with the same build share one folder.
      if (artifact.kind === 'static' || (artifact.kind === 'bundle' && folders.has(artifact.directory))) continue
      if (artifact.kind === 'bundle') folders.add(artifact.directory)
      const owner = { replica_id: findReplica(replica), artifact }
      const written = await runtime.listWrittenFiles(owner)
      if (!written) continue
      const mounts = [
        ...listMounts(spec, name),
        ...(successor ? listMounts(successor, name) : []),
        ...added.filter((row) => row.service === service).map(({ path }) => path),
      ]
      for (const files of findUnsavedFiles(written, mounts)) found.push({ ...files, service, owner })
    }
    return found
  }

  /** Stores new reports and their present size; returns those that are open. */
  const report = async (spec: AppSpec, found: Found[]): Promise<{ row: UnsavedFilesRow; owner: Found['owner'] }[]> => {
    const inserted: UnsavedFilesRow[] = []
    const open = await context.store.db.write((tx) => {
      const rows = listUnsavedFiles(tx, spec.project_id)
      const volumes = listProjectVolumes(tx, spec.project_id)
      const taken = [...rows.map(({ volume }) => volume), ...volumes.map(({ name }) => name), ...listVolumeNames(spec)]
      return found.flatMap(({ owner, ...files }) => {
        const known = rows.find(({ service, path }) => service === files.service && path === files.path)
        if (known) {
          updateUnsavedFiles(tx, known.id, files.files, files.bytes)
          return known.dismissed_at === null ? [{ row: known, owner }] : []
        }
        const added = volumes.find(({ service, path }) => service === files.service && path === files.path)
        const volume = added?.name ?? chooseVolumeName(files.path, taken)
        taken.push(volume)
        const found_at = isoTime(context.clock.now())
        const row = { ...files, id: newId('uns'), project_id: spec.project_id, volume, found_at, dismissed_at: null }
        insertUnsavedFiles(tx, row)
        tx.publish({ type: 'project_changed', id: spec.project_id })
        inserted.push(row)
        return [{ row, owner }]
      })
    })
    const slug = context.store.db.readSync((tx) => findProject(tx, spec.project_id))?.slug ?? spec.project_id
    for (const row of inserted) note(spec, describe(row, slug))
    return open
  }

  const save = async (spec: AppSpec, row: UnsavedFilesRow, owner: Found['owner']): Promise<void> => {
    const id = `${spec.environment_id}.${row.volume}`
    const controller = new AbortController()
    const timer = context.clock.setTimeout(() => controller.abort(new Error('It took too long.')), saveTimeout_ms)
    try {
      const archive = await context.runtime(spec.runtime).exportWrittenFiles(owner, row.path, row.is_file === 1)
      if (!archive) return
      await snapshots.store(id, 'before_replace', limitBytes(addAbortSignal(controller.signal, archive), limits.written_files.saved_bytes))
      note(spec, `Homeport: The files at ${row.path} were saved before this version ended. Keep the path, and the volume can start with them.`)
      const saved = (await snapshots.list(id)).filter(({ reason }) => reason === 'before_replace')
      for (const old of saved.slice(limits.written_files.saved_snapshots)) await snapshots.remove(id, old.id)
    } finally {
      timer.cancel()
    }
  }

  return {
    async inspect(app) {
      const found = await find(app, null)
      const open = await report(app.spec, found)
      const missing = await context.store.db.read((tx) => listUnsavedFiles(tx, app.spec.project_id))
      for (const { id, service, path, volume, dismissed_at } of missing) {
        if (dismissed_at !== null || found.some((one) => one.service === service && one.path === path)) continue
        // The live version no longer writes there, and nothing of an earlier one was saved.
        if ((await snapshots.list(`${app.spec.environment_id}.${volume}`)).length > 0) continue
        await context.store.db.write((tx) => {
          deleteUnsavedFiles(tx, id)
          tx.publish({ type: 'project_changed', id: app.spec.project_id })
        })
      }
      return open.length
    },

    async saveBeforeEnd(app, successor) {
      const { spec } = app
      if (spec.target === 'preview') return
      try {
        for (const { row, owner } of await report(spec, await find(app, successor))) {
          // Writers are frozen while the files are read; stopping thaws them.
          if (owner.replica_id !== null)
            await context
              .runtime(spec.runtime)
              .freeze(owner.replica_id)
              .catch(() => {})
          await save(spec, row, owner).catch((error: unknown) => {
            context.log.warn('written_files_save_failed', { deployment: spec.deployment_id, path: row.path, error })
            note(spec, `Homeport: The files at ${row.path} could not be saved: ${error instanceof Error ? error.message : String(error)}`)
          })
        }
      } catch (error) {
        context.log.warn('written_files_check_failed', { deployment: spec.deployment_id, error })
      }
    },
  }
}

type Found = FoundFiles & { service: string; owner: { replica_id: string | null; artifact: Artifact } }

/** `replica` is the name by which `findReplica` knows the part; `service` the one in the store. */
function listParts(spec: AppSpec): { name: string; service: string; replica: string; artifact: Artifact }[] {
  const { artifact, main_service, services } = spec
  const main = artifact ? [{ name: main_service ?? 'web', service: '', replica: main_service ?? '', artifact }] : []
  return [...main, ...services.map(({ config: { name }, artifact: own }) => ({ name, service: name, replica: name, artifact: own }))]
}

/** Whether a prebuilt image of the environment, and with it its files, keeps running when the version is replaced. */
const goesOn = (spec: AppSpec, name: string, successor: AppSpec | null): boolean => {
  const image = spec.services.find(({ config, owner_id }) => config.name === name && owner_id === spec.environment_id)
  const next = successor?.services.find(({ config, owner_id }) => config.name === name && owner_id === spec.environment_id)
  return image !== undefined && next !== undefined && image.request.definition === next.request.definition
}

const listConfigs = ({ main_config, services }: AppSpec) => [...(main_config ? [main_config] : []), ...services.map(({ config }) => config)]

const listVolumeNames = (spec: AppSpec): string[] => listConfigs(spec).flatMap(({ volumes }) => volumes.map(({ name }) => name))

const listMounts = (spec: AppSpec, service: string): string[] =>
  listConfigs(spec)
    .filter(({ name }) => name === service)
    .flatMap(({ volumes }) => volumes.map(({ path }) => posix.resolve(appFolder, path)))

/** Whether the volumes of a version cover the reports at this path. */
export const isCovered = (spec: AppSpec, { service, path }: Pick<UnsavedFilesRow, 'service' | 'path'>): boolean =>
  listMounts(spec, service === '' ? (spec.main_service ?? 'web') : service).some((mount) => isAppPathWithin(path, mount))

/** Whether the files of a replica are lost when it ends, although its version continues. */
export const losesFilesWithReplica = ({ runtime }: AppSpec): boolean => !runtimes[runtime].keeps_written_files

const describe = ({ kind, path, service }: UnsavedFilesRow, slug: string): string => {
  const what = kind === 'database' ? 'a database' : kind === 'uploads' ? 'files' : 'many megabytes of files'
  const flag = service === '' ? '' : ` --service ${service}`
  return `Homeport: The app stores ${what} at ${path}, which is outside of a volume and is lost with the next deployment. Keep it with homeport volumes add ${slug} ${path}${flag}, or under Volumes in the dashboard.`
}

function limitBytes(archive: Readable, limit: number): Readable {
  async function* read(): AsyncIterable<Buffer> {
    let bytes = 0
    for await (const chunk of archive) {
      bytes += (chunk as Buffer).length
      if (bytes > limit) throw new Error(`They are larger than ${limit / 2 ** 20} MB.`)
      yield chunk as Buffer
    }
  }
  return Readable.from(read(), { objectMode: false })
}
