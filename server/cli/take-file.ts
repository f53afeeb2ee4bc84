import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Call } from './command.ts'

/** Writes a file as it comes in, for nobody else to read; under another name until it is whole. */
export async function takeFile(call: Call, file: string, ask: () => Promise<AsyncIterable<Uint8Array>>): Promise<void> {
  const draft = `${file}.part`
  try {
    await pipeline(Readable.from(await ask(), { objectMode: false }), createWriteStream(draft, { mode: 0o600 }), { signal: call.signal })
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
