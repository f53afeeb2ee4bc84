import { ApiError, readError } from '../../server/client/api-error.ts'
import { unreachableError } from '../lib/api-error.ts'
import { sessionHeaders } from './session.ts'

/**
 * Downloads a file of an instance into memory and reports the bytes received; the total is unknown. Throws an ApiError, also for a truncated
 * response or one larger than `max_bytes`, or the abort reason of the signal.
 */
export async function fetchFile(
  url: string,
  { signal, max_bytes, onProgress }: { signal: AbortSignal; max_bytes: number; onProgress: (bytes: number) => void },
): Promise<Blob> {
  const response = await fetch(url, { redirect: 'error', credentials: 'same-origin', headers: sessionHeaders(), signal }).catch((error: unknown) => {
    throw signal.aborted ? error : unreachableError(error)
  })
  if (!response.ok) throw await readError(response)
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  const reader = response.body?.getReader()
  try {
    for (;;) {
      const next = await reader?.read()
      if (!next || next.done) break
      chunks.push(next.value)
      bytes += next.value.byteLength
      if (bytes > max_bytes) throw new ApiError('payload_too_large', `The file is larger than ${max_bytes / 2 ** 20} MiB, the limit for uploads.`)
      onProgress(bytes)
    }
  } catch (error) {
    void reader?.cancel().catch(() => undefined)
    if (signal.aborted || error instanceof ApiError) throw error
    throw new ApiError('unreachable', 'The download stopped early because the connection was lost. Try again.', { cause: error })
  }
  return new Blob(chunks, { type: response.headers.get('content-type') ?? '' })
}
