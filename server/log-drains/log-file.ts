import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../contract/limits.ts'

const { O_APPEND, O_CREAT, O_WRONLY } = constants
/** Windows has no such flag. */
const O_NOFOLLOW: number = constants.O_NOFOLLOW ?? 0

/**
 * A file that grows to `file_bytes`, is then renamed to `NAME.log.1`, and so on, like logrotate does. The name was checked by `parseDrainAddress`, so that
 * the path stays in the folder of the project.
 */
export function createDrainFile(folder: string, projectId: string, name: string) {
  const projectFolder = join(folder, projectId)
  const path = join(projectFolder, `${name}.log`)
  /** The worker and a test may write at the same time. */
  let writing: Promise<unknown> = Promise.resolve()

  const openFile = (): Promise<FileHandle> => open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)

  const rotate = async (): Promise<void> => {
    for (let number = limits.log_drains.files - 1; number >= 1; number--)
      await rename(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`).catch((error: unknown) => {
        if (!isMissing(error)) throw error
      })
  }

  const write = async (text: string): Promise<void> => {
    const bytes = Buffer.from(text)
    await mkdir(projectFolder, { recursive: true, mode: 0o700 })
    let file = await openFile()
    try {
      let { size } = await file.stat()
      if (size > 0 && size + bytes.length > limits.log_drains.file_bytes) {
        await file.close()
        await rotate()
        file = await openFile()
        size = 0
      }
      try {
        await file.writeFile(bytes)
      } catch (error) {
        // On a full disk a part may be written, which is written again with the next attempt.
        await file.truncate(size).catch(() => {})
        throw error
      }
    } finally {
      await file.close()
    }
  }

  return {
    append(text: string): Promise<void> {
      const written = writing.then(() => write(text))
      writing = written.catch(() => {})
      return written
    },
  }
}

/** Deletes the files of drains that are gone. `listNames`: `PROJECT_ID/NAME` of those that exist. Other files in the folder stay. */
export async function removeOrphanedFiles(folder: string, listNames: () => ReadonlySet<string>): Promise<void> {
  const names = listNames()
  for (const projectId of await listFolder(folder)) {
    if (!/^prj_[0-9a-z]+$/.test(projectId)) continue
    const projectFolder = join(folder, projectId)
    for (const file of await listFolder(projectFolder)) {
      const name = /^([a-z0-9_-]+)\.log(?:\.\d+)?$/.exec(file)?.[1]
      if (name !== undefined && !names.has(`${projectId}/${name}`)) await rm(join(projectFolder, file), { force: true })
    }
    await rmdir(projectFolder).catch(() => {})
  }
}

const listFolder = (path: string): Promise<string[]> =>
  readdir(path).catch((error: unknown) => {
    if (isMissing(error) || (error instanceof Error && 'code' in error && error.code === 'ENOTDIR')) return []
    throw error
  })

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
