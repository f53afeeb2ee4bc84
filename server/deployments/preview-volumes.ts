import { mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { addAbortSignal } from 'node:stream'
import type { StepLog } from '../contract/build-log.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import { StartFailure } from '../runtime/runtime.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { DeploymentRun } from './deployment-run.ts'
import { getIncompleteMark } from './new-volumes.ts'
import type { AppSpec } from './supervised-app.ts'

/**
 * Gives the missing volumes of a preview the files of production's, as of one moment, if the project says so. Nothing in production
 * changes, and its requests wait while the files are read.
 */
export async function copyVolumesToPreview(
  { context, supervisor, signal }: Pick<DeploymentRun, 'context' | 'supervisor' | 'signal'>,
  { preview_volumes }: Pick<ProjectRow, 'preview_volumes'>,
  spec: AppSpec,
  log: StepLog,
): Promise<void> {
  if (spec.target !== 'preview' || preview_volumes !== 'snapshot') return
  const configs = [...(spec.main_config ? [spec.main_config] : []), ...spec.services.map(({ config }) => config)]
  const names = new Set(configs.flatMap(({ volumes }) => volumes.map(({ name }) => name)))
  if (names.size === 0) return
  const runtime = context.runtime(spec.runtime)
  const existing = new Set((await runtime.listVolumes(`${spec.environment_id}.`)).map(({ id }) => id))
  const isMissing = async (name: string) => !existing.has(idOf(name)) || (await stat(markOf(name)).catch(() => undefined)) !== undefined
  const missing: string[] = []
  for (const name of names) if (await isMissing(name)) missing.push(name)
  if (missing.length === 0) return
  const production = supervisor.findEnvironment(spec.project_id)
  if (!production) return log.note('Production is not running, so the volumes of this preview start empty.')

  const copy = async (name: string): Promise<void> => {
    // An interrupted copy is repeated, because it cannot contain files of the preview yet.
    await mkdir(join(markOf(name), '..'), { recursive: true, mode: 0o700 })
    await writeFile(markOf(name), '')
    const isCopied = await copyFiles(`${spec.project_id}.${name}`, idOf(name), production.spec.runtime)
    await rm(markOf(name))
    log.note(
      isCopied
        ? `The volume “${name}” starts with a snapshot of production’s.`
        : `Production has no volume “${name}”, so the volume of this preview starts empty.`,
    )
  }
  const copyFiles = async (from: string, to: string, source: RuntimeName): Promise<boolean> => {
    if (source === spec.runtime) return runtime.copyVolume(from, to, spec.project_id, signal)
    const archive = await context.runtime(source).exportVolume(from)
    if (archive) await runtime.importVolume(to, spec.project_id, addAbortSignal(signal, archive))
    return archive !== undefined
  }
  try {
    await supervisor.freezeWhile(production.spec, async () => {
      for (const name of missing) await copy(name)
    })
  } catch (error) {
    signal.throwIfAborted()
    throw new StartFailure(
      'start_failed',
      `The volumes of production could not be copied: ${error instanceof Error ? error.message : String(error)}`,
      'Deploy the branch again, or set preview_volumes to empty.',
    )
  }

  function idOf(name: string): string {
    return `${spec.environment_id}.${name}`
  }
  function markOf(name: string): string {
    return getIncompleteMark(context.data_dir, idOf(name))
  }
}
