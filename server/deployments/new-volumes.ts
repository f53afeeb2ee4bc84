import { mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { addAbortSignal } from 'node:stream'
import type { StepLog } from '../contract/build-log.ts'
import { StartFailure } from '../runtime/runtime.ts'
import { listProjectVolumes } from '../store/project-volumes.ts'
import type { ProjectVolumeRow } from '../store/volume-tables.ts'
import type { DeploymentRun } from './deployment-run.ts'
import type { AppSpec } from './supervised-app.ts'
import type { HeldApp } from './supervisor.ts'
import { createVolumeSnapshots } from './volume-snapshots.ts'

/** A file next to the snapshots of a volume, from the start of its first copy until the version that uses it is live. */
export const getIncompleteMark = (dataDir: string, volumeId: string): string => join(dataDir, 'volume-snapshots', volumeId, 'incomplete')

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  )

/**
 * Fills the added volumes of the project with the files that the live version has at their paths, before the first version with them
 * starts. The live version is held from then on, because writes after the copy would be lost. A copy whose deployment failed is repeated.
 */
export async function fillNewVolumes(run: DeploymentRun, spec: AppSpec, log: StepLog): Promise<void> {
  const { context, supervisor, signal } = run
  const live = supervisor.findEnvironment(spec.environment_id)
  if (spec.target === 'preview' || !live) return
  const rows = await context.store.db.read((tx) => listProjectVolumes(tx, spec.project_id))
  const runtime = context.runtime(spec.runtime)
  const existing = new Set((await runtime.listVolumes(`${spec.environment_id}.`)).map(({ id }) => id))
  const isUsed = (name: string, { main_config, services }: AppSpec) =>
    [main_config, ...services.map(({ config }) => config)].some((config) => config?.volumes.some((volume) => volume.name === name) === true)
  const due: ProjectVolumeRow[] = []
  for (const row of rows) {
    if (!isUsed(row.name, spec) || isUsed(row.name, live.spec)) continue
    const isIncomplete = await exists(getIncompleteMark(context.data_dir, idOf(row.name)))
    if (isIncomplete || !existing.has(idOf(row.name))) due.push(row)
  }
  if (due.length === 0 || live.spec.runtime !== spec.runtime) return
  log.note('Requests wait while the files of the live version are copied and the new version starts.')
  const held = await supervisor.holdLive(spec)
  run.held_app = held
  if (!held) return
  for (const row of due)
    await copy(row, held).catch((error: unknown) => {
      signal.throwIfAborted()
      throw new StartFailure(
        'start_failed',
        `The files at ${row.path} could not be copied into the volume “${row.name}”: ${error instanceof Error ? error.message : String(error)}`,
        'The live version keeps its files. Deploy again.',
      )
    })

  async function copy({ name, path, service, is_file, begins_with }: ProjectVolumeRow, { spec: of, findReplica }: HeldApp): Promise<void> {
    const isMain = service === '' || service === (of.main_service ?? 'web')
    const artifact = isMain ? of.artifact : of.services.find(({ config }) => config.name === service)?.artifact
    if (!artifact) return
    const replica_id = findReplica(isMain ? (of.main_service ?? '') : service)
    const snapshots = createVolumeSnapshots(context.data_dir)
    const exported = begins_with === null ? await runtime.exportWrittenFiles({ replica_id, artifact }, path, is_file === 1) : undefined
    // The files of an earlier version at that path, if the live one has none.
    const saved = begins_with ?? (await snapshots.list(idOf(name))).find(({ reason }) => reason === 'before_replace')?.id
    if (!exported && saved === undefined)
      return log.note(`The live version has no files at ${path}, so the volume “${name}” starts with those of the source.`)
    const mark = getIncompleteMark(context.data_dir, idOf(name))
    await mkdir(dirname(mark), { recursive: true, mode: 0o700 })
    await writeFile(mark, '')
    if (exported) await runtime.importVolume(idOf(name), spec.project_id, addAbortSignal(signal, exported))
    else if (!(await snapshots.restore(runtime, { id: idOf(name), project_id: spec.project_id }, saved ?? '')))
      throw new Error('The snapshot was deleted.')
    log.note(
      `The volume “${name}” starts with ${!exported ? 'a snapshot of an earlier version’s files' : `the files that the live version has at ${path}`}.`,
    )
  }
  function idOf(name: string): string {
    return `${spec.environment_id}.${name}`
  }
}

/** After the traffic switch: the files in the volumes are those of the live version. */
export async function keepNewVolumes({ context }: Pick<DeploymentRun, 'context'>, spec: AppSpec): Promise<void> {
  const configs = [spec.main_config, ...spec.services.map(({ config }) => config)]
  for (const { name } of configs.flatMap((config) => config?.volumes ?? []))
    await rm(getIncompleteMark(context.data_dir, `${spec.environment_id}.${name}`), { force: true })
}
