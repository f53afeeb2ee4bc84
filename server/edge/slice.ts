import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { FileSlice } from './answer.ts'
import { limits } from './limits.ts'

/** Sends a part of a file as fast as the client takes it, and says how much. False: the file was shorter than promised, or the client is gone. */
export async function sendSlice(slice: FileSlice, to: Writable, sent: (bytes: number) => void): Promise<boolean> {
  const gone = new AbortController()
  const close = (): void => gone.abort()
  to.once('close', close)
  try {
    for (let position = slice.start; position < slice.end;) {
      const length = Math.min(limits.large_read_bytes, slice.end - position)
      const bytes = Buffer.allocUnsafe(length)
      const count = await slice.read(bytes, position, length)
      if (count === 0 || gone.signal.aborted) return false
      position += count
      sent(count)
      if (!to.write(bytes.subarray(0, count))) await once(to, 'drain', { signal: gone.signal })
    }
    return true
  } catch {
    return false
  } finally {
    to.off('close', close)
    slice.close()
  }
}
