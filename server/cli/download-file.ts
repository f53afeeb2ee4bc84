import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { CommandContext } from './command.ts'

/** Streams a download to `file` with mode 0600. The data goes to `file.part`, which is renamed when it is complete. */
export async function downloadToFile(context: CommandContext, file: string, openDownload: () => Promise<AsyncIterable<Uint8Array>>): Promise<void> {
  const partialFile = `${file}.part`
  try {
    await pipeline(Readable.from(await openDownload(), { objectMode: false }), createWriteStream(partialFile, { mode: 0o600 }), {
      signal: context.signal,
    })
    await rename(partialFile, file)
  } catch (error) {
    await rm(partialFile, { force: true })
    throw error
  }
}
