import { Problem } from '../contract/errors.ts'
import { volumeNamePattern } from '../contract/homeport-yaml.ts'
import type { ServiceConfig } from '../contract/project-config.ts'
import type { Volume, VolumeEntry, VolumeSnapshot } from '../contract/volumes.ts'
import { type RuntimeName, runtimes } from '../contract/runtimes.ts'
import type { UnsavedFiles } from '../contract/unsaved-files.ts'
import { listProjectVolumes, listUnsavedFiles } from '../store/project-volumes.ts'
import type { ProjectVolumeRow } from '../store/volume-tables.ts'
import type { DeploymentContext } from './context.ts'
import { type EnvironmentName, nameEnvironment } from './supervised-app.ts'
import type { EnvironmentState, Supervisor } from './supervisor.ts'
import { writeVolumeArchives } from './volume-archives.ts'
import { replaceVolume } from './replace-volume.ts'
import { isAppPathWithin } from './unsaved-files.ts'
import { createVolumeSnapshots } from './volume-snapshots.ts'
import { createVolumeUploads, type VolumeUploadOptions, type VolumeUploadResult } from './volume-uploads.ts'
import { isCovered } from './written-files.ts'
import { createWrittenFilesMonitor } from './written-files-monitor.ts'

/** The functions for features: the volumes of a project. Every function throws `volume_not_found` for an unknown name. */
export interface ProjectVolumes {
  list(environment: EnvironmentName): Promise<Volume[]>
  /** Files of production outside of volumes that are neither kept nor dismissed. */
  listUnsavedFiles(projectId: string): Promise<UnsavedFiles[]>
  /** Whether a snapshot contains the files that an earlier version wrote at a path. */
  hasSavedFiles(projectId: string, service: string, path: string, snapshotId: string): Promise<boolean>
  /** The facts that decide whether a volume can be added. Without a live version everything is allowed. */
  describeLive(environment: EnvironmentName): LiveMounts
  snapshot(environment: EnvironmentName, name: string): Promise<VolumeSnapshot>
  /** Throws `snapshot_not_found`. Resolves with the snapshot of the files that were replaced; null when the volume did not exist. */
  restore(environment: EnvironmentName, name: string, snapshotId: string): Promise<VolumeSnapshot | null>
  /** A compressed tar stream; without a snapshot the current files. */
  download(environment: EnvironmentName, name: string, snapshotId: string | undefined): Promise<AsyncIterable<Uint8Array>>
  /**
   * Replaces the files of a volume with those of an archive. `may_create`: also when no version has the volume yet. Throws `invalid_archive`,
   * `volume_not_empty` and `volume_in_use`; the current files stay then.
   */
  upload(
    environment: EnvironmentName,
    name: string,
    archive: AsyncIterable<Uint8Array>,
    options: VolumeUploadOptions & { may_create: boolean },
  ): Promise<VolumeUploadResult>
  /** Deletes leftovers of the previous run. */
  deleteLeftovers(): Promise<void>
  /** Throws `volume_file_not_found`. Folders first, then by name. */
  listFiles(environment: EnvironmentName, name: string, path: string): Promise<{ entries: VolumeEntry[]; is_complete: boolean }>
  /** Throws `volume_file_not_found`. */
  readFile(environment: EnvironmentName, name: string, path: string): Promise<AsyncIterable<Uint8Array>>
  /** Resolves with the snapshot that was taken before. Throws `volume_in_use` while a service of the live version has it. */
  remove(environment: EnvironmentName, name: string): Promise<VolumeSnapshot>
  deleteSnapshot(environment: EnvironmentName, name: string, snapshotId: string): Promise<void>
  /** Ends the inspection of live versions. */
  close(): Promise<void>
  /** For a backup: writes every volume of every project as `{runtime}/{volume}.tar`. Returns the names, and what could not be read. */
  writeAll(folder: string, signal: AbortSignal): Promise<{ names: string[]; left_out: string[] }>
}

export interface LiveMounts {
  services: string[]
  main_service: string
  is_static: boolean
  /** Volumes may be outside of the app's folder. */
  accepts_any_path: boolean
  mounts: VolumeUse[]
}

export function createProjectVolumes(context: DeploymentContext, supervisor: Supervisor): ProjectVolumes {
  const snapshots = createVolumeSnapshots(context.data_dir)
  const monitor = createWrittenFilesMonitor(context, supervisor)
  const uploads = createVolumeUploads(context, supervisor)
  const volumeNotFound = (name: string) =>
    new Problem('volume_not_found', `The live version has no volume “${name}”. List them with homeport volumes.`)
  const snapshotNotFound = () => new Problem('snapshot_not_found', 'This volume has no snapshot with this ID. List them with homeport volumes.')

  /** An environment that is not live has its volumes on the runtime of its last version. */
  const findRuntime = async (environmentId: string, state: EnvironmentState | undefined): Promise<RuntimeName> => {
    if (state) return state.spec.runtime
    for (const name of context.runtimeNames)
      if ((await context.runtime(name).probe()).available && (await context.runtime(name).listVolumes(`${environmentId}.`)).length > 0) return name
    return context.default_runtime
  }

  const locate = async (environment: EnvironmentName, name: string) => {
    const environment_id = nameEnvironment(environment)
    const state = supervisor.findEnvironment(environment_id)
    const id = `${environment_id}.${name}`
    const runtimeName = await findRuntime(environment_id, state)
    return { environment_id, state, id, runtime_name: runtimeName, runtime: context.runtime(runtimeName), project_id: environment.project_id }
  }

  /** A volume of the live version, or one of an earlier version, which may have only snapshots. */
  const requireVolume = async (environment: EnvironmentName, name: string) => {
    const found = await locate(environment, name)
    const { state, id, runtime } = found
    const isInUse = state !== undefined && listUses(state).some((use) => use.volume === name)
    const isKnown = async () =>
      volumeNamePattern.test(name) && ((await snapshots.list(id)).length > 0 || (await runtime.listVolumes(id)).some((volume) => volume.id === id))
    if (!isInUse && !(await isKnown())) throw volumeNotFound(name)
    return { ...found, isInUse }
  }

  const requireFile = <T>(found: T | undefined, path: string): T => {
    if (found === undefined)
      throw new Problem('volume_file_not_found', `The volume has no “${path}”, or it is a link. List it with homeport volumes files.`)
    return found
  }

  /** A snapshot of one moment: nothing of the environment runs while the files are read. */
  const take = async (environment: EnvironmentName, name: string): Promise<VolumeSnapshot> => {
    const { state, id, runtime } = await requireVolume(environment, name)
    const save = () => snapshots.save(runtime, id, 'manual')
    const snapshot = await (state ? supervisor.freezeWhile(state.spec, save) : save())
    if (!snapshot) throw new Problem('volume_not_found', `The volume “${name}” is empty: no service has used it yet.`)
    return snapshot
  }

  return {
    async list(environment) {
      const environmentId = nameEnvironment(environment)
      const state = supervisor.findEnvironment(environmentId)
      const prefix = `${environmentId}.`
      const uses = state ? listUses(state) : []
      const found = await context.runtime(await findRuntime(environmentId, state)).listVolumes(prefix)
      const sizes = new Map(found.map(({ id, bytes }) => [id.slice(prefix.length), bytes]))
      const saved = (await snapshots.listVolumes(prefix)).map((id) => id.slice(prefix.length))
      const rows = await context.store.db.read((tx) => listProjectVolumes(tx, environment.project_id))
      const added = new Map(rows.flatMap((row) => (row.removed_at === null ? [[row.name, row] as const] : [])))
      const names = [...new Set([...uses.map(({ volume }) => volume), ...sizes.keys(), ...saved])]
      return Promise.all(
        names.map(async (name) => ({
          name,
          size_bytes: sizes.has(name) ? (sizes.get(name) ?? null) : 0,
          used_by: uses.filter(({ volume }) => volume === name).map(({ service, path, is_read_only }) => ({ service, path, is_read_only })),
          snapshots: await snapshots.list(`${prefix}${name}`),
          added: toAdded(added.get(name)),
        })),
      )
    },

    async listUnsavedFiles(projectId) {
      const { rows, added } = await context.store.db.read((tx) => ({
        rows: listUnsavedFiles(tx, projectId),
        added: listProjectVolumes(tx, projectId).filter(({ removed_at }) => removed_at === null),
      }))
      const state = supervisor.findEnvironment(projectId)
      const open = rows.filter(
        (row) =>
          row.dismissed_at === null &&
          !(state && isCovered(state.spec, row)) &&
          !added.some(({ service, path }) => service === row.service && isAppPathWithin(row.path, path)),
      )
      return Promise.all(
        open.map(async ({ project_id: _, service, is_file, bytes, dismissed_at: __, ...row }) => ({
          ...row,
          service: service || null,
          is_file: is_file === 1,
          size_bytes: bytes,
          saved: (await snapshots.list(`${projectId}.${row.volume}`)).find(({ reason }) => reason === 'before_replace') ?? null,
        })),
      )
    },

    async hasSavedFiles(projectId, service, path, snapshotId) {
      const rows = await context.store.db.read((tx) => listUnsavedFiles(tx, projectId))
      const row = rows.find((one) => one.service === service && one.path === path)
      return row !== undefined && (await snapshots.has(`${projectId}.${row.volume}`, snapshotId))
    },

    describeLive(environment) {
      const state = supervisor.findEnvironment(nameEnvironment(environment))
      const main_service = state?.main?.config.name ?? 'web'
      return {
        services: [main_service, ...(state?.spec.services ?? []).map(({ config }) => config.name)],
        main_service,
        is_static: state?.spec.artifact?.kind === 'static',
        accepts_any_path: runtimes[state?.spec.runtime ?? context.default_runtime].runs_images,
        mounts: state ? listUses(state) : [],
      }
    },

    snapshot: take,

    async restore(environment, name, snapshotId) {
      const { state, id, isInUse, runtime, runtime_name, project_id } = await requireVolume(environment, name)
      if (!(await snapshots.has(id, snapshotId))) throw snapshotNotFound()
      const replace = () =>
        replaceVolume(context, { runtime: runtime_name, id, project_id }, async () => {
          if (!(await snapshots.restore(runtime, { id, project_id }, snapshotId))) throw snapshotNotFound()
        })
      return state && isInUse ? supervisor.stopWhile(state.spec, replace) : replace()
    },

    async upload(environment, name, archive, { may_create, ...options }) {
      if (!volumeNamePattern.test(name)) throw volumeNotFound(name)
      const { state, id, environment_id, runtime_name, project_id } = await (may_create ? locate : requireVolume)(environment, name)
      const live = state && listUses(state).some(({ volume }) => volume === name) ? state : undefined
      return uploads.upload({ name, environment_id, id, project_id, runtime: runtime_name, live }, archive, options)
    },

    deleteLeftovers: uploads.deleteLeftovers,

    async download(environment, name, snapshotId) {
      const { id } = await requireVolume(environment, name)
      const snapshot = snapshotId === undefined ? await take(environment, name) : undefined
      const stream = await snapshots.download(id, snapshot?.id ?? snapshotId ?? '')
      if (!stream) throw snapshotNotFound()
      // A snapshot made for this download is deleted; open files can still be read.
      if (snapshot) stream.once('close', () => void snapshots.remove(id, snapshot.id))
      return stream
    },

    async listFiles(environment, name, path) {
      const { id, isInUse, runtime } = await requireVolume(environment, name)
      const folder = await runtime.listVolumeFolder(id, path)
      // No service has used it yet, or it was deleted.
      if (!folder && path === '' && (isInUse || (await snapshots.list(id)).length > 0)) return { entries: [], is_complete: true }
      const { entries, is_complete } = requireFile(folder, path)
      const rank = ({ kind }: VolumeEntry) => (kind === 'folder' ? 0 : 1)
      return { entries: entries.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, 'en')), is_complete }
    },

    async readFile(environment, name, path) {
      const { id, runtime } = await requireVolume(environment, name)
      return requireFile(await runtime.readVolumeFile(id, path), path).content
    },

    async remove(environment, name) {
      const { id, isInUse, runtime } = await requireVolume(environment, name)
      const inUse = (text: string) => new Problem('volume_in_use', `${text} Then delete the volume again.`)
      if (isInUse) throw inUse(`A service of the live version uses “${name}”. Deploy a version without it first.`)
      const before = await snapshots.save(runtime, id, 'before_delete')
      if (!before) throw new Problem('volume_not_found', `The volume “${name}” was already deleted. Its snapshots remain.`)
      if (await runtime.removeVolume(id)) return before
      await snapshots.remove(id, before.id)
      throw inUse(`The previous version still uses “${name}”. Wait until it has stopped.`)
    },

    close: async () => monitor.close(),

    writeAll: (folder, signal) => writeVolumeArchives(context, supervisor, folder, signal),

    async deleteSnapshot(environment, name, snapshotId) {
      const { id } = await requireVolume(environment, name)
      if (!(await snapshots.remove(id, snapshotId))) throw snapshotNotFound()
    },
  }
}

const toAdded = (row: ProjectVolumeRow | undefined): Volume['added'] => (row ? { service: row.service || null, path: row.path } : null)

/** The mounts of each volume by service. */
function listUses({ main, spec }: EnvironmentState): VolumeUse[] {
  const configs: ServiceConfig[] = [...(main ? [main.config] : []), ...spec.services.map(({ config }) => config)]
  return configs.flatMap((config) => config.volumes.map(({ name, ...use }) => ({ volume: name, service: config.name, ...use })))
}

interface VolumeUse {
  volume: string
  service: string
  path: string
  is_read_only: boolean
}
