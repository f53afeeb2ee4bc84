import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '../contract/errors.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { VolumeSnapshot } from '../contract/volumes.ts'
import type { DeploymentContext } from './context.ts'
import { createVolumeSnapshots } from './volume-snapshots.ts'

type ReplacementContext = Pick<DeploymentContext, 'data_dir' | 'runtime' | 'log'>

export interface ReplacedVolume {
  runtime: RuntimeName
  id: string
  project_id: string
}

/** The previous state of a volume, written before its files are replaced. */
interface ReplacementMark extends ReplacedVolume {
  /** Null: the volume did not exist. */
  snapshot_id: string | null
}

const getMarkFile = (dataDir: string, volumeId: string): string => join(dataDir, 'volume-snapshots', volumeId, 'replacing')

/**
 * Replaces the files of a volume that is not in use. A snapshot of the current files is taken first. It is restored if the work fails, and at the next
 * start of the platform if the work was interrupted. Resolves with the snapshot; null when the volume did not exist.
 */
export async function replaceVolume(context: ReplacementContext, volume: ReplacedVolume, work: () => Promise<void>): Promise<VolumeSnapshot | null> {
  const { id } = volume
  const before = (await createVolumeSnapshots(context.data_dir).save(context.runtime(volume.runtime), id, 'before_restore')) ?? null
  const mark: ReplacementMark = { ...volume, snapshot_id: before?.id ?? null }
  const file = getMarkFile(context.data_dir, id)
  await mkdir(join(context.data_dir, 'volume-snapshots', id), { recursive: true, mode: 0o700 })
  await writeFile(file, JSON.stringify(mark), { mode: 0o600, flush: true })
  try {
    await work()
  } catch (error) {
    await undoReplacement(context, mark)
    if (/ENOSPC|No space left on device/.test(String(error)))
      throw new Problem('storage_full', 'The disk is full, so the volume keeps its previous files. Free some space and try again.', {
        cause: error,
      })
    throw error
  }
  await rm(file, { force: true })
  return before
}

async function undoReplacement(context: ReplacementContext, { id, project_id, runtime: name, snapshot_id }: ReplacementMark): Promise<void> {
  const runtime = context.runtime(name)
  const isRestored = snapshot_id !== null && (await createVolumeSnapshots(context.data_dir).restore(runtime, { id, project_id }, snapshot_id))
  if (!isRestored && snapshot_id === null && !(await runtime.removeVolume(id))) throw new Error(`The volume ${id} is in use.`)
  await rm(getMarkFile(context.data_dir, id), { force: true })
}

/** Must run before the apps of a runtime start, so that none sees partly replaced files. */
export async function undoInterruptedReplacements(context: ReplacementContext, runtime: RuntimeName, isLast: boolean): Promise<void> {
  for (const id of await readdir(join(context.data_dir, 'volume-snapshots')).catch((): string[] => [])) {
    const text = await readFile(getMarkFile(context.data_dir, id), 'utf8').catch(() => undefined)
    const mark = text === undefined ? undefined : parseMark(text)
    if (mark?.runtime !== runtime || mark.id !== id) continue
    try {
      await undoReplacement(context, mark)
      context.log.info('interrupted_volume_replacement_reverted', { volume: id })
    } catch (error) {
      if (!isLast) throw error
      context.log.error('interrupted_volume_replacement_revert_failed', { volume: id, error })
    }
  }
}

/** Undefined for an incompletely written file, from before anything was replaced. */
function parseMark(text: string): ReplacementMark | undefined {
  try {
    return JSON.parse(text) as ReplacementMark
  } catch {
    return undefined
  }
}
