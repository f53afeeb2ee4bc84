import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'

/** A file that is open, so that it is read to its end even if it is removed meanwhile. Undefined if there is none. `chunk_bytes`: default 64 KiB. */
export async function openFileStream(path: string, chunk_bytes = 64 * 1024): Promise<Readable | undefined> {
  const bytes = createReadStream(path, { highWaterMark: chunk_bytes })
  try {
    await once(bytes, 'open')
    return bytes
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
