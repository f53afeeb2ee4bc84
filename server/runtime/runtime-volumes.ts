import type { Readable } from 'node:stream'
import type { VolumeEntry } from '../contract/volumes.ts'

/** Operations of a runtime on the volumes of environments. */
export interface RuntimeVolumes {
  /** The volumes whose id starts with `prefix`; `bytes` is null when the size is unknown. */
  listVolumes(prefix: string): Promise<{ id: string; bytes: number | null }[]>

  /** The files of a volume as a tar stream, with modes and links; undefined when it does not exist. */
  exportVolume(id: string): Promise<Readable | undefined>

  /** Replaces the files of a volume, which no replica may use, or creates it. */
  importVolume(id: string, projectId: string, archive: Readable): Promise<void>

  /**
   * Replaces the files of the volume `to`, which no replica may use, with a copy of another volume's, or creates it. Shares blocks if the file system
   * can. False when `from` does not exist; nothing was changed then.
   */
  copyVolume(from: string, to: string, projectId: string, signal: AbortSignal): Promise<boolean>

  /**
   * Copies the files of a volume to a new folder of this machine that shares their blocks. Resolves with their size; undefined, with nothing
   * written, if that is not possible.
   */
  cloneVolume(id: string, folder: string): Promise<number | undefined>

  /** Replaces the files of a volume, which no replica may use, with those of such a folder; false, with nothing changed, if that is not possible. */
  restoreClone(id: string, folder: string): Promise<boolean>

  /**
   * The entries of a folder of a volume, in no order, and whether these are all; undefined when there is no such folder. `path` has segments with `/`
   * between them and is empty for the volume itself. Links are not followed.
   */
  listVolumeFolder(id: string, path: string): Promise<{ entries: VolumeEntry[]; is_complete: boolean } | undefined>

  /** A file of a volume; undefined if it does not exist. Symlinks are not followed. The caller reads or destroys `content`. */
  readVolumeFile(id: string, path: string): Promise<{ bytes: number; content: Readable } | undefined>

  /** Removes one volume, if it exists; false when a replica uses it. */
  removeVolume(id: string): Promise<boolean>

  /** Removes the volumes whose id starts with `prefix`; no error if there are none. They must not be in use. */
  removeVolumes(prefix: string): Promise<void>
}
