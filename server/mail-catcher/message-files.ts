import { open, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { mailLimits } from '../contract/mail.ts'
import { openFileStream } from '../lib/open-file-stream.ts'
import { ReceiveError } from './smtp-listener.ts'

/** The messages as received: a file for each, in a folder for each project. Names are ids of this instance. */
export function createMessageFiles(data_dir: string) {
  const folder = join(data_dir, 'mail')
  const folderOf = (projectId: string) => join(folder, projectId)
  const pathOf = (projectId: string, id: string) => join(folderOf(projectId), `${id}.eml`)

  return {
    /** Writes a message under a temporary name until it is complete; returns its size. */
    async write(projectId: string, id: string, content: AsyncIterable<Buffer>): Promise<number> {
      const path = pathOf(projectId, id)
      await mkdir(folderOf(projectId), { recursive: true, mode: 0o700 })
      const file = await open(`${path}.part`, 'wx', 0o600)
      let bytes = 0
      try {
        for await (const chunk of content) {
          bytes += chunk.length
          // The rest is read and dropped, because the sender reads no reply before the end.
          if (bytes <= mailLimits.message_bytes) await file.write(chunk)
        }
        await file.close()
        if (bytes > mailLimits.message_bytes) throw new ReceiveError(552, `The message is larger than ${mailLimits.message_bytes / 2 ** 20} MB`)
        await rename(`${path}.part`, path)
        return bytes
      } catch (error) {
        await file.close().catch(() => {})
        await rm(`${path}.part`, { force: true })
        if (error instanceof Error && 'code' in error && error.code === 'ENOSPC')
          throw new ReceiveError(452, 'The disk of the instance is full', error)
        throw error
      }
    },

    /** undefined when the file does not exist. */
    read: (projectId: string, id: string): Promise<Buffer | undefined> =>
      readFile(pathOf(projectId, id)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      }),

    async has(projectId: string, id: string): Promise<boolean> {
      return (await stat(pathOf(projectId, id)).catch(() => undefined))?.isFile() ?? false
    },

    /** undefined when the file does not exist. */
    open: (projectId: string, id: string) => openFileStream(pathOf(projectId, id)),

    remove: (projectId: string, id: string): Promise<void> => rm(pathOf(projectId, id), { force: true }),

    removeProject: (projectId: string): Promise<void> => rm(folderOf(projectId), { recursive: true, force: true }),

    /** Removes files without a row, such as those of a crash. */
    async sweep(hasRow: (projectId: string, id: string) => boolean): Promise<void> {
      for (const projectId of await readdir(folder).catch((): string[] => []))
        for (const name of await readdir(folderOf(projectId)).catch((): string[] => []))
          if (!name.endsWith('.eml') || !hasRow(projectId, name.slice(0, -'.eml'.length))) await rm(join(folderOf(projectId), name), { force: true })
    },
  }
}
