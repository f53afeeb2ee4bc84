import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Problem } from '../contract/errors.ts'
import type { ServiceConfig } from '../contract/project-config.ts'
import type { Volume, VolumeSnapshot } from '../contract/volumes.ts'
import type { DeploymentContext } from './context.ts'
import { type EnvironmentName, nameEnvironment } from './supervised-app.ts'
import type { EnvironmentState, Supervisor } from './supervisor.ts'
import { writeVolumeArchives } from './volume-archives.ts'
import { createVolumeSnapshots } from './volume-snapshots.ts'

/** What features can do with the volumes of a project. Every function throws `volume_not_found` for an unknown name. */
export interface ProjectVolumes {
  list(environment: EnvironmentName): Promise<Volume[]>
  snapshot(environment: EnvironmentName, name: string): Promise<VolumeSnapshot>
  /** Throws `snapshot_not_found`. Resolves with the snapshot of the files that were replaced. */
  restore(environment: EnvironmentName, name: string, snapshotId: string): Promise<VolumeSnapshot>
  /** A compressed tar stream; without a snapshot of the files as they are now. */
  download(environment: EnvironmentName, name: string, snapshotId: string | undefined): Promise<AsyncIterable<Uint8Array>>
  deleteSnapshot(environment: EnvironmentName, name: string, snapshotId: string): Promise<void>
  /** For a backup: writes every volume of every project as `{runtime}/{volume}.tar`. Returns the names, and what could not be read. */
  writeAll(folder: string, signal: AbortSignal): Promise<{ names: string[]; left_out: string[] }>
}

export function createProjectVolumes(context: DeploymentContext, supervisor: Supervisor): ProjectVolumes {
  const snapshots = createVolumeSnapshots(context.data_dir)
  const snapshotNotFound = () => new Problem('snapshot_not_found', 'This volume has no snapshot with this ID. List them with homeport volumes.')

  const requireVolume = (environment: EnvironmentName, name: string) => {
    const state = supervisor.findEnvironment(nameEnvironment(environment))
    if (!state || !listUses(state).some((use) => use.volume === name))
      throw new Problem('volume_not_found', `The live version has no volume “${name}”. List them with homeport volumes.`)
    return { state, id: `${state.spec.environment_id}.${name}`, runtime: context.runtime(state.spec.runtime) }
  }

  /** A snapshot of one moment: nothing of the environment runs while the files are read. */
  const take = async (environment: EnvironmentName, name: string, reason: VolumeSnapshot['reason'], isStopped = false): Promise<VolumeSnapshot> => {
    const { state, id, runtime } = requireVolume(environment, name)
    const read = async () => {
      const archive = await runtime.exportVolume(id)
      if (!archive) throw new Problem('volume_not_found', `The volume “${name}” is empty: no service has used it yet.`)
      return snapshots.create(id, reason, archive)
    }
    return isStopped ? read() : supervisor.freezeWhile(state.spec, read)
  }

  return {
    async list(environment) {
      const state = supervisor.findEnvironment(nameEnvironment(environment))
      if (!state) return []
      const prefix = `${state.spec.environment_id}.`
      const uses = listUses(state)
      const found = await context.runtime(state.spec.runtime).listVolumes(prefix)
      const sizes = new Map(found.map(({ id, bytes }) => [id.slice(prefix.length), bytes]))
      const names = [...new Set([...uses.map(({ volume }) => volume), ...sizes.keys()])]
      return Promise.all(
        names.map(async (name) => ({
          name,
          size_bytes: sizes.has(name) ? (sizes.get(name) ?? null) : 0,
          used_by: uses.filter(({ volume }) => volume === name).map(({ service, path, is_read_only }) => ({ service, path, is_read_only })),
          snapshots: await snapshots.list(`${prefix}${name}`),
        })),
      )
    },

    snapshot: (environment, name) => take(environment, name, 'manual'),

    async restore(environment, name, snapshotId) {
      const { state, id, runtime } = requireVolume(environment, name)
      if ((await snapshots.findFile(id, snapshotId)) === undefined) throw snapshotNotFound()
      const { spec } = state
      return supervisor.stopWhile(spec, async () => {
        const before = await take(environment, name, 'before_restore', true)
        try {
          const archive = await snapshots.open(id, snapshotId)
          if (!archive) throw snapshotNotFound()
          await runtime.importVolume(id, spec.project_id, archive)
        } catch (error) {
          const archive = await snapshots.open(id, before.id)
          if (archive) await runtime.importVolume(id, spec.project_id, archive)
          throw error
        }
        return before
      })
    },

    async download(environment, name, snapshotId) {
      const { id } = requireVolume(environment, name)
      const snapshot = snapshotId === undefined ? await take(environment, name, 'manual') : undefined
      const file = await snapshots.findFile(id, snapshot?.id ?? snapshotId ?? '')
      if (file === undefined) throw snapshotNotFound()
      const stream = createReadStream(file)
      // A snapshot that was taken for this download goes with it; an open file can still be read.
      if (snapshot) stream.once('close', () => void rm(file, { force: true }))
      return stream
    },

    writeAll: (folder, signal) => writeVolumeArchives(context, supervisor, folder, signal),

    async deleteSnapshot(environment, name, snapshotId) {
      const { id } = requireVolume(environment, name)
      if (!(await snapshots.remove(id, snapshotId))) throw snapshotNotFound()
    },
  }
}

/** Which service has which volume where. */
function listUses({ main, spec }: EnvironmentState): { volume: string; service: string; path: string; is_read_only: boolean }[] {
  const configs: ServiceConfig[] = [...(main ? [main.config] : []), ...spec.services.map(({ config }) => config)]
  return configs.flatMap((config) => config.volumes.map(({ name, ...use }) => ({ volume: name, service: config.name, ...use })))
}
