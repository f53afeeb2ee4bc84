import { createWriteStream, openAsBlob } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ApiError } from '../client/api-error.ts'
import type { PromotionClient } from '../client/promotion/client.ts'
import type { ApiClient } from './client.ts'

/** The first database starts a server, and a dump of much data takes hours. */
const callTimeout_ms = 6 * 3_600_000

/** The folder for files that a command copies between instances. */
export interface PromotionFiles {
  connect(client: ApiClient): PromotionClient
  remove(): Promise<void>
}

export async function createPromotionFiles(): Promise<PromotionFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-promotion-'))
  let count = 0
  return {
    connect: (client) => ({
      call: (id, input) => client.call(id, input, callTimeout_ms),
      async download(id, input, { signal, max_bytes, onProgress }) {
        const file = join(folder, String(count++))
        const source = await client.download(id, input, signal)
        async function* counted(): AsyncGenerator<Uint8Array> {
          let bytes = 0
          for await (const chunk of source) {
            bytes += chunk.length
            if (bytes > max_bytes)
              throw new ApiError('payload_too_large', `The file is larger than ${max_bytes / 2 ** 20} MiB, the limit for uploads.`)
            onProgress(bytes, null)
            yield chunk
          }
        }
        await pipeline(Readable.from(counted(), { objectMode: false }), createWriteStream(file, { mode: 0o600 }), { signal })
        return openAsBlob(file)
      },
      async upload(id, input, file, { signal, type, onProgress }) {
        async function* counted(): AsyncGenerator<Uint8Array> {
          let bytes = 0
          for await (const chunk of file.stream()) {
            onProgress((bytes += chunk.length), file.size)
            yield chunk
          }
        }
        return client.upload(id, input, counted(), signal, type)
      },
    }),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}
