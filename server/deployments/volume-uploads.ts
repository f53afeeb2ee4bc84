import { randomUUID } from 'node:crypto'
import { mkdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '../contract/errors.ts'
import type { VolumeSnapshot } from '../contract/volumes.ts'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { type FileOwner, readRootOwner, type ReceivedFiles, receiveFiles } from '../source/volume-archive.ts'
import { listOpenDeployments } from '../store/deployments.ts'
import type { DeploymentContext } from './context.ts'
import { changeData } from './data-changes.ts'
import { type ReplacedVolume, replaceVolume } from './replace-volume.ts'
import { getEnvironmentId } from './supervised-app.ts'
import type { EnvironmentState, Supervisor } from './supervisor.ts'

export interface UploadTarget extends ReplacedVolume {
  name: string
  environment_id: string
  /** The live version that uses the volume; undefined if none does. */
  live: EnvironmentState | undefined
}

export interface VolumeUploadOptions {
  /** Throws `volume_not_empty` for a volume with files. */
  only_if_empty: boolean
  signal: AbortSignal
}

export interface VolumeUploadResult {
  files: number
  size_bytes: number
  before: VolumeSnapshot | null
}

export interface VolumeUploads {
  /** Deletes leftovers of the previous run. */
  deleteLeftovers(): Promise<void>
  /** Replaces the files of a volume with those of an archive. If it fails, the current files stay. */
  upload(target: UploadTarget, archive: AsyncIterable<Uint8Array>, options: VolumeUploadOptions): Promise<VolumeUploadResult>
}

/** Concurrent checks: one check keeps a core busy. */
const maxConcurrentChecks = 2
/** Bytes left free on the disk of the data folder. */
const reserved_bytes = 512 * 2 ** 20

export function createVolumeUploads(context: DeploymentContext, supervisor: Supervisor): VolumeUploads {
  const folder = join(context.data_dir, 'volume-uploads')
  const limitChecks = createConcurrencyLimit(maxConcurrentChecks)

  const requireNoDeployment = async ({ project_id, environment_id }: UploadTarget): Promise<void> => {
    const rows = await context.store.db.read((tx) => listOpenDeployments(tx, project_id))
    // A queued deployment waits until the data has been changed.
    if (rows.some((row) => row.status !== 'queued' && getEnvironmentId(row) === environment_id))
      throw new Problem('build_in_progress', 'The project is being deployed. Wait until that has finished, or cancel it, then upload again.')
  }

  const requireEmpty = async (runtime: Runtime, { id, name }: UploadTarget): Promise<void> => {
    if (((await runtime.listVolumeFolder(id, ''))?.entries.length ?? 0) > 0)
      throw new Problem('volume_not_empty', `The volume “${name}” is not empty, so nothing was replaced.`)
  }

  const requireSpace = async ({ bytes }: ReceivedFiles): Promise<void> => {
    const { bavail, bsize } = await statfs(context.data_dir)
    if (bavail * bsize < bytes + reserved_bytes)
      throw new Problem('storage_full', `The files of the archive need ${bytes} bytes, which the disk does not have. Free some space and try again.`)
  }

  const replace = async (target: UploadTarget, received: ReceivedFiles, { only_if_empty, signal }: VolumeUploadOptions) => {
    const runtime = context.runtime(target.runtime)
    if (only_if_empty) await requireEmpty(runtime, target)
    signal.throwIfAborted()
    const owner = received.has_root ? undefined : await findOwner(runtime, target.id)
    return replaceVolume(context, target, async () => {
      if (!(await runtime.removeVolume(target.id)))
        throw new Problem('volume_in_use', `A command or another version uses “${target.name}”. Wait until it has ended, then upload again.`)
      // From here the archive is complete, so a client that disconnects changes nothing.
      await runtime.importVolume(target.id, target.project_id, received.open(owner, new AbortController().signal))
    })
  }

  return {
    deleteLeftovers: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),

    async upload(target, archive, options) {
      const { signal } = options
      const { live } = target
      const runtime = context.runtime(target.runtime)
      const { available, reason } = await runtime.probe()
      if (!available) throw new Problem('runtime_unavailable', `The volume cannot be changed now. ${reason}`)
      // Checked before a large archive is received.
      await requireNoDeployment(target)
      if (options.only_if_empty) await requireEmpty(runtime, target)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const received = await receiveFiles(archive, join(folder, randomUUID()), { signal, limitChecks })
      try {
        await requireSpace(received)
        const before = await changeData(context, target.environment_id, async () => {
          await requireNoDeployment(target)
          return live ? supervisor.stopWhile(live.spec, () => replace(target, received, options)) : replace(target, received, options)
        })
        return { files: received.files, size_bytes: received.bytes, before }
      } finally {
        await received.discard()
      }
    },
  }
}

/** The owner of the folder of a volume; undefined for a new volume. */
async function findOwner(runtime: Runtime, id: string): Promise<FileOwner | undefined> {
  const archive = await runtime.exportVolume(id)
  return archive && readRootOwner(archive)
}
